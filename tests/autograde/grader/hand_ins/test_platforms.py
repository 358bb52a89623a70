"""docs/platforms.md: every cell of its table names tests that exist; and the cells that have no other test."""

import json
import re
from pathlib import Path

import pytest
from lms_files import canvas_gradebook
from test_lms import ALL, NB, SORTABLE, WORK, collected, course, fill_canvas, grade, gradebook, rows, run  # noqa: F401 (fixtures)

from autograde.grader.hand_ins.hand_in import HAND_INS

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/platforms.md").read_text(encoding="utf-8")
COLUMNS = ("collect", "time", "grade out", "feedback back")
PLATFORMS = (
    "Canvas", "Canvas, anonymous", "Canvas, groups", "Moodle, folders", "Moodle, flat", "Moodle, blind marking",
    "Moodle, groups", "Blackboard", "Colab, mail, files", "folders of students", "nbgrader's exchange",
)  # fmt: skip
SHOWN = {int(number): test for number, test in re.findall(r"^(\d+)\. `(tests/\S+::\w+)`$", PAGE, re.MULTILINE)}


def cells() -> list[tuple[str, str, str]]:
    """(platform, column, text) of the table."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)
    ]
    head, _, *body = lines
    assert tuple(head[1:]) == COLUMNS
    return [(line[0], column, text) for line in body for column, text in zip(COLUMNS, line[1:], strict=True)]


def test_the_table_has_every_platform_and_every_cell_a_test():
    assert tuple(dict.fromkeys(platform for platform, *_ in cells())) == PLATFORMS
    used = set()
    for platform, column, text in cells():
        numbers = [int(number) for number in re.findall(r"\[(\d+)\]", text)]
        assert numbers and set(numbers) <= SHOWN.keys(), f"{platform}, {column}: {text}"
        used |= set(numbers)
    assert used == SHOWN.keys(), "a test that no cell names"


@pytest.mark.parametrize("place", SHOWN.values())
def test_a_test_that_a_cell_names_exists_and_is_not_skipped(place):
    file, name = place.split("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    found = re.search(rf"^((?:@.*\n(?: .*\n|\)\s*\n)*)*)def {name}\(", text, re.MULTILINE)
    assert found and "skip" not in found[1], place


def test_anonymous_students_get_their_times_by_canvass_anonymous_id(course):  # noqa: F811
    times = [{"anonymous_id": "aB3cD", "submitted_at": "2026-02-03T11:00:00Z"},
             {"anonymous_id": "xY9zW", "submitted_at": "2026-01-30T12:00:00Z"}]  # fmt: skip
    (course / "t.json").write_text(json.dumps(times))
    run(course, "collect", "ps3", ALL["anonymous canvas"](course / "a.zip"), "--times", course / "t.json")
    assert HAND_INS.load(course, "ps3", "anon_aB3cD").time == "2026-02-03 11:00:00 UTC"
    assert HAND_INS.load(course, "ps3", "anon_xY9zW").time == "2026-01-30 12:00:00 UTC"
    assert HAND_INS.load(course, "ps3", "anon_12345").late and not HAND_INS.load(course, "ps3", "anon_12345").time


def test_grades_of_anonymous_students_go_out_when_names_are_shown_again(course):  # noqa: F811
    collected(course, "anonymous canvas")
    run(course, "collect", "ps3", ALL["canvas"](course / "b.zip"))
    grade(course)
    said = fill_canvas(course, canvas_gradebook(SORTABLE, "ps3 (1)", 11), "--to", course / "i.csv", code=1)
    assert "3 graded and without a row:\n  anon_12345" in said
    assert [row["ps3 (1)"] for row in rows(course / "i.csv")][2:] == ["3", "3", "3", ""]


@pytest.mark.parametrize("system", ["blackboard", "colab", "folders", "exchange"])
def test_systems_without_an_import_get_a_csv_and_pages(course, system):  # noqa: F811
    if system == "exchange":  # as `nbgrader collect` leaves it
        for student in ("ann", "ben", "cleo"):
            folder = course / "submitted" / student / "ps3"
            folder.mkdir(parents=True)
            (folder / NB).write_bytes(WORK)
            (folder / "timestamp.txt").write_text("2026-01-30 12:00:00 UTC")
    else:
        run(course, "collect", "ps3", ALL[system](course / "a.zip"))
    students = grade(course, 2.5)
    run(course, "export", "ps3", "--to", course / "g.csv")
    assert {row["student"]: row["score"] for row in rows(course / "g.csv")} == dict.fromkeys(students, "2.5")
    run(course, "feedback", "ps3")
    pages = sorted(path.parent.parent.name for path in course.glob("feedback/*/ps3/*.html"))
    assert pages == students and len(students) == 3
