# ruff: noqa: F811 (fixtures of another file)
"""Groups whose members or names change: everybody keeps their own work, and nobody gets another's."""

import pytest
from grader_course import ANSWERS, NB, WORK, as_bytes, notebook
from group_course import (  # noqa: F401 (fixtures)
    OWN,
    canvas_groups,
    collect_own,
    course,
    grade,
    gradebook,
    graded_groups,
    run,
    scores,
    set_groups,
)
from lms_files import Handed, canvas_zip, make_zip

from autograde.grader.book.group_hand_ins import copies
from autograde.grader.hand_ins.hand_in import HAND_INS

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
