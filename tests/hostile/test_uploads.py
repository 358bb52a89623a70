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
| a login in Blackboard that ends like another's; a file like a receipt | 722d9dce | the whole login counts |
| the name of a group, or of a punctual student, as one's own | 722d9dce | a member's number; a name that is unique |
| a victim's name in other letters, or with an invisible one | 722d9dce | a known name stays, and a note names it |
| control characters in names of files, for the instructor's terminal | 722d9dce | names are shown escaped |
| a name, or a file's name, of 255 bytes and more: nothing is collected | 8bb5020d | a name is cut by its bytes |
"""

import io
import json
import zipfile

import pytest
from click.testing import CliRunner
from grader_course import ANSWERS, as_bytes, notebook
from lms_files import Handed, archive, blackboard_zip, canvas_zip, make_zip, moodle_zip, receipt

from autograde.cli import cli
from autograde.grader.book.course import make_course
from autograde.grader.book.forget import forget
from autograde.grader.book.people import GROUPS, Groups, People
from autograde.grader.hand_ins.archives import CollectError, DownloadLimits
from autograde.grader.hand_ins.collect import collect
from autograde.grader.hand_ins.roster import read_roster, read_times

NB = "03_attention.ipynb"
OTHERS, MINE = as_bytes(notebook(ANSWERS)), as_bytes(notebook(ANSWERS)) + b" "
VICTIM = Handed("Victim, Ann", 11, NB, OTHERS, attachment=501)
FUTURE = (2030, 1, 1, 0, 0, 0)


ANN = Handed("Ann Lee", 0, NB, OTHERS, login="ann")


def mallory(file: str, content: bytes = MINE, **more) -> Handed:
    return Handed("Mallory", 66, file, content, **{"attachment": 999} | more)


def collected(download, course, roster=None, **options):
    return collect(download, course, "ps3", ["03_attention"], roster, **options)


def work(course, student: str) -> bytes | None:
    path = course / "submitted" / student / "ps3" / NB
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
    collected(canvas_zip(tmp_path / "a.zip", both if victim_first else both[::-1]), tmp_path, platform="canvas")
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
        "moodle": lambda: moodle_zip(tmp_path / "a.zip", [Handed("Ann Victim", 11, NB, OTHERS), attacker]),
        "blackboard": lambda: blackboard_zip(
            tmp_path / "a.zip",
            "Week 3",
            [Handed("Ann Victim", 0, NB, OTHERS, login="victimann"), attacker],
        ),
        "folders": lambda: make_zip(
            tmp_path / "a.zip", {"victimann/03_attention.ipynb": OTHERS, "mallory/all.zip": packed}
        ),
        "files": lambda: make_zip(tmp_path / "a.zip", {"03_attention_victimann.ipynb": OTHERS, "mallory.zip": packed}),
    }
    collected(names[system](), tmp_path, roster)
    assert work(tmp_path, "victimann") == OTHERS
    assert {path.name.casefold() for path in tmp_path.glob("submitted/*")} == {"victimann", "mallory"}


def test_a_number_of_the_roster_in_a_name_names_nobody(tmp_path):
    roster = read_roster([{"student": "victimann", "id": "11", "name": "Ann Victim"}, {"student": "eve", "id": "66"}])
    for name in ("11", "victimann"):  # what Mallory calls herself where the system lets her
        course = tmp_path / name
        handed = [VICTIM, Handed(name, 67, NB, MINE, attachment=999)]
        manifest = collected(canvas_zip(tmp_path / f"{name}.zip", handed), course, roster)
        assert work(course, "victimann") == OTHERS, manifest.rows


def test_names_that_two_systems_could_have_written_are_refused_until_one_is_chosen(tmp_path):
    alone = canvas_zip(tmp_path / "a.zip", [mallory("x_victim_attempt_2030-01-01-00-00-00_03_attention.ipynb")])
    with pytest.raises(CollectError, match="Canvas and Blackboard.*--from canvas or --from blackboard"):
        collected(alone, tmp_path)
    assert collected(alone, tmp_path, platform="canvas").students == ["mallory"]


def test_a_mixture_of_systems_is_refused_with_what_to_do(tmp_path):
    mixed = make_zip(tmp_path / "a.zip", {"doe_1_2_03_attention.ipynb": OTHERS, "notes of mine.ipynb": MINE})
    with pytest.raises(CollectError, match="1 of 2 names .* 'notes of mine.ipynb' is not.*--from canvas"):
        collected(mixed, tmp_path)
    manifest = collected(mixed, tmp_path, platform="canvas")
    assert manifest.students == ["doe"] and manifest.count("refused") == 1


def test_a_date_inside_an_archive_does_not_backdate(tmp_path):
    """A folder of files: the date is that of the file that the instructor got."""
    (tmp_path / "in").mkdir()
    packed = archive({NB: MINE}, (2020, 1, 1, 0, 0, 0))
    (tmp_path / "in/03_attention_mallory.zip").write_bytes(packed)
    manifest = collected(tmp_path / "in", tmp_path)
    assert manifest.rows[0].timestamp > "2025"
    assert (tmp_path / "submitted/mallory/ps3/timestamp.txt").read_text() > "2025"


def test_a_date_inside_an_archive_does_not_win_over_a_later_upload(tmp_path):
    first = mallory("a.zip", archive({NB: MINE}, FUTURE), attachment=700)
    collected(canvas_zip(tmp_path / "a.zip", [first, VICTIM]), tmp_path)
    later = mallory("b.zip", archive({NB: OTHERS}, (1999, 1, 1, 0, 0, 0)), attachment=701)
    collected(canvas_zip(tmp_path / "b.zip", [later, VICTIM]), tmp_path)
    assert work(tmp_path, "mallory") == OTHERS
    collected(tmp_path / "a.zip", tmp_path)  # the older download once more
    assert work(tmp_path, "mallory") == OTHERS


def test_a_display_name_that_contains_anothers_name_and_number_replaces_nothing(tmp_path):
    """Canvas takes _5_ out of a name before it takes out what is no letter: this one passes it by."""
    forger = Handed("victimann_11-_9999-_y", 66, "x.ipynb", MINE, attachment=1000)
    manifest = collected(canvas_zip(tmp_path / "a.zip", [VICTIM, forger]), tmp_path)
    assert work(tmp_path, "victimann") == OTHERS and manifest.count("disputed") == 1
    alone = collected(canvas_zip(tmp_path / "c.zip", [forger]), tmp_path / "alone")
    assert "can be read as another student's too" in alone.notes[0]
    collected(canvas_zip(tmp_path / "b.zip", [forger], downloaded=FUTURE), tmp_path)
    assert work(tmp_path, "victimann") == OTHERS
    assert MINE in [path.read_bytes() for path in tmp_path.glob("collected/ps3/disputed/victimann/*")]


def test_two_claims_on_one_student_are_reported_and_an_earlier_hand_in_stays(tmp_path):
    collected(canvas_zip(tmp_path / "a.zip", [VICTIM]), tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/03_attention_victimann.ipynb").write_bytes(MINE)
    (row,) = collected(tmp_path / "in", tmp_path).rows
    assert row.action == "disputed" and "name the student in a CSV" in row.reason
    assert work(tmp_path, "victimann") == OTHERS
    roster = read_roster([{"student": "victimann", "file": "03_attention_victimann.ipynb"}])  # the instructor decides
    assert collected(tmp_path / "in", tmp_path, roster).rows[0].action == "replaced"
    assert work(tmp_path, "victimann") == MINE
    assert (tmp_path / "collected/ps3/earlier/victimann/001/03_attention.ipynb").read_bytes() == OTHERS


def test_two_files_that_name_one_student_are_both_kept_and_neither_counts(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/03_attention_ann.ipynb").write_bytes(OTHERS)
    (tmp_path / "in/Copy of 03_attention_ann.ipynb").write_bytes(MINE)
    manifest = collected(tmp_path / "in", tmp_path)
    assert manifest.count("disputed") == 2 and work(tmp_path, "ann") is None
    assert {path.read_bytes() for path in tmp_path.glob("collected/ps3/disputed/ann/*")} == {OTHERS, MINE}


def test_folders_in_the_only_students_folder_are_not_other_students(tmp_path):
    """The second download is Mallory's alone: all entries share her folder, as if it were the download's."""
    both = {"ann/03_attention.ipynb": OTHERS, "mallory/03_attention.ipynb": OTHERS}
    collected(make_zip(tmp_path / "a.zip", both), tmp_path)
    alone = {"mallory/ann/03_attention.ipynb": MINE, "mallory/ben/03_attention.ipynb": MINE}
    collected(make_zip(tmp_path / "b.zip", alone, FUTURE), tmp_path)
    assert work(tmp_path, "ann") == OTHERS and work(tmp_path, "mallory") == MINE and work(tmp_path, "ben") is None


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("receipts", [True, False])
def test_a_login_that_ends_like_anothers_is_not_the_others(tmp_path, receipts, order):
    """Eve's login is smith_eve_ann or eve_ann, Ann's is ann: in Blackboard's names, _ is before a login and in it."""
    for name, login in {"a": "eve_ann", "b": "ann_eve"}.items():
        eve = Handed("Eve Roe", 0, NB, MINE, login=login, time="2026-02-01-15-00-00")
        entries = []
        for one in (ANN, eve)[::order]:
            beginning = f"Week 3_{one.login}_attempt_{one.time}"
            entries += [(f"{beginning}.txt", receipt("Week 3", one).encode())] if receipts else []
            entries += [(f"{beginning}_{one.file}", one.content)]
        collected(make_zip(tmp_path / f"{name}.zip", entries), tmp_path / name)
        assert work(tmp_path / name, "ann") == OTHERS and work(tmp_path / name, login) == MINE


@pytest.mark.parametrize("forged_first", [True, False])
def test_a_file_that_looks_like_a_receipt_names_nobody(tmp_path, forged_first):
    beginning = "Week 3_eve_ann_attempt_2026-02-01-15-00-00"
    forged = (f"{beginning}_a.txt", b"Name: Ann Lee (ann)\n")
    eve = Handed("Eve Roe", 0, NB, MINE, login="eve_ann")
    honest = [
        ("Week 3_ann_attempt_2026-01-30-15-00-00.txt", receipt("Week 3", ANN).encode()),
        ("Week 3_ann_attempt_2026-01-30-15-00-00_03_attention.ipynb", OTHERS),
        (f"{beginning}.txt", receipt("Week 3", eve).encode()),
        (f"{beginning}_03_attention.ipynb", MINE),
    ]
    collected(make_zip(tmp_path / "a.zip", [forged, *honest] if forged_first else [*honest, forged]), tmp_path)
    assert work(tmp_path, "ann") == OTHERS and work(tmp_path, "eve_ann") == MINE
    assert People(tmp_path)["eve_ann"].name == "Eve Roe"


def test_a_login_in_blackboard_that_may_be_part_of_one_replaces_nothing(tmp_path):
    """Without a receipt, in a download of one student."""
    collected(blackboard_zip(tmp_path / "a.zip", "Week 3", [ANN]), tmp_path)
    alone = make_zip(tmp_path / "b.zip", {"Week 3_eve_ann_attempt_2026-02-01-15-00-00_03_attention.ipynb": MINE})
    assert collected(alone, tmp_path).count("disputed") == 1 and work(tmp_path, "ann") == OTHERS


@pytest.mark.parametrize("name", ["jane doe", "Jane\u200b Doe", "JANE DOE"])
def test_a_name_in_other_letters_does_not_take_a_known_student_apart(tmp_path, name):
    """Moodle gives other numbers in each assignment: only the name shows who Jane is."""
    jane, again = (Handed("Jane Doe", number, NB, OTHERS) for number in (5, 9))
    collect(moodle_zip(tmp_path / "a.zip", [jane]), tmp_path, "ps2", ["03_attention"])
    forger = Handed(name, 10, NB, MINE)
    manifest = collected(moodle_zip(tmp_path / "b.zip", [again, forger]), tmp_path)
    assert work(tmp_path, "Jane Doe") == OTHERS and len(manifest.students) == 2
    assert any("2 students are called jane doe" in note for note in manifest.notes)


GROUP = Handed("Group 1", 11, NB, OTHERS, attachment=501)
FORGED = Handed("Group 1", 66, NB, MINE, attachment=900)
GROUP_1, MEMBERS = Groups({"Group 1": ("ann", "ben")}), {"ann": "11", "ben": "12"}


def learn(course, numbers: dict[str, str]) -> None:
    """The numbers in Canvas that the course knows."""
    people = People(course)
    for student, number in numbers.items():
        people.learn(student, canvas=number)
    people.save()


@pytest.mark.parametrize("known", ["nobody", "the attacker", "the members"])
@pytest.mark.parametrize("system", [canvas_zip, moodle_zip], ids=["canvas", "moodle"])
def test_a_groups_name_as_ones_own_replaces_nothing(tmp_path, system, known):
    GROUPS.save(GROUP_1, tmp_path, "ps3")
    learn(tmp_path, {"the attacker": {"mallory": "66"}, "the members": MEMBERS}.get(known, {}))
    collected(system(tmp_path / "a.zip", [GROUP]), tmp_path)
    assert work(tmp_path, "ann") == OTHERS
    rows = collected(system(tmp_path / "b.zip", [FORGED], downloaded=FUTURE), tmp_path).rows
    assert work(tmp_path, "ann") == OTHERS
    if system is moodle_zip or known == "nobody":
        assert rows[0].action == "disputed" and "the user id in it is 66, was 11 before" in rows[0].reason
    elif known == "the attacker":
        assert work(tmp_path, "mallory") == MINE


def test_a_member_hands_in_again_for_the_group(tmp_path):
    """Honest: Canvas writes another member's number."""
    GROUPS.save(GROUP_1, tmp_path, "ps3")
    learn(tmp_path, MEMBERS)
    collected(canvas_zip(tmp_path / "a.zip", [GROUP]), tmp_path)
    again = Handed("Group 1", 12, NB, MINE, attachment=900)
    assert collected(canvas_zip(tmp_path / "b.zip", [again]), tmp_path).count("replaced") == 1


@pytest.mark.parametrize("by_list", [True, False])
def test_the_name_of_a_punctual_student_gives_nobody_elses_time(tmp_path, by_list):
    """The table of times has logins only. Where there is a class list, the attacker is missing in the table."""
    (tmp_path / "times.csv").write_text("student,time\nvictimann,2026-01-01 10:00\n")
    rows = [{"student": "victimann", "id": "11"}, {"student": "mallory", "id": "66"}] if by_list else []
    forger = Handed("Victim, Ann", 66, NB, MINE, attachment=999, late=True)
    roster, times = read_roster(rows), read_times([tmp_path / "times.csv"])
    manifest = collected(canvas_zip(tmp_path / "a.zip", [VICTIM, forger]), tmp_path, roster=roster, times=times)
    time = {row.source.split("_")[-3 - row.late]: row.timestamp for row in manifest.rows}
    assert {row.timestamp for row in manifest.rows if "_66_" in row.source} == {""}, time


def test_a_groups_number_in_moodle_is_no_participants(tmp_path):
    GROUPS.save(GROUP_1, tmp_path, "ps3")
    (tmp_path / "times.csv").write_text("identifier,time\nParticipant 11,2026-01-01 10:00\n")
    times = read_times([tmp_path / "times.csv"])
    assert collected(moodle_zip(tmp_path / "a.zip", [GROUP]), tmp_path, times=times).rows[0].timestamp == ""


def test_a_name_writes_nothing_but_text_to_the_terminal(tmp_path):
    make_course(tmp_path)
    (tmp_path / "release/ps3").mkdir(parents=True)
    (tmp_path / "release/ps3/03_attention.ipynb").write_bytes(OTHERS)
    names = ["\x1b[2J", "\x9b2J", "\u202etxt", "\n500 students: 500 new", "a\rb"]
    download = make_zip(tmp_path / "a.zip", [(f"doe_1_2_{name}.pdf.zip", b"x") for name in names])
    for more in ([], ["--json"]):
        words = ["collect", "ps3", str(download), "--course", str(tmp_path), "--from", "canvas", *more]
        said = CliRunner().invoke(cli, words).output
        assert "\\x1b[2J" in said or "\\u001b[2J" in said
        assert all(character.isprintable() for character in said.replace("\n", "")), ascii(said)
        assert "\n500 students" not in said


@pytest.mark.parametrize("letter", ["中", "😀", "e\u0301"])
@pytest.mark.parametrize("where", ["student", "file", "file in an archive"])
def test_a_name_that_is_too_long_for_the_disk_stops_nobody(tmp_path, letter, where):
    own = letter * 85
    inside = archive({NB: MINE, f"{own}.py": b"x = 1"})
    one = {
        "student": Handed(letter * 240, 66, NB, MINE, 999),
        "file": mallory(f"{own}.ipynb"),
        "file in an archive": mallory("all.zip", inside),
    }[where]
    manifest = collected(canvas_zip(tmp_path / "a.zip", [VICTIM, one]), tmp_path)
    assert work(tmp_path, "victimann") == OTHERS
    assert {row.action for row in manifest.rows} == {"new"}


# --- budgets ---


def many_files() -> bytes:
    return archive({f"{number:05}_03_attention.ipynb": b"" for number in range(20_001)})


def zeros(names: int = 30) -> bytes:
    """Packed 1000 to 1, each file below the size at which the packing is looked at."""
    return archive({f"{number}_03_attention.ipynb": bytes(1 << 20) for number in range(names)})


def zeros_in_many_archives() -> bytes:
    one = archive({NB: bytes(1 << 20)})
    return archive({f"{number}.zip": one for number in range(40)})


def bzip2() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as packed:
        packed.writestr(NB, bytes(4 << 20))
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
    handed += [Handed(f"Student {letter}", 100 + n, NB, OTHERS, 2000 + n) for n, letter in enumerate("abcd")]
    limits = DownloadLimits(ratio_from=8 << 20)
    manifest = collected(canvas_zip(tmp_path / "a.zip", handed), tmp_path, limits=limits)
    assert {"victimann", "studenta", "studentb", "studentc", "studentd"} <= set(manifest.students)
    assert "mallory" in {row.student for row in manifest.rows if row.action == "refused"}
    assert len(json.dumps([row.source for row in manifest.rows])) < 1 << 20


def test_notebooks_are_read_before_a_budget_is_spent_on_other_files(tmp_path):
    """An honest student who packs the whole folder, with an environment of 3,000 files."""
    files = {f".venv/lib/{number}.txt": b"" for number in range(3_000)} | {"zz/03_attention.ipynb": OTHERS}
    handed = [Handed("Doe, Jane", 5, "all.zip", archive(files))]
    manifest = collected(canvas_zip(tmp_path / "a.zip", handed), tmp_path)
    assert work(tmp_path, "doejane") == OTHERS and manifest.count("refused") == 1


def test_the_budget_of_the_download_is_the_last_resort_and_is_reported(tmp_path):
    handed = [Handed(f"Student {letter}", n, NB, OTHERS, n) for n, letter in enumerate("abcdef", 1)]
    limits = DownloadLimits(download=2 * len(OTHERS))
    manifest = collected(canvas_zip(tmp_path / "a.zip", handed), tmp_path, limits=limits)
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
    manifest = collected(download, tmp_path, limits=DownloadLimits(files=10))
    actions = {row.action for row in manifest.rows if row.source.endswith("_ann.ipynb") or "_501_" in row.source}
    assert actions and "refused" not in actions


def test_forgetting_deletes_what_collecting_kept(tmp_path):
    make_course(tmp_path)
    forger = Handed("victimann_11-_9999-_y", 66, "x.ipynb", MINE, attachment=1000)
    collected(canvas_zip(tmp_path / "a.zip", [VICTIM, forger]), tmp_path)
    (tmp_path / "feedback/ps3-canvas.zip").write_bytes(b"")
    forget(tmp_path, "victimann")
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "a.zip":
            assert "victimann" not in str(path.relative_to(tmp_path))
            assert b"victimann_11_501" not in path.read_bytes()
    assert not (tmp_path / "feedback/ps3-canvas.zip").exists()
