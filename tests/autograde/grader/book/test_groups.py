# ruff: noqa: F811 (fixtures of another file)
"""Group hand-ins: one hand-in, and a grade, feedback and a row in every export for each member."""

import csv
import json

import pytest
from grader_course import ANSWERS, NB, RULE, WORK, as_bytes, notebook
from group_course import (  # noqa: F401 (fixtures)
    CANVAS,
    OWN,
    canvas_groups,
    collect_own,
    course,
    give_in_formgrader,
    grade,
    gradebook,
    graded_groups,
    packed,
    run,
    scores,
    set_groups,
    why,
)
from lms_files import (
    Handed,
    canvas_gradebook,
    canvas_takes,
    canvas_zip,
    make_zip,
    moodle_imports,
    moodle_takes,
    moodle_worksheet,
    moodle_zip,
)

from autograde.common.errors import AutogradeError
from autograde.grader.book.course import SECRET
from autograde.grader.book.forget import forget
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.group_hand_ins import copies
from autograde.grader.book.people import GROUPS, Groups
from autograde.grader.grading.results import load_results
from autograde.grader.hand_ins.hand_in import HAND_INS


def test_one_hand_in_is_run_once_and_is_everybodys_grade(course):
    run(course, "groups", "ps3", course / "groups.csv")
    said = collect_own(course, {"ben": WORK, "dora": WORK})
    assert "note: ann has the hand-in of ben (Group 1)" in said and "cleo has the hand-in of dora (Group 2)" in said
    assert copies(course, "ps3") == {"ann": "ben", "cleo": "dora", "eli": "dora"}
    assert grade(course) == ["ben", "dora"] and grade(course) == []
    assert scores(course) == dict.fromkeys(("ann", "ben", "cleo", "dora", "eli"), 3.0)
    assert {result.student for result in load_results(course, "ps3")} == {"ann", "ben", "cleo", "dora", "eli"}
    assert "5 pages" in run(course, "feedback", "ps3")
    assert all((course / "autograded" / who / "ps3" / NB).is_file() for who in ("ann", "eli"))
    assert "Group 1: ann, ben; handed in" in run(course, "groups", "ps3")


@pytest.mark.parametrize("damaged", ["ann", "ben"])  # a copy, and the one that was run
def test_a_damaged_record_of_a_member_is_written_again(course, damaged):
    graded_groups(course)
    before = list(load_results(course, "ps3"))
    record = next(one for one in before if one.student == damaged)
    record.path(course).write_text("{")
    run(course, "export", "ps3")  # points by hand are shared before
    assert grade(course) == (["ben"] if damaged == "ben" else [])
    assert list(load_results(course, "ps3")) == before


def test_the_newest_hand_in_of_a_group_counts_and_the_others_are_kept(course):
    run(course, "groups", "ps3", course / "groups.csv")
    collect_own(course, {"ben": WORK})
    newer = as_bytes(notebook(ANSWERS | {"why": "Another reason."}))
    collect_own(course, {"ben": WORK, "ann": newer}, "b.zip", (2026, 1, 31, 12, 0, 0))
    # ben's entry has the later date too: what is newest is decided by date, and of equal dates by name
    (of_ann, of_ben) = ((course / "submitted" / who / "ps3" / NB).read_bytes() for who in ("ann", "ben"))
    assert of_ann == of_ben
    collect_own(course, {"ann": newer}, "c.zip", (2026, 2, 1, 12, 0, 0))
    assert (course / "submitted/ben/ps3" / NB).read_bytes() == newer
    assert HAND_INS.load(course, "ps3", "ben").by == "ann" and HAND_INS.load(course, "ps3", "ann").by == ""
    assert any(path.read_bytes() == WORK for path in (course / "collected/ps3/earlier/ben").rglob("*.ipynb"))
    assert "unchanged" in collect_own(course, {"ann": newer}, "c.zip", (2026, 2, 1, 12, 0, 0))
    again = collect_own(course, {"ben": WORK}, "a.zip", (2026, 1, 30, 12, 0, 0))
    assert "1 kept aside" in again and "disputed  " not in again
    assert (course / "submitted/ben/ps3" / NB).read_bytes() == newer
    assert "1 replaced" in collect_own(course, {"ben": WORK}, "d.zip", (2026, 2, 2, 12, 0, 0))
    assert (course / "submitted/ann/ps3" / NB).read_bytes() == WORK and copies(course, "ps3") == {"ann": "ben"}


def test_points_by_hand_are_the_groups_and_one_members_can_be_changed(course):
    graded_groups(course)
    give_in_formgrader(course, "ann", 2, "Well said.")
    assert scores(course) == {"ann": 5, "ben": 5}
    run(course, "points", "ps3", "--student", "ben", "--exercise", "scores", "--score", "1", "--grader", "jane")
    assert scores(course) == {"ann": 5, "ben": 3}
    run(course, "feedback", "ps3")
    page = (course / "feedback/ben/ps3/03_attention.html").read_text(encoding="utf-8")
    assert "Well said." in page
    grade(course)
    assert scores(course) == {"ann": 5, "ben": 3}


def test_points_for_one_student_alone_are_not_shared_and_nobodys_are_shared_with_them(course):
    graded_groups(course)
    alone = "points", "ps3", "--grader", "jane", "--exercise", "why", "--student"
    run(course, *alone, "ben", "--score", "0", "--comment", "You did not take part.")
    assert why(course) == {"ann": (None, "", True), "ben": (0, "You did not take part.", False)}
    give_in_formgrader(course, "ann", 2, "Well said.")
    run(course, *alone, "ben", "--score", "-")
    assert why(course) == {"ann": (2, "Well said.", False), "ben": (None, "You did not take part.", True)}


def test_points_by_hand_for_a_replaced_answer_are_nobody_elses_and_wait_again(course):
    newer = as_bytes(notebook(ANSWERS | {"why": "Ben's reason."}))
    collect_own(course, {"ann": WORK})
    collect_own(course, {"ben": newer}, "b.zip", (2026, 1, 31, 12, 0, 0))
    grade(course)
    give_in_formgrader(course, "ann", 0, "Nonsense.")
    run(course, "groups", "ps3", course / "groups.csv")
    assert scores(course) == {"ann": 3, "ben": 3}
    grade(course)
    assert scores(course) == {"ann": 3, "ben": 3}
    assert why(course) == {"ann": (0, "Nonsense.", True), "ben": (None, "", True)}
    give_in_formgrader(course, "ben", 2, "Well said.")
    assert scores(course) == {"ann": 5, "ben": 5}
    assert why(course) == dict.fromkeys(("ann", "ben"), (2, "Well said.", False))


def test_late_days_and_extensions_are_each_members_own(course):
    (course / "nbgrader_config.py").write_text(RULE)
    run(course, "groups", "ps3", course / "groups.csv")
    collect_own(course, {"ben": WORK}, date=(2026, 2, 2, 11, 0, 0))  # on the first day after the due date
    grade(course)
    assert scores(course) == {"ann": pytest.approx(2.7), "ben": pytest.approx(2.7)}
    run(course, "extend", "ps3", "ann", "--days", "3")
    assert scores(course) == {"ann": 3, "ben": pytest.approx(2.7)}


TEAM = [
    Handed("Team_7_a", 12, NB, WORK, 501),  # Canvas writes the group's name and the user id of one member
    Handed("Fox, Cleo", 13, NB, WORK, 502),
]


def test_canvass_group_hand_in_goes_to_all_members_of_its_group_set(course):
    said = canvas_groups(course, CANVAS, TEAM)
    assert GROUPS.load(course, "ps3").members == {"Team_7_a": ("leeann", "roeben")}
    assert "2 students: 2 new" in said and "roeben has the hand-in of leeann" in said
    assert sorted(path.name for path in course.glob("submitted/*")) == ["foxcleo", "leeann", "roeben"]
    other = [Handed("Team_7_a", 11, NB, WORK + b" ", 601), TEAM[1]]  # another member's id, another attempt
    assert "1 replaced" in run(course, "collect", "ps3", canvas_zip(course / "b.zip", other))
    grade(course)
    everybody = [Handed("Lee, Ann", 11, NB, b""), Handed("Roe, Ben", 12, NB, b""), Handed("Fox, Cleo", 13, NB, b"")]
    (course / "Grades.csv").write_text(canvas_gradebook(everybody, "ps3 (1)", 11), encoding="utf-8")
    run(course, "export", "ps3", "--canvas-gradebook", course / "Grades.csv", "--to", course / "i.csv")
    with (course / "i.csv").open() as file:
        assert [row["ps3 (1)"] for row in csv.DictReader(file)][2:] == ["3", "3", "3", ""]


def test_records_of_an_earlier_version_are_read_and_grade_tells_what_it_undid(course):
    (course / SECRET).write_text("ab" * 32)
    (course / SECRET).chmod(0o600)
    canvas_groups(course, CANVAS, TEAM)
    grade(course)
    before = {student: HAND_INS.load(course, "ps3", student) for student in ("leeann", "roeben", "foxcleo")}
    for path in course.glob("collected/ps3/hand_ins/*.json"):  # as they were written before records had a group
        content = json.loads(path.read_text())
        path.write_text(json.dumps({key: content[key] for key in content.keys() - {"group", "replaced"}}))
    assert before == {student: HAND_INS.load(course, "ps3", student) for student in before}
    assert [one.group for one in before.values()] == ["Team_7_a", "Team_7_a", ""]
    GROUPS.save(Groups({"Team_7_a": ("leeann",)}), course, "ps3")
    told = run(course, "grade", "ps3")
    assert "  roeben no longer has the hand-in of leeann (Team_7_a) and has none until you collect" in told
    assert "roeben" not in run(course, "grade", "ps3") and sorted(scores(course)) == ["foxcleo", "leeann"]


def test_canvas_gives_the_group_one_feedback_and_a_members_own_to_nobody_else(course):
    canvas_groups(course, CANVAS, TEAM)
    grade(course)
    said, files = packed(course, "canvas")
    theirs = {"12": ("team", {"501"}), "13": ("cleo", {"502"})}
    assert "feedback of 3 students" in said and sorted(canvas_takes(name, theirs) for name in files) == ["cleo", "team"]
    run(course, "points", "ps3", "--student", "roeben", "--exercise", "scores", "--score", "0", "--grader", "jane",
        "--comment", "You did not take part.")  # fmt: skip
    said, files = packed(course, "canvas", code=1)
    assert "leeann: the system shows one feedback to the whole group" in said and "roeben: the system" in said
    assert not any(b"take part" in page for page in files.values())


def test_two_entries_that_name_one_group_are_disputed(course):
    """A student can choose a display name on Canvas. A list of one's own has no user ids."""
    GROUPS.save(Groups({"Team_7_a": ("leeann", "roeben")}), course, "ps3")
    both = [*TEAM, Handed("Team7a", 13, NB, b"{}", 777)]
    said = run(course, "collect", "ps3", canvas_zip(course / "a.zip", both), code=1)
    assert "2 disputed" in said and not (course / "submitted/leeann").exists()


def test_a_students_own_name_that_is_a_groups_is_recognized_by_the_user_id(course):
    said = canvas_groups(course, CANVAS, [*TEAM, Handed("Team7a", 13, NB, b"{}", 777)])
    assert (course / "submitted/leeann/ps3" / NB).read_bytes() == WORK
    assert "the system calls this student 'team7a', as the group Team_7_a, but the user id does not belong" in said


def test_a_group_that_was_collected_as_a_student_is_named(course):
    (course / "canvas.csv").write_text(CANVAS)
    run(course, "collect", "ps3", canvas_zip(course / "a.zip", TEAM))
    said = run(course, "groups", "ps3", course / "canvas.csv")
    assert "'team7a' was collected as a student and is a group; run `autograde forget team7a`" in said


FULL = [Handed("Ann Lee", 90210, NB, WORK), Handed("Ben Roe", 90211, NB, WORK), Handed("Cleo Fox", 90212, NB, WORK)]


def _worksheet(course, groups):
    """As gradingtable.php writes it for an assignment with group submission: one more column."""
    lines = moodle_worksheet(FULL).splitlines()
    lines = [f"{line},{more}" for line, more in zip(lines, ("Group", *groups))]
    (course / "w.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return course / "w.csv"


@pytest.mark.parametrize("folders", [True, False])
def test_moodles_group_hand_in_goes_to_the_members_in_its_worksheet(course, folders):
    worksheet = _worksheet(course, ("Group A", "Group A", "Default group"))
    run(course, "groups", "ps3", worksheet)
    assert GROUPS.load(course, "ps3").members == {"Group A": ("Ann Lee", "Ben Roe")}
    download = moodle_zip(course / "a.zip", [Handed("Group A", 17, NB, WORK)], folders=folders)
    assert "1 student: 1 new" in run(course, "collect", "ps3", download)
    grade(course, 2.5)
    said = run(course, "export", "ps3", "--moodle-worksheet", worksheet, "--to", course / "i.csv", code=1)
    assert "Cleo Fox (Participant 90212)" in said  # handed nothing in, and is not in the course yet
    imported = moodle_imports((course / "i.csv").read_text(encoding="utf-8"))
    assert {number: points for number, (points, _) in imported.items()} == {90210: 2.5, 90211: 2.5}
    ((name, page),) = packed(course, "moodle")[1].items()
    assert moodle_takes(name, {17: "all of Group A"})[0] == "all of Group A"
    assert b"Group A" in page and b"Ann Lee" not in page


def test_members_of_a_group_are_not_reported_as_similar(course):
    run(course, "groups", "ps3", course / "groups.csv")
    collect_own(course, {"ben": WORK, "dora": as_bytes(notebook(ANSWERS | {"why": "Other."})), "fay": WORK})
    found = json.loads(run(course, "similarity", "ps3", "--json"))
    assert found["students"] == 3
    named = {student for one in found["identical"] for student in one["students"]}
    assert not named & {"ann", "eli", "cleo"}


def test_files_of_groups_that_cannot_be_used_are_named(course):
    for text, words in (
        ("a,b\n1,2\n", "expected the columns group and student"),
        ("group,student\nG,ann\nH,ann\n", "ann is in two groups"),
        ("group,student\n", "expected students in groups, got none"),
        ("group,student\nTeam 1,ann\nteam_1,ben\n", "cannot be told from another"),
        ("group,student\nG,../x\n", "cannot be the name of a student"),
    ):
        (course / "groups.csv").write_text(text)
        with pytest.raises(AutogradeError, match=words):
            run(course, "groups", "ps3", course / "groups.csv")
    assert "ps3: no groups" in run(course, "groups", "ps3")


def test_a_forgotten_member_is_in_no_group(course):
    graded_groups(course)
    forget(course, "ben")
    assert not [path for path in course.rglob("*") if path.is_file() and path.name != "groups.csv"
                and path.suffix != ".zip" and b'"ben"' in path.read_bytes()]  # fmt: skip
    assert GROUPS.load(course, "ps3").members["Group 1"] == ("ann",) and scores(course) == {"ann": 3}


def test_to_forget_one_member_keeps_entries_that_only_contain_the_letters(course):
    with Gradebook(course) as book:
        book.book.add_student("an")
    set_groups(course, Planning="an ben")
    run(course, "collect", "ps3", canvas_zip(course / "a.zip", [Handed("Planning", 12, NB, WORK, 601)]))
    entries = HAND_INS.load(course, "ps3", "ben").entries
    assert HAND_INS.load(course, "ps3", "ben").by == "an" and entries
    forget(course, "an")
    assert HAND_INS.load(course, "ps3", "ben").by == "" and HAND_INS.load(course, "ps3", "ben").entries == entries


# --- members or names that change: everybody keeps their own work, and nobody gets another's ---

BLUE = as_bytes(notebook(ANSWERS | {"why": "Blue's reason."}))
SETS = (
    "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
    "Ann Lee,11,,alee,S,Red,70,\nBen Roe,12,,broe,S,Red,70,\nDan Fox,13,,dfox,S,Blue,71,\n"
)


def work_of(course, *students) -> list[bytes | None]:
    paths = [course / "submitted" / student / "ps3" / NB for student in students]
    return [path.read_bytes() if path.is_file() else None for path in paths]


def test_the_hand_in_of_a_group_stays_with_the_group_when_its_first_member_leaves(course):
    entries = [Handed("Red", 12, NB, WORK, 601), Handed("Blue", 13, NB, BLUE, 502)]
    canvas_groups(course, SETS, entries)
    grade(course)
    (course / "c.csv").write_text(SETS.replace("alee,S,Red,70", "alee,S,Blue,71"))
    said = run(course, "groups", "ps3", course / "c.csv")
    assert "roeben keeps the hand-in of Red, which leeann has left" in said
    assert work_of(course, "leeann", "roeben", "foxdan") == [BLUE, WORK, BLUE]
    assert HAND_INS.load(course, "ps3", "roeben").by == "" and HAND_INS.load(course, "ps3", "leeann").by == "foxdan"
    assert grade(course) == [] and scores(course) == dict.fromkeys(("foxdan", "leeann", "roeben"), 3.0)
    run(course, "collect", "ps3", canvas_zip(course / "a.zip", entries))
    assert work_of(course, "leeann", "roeben", "foxdan") == [BLUE, WORK, BLUE]


def test_a_group_without_members_leaves_no_hand_in_with_those_who_were_in_it(course):
    canvas_groups(course, SETS, [Handed("Red", 12, NB, WORK, 601)])
    grade(course)
    (course / "c.csv").write_text(SETS.replace("Red,70", "Blue,71"))
    said = run(course, "groups", "ps3", course / "c.csv")
    assert "leeann no longer has the hand-in of Red" in said and "roeben no longer has" in said
    assert work_of(course, "leeann", "roeben", "foxdan") == [None] * 3 and scores(course) == {}
    assert "Blue: Dan Fox (foxdan), Ann Lee (leeann), Ben Roe (roeben); nothing handed in" in said


def test_a_group_with_a_new_name_and_the_same_members_keeps_its_grades(course):
    canvas_groups(course, SETS, [Handed("Red", 12, NB, WORK, 601)])
    grade(course)
    run(course, "points", "ps3", "--student", "roeben", "--exercise", "why", "--score", "2", "--grader", "jane")
    (course / "c.csv").write_text(SETS.replace("Red", "Crimson"))
    assert "Crimson: Ann Lee (leeann), Ben Roe (roeben); handed in" in run(course, "groups", "ps3", course / "c.csv")
    assert grade(course) == [] and scores(course)["roeben"] == 5
    newer = canvas_zip(course / "b.zip", [Handed("Crimson", 12, NB, BLUE, 701)])
    assert "1 replaced" in run(course, "collect", "ps3", newer) and work_of(course, "roeben") == [BLUE]


def test_a_corrected_group_set_gives_everybody_their_own_work_back(course):
    collect_own(course, {"ann": BLUE})
    collect_own(course, {"ben": WORK}, "b.zip", (2026, 1, 31, 12, 0, 0))
    before = HAND_INS.load(course, "ps3", "ann")
    set_groups(course, Wrong="ann ben")
    assert work_of(course, "ann", "ben") == [WORK, WORK]
    grade(course)
    said = set_groups(course, G1="ann fay", G2="ben gil")
    assert "ann no longer has the hand-in of ben (Wrong) and has their own again" in said
    assert work_of(course, "ann", "ben", "fay", "gil") == [BLUE, WORK, BLUE, WORK]
    assert HAND_INS.load(course, "ps3", "ann") == before and set(scores(course)) == {"ben"}
    assert grade(course) == ["ann"] and set(scores(course)) == {"ann", "ben", "fay", "gil"}


def test_who_leaves_a_group_without_work_of_their_own_has_no_grade_from_it(course):
    graded_groups(course, "ann")
    run(course, "feedback", "ps3")
    said = set_groups(course, G1="ann", G3="ben fay")
    assert "ben no longer has the hand-in of ann (Group 1)" in said and "G3: ben, fay; nothing handed in" in said
    assert work_of(course, "ben") == [None] and HAND_INS.load(course, "ps3", "ben") is None
    assert not [path for folder in ("autograded", "feedback", "results/ps3") for path in course.glob(f"{folder}/ben/*")]
    assert grade(course) == [] and scores(course) == {"ann": 3}


def test_the_newest_hand_in_counts_as_a_whole(course):
    run(course, "groups", "ps3", course / "groups.csv")
    files = {f"ben/{NB}": WORK, f"ann/{NB}": BLUE, "ann/helper.py": b"x = 1"}
    run(course, "collect", "ps3", make_zip(course / "a.zip", files, (2026, 1, 30, 12, 0, 0)))
    assert copies(course, "ps3") == {"ann": "ben"}
    assert not (course / "submitted/ann/ps3/helper.py").exists()
    assert grade(course) == ["ben"] and len(list((course / "collected/ps3/earlier/ann").iterdir())) == 1
    (course / "submitted/ann/ps3/notes.txt").write_text("of the instructor")
    assert copies(course, "ps3") == {"ann": "ben"}
    newer = {f"ben/{NB}": WORK, "ben/helper.py": b"x = 2"}
    run(course, "collect", "ps3", make_zip(course / "b.zip", newer, (2026, 1, 31, 12, 0, 0)))
    run(course, "collect", "ps3", make_zip(course / "c.zip", {f"ann/{NB}": BLUE}, (2026, 2, 1, 12, 0, 0)))
    assert [path.name for path in (course / "submitted/ann/ps3").glob("*.*")] == [NB, "timestamp.txt"]  # not ben's file


def test_a_misspelt_member_gets_nothing(course):
    collect_own(course, {"ann": WORK, "ben": WORK})
    for _ in range(2):
        said = set_groups(course, G="ann bne")
        assert "note: 'bne' (G) is not a student of this course" in said
    collect_own(course, {"ann": BLUE}, "b.zip", (2026, 2, 1, 12, 0, 0))
    grade(course)
    assert not (course / "submitted/bne").exists() and set(scores(course)) == {"ann", "ben"}


@pytest.mark.parametrize("script", ["helper.py", "03_attention.py"])
def test_a_members_script_replaces_no_notebook_of_the_group(course, script):
    (course / "groups.csv").write_text(OWN)
    run(course, "groups", "ps3", course / "groups.csv")
    whole, newer = Handed("Ann", 1, NB, WORK, 500), Handed("Ben", 2, script, b"x = 1\n", 600)
    for handed in ([newer, whole], [newer]):
        zipped = canvas_zip(course / "a.zip", handed)
        run(course, "collect", "ps3", zipped)
        assert "0 new, 0 replaced" in run(course, "collect", "ps3", zipped)
        for member in ("ann", "ben"):
            folder = course / "submitted" / member / "ps3"
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == {NB: WORK}
