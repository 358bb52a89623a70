"""Names and archives that students hand in to be somebody else, to be punctual, or to stop the collecting.

| attack | first seen to succeed at | stopped by |
|---|---|---|
| a file in Canvas named as Blackboard's, Moodle's | 472cbaf | one system per download; only its part is read |
| a name that is another's number in the roster | 472cbaf | numbers, logins and names are looked up apart |
| a path in an archive like Moodle's, or of the roster | 472cbaf | nothing inside an upload names anybody |
| a date in an archive that backdates, or wins over others | 472cbaf | time and order come from the outermost entry |
| Canvas's mark LATE ignored | 472cbaf | the mark counts, see test_late.py |
| 20,001 files; zeros packed 1000 to 1; bzip2; a list of a million files | 472cbaf | a budget per student |
| a name in Canvas that contains another's name and number | 472cbaf | a name with two readings replaces nothing |
"""

import io
import json
import zipfile

import pytest
from grader_course import ANSWERS, as_bytes, notebook
from lms_files import Handed, archive, blackboard_zip, canvas_zip, make_zip, moodle_zip

from autograde.grader.archives import CollectError, Limits
from autograde.grader.collect import collect
from autograde.grader.course import make_course
from autograde.grader.forget import forget
from autograde.grader.roster import read_roster

NB = ["03_attention"]
OTHERS, MINE = as_bytes(notebook(ANSWERS)), as_bytes(notebook(ANSWERS)) + b" "
VICTIM = Handed("Victim, Ann", 11, "03_attention.ipynb", OTHERS, attachment=501)
FUTURE = (2030, 1, 1, 0, 0, 0)


def mallory(file: str, content: bytes = MINE, **more) -> Handed:
    return Handed("Mallory", 66, file, content, **{"attachment": 999} | more)


def work(course, student: str) -> bytes | None:
    path = course / "submitted" / student / "ps3" / "03_attention.ipynb"
    return path.read_bytes() if path.exists() else None


@pytest.mark.parametrize(
    "file",
    [
        "x_victimann_attempt_2030-01-01-00-00-00_03_attention.ipynb",
        "victimann_11_assignsubmission_file_03_attention.ipynb",
        "victimann_11_502_03_attention.ipynb",
        "victimann_LATE_11_502_03_attention-9.ipynb",
    ],
)
@pytest.mark.parametrize("victim_first", [True, False])
def test_a_name_like_another_systems_names_nobody(tmp_path, file, victim_first):
    both = [VICTIM, mallory(file)]
    collect(
        canvas_zip(tmp_path / "a.zip", both if victim_first else both[::-1]), tmp_path, "ps3", NB, platform="canvas"
    )
    assert work(tmp_path, "victimann") == OTHERS
    assert {path.parts[-3] for path in tmp_path.glob("submitted/*/*/*.ipynb")} <= {"victimann", "mallory"}


@pytest.mark.parametrize(
    "inner",
    [
        "victimann_11_502_03_attention.ipynb",
        "victimann/03_attention.ipynb",
        "submitted/victimann/ps3/03_attention.ipynb",
        "Ann Victim_11_assignsubmission_file_/03_attention.ipynb",
        "x_victimann_attempt_2030-01-01-00-00-00_03_attention.ipynb",
        "Copy of 03_attention.ipynb",
    ],
)
@pytest.mark.parametrize("system", ["canvas", "moodle", "blackboard", "folders", "files"])
def test_nothing_inside_an_archive_names_anybody(tmp_path, inner, system):
    """The roster names the victim by name, number, and a file; the archive's dates are in the future."""
    roster = read_roster(
        [{"student": "victimann", "name": "Ann Victim", "id": "11", "file": "Copy of 03_attention.ipynb"}]
    )
    packed = archive({inner: MINE}, FUTURE)
    victim, attacker = VICTIM, mallory("all.zip", packed, login="mallory")
    names = {
        "canvas": lambda: canvas_zip(tmp_path / "a.zip", [victim, attacker]),
        "moodle": lambda: moodle_zip(
            tmp_path / "a.zip", [Handed("Ann Victim", 11, "03_attention.ipynb", OTHERS), attacker]
        ),
        "blackboard": lambda: blackboard_zip(
            tmp_path / "a.zip",
            "Week 3",
            [Handed("Ann Victim", 0, "03_attention.ipynb", OTHERS, login="victimann"), attacker],
        ),
        "folders": lambda: make_zip(
            tmp_path / "a.zip", {"victimann/03_attention.ipynb": OTHERS, "mallory/all.zip": packed}
        ),
        "files": lambda: make_zip(tmp_path / "a.zip", {"03_attention_victimann.ipynb": OTHERS, "mallory.zip": packed}),
    }
    collect(names[system](), tmp_path, "ps3", NB, roster)
    assert work(tmp_path, "victimann") == OTHERS
    assert {path.name.casefold() for path in tmp_path.glob("submitted/*")} == {"victimann", "mallory"}


def test_a_number_of_the_roster_in_a_name_names_nobody(tmp_path):
    roster = read_roster([{"student": "victimann", "id": "11", "name": "Ann Victim"}, {"student": "eve", "id": "66"}])
    for name in ("11", "victimann"):  # what Mallory calls herself where the system lets her
        course = tmp_path / name
        handed = [VICTIM, Handed(name, 67, "03_attention.ipynb", MINE, attachment=999)]
        manifest = collect(canvas_zip(tmp_path / f"{name}.zip", handed), course, "ps3", NB, roster)
        assert work(course, "victimann") == OTHERS, manifest.rows


def test_names_that_two_systems_could_have_written_are_refused_until_one_is_told(tmp_path):
    alone = canvas_zip(tmp_path / "a.zip", [mallory("x_victim_attempt_2030-01-01-00-00-00_03_attention.ipynb")])
    with pytest.raises(CollectError, match="Canvas and Blackboard.*--from canvas or --from blackboard"):
        collect(alone, tmp_path, "ps3", NB)
    assert collect(alone, tmp_path, "ps3", NB, platform="canvas").students == ["mallory"]


def test_a_mixture_of_systems_is_refused_with_what_to_do(tmp_path):
    mixed = make_zip(tmp_path / "a.zip", {"doe_1_2_03_attention.ipynb": OTHERS, "notes of mine.ipynb": MINE})
    with pytest.raises(CollectError, match="1 of 2 names .* 'notes of mine.ipynb' is not.*--from canvas"):
        collect(mixed, tmp_path, "ps3", NB)
    manifest = collect(mixed, tmp_path, "ps3", NB, platform="canvas")
    assert manifest.students == ["doe"] and manifest.count("refused") == 1


def test_a_date_inside_an_archive_does_not_backdate(tmp_path):
    """A folder of files: the date is that of the file that the instructor got."""
    (tmp_path / "in").mkdir()
    packed = archive({"03_attention.ipynb": MINE}, (2020, 1, 1, 0, 0, 0))
    (tmp_path / "in/03_attention_mallory.zip").write_bytes(packed)
    manifest = collect(tmp_path / "in", tmp_path, "ps3", NB)
    assert manifest.rows[0].timestamp > "2025"
    assert (tmp_path / "submitted/mallory/ps3/timestamp.txt").read_text() > "2025"


def test_a_date_inside_an_archive_does_not_win_over_a_later_upload(tmp_path):
    first = mallory("a.zip", archive({"03_attention.ipynb": MINE}, FUTURE), attachment=700)
    collect(canvas_zip(tmp_path / "a.zip", [first, VICTIM]), tmp_path, "ps3", NB)
    later = mallory("b.zip", archive({"03_attention.ipynb": OTHERS}, (1999, 1, 1, 0, 0, 0)), attachment=701)
    collect(canvas_zip(tmp_path / "b.zip", [later, VICTIM]), tmp_path, "ps3", NB)
    assert work(tmp_path, "mallory") == OTHERS
    collect(tmp_path / "a.zip", tmp_path, "ps3", NB)  # the older download once more
    assert work(tmp_path, "mallory") == OTHERS


def test_a_display_name_that_contains_anothers_name_and_number_replaces_nothing(tmp_path):
    """Canvas takes _5_ out of a name before it takes out what is no letter: this one passes it by."""
    forger = Handed("victimann_11-_9999-_y", 66, "x.ipynb", MINE, attachment=1000)
    manifest = collect(canvas_zip(tmp_path / "a.zip", [VICTIM, forger]), tmp_path, "ps3", NB)
    assert work(tmp_path, "victimann") == OTHERS and manifest.count("disputed") == 1
    alone = collect(canvas_zip(tmp_path / "c.zip", [forger]), tmp_path / "alone", "ps3", NB)
    assert "can be read as another student's too" in alone.notes[0]
    collect(canvas_zip(tmp_path / "b.zip", [forger], downloaded=FUTURE), tmp_path, "ps3", NB)
    assert work(tmp_path, "victimann") == OTHERS
    assert MINE in [path.read_bytes() for path in tmp_path.glob("collected/ps3/disputed/victimann/*")]


def test_two_claims_on_one_student_are_reported_and_an_earlier_hand_in_stays(tmp_path):
    collect(canvas_zip(tmp_path / "a.zip", [VICTIM]), tmp_path, "ps3", NB)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/03_attention_victimann.ipynb").write_bytes(MINE)
    (row,) = collect(tmp_path / "in", tmp_path, "ps3", NB).rows
    assert row.action == "disputed" and "name the student in a CSV" in row.reason
    assert work(tmp_path, "victimann") == OTHERS
    roster = read_roster([{"student": "victimann", "file": "03_attention_victimann.ipynb"}])  # the instructor decides
    assert collect(tmp_path / "in", tmp_path, "ps3", NB, roster).rows[0].action == "replaced"
    assert work(tmp_path, "victimann") == MINE
    assert (tmp_path / "collected/ps3/earlier/victimann/001/03_attention.ipynb").read_bytes() == OTHERS


def test_two_files_that_name_one_student_are_both_kept_and_neither_counts(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/03_attention_ann.ipynb").write_bytes(OTHERS)
    (tmp_path / "in/Copy of 03_attention_ann.ipynb").write_bytes(MINE)
    manifest = collect(tmp_path / "in", tmp_path, "ps3", NB)
    assert manifest.count("disputed") == 2 and work(tmp_path, "ann") is None
    assert {path.read_bytes() for path in tmp_path.glob("collected/ps3/disputed/ann/*")} == {OTHERS, MINE}


def test_folders_in_the_only_students_folder_are_not_other_students(tmp_path):
    """The second download is Mallory's alone: all entries share her folder, as if it were the download's."""
    both = {"ann/03_attention.ipynb": OTHERS, "mallory/03_attention.ipynb": OTHERS}
    collect(make_zip(tmp_path / "a.zip", both), tmp_path, "ps3", NB)
    alone = {"mallory/ann/03_attention.ipynb": MINE, "mallory/ben/03_attention.ipynb": MINE}
    collect(make_zip(tmp_path / "b.zip", alone, FUTURE), tmp_path, "ps3", NB)
    assert work(tmp_path, "ann") == OTHERS and work(tmp_path, "mallory") == MINE and work(tmp_path, "ben") is None


# --- budgets ---


def many_files() -> bytes:
    return archive({f"{number:05}_03_attention.ipynb": b"" for number in range(20_001)})


def zeros(names: int = 30) -> bytes:
    """Packed 1000 to 1, each file below the size at which the packing is looked at."""
    return archive({f"{number}_03_attention.ipynb": bytes(1 << 20) for number in range(names)})


def zeros_in_many_archives() -> bytes:
    one = archive({"03_attention.ipynb": bytes(1 << 20)})
    return archive({f"{number}.zip": one for number in range(40)})


def bzip2() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as packed:
        packed.writestr("03_attention.ipynb", bytes(4 << 20))
    return buffer.getvalue()


def long_list() -> bytes:
    """An archive whose list of files alone is large: opening it costs a hundred times as much memory."""
    return archive({f"{number}{'x' * 200}.txt": b"" for number in range(30_000)})


@pytest.mark.parametrize(
    "attack",
    [zeros, zeros_in_many_archives, bzip2, long_list, pytest.param(many_files, marks=pytest.mark.exhaustive)],
    ids=lambda one: one.__name__,
)
def test_one_students_archive_does_not_cost_the_others_anything(tmp_path, attack):
    handed = [VICTIM, mallory("all.zip", attack())]
    handed += [
        Handed(f"Student {letter}", 100 + n, "03_attention.ipynb", OTHERS, 2000 + n) for n, letter in enumerate("abcd")
    ]
    manifest = collect(canvas_zip(tmp_path / "a.zip", handed), tmp_path, "ps3", NB, limits=Limits(ratio_from=8 << 20))
    assert {"victimann", "studenta", "studentb", "studentc", "studentd"} <= set(manifest.students)
    assert "mallory" in {row.student for row in manifest.rows if row.action == "refused"}
    assert len(json.dumps([row.source for row in manifest.rows])) < 1 << 20


def test_notebooks_are_read_before_a_budget_is_spent_on_other_files(tmp_path):
    """An honest student who packs the whole folder, with an environment of 3,000 files."""
    files = {f".venv/lib/{number}.txt": b"" for number in range(3_000)} | {"zz/03_attention.ipynb": OTHERS}
    handed = [Handed("Doe, Jane", 5, "all.zip", archive(files))]
    manifest = collect(canvas_zip(tmp_path / "a.zip", handed), tmp_path, "ps3", NB)
    assert work(tmp_path, "doejane") == OTHERS and manifest.count("refused") == 1


def test_the_budget_of_the_download_is_the_last_resort_and_is_told(tmp_path):
    handed = [Handed(f"Student {letter}", n, "03_attention.ipynb", OTHERS, n) for n, letter in enumerate("abcdef", 1)]
    limits = Limits(download=2 * len(OTHERS))
    manifest = collect(canvas_zip(tmp_path / "a.zip", handed), tmp_path, "ps3", NB, limits=limits)
    refused = [row for row in manifest.rows if row.action == "refused"]
    assert len(manifest.students) == 2 and len(refused) == 4
    assert all("collect the download in parts" in row.reason for row in refused)


@pytest.mark.parametrize("system", ["files", "canvas"])
def test_nobody_spends_another_students_budget(tmp_path, system):
    """The bomb has the victim's name, and comes first."""
    bomb = archive({f"{number}.ipynb": b"" for number in range(30)})
    if system == "files":
        download = make_zip(
            tmp_path / "a.zip", {"03_attention_ann.zip": bomb, "Copy of 03_attention_ann.ipynb": OTHERS}
        )
    else:
        download = canvas_zip(tmp_path / "a.zip", [Handed("victimann_11-_9999-_y", 66, "x.zip", bomb, 1000), VICTIM])
    manifest = collect(download, tmp_path, "ps3", NB, limits=Limits(files=10))
    victims = {
        row.source: row.action
        for row in manifest.rows
        if row.source.endswith("attention_ann.ipynb") or "_501_" in row.source
    }
    assert victims and "refused" not in victims.values()


def test_forgetting_deletes_what_collecting_kept(tmp_path):
    make_course(tmp_path)
    forger = Handed("victimann_11-_9999-_y", 66, "x.ipynb", MINE, attachment=1000)
    collect(canvas_zip(tmp_path / "a.zip", [VICTIM, forger]), tmp_path, "ps3", NB)
    (tmp_path / "feedback/ps3-canvas.zip").write_bytes(b"")
    forget(tmp_path, "victimann")
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "a.zip"]
    assert not [
        path
        for path in left
        if "victimann" in str(path.relative_to(tmp_path)) or b"victimann_11_501" in path.read_bytes()
    ]
    assert not (tmp_path / "feedback/ps3-canvas.zip").exists()
