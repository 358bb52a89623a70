"""Late or not, and by how much: from Canvas's mark, from its times, by the course's rule, and always up to date."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from grader_course import RULE, TEMPLATES, WORK, grade_as, make_gradebook
from lms_files import Handed, canvas_zip, moodle_worksheet, moodle_zip

from autograde.common.delimited import LONGEST_CELL, read_table
from autograde.common.errors import AutogradeError, InputError
from autograde.grader.book.course import set_zone
from autograde.grader.book.gradebook import Gradebook, given_by_people
from autograde.grader.book.people import People, groups_of
from autograde.grader.book.policy import POLICY
from autograde.grader.book.sheets import read_sheet
from autograde.grader.exports.grades import fill_worksheet
from autograde.grader.grading.results import Result
from autograde.grader.hand_ins.collect import collect
from autograde.grader.hand_ins.hand_in import HAND_INS
from autograde.grader.hand_ins.roster import read_times, roster_of

NB = ["03_attention"]
TIMES = [
    {"user_id": 1, "submitted_at": "2026-01-30T12:00:00Z", "late": False},
    {"user_id": 2, "submitted_at": "2026-02-03T11:00:00Z", "late": True},  # the second day
    {"user_id": 3, "submitted_at": "2026-02-03T11:00:00Z", "late": False},  # an extension in Canvas
    {"user_id": 4, "submitted_at": None, "late": False},
]


@pytest.fixture
def course(tmp_path):
    """ps3, due on 1 February, 12:00, handed in through Canvas, whose zip was downloaded on the 9th."""
    make_gradebook(tmp_path)
    (tmp_path / "nbgrader_config.py").write_text(RULE)
    return tmp_path


def canvas(course, times=None, name="times.json"):
    """Collects a download of Canvas. times: text of a table of times."""
    if times:
        (course / name).write_text(times)
    handed = [
        Handed("Punctual, Pia", 1, "03_attention.ipynb", WORK, 11),
        Handed("Late, Leo", 2, "03_attention.ipynb", WORK, 12, late=True),
        Handed("Extended, Eva", 3, "03_attention.ipynb", WORK, 13),
    ]
    found = read_times([course / name]) if times else None
    return collect(canvas_zip(course / "a.zip", handed), course, "ps3", NB, times=found)


def grade(course):
    """All have 3 of 11 points."""
    for folder in sorted(course.glob("submitted/*")):
        stamp = folder / "ps3/timestamp.txt"
        grade_as(course, folder.name, handed_in=stamp.read_text() if stamp.exists() else "")


def penalties(course) -> dict[str, float]:
    with Gradebook(course) as book:
        book.write_late_penalties()
        return {row["student"]: row["late_penalty"] for row in book.grades()}


def test_the_day_of_the_download_makes_nobody_late_and_unknown_days_cost_nothing(course):
    manifest = canvas(course)
    grade(course)
    assert set(penalties(course).values()) == {0}
    (note,) = manifest.notes
    assert "1 marked late by Canvas" in note and "lateleo" in note and "--times" in note


def test_with_canvass_times_the_late_ones_pay_and_its_extensions_hold(course):
    assert canvas(course, json.dumps(TIMES)).notes == []
    grade(course)
    assert penalties(course) == {"lateleo": pytest.approx(0.6), "punctualpia": 0, "extendedeva": 0}
    assert (course / "submitted/lateleo/ps3/timestamp.txt").read_text() == "2026-02-03 11:00:00 UTC"


def test_times_that_come_later_count_without_grading_again(course):
    canvas(course)
    grade(course)
    manifest = canvas(course, "student,time\nlateleo,2026-02-03 11:00\n", "times.csv")
    assert manifest.count("unchanged") == 3
    assert penalties(course)["lateleo"] == pytest.approx(0.6)


@pytest.mark.parametrize("how", [{}, {"folders": False}, {"blind": True}])
def test_moodles_times_are_those_of_its_worksheet(course, how):
    handed = [
        Handed("Jane Doe", 90210, "03_attention.ipynb", WORK),
        Handed("Mark Roe", 90211, "03_attention.ipynb", WORK),
    ]
    archive = moodle_zip(course / "m.zip", handed, **how)
    assert "grading worksheet" in collect(archive, course, "ps3", NB).notes[0]
    grade(course)
    assert set(penalties(course).values()) == {0}
    times = {90210: "Saturday, 31 January 2026, 9:00 AM", 90211: "Tuesday, 3 February 2026, 11:00 AM"}
    (course / "w.csv").write_text(moodle_worksheet(handed, times), encoding="utf-8")
    collect(archive, course, "ps3", NB, times=read_times([course / "w.csv"]))
    names = ("Participant-90210", "Participant-90211") if "blind" in how else ("Jane Doe", "Mark Roe")
    assert penalties(course) == {names[0]: 0, names[1]: pytest.approx(0.6)}
    assert HAND_INS.load(course, "ps3", names[1]).time == "2026-02-03 11:00:00 UTC"


def test_an_anonymous_id_of_canvas_that_ends_with_digits_is_read_whole(course):
    ids = {1: "abcD5", 2: "xyzW5", 3: "aB3cD"}
    times = [
        {"id": number, "anonymous_id": ids[number], "submitted_at": f"2026-02-0{number}T11:00:00Z"} for number in ids
    ]
    (course / "submissions.json").write_text(json.dumps(times))
    handed = [Handed(f"Student {number}", number, "03_attention.ipynb", WORK, number) for number in ids]
    collect(
        canvas_zip(course / "a.zip", handed, anonymous=ids), course, "ps3", NB,
        times=read_times([course / "submissions.json"]),
    )  # fmt: skip
    found = {name: HAND_INS.load(course, "ps3", f"anon_{name}").time for name in ids.values()}
    assert found == {ids[number]: f"2026-02-0{number} 11:00:00 UTC" for number in ids}


@pytest.mark.parametrize(
    ("at", "extension", "off"),
    [
        ("2026-10-25T22:30:00Z", None, 0.3),  # Sunday, 23:30: 24.5 hours after the due date, since a clock was set back
        ("2026-10-25T23:30:00Z", None, 0.6),  # Monday, 00:30
        ("2026-10-24T22:30:00Z", None, 0.3),  # Sunday, 00:30: of the first day
        ("2026-10-26T22:30:00Z", 2, 0),  # Monday, 23:30, with two days more
        ("2026-10-26T23:30:00Z", 2, 0.3),
    ],
)
def test_a_day_is_a_day_where_clocks_are_set_back(course, at, extension, off):
    set_zone(course, "Europe/Berlin")
    canvas(course, f"student,time\nlateleo,{at}\n", "t.csv")
    grade(course)
    with Gradebook(course) as book:
        book.assignment("ps3").duedate = datetime(2026, 10, 24, 21, 59)  # Saturday, 23:59
        book.book.db.commit()
    if extension:
        POLICY.save(POLICY.load(course).extended("ps3", "lateleo", extension), course)
    assert penalties(course)["lateleo"] == pytest.approx(off)


def test_a_score_changed_by_hand_changes_the_penalty_wherever_it_is_shown(course):
    canvas(course, json.dumps(TIMES))
    grade(course)
    assert penalties(course)["lateleo"] == pytest.approx(0.6)
    with Gradebook(course) as book:
        book.book.find_grade("check_scores", "03_attention", "ps3", "lateleo").manual_score = 1
        book.book.db.commit()
    result = Result("ps3", "lateleo", "03_attention")
    assert given_by_people(course, "ps3", TEMPLATES)(result)["late_penalty"] == pytest.approx(0.2)
    assert penalties(course)["lateleo"] == pytest.approx(0.2)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_that_a_spreadsheet_saved_again_are_read(tmp_path, separator):
    """Semicolons where the comma is the decimal sign; feedback of several lines; a row whose last cells are missing."""
    rows = [["student", "time", "note"], ["jdoe", "2026-02-03 11:00", '"one\ntwo"'], ["mroe", "2026-02-03 12:00"], []]
    (tmp_path / "t.csv").write_text("\n".join(map(separator.join, rows)) + "\n", encoding="utf-8-sig")
    times = read_times([tmp_path / "t.csv"]).by_student
    assert {name: at.hour for name, at in times.items()} == {"jdoe": 11, "mroe": 12}
    people = [["student", "name", "id"], ["jdoe", '"Doe, Jane"', "7"], ["mroe", "Mark Roe"]]
    (tmp_path / "class.csv").write_text("\n".join(map(separator.join, people)), encoding="utf-8-sig")
    roster = roster_of(tmp_path / "class.csv")
    assert (roster.by_number("7"), roster.by_name("Jane Doe"), roster.by_name("Roe, Mark")) == ("jdoe", "jdoe", "mroe")


READERS = {
    "times": lambda path: read_times([path]),
    "class": roster_of,
    "groups": lambda path: groups_of(path, People(path.parent)),
    "sheet": lambda path: read_sheet(path.read_text(), path.name),
    "Moodle's worksheet": lambda path: fill_worksheet([], path.read_text(), {}),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_long_cell_is_read_and_one_without_end_is_named(tmp_path, kind):
    """Python's own limit is 131,072 characters; feedback that Moodle keeps can be longer."""
    text = "student,time,note\njdoe,2026-02-03 11:00,{}\n"
    assert read_table(text.format("x" * 200_000))[0][1][2] == "x" * 200_000
    (tmp_path / "t.csv").write_text(text.format("x" * (LONGEST_CELL + 1)))
    with pytest.raises(AutogradeError, match="at most 4,000,000 characters in a cell"):
        READERS[kind](tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("Freitag, 30. Januar 2026, 09:05", "2026-01-30 08:05"),
        ("Sonntag, 1. März 2026, 23:05", "2026-03-01 22:05"),
        ("Montag, 4. Mai 2026, 12:00", "2026-05-04 10:00"),
        ("Freitag, 4. September 2026, 12:00", "2026-09-04 10:00"),
    ],
)
def test_a_german_worksheet_of_moodle_is_read(tmp_path, written, time):
    text = f'Identifier;Vollständiger Name;Zuletzt geändert (Abgabe)\nTeilnehmer/in7;Jane Doe;"{written}"\n'
    (tmp_path / "w.csv").write_text(text, encoding="utf-8-sig")
    times = read_times([tmp_path / "w.csv"], ZoneInfo("Europe/Berlin"))
    assert f"{times.by_number['7']:%Y-%m-%d %H:%M}" == time


def test_a_table_without_times_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("student,points\nx,3\n")
    with pytest.raises(InputError, match="expected a column of times .* got student, points"):
        read_times([tmp_path / "t.csv"])
    (tmp_path / "t.csv").write_text("student,time\nx,soon\n")
    with pytest.raises(InputError, match=r"t.csv line 2: expected a time such as .* got 'soon'"):
        read_times([tmp_path / "t.csv"])
