"""Collecting downloads: every system's names, nothing hostile gets through, nothing is lost, nothing happens twice."""

import io
import json
import os
import stat
import subprocess
import sys
import time
import unicodedata
import zipfile
from datetime import UTC, datetime

import pytest
from grader_course import WORK
from hypothesis import given, settings
from hypothesis import strategies as st
from lms_files import make_zip

from autograde.grader.book.people import GROUPS, Groups
from autograde.grader.hand_ins.archives import CollectError, DownloadLimits, entries
from autograde.grader.hand_ins.collect import collect
from autograde.grader.hand_ins.filenames import notebook_of, own_stem, safe_name
from autograde.grader.hand_ins.hand_in import HAND_INS
from autograde.grader.hand_ins.platforms import CHOICES, Reader, choose
from autograde.grader.hand_ins.roster import read_roster

NOTEBOOKS = ["03_attention"]
DOES = {"doe_1_2_03_attention.ipynb": WORK}
FIRST, LATER = (2026, 1, 30, 12, 0, 0), (2026, 2, 1, 0, 0, 0)


def take(folder, files, name="a.zip", date=FIRST, notebooks=NOTEBOOKS, **more):
    """Collects a zip of these files in the course at `folder`."""
    return collect(make_zip(folder / name, files, date), folder, "ps3", notebooks, **more)


def rows(manifest, action):
    return {row.source: row for row in manifest.rows if row.action == action}


def submitted(course):
    return sorted(path.relative_to(course / "submitted").as_posix() for path in (course / "submitted").rglob("*.ipynb"))


@pytest.mark.parametrize(
    ("path", "system", "student", "file", "number", "late"),
    [
        ("doejane_4711_90210_03_attention.ipynb", "Canvas", "doejane", "03_attention.ipynb", "4711", False),
        ("doejane_LATE_4711_90210_03_attention-2.ipynb", "Canvas", "doejane", "03_attention-2.ipynb", "4711", True),
        ("doe_jr_4711_90210_03_attention.ipynb", "Canvas", "doe_jr", "03_attention.ipynb", "4711", False),
        ("doejane_4711_question_31_90210_03_attention.ipynb", "Canvas", "doejane", "03_attention.ipynb", "4711", False),
        ("doejane_LATE_4711_text.html", "Canvas", "doejane", "text.html", "4711", True),
        ("anon_LATE_aB3cD_90001_03_attention.ipynb", "Canvas", "anon_aB3cD", "03_attention.ipynb", "aB3cD", True),
        ("LATE_anon_aB3cD_90001_03_attention.ipynb", "Canvas", "anon_aB3cD", "03_attention.ipynb", "aB3cD", True),
        ("anon_aB3cD_90001_03_attention.ipynb", "Canvas", "anon_aB3cD", "03_attention.ipynb", "aB3cD", False),
        ("Jané D_902_assignsubmission_file_03_attention.ipynb", "Moodle", "Jané D", "03_attention.ipynb", "902", None),
        ("Jané D_902_assignsubmission_file/03_attention.ipynb", "Moodle", "Jané D", "03_attention.ipynb", "902", None),
        ("Jané D_902_assignsubmission_file_/a/03.ipynb", "Moodle", "Jané D", "a/03.ipynb", "902", None),
        ("Jané D_902_assignsubmission_onlinetext_/onlinetext.html", "Moodle", "Jané D", "onlinetext.html", "902", None),
        ("W_jdoe_attempt_2026-01-30-15-00-00_03_attention.ipynb", "Blackboard", "jdoe", "03_attention.ipynb", "", None),
        ("Week 3_jdoe_poging_2026-01-30-15-00-00.txt", "Blackboard", "jdoe", "receipt.txt", "", None),
        ("Jane Doe/03_attention.ipynb", "folders", "Jane Doe", "03_attention.ipynb", "", None),
        ("jdoe/ps3/03_attention.ipynb", "folders", "jdoe", "03_attention.ipynb", "", None),
        ("03_attention_jane_doe.ipynb", "files", "jane_doe", "03_attention_jane_doe.ipynb", "", None),
        ("Copy of 03_attention - Jane.ipynb", "files", "Jane", "Copy of 03_attention - Jane.ipynb", "", None),
    ],
)  # fmt: skip
def test_names_of_every_system_are_read(path, system, student, file, number, late):
    reader = choose([path], NOTEBOOKS, "ps3", UTC)
    named = reader.read(path)
    assert reader.title == system
    assert (named.student, named.file, named.number, named.late) == (student, file, number, late)


@pytest.mark.parametrize(
    ("name", "notebook"),
    [
        ("03_attention.ipynb", "03_attention"),
        ("Copy of 03_attention (1).ipynb", "03_attention"),
        ("03_attention-2.ipynb.txt", "03_attention"),
        ("my 03_ATTENTION.ipynb", "03_attention"),
        ("04-encoder-layer.ipynb", "04_encoder_layer"),  # systems write other signs between the words
        ("04 Encoder Layer (2).ipynb", "04_encoder_layer"),
        ("essay.ipynb", None),
    ],
)
def test_the_notebook_is_known_by_its_name(name, notebook):
    assert notebook_of(name, ["03_attention", "04_encoder", "04_encoder_layer"]) == notebook


COPIES = [
    "Kopie van X", "X - Kopie", "Kopie (2) von X", "X Kopie 2", "Copie de X", "X - Copie (3)", "Copia de X",
    "X copia 2", "Cópia de X", "Copia di X", "Kopia X", "Kopia av X", "X — kopia", "Kopi af X", "Kopio: X",
    "Másolat – X", "X másolata", "Копия X", "X — копия", "X のコピー", "Xのコピー", "X - コピー (2)", "X의 사본",
    "X - 복사본", "“X”的副本", "X - 副本", "X（1）", "Bản sao của X", "Copy of Copy of X", "X (another copy)",
    "X (3rd copy)", "X copy 2", "X - Copy (2)", "X-Copy1", "X_copia",
]  # fmt: skip


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("name", COPIES)
def test_a_copy_named_by_a_file_manager_or_colab_is_nobodys_name(name, form):
    """Each became a student of its own: "Kopie van"."""
    file = unicodedata.normalize(form, name.replace("X", "03_attention") + ".ipynb")
    assert own_stem(file) == "03_attention"
    for pattern in ("03_attention - Jane", "Jane 03_attention"):
        file = unicodedata.normalize(form, name.replace("X", pattern) + ".ipynb")
        assert choose([file], NOTEBOOKS, "ps3", UTC).read(file).student == "Jane"


@pytest.mark.parametrize("name", ["anna_kopinski", "marco polo", "jane-copeland", "kopp"])
def test_a_name_that_only_looks_like_a_copy_stays(name):
    file = f"03_attention_{name}.ipynb"
    assert choose([file], NOTEBOOKS, "ps3", UTC).read(file).student == name


def test_a_name_that_differs_in_accents_takes_no_place_without_a_word(tmp_path):
    roster = read_roster([{"student": "jg", "name": "José García"}, {"student": "mm", "name": "Zoë Muller"},
                          {"student": "mu", "name": "Zoë Müller"}])  # fmt: skip
    files = {f"{name}_{number}_assignsubmission_file/03_attention.ipynb": WORK
             for number, name in enumerate(("Jose Garcia", "Zoë Müller"), start=1)}  # fmt: skip
    manifest = take(tmp_path, files, roster=roster)
    assert manifest.students == ["jg", "mu"]
    said = [note for note in manifest.notes if "your table" in note]
    assert len(said) == 1 and "jg: the system says 'Jose Garcia', your table 'José García'" in said[0]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"no": 1}', '{"platform": 3, "x": 1}', "\udcff"])
def test_a_damaged_record_stops_nobody_and_is_named_once(tmp_path, capsys, text):
    first = {f"{name}/03_attention.ipynb": WORK for name in ("ann", "bob")}
    take(tmp_path, first)
    record = tmp_path / "collected/ps3/hand_ins/ann.json"
    record.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert set(HAND_INS.load_all(tmp_path, "ps3")) == {"bob"}
    manifest = take(tmp_path, {name: WORK + b" " for name in first}, "b.zip", LATER)
    assert {row.student: row.action for row in manifest.rows}["bob"] == "replaced"
    said = capsys.readouterr().err
    assert said.count("ann.json: expected the record of a hand-in") == 1


@pytest.mark.parametrize("text", ["{", "[1]", '{"ann": {"no": 1}}', '{"ann": 3}'])
def test_damaged_names_stop_nobody_and_are_kept(tmp_path, capsys, text):
    file = tmp_path / "collected/people.json"
    file.parent.mkdir()
    file.write_text(text)
    manifest = take(tmp_path, {"ann/03_attention.ipynb": WORK})
    assert manifest.students == ["ann"] and "ann" in json.loads(file.read_text())
    assert file.with_suffix(".damaged").read_text() == text
    assert capsys.readouterr().err.count("expected the students in whole characters") == 1


def test_a_canvas_download_becomes_nbgraders_tree(tmp_path):
    files = {"doejane_4711_90210_03_attention.ipynb": WORK, "roemark_LATE_12_13_03_attention-1.ipynb": WORK + b" "}
    manifest = take(tmp_path, files)
    assert submitted(tmp_path) == ["doejane/ps3/03_attention.ipynb", "roemark/ps3/03_attention.ipynb"]
    assert not (tmp_path / "submitted/doejane/ps3/timestamp.txt").exists()  # Canvas's date is the download's
    assert [row.late for row in manifest.rows] == [False, True]
    written = json.loads((tmp_path / "collected/ps3/manifest.json").read_text())
    assert {row["student"] for row in written["rows"]} == {"doejane", "roemark"}


def test_nbgrader_reads_the_timestamp(tmp_path):
    from nbgrader.coursedir import CourseDirectory  # slow to import

    take(tmp_path, {"d/03_attention.ipynb": WORK})
    stamp = CourseDirectory().get_existing_timestamp(str(tmp_path / "submitted/d/ps3"))
    assert stamp == datetime(2026, 1, 30, 12)


def test_the_latest_attempt_counts_and_the_others_are_kept(tmp_path):
    attempts = enumerate(["", "-1", "-2"])
    files = {f"doe_4711_{n}_03_attention{again}.ipynb": WORK + again.encode() for n, again in attempts}
    manifest = take(tmp_path, files)
    assert (tmp_path / "submitted/doe/ps3/03_attention.ipynb").read_bytes().endswith(b"-2")
    assert manifest.count("kept aside") == 2
    assert len(list((tmp_path / "collected/ps3/earlier/doe").iterdir())) == 2


def test_collecting_twice_changes_nothing(tmp_path):
    take(tmp_path, DOES)
    before = (tmp_path / "submitted/doe/ps3").stat().st_mtime_ns
    assert take(tmp_path, DOES).count("unchanged") == 1
    assert (tmp_path / "submitted/doe/ps3").stat().st_mtime_ns == before


def test_the_manifests_of_earlier_downloads_stay(tmp_path):
    """Two downloads of one name, as Canvas gives them, the first with a refused file; then one that changes nothing."""
    take(tmp_path, DOES | {"../evil_3_4_x.ipynb": WORK})
    for _ in range(3):
        take(tmp_path, {"roe_7_8_03_attention.ipynb": WORK})
    home = tmp_path / "collected/ps3"
    assert {path.name for path in home.glob("manifest*")} == {"manifest.json", "manifest-1.json"}
    actions = [
        sorted(row["action"] for row in json.loads((home / name).read_text())["rows"])
        for name in ("manifest-1.json", "manifest.json")
    ]
    assert actions == [["new", "refused"], ["new"]]


def test_a_later_download_replaces_and_an_older_one_does_not(tmp_path):
    take(tmp_path, DOES)
    assert take(tmp_path, dict.fromkeys(DOES, WORK + b" "), "b.zip", LATER).count("replaced") == 1
    assert (tmp_path / "collected/ps3/earlier/doe/001/03_attention.ipynb").read_bytes() == WORK
    assert take(tmp_path, DOES).count("kept aside") == 1
    assert (tmp_path / "submitted/doe/ps3/03_attention.ipynb").read_bytes() == WORK + b" "


def test_killed_between_the_two_renames_the_student_keeps_the_work(tmp_path):
    take(tmp_path, DOES)
    folder = tmp_path / "submitted/doe"
    (folder / "ps3").rename(folder / ".ps3.partial")
    (folder / ".ps3.partial/.whole").touch()
    assert take(tmp_path, DOES).count("unchanged") == 1
    assert submitted(tmp_path) == ["doe/ps3/03_attention.ipynb"]


@pytest.mark.parametrize(
    ("paths", "students"),
    [
        (["Jane/homework/03_attention.ipynb", "Mark/homework/03_attention.ipynb"], ["Jane", "Mark"]),
        (["all/Jane/03_attention.ipynb", "all/Mark/homework/03_attention.ipynb"], ["Jane", "Mark"]),
        (["week3/03_attention_jane.ipynb", "week3/03_attention-mark.ipynb"], ["jane", "mark"]),
        (["submitted/jane/ps3/03_attention.ipynb"], ["jane"]),
        (["jane/ps3/03_attention.ipynb", "mark/ps3/03_attention.ipynb"], ["jane", "mark"]),
        (["Jane/03_attention-Copy1.ipynb"], ["Jane"]),
    ],
)
def test_folders_are_students_at_any_depth(tmp_path, paths, students):
    assert take(tmp_path, {path: WORK + bytes([32] * n) for n, path in enumerate(paths)}).students == students


class _FromMacOS(zipfile.ZipInfo):
    """Its name is in UTF-8, with accents apart, and no flag is set for this."""

    def _encodeFilenameFlags(self):
        return unicodedata.normalize("NFD", self.filename).encode(), self.flag_bits


def test_names_in_an_archive_of_macos_are_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        for name in ("Jürgen Müller", "Ann"):
            packed.writestr(_FromMacOS(f"all/{name}/03_attention.ipynb"), WORK)
    roster = read_roster([{"student": "jm", "name": "Jürgen Müller"}])
    assert collect(tmp_path / "a.zip", tmp_path, "ps3", NOTEBOOKS, roster).students == ["Ann", "jm"]


def test_folders_in_an_archive_of_an_old_powershell_are_folders(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        for name in ("Jane", "Ann"):
            member = zipfile.ZipInfo("x")
            member.filename, member.create_system = f"all\\{name}\\03_attention.ipynb", 0
            packed.writestr(member, WORK)
    assert collect(tmp_path / "a.zip", tmp_path, "ps3", NOTEBOOKS).students == ["Ann", "Jane"]


def test_a_name_in_another_unicode_form_is_the_same_student(tmp_path):
    for number, form in enumerate(("NFC", "NFD", "NFC")):
        name = unicodedata.normalize(form, "Jürgen")
        files = {f"all/{name}/03_attention.ipynb": WORK + b" " * number, "all/Ann/03_attention.ipynb": WORK}
        assert not rows(take(tmp_path, files, f"{number}.zip", (2026, 2, 1 + number, 0, 0, 0)), "disputed")
    assert (tmp_path / "submitted/Jürgen/ps3/03_attention.ipynb").read_bytes() == WORK + b"  "


def test_a_groups_name_in_another_unicode_form_is_the_group(tmp_path):
    GROUPS.save(Groups({"Gruppe Köln": ("ann", "ben")}), tmp_path, "ps3")
    name = unicodedata.normalize("NFD", "Gruppe Köln_17_assignsubmission_file/03_attention.ipynb")
    assert take(tmp_path, {name: WORK}).students == ["ann"]


def test_a_name_that_is_not_utf_8_in_a_folder_is_refused_and_the_others_are_collected(tmp_path):
    for name in (b"J\xfcrgen", b"Ann"):
        folder = os.path.join(os.fsencode(tmp_path), b"all", name)
        os.makedirs(folder)
        with open(os.path.join(folder, b"03_attention.ipynb"), "wb") as file:
            file.write(WORK)
    manifest = collect(tmp_path / "all", tmp_path, "ps3", NOTEBOOKS)
    assert manifest.students == ["Ann"]
    assert "not UTF-8" in rows(manifest, "refused")["J\ufffdrgen/03_attention.ipynb"].reason


def test_namesakes_get_folders_of_their_own_and_keep_them_when_only_one_hands_in_again(tmp_path):
    files = {"doejane_1_5_03_attention.ipynb": WORK, "doejane_2_6_03_attention.ipynb": WORK}
    assert take(tmp_path, files).students == ["doejane-1", "doejane-2"]
    later = take(tmp_path, {"doejane_2_7_03_attention-1.ipynb": WORK + b" "}, "b.zip", LATER)
    assert later.students == ["doejane-2"]


def test_two_notebooks_that_come_separately_are_kept_together(tmp_path):
    both = ["03_attention", "04_encoder"]
    day = [(2026, 2, number, 0, 0, 0) for number in (1, 2, 3, 5)]
    first = {"d/03_attention.ipynb": WORK, "d/04_encoder.ipynb": WORK}
    take(tmp_path, first, "a.zip", day[0], both)
    take(tmp_path, {"d/03_attention.ipynb": WORK + b"3"}, "b.zip", day[3], both)
    take(tmp_path, {"d/04_encoder.ipynb": WORK + b"4"}, "c.zip", day[2], both)
    folder = tmp_path / "submitted/d/ps3"
    assert (folder / "03_attention.ipynb").read_bytes() == WORK + b"3"
    assert (folder / "04_encoder.ipynb").read_bytes() == WORK + b"4"
    assert (folder / "timestamp.txt").read_text() == "2026-02-05 00:00:00 UTC"


def test_receipts_and_notes_are_ignored(tmp_path):
    blackboard = {
        "Week 3_jdoe_attempt_2026-01-30-15-00-00.txt": b"receipt",
        "Week 3_jdoe_attempt_2026-01-30-15-00-00_03_attention.ipynb": WORK,
    }
    moodle = {
        "Jane Doe_90210_assignsubmission_onlinetext_/onlinetext.html": b"<html>hello",
        "Jane Doe_90210_assignsubmission_file_/03_attention.ipynb": WORK,
    }
    canvas = {"doe_1_text.html": b"<html>", "doe_1_link.html": b"<html>", "doe_1_2_03_attention.ipynb": WORK}
    for files, student in ((blackboard, "jdoe"), (moodle, "Jane Doe"), (canvas, "doe")):
        manifest = take(tmp_path, files)
        assert manifest.students == [student] and manifest.count("refused") == 0
        assert manifest.count("ignored") == len(files) - 1
        assert (tmp_path / "submitted" / student / "ps3/03_attention.ipynb").read_bytes() == WORK


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("Jane Doe_9_assignsubmission_file_03_attention.ipynb", "s1"),
        ("untitled.ipynb", "s2"),
        ("x_4711_1_03_attention.ipynb", "s3"),
        ("doejane_12_1_03_attention.ipynb", "s1"),
        ("Week 3_jd7_attempt_2026-01-30-15-00-00_03_attention.ipynb", "s4"),
    ],
)
def test_a_csv_maps_names_numbers_logins_and_files_to_students(tmp_path, name, student):
    people = [
        {"student": "s1", "name": "Doe, Jané", "file": ""},
        {"student": "s2", "file": "untitled.ipynb"},
        {"student": "s3", "id": "4711"},
        {"student": "s4", "login": "JD7", "name": "Jo Dee"},
    ]
    assert take(tmp_path, {name: WORK}, roster=read_roster(people)).students == [student]


def test_a_file_without_a_student_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/03_attention.ipynb").write_bytes(WORK)
    manifest = collect(tmp_path / "in", tmp_path, "ps3", NOTEBOOKS)
    assert "name the student in a CSV" in rows(manifest, "refused")["03_attention.ipynb"].reason


def test_a_pdf_alone_is_kept_so_that_the_student_gets_a_verdict(tmp_path):
    files = {"a_1_1_03_attention.pdf": b"%PDF", "b_2_2_03_attention.ipynb": WORK, "b_2_3_03_attention.pdf": b"%PDF"}
    take(tmp_path, files)
    assert (tmp_path / "submitted/a/ps3/03_attention.ipynb").read_bytes() == b"%PDF"
    assert (tmp_path / "submitted/b/ps3/03_attention.ipynb").read_bytes() == WORK


def link_member(name, target):
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target


def test_hostile_archives_write_nothing_outside(tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("../../evil", "/etc/evil", "C:\\x"):
            archive.writestr(f"{name}_1_1_03_attention.ipynb", WORK)
        archive.writestr(*link_member("link_1_1_03_attention.ipynb", "/etc/passwd"))
        archive.writestr("..\\..\\up_1_1_03_attention.ipynb", WORK)
        archive.writestr("bomb_2_1_03_attention.ipynb", b"\0" * (65 << 20))
        archive.writestr("good_3_1_03_attention.ipynb", WORK)
        archive.writestr(".._4_1_03_attention.ipynb", WORK)
    course = tmp_path / "inner" / "course"
    manifest = collect(path, course, "ps3", NOTEBOOKS)
    assert manifest.students == ["good"]
    assert manifest.count("refused") == 7
    outside = [p for p in tmp_path.rglob("*") if p != path and not p.is_relative_to(tmp_path / "inner")]
    assert outside == []


def test_nested_bombs_counts_and_totals_are_capped(tmp_path):
    inner = WORK
    for _ in range(5):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("a_1_1_03_attention.zip", inner)
        inner = buffer.getvalue()
    (tmp_path / "in.zip").write_bytes(inner)
    assert "nested more than 2 deep" in list(entries(tmp_path / "in.zip"))[0].refused
    many = make_zip(tmp_path / "many.zip", {f"s{n}_1_1_03_attention.ipynb": b"{}" for n in range(30)})
    found = list(entries(many, DownloadLimits(files=10), owner=lambda outer: "all"))
    assert len(found) == 11 and "more than 10 files" in found[-1].refused
    assert [entry.refused is None for entry in entries(many, DownloadLimits(student=5))].count(True) == 30
    assert [entry.refused is None for entry in entries(many, DownloadLimits(download=5))].count(True) == 2


def test_a_member_that_is_larger_than_its_header_is_refused(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"doe_1_1_03_attention.ipynb": b"x" * 5000, "roe_2_1_03_attention.ipynb": WORK})
    data = path.read_bytes().replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(data)
    manifest = collect(path, tmp_path, "ps3", NOTEBOOKS)
    assert "damaged" in rows(manifest, "refused")["doe_1_1_03_attention.ipynb"].reason
    assert manifest.students == ["roe"]


def test_links_and_pipes_in_a_folder_are_refused(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "03_attention_a.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(folder / "03_attention_b.ipynb")
    (folder / "loop").symlink_to(folder)
    (folder / "03_attention_c.ipynb").write_bytes(WORK)
    manifest = collect(folder, tmp_path, "ps3", NOTEBOOKS)
    assert manifest.students == ["c"]


def test_a_file_that_is_not_an_archive_is_reported(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 broken")
    assert "not a complete zip archive" in list(entries(tmp_path / "a.zip"))[0].refused
    with pytest.raises(CollectError, match="expected a folder, a zip archive or a notebook"):
        list(entries(tmp_path / "nowhere"))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_names_never_leave_their_folder_and_never_raise(text):
    name = safe_name(text)
    assert "/" not in name and "\\" not in name and not name.startswith(".") and "\0" not in name
    for platform in CHOICES:
        Reader(platform, NOTEBOOKS, "ps3", UTC).read(f"x{text}")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_archives_never_raise(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    path = make_zip(folder / "a.zip", {"doe_1_1_03_attention.ipynb": b"{}" * 50, "roe_2_2_03_attention.ipynb": b"[]"})
    raw = bytearray(path.read_bytes())
    for _ in range(3):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    manifest = collect(path, folder, "ps3", NOTEBOOKS, platform="canvas")
    assert set(manifest.students) == {one.name for one in (folder / "submitted").glob("*") if one.is_dir()}


_COLLECT = "from autograde.grader.hand_ins.collect import collect; collect({!r}, {!r}, 'ps3', ['03_attention'])"


@pytest.mark.exhaustive
def test_killed_at_any_moment_and_started_again_nothing_is_lost_or_doubled(tmp_path):
    files = {f"s{n:03}_{n}_{n}_03_attention.ipynb": WORK + b" " * n for n in range(600)}
    archive = make_zip(tmp_path / "a.zip", files)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    collect(archive, whole, "ps3", NOTEBOOKS)
    kills = 0
    for attempt in range(12):
        process = subprocess.Popen([sys.executable, "-c", _COLLECT.format(str(archive), str(killed))])
        time.sleep(0.1 + 0.05 * attempt)
        kills += process.poll() is None
        process.kill()
        process.wait()
    assert kills >= 3
    collect(archive, killed, "ps3", NOTEBOOKS)
    assert contents(killed / "submitted") == contents(whole / "submitted")
    assert not (killed / "collected/ps3/earlier").exists()


def test_a_full_disk_is_reported_and_what_was_there_stays(tmp_path):
    take(tmp_path, DOES)
    later = make_zip(tmp_path / "b.zip", dict.fromkeys(DOES, WORK * 2), LATER)
    full = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    full += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(WORK)}, {len(WORK)})); "
    command = [sys.executable, "-c", full + _COLLECT.format(str(later), str(tmp_path))]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert "cannot be written (File too large); files collected before are kept" in ended.stderr
    assert (tmp_path / "submitted/doe/ps3/03_attention.ipynb").read_bytes() == WORK


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
