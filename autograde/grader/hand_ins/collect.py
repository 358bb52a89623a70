"""Sorts downloads of a learning-management system into nbgrader's `submitted/STUDENT/ASSIGNMENT/`, with a manifest.

    manifest = collect("downloads/week3.zip", "course", "ps3", notebooks=["03_attention"])

    names of the entries ─▶ which system ─▶ whose file, from the system's part ─▶ disputed claims ─▶ folders

The newest upload of each student counts; earlier ones are kept in `collected/ASSIGNMENT/earlier/`, files that two
students' entries claim in `disputed/`. Each student's folder is built elsewhere and moved in one step, so collecting
can be killed and started again, and collecting the same download twice changes nothing. The manifest lists every file
of the download with its action and the reason; earlier manifests are kept, the oldest as `manifest-1.json`.
"""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path

from autograde.grader.book import variants
from autograde.grader.book.group_hand_ins import spread
from autograde.grader.book.people import GROUPS, Groups, People
from autograde.grader.hand_ins import platforms
from autograde.grader.hand_ins.archives import CollectError, DownloadLimits, copy_out, entries, outermost
from autograde.grader.hand_ins.filenames import notebook_of, safe_name
from autograde.grader.hand_ins.hand_in import HAND_INS, TIME, Folder, HandIn, hash_of
from autograde.grader.hand_ins.identity import (
    ALSO_TAKEN,
    IN_A_CSV,
    ONLY,
    Found,
    Manifest,
    ManifestRow,
    by_student,
    exercise_names,
    take_scripts,
    undisputed,
)
from autograde.grader.hand_ins.platforms import Reader, Upload
from autograde.grader.hand_ins.roster import Roster, Times
from bertlab.common.files import write_text

_NOTEBOOK_ENDS = (".ipynb", ".ipynb.txt", ".ipynb.json")
_LONGEST_RECEIPT = 4_096  # bytes of it that are read
_OF_THE_SYSTEM = ("text.html", "link.html", "receipt.txt", "onlinetext.html")  # text entries, links, receipts


def collect(
    source: str | Path,
    course: str | Path,
    assignment: str,
    notebooks: Sequence[str],
    roster: Roster | None = None,
    zone: tzinfo = UTC,
    limits: DownloadLimits = DownloadLimits(),  # noqa: B008 (frozen)
    progress: Callable[[Iterable], Iterable] = iter,
    platform: str | None = None,
    times: Times | None = None,
) -> Manifest:
    """Collects a folder, a zip archive or a notebook, and writes `collected/ASSIGNMENT/manifest.json`.

    notebooks: names in the release. zone: of times without one. progress: wraps the loop over files. platform: of
    `platforms.CHOICES`, None to see it from the names. times: where the download does not tell them. Raises
    CollectError when nothing can be collected at all.
    """
    source, course, roster = Path(source), Path(course), roster or Roster()
    reader = _reader(source, course, notebooks, assignment, roster, zone, limits, platform)
    manifest = Manifest(assignment, source.name, reader.title)
    home = course / "collected" / assignment
    staging = home / ".staging"
    try:
        shutil.rmtree(staging, ignore_errors=True)  # of a collection that was killed
        staging.mkdir(parents=True)
        found = progress(entries(source, limits, zone, reader.owner))
        found = _copy_all(found, manifest, staging, reader, roster)
        people, groups = People(course), GROUPS.load(course, assignment)
        students = by_student(found, course, reader, roster, people, groups)
        names = exercise_names(course, assignment)
        for student, files in sorted(students.items()):
            folder = Folder(course, assignment, student)
            manifest.notes += take_scripts(folder, files, notebooks, names)
            _settle(folder, files, reader, times or Times(), roster, people)
            _learn(people, student, files, reader.platform)
        for student in roster.people.keys() & {row.student for row in manifest.rows}:
            person = roster.people[student]
            people.learn(student, person.name, person.email, person.login)
        people.save()
        manifest.notes += spread(course, assignment)
        manifest.rows.sort(key=lambda row: (row.student, row.source))
        manifest.notes += [*_notes(manifest, reader), *_namesakes(students), *_odd_names(students, roster, groups)]
        manifest.notes += _left_behind(students, course, assignment)
        _note_variants(manifest, course)
        _write_manifest(manifest, home)
    except OSError as reason:
        raise CollectError(
            f"{course}: cannot be written ({reason.strerror}); files collected before are kept"
        ) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return manifest


def _reader(source: Path, course: Path, notebooks, assignment, roster: Roster, zone, limits, platform) -> Reader:
    """The system of the download, from all names that the roster does not know; with Blackboard's receipts read."""
    names = [entry.path for entry in outermost(source, limits, zone) if not entry.refused]
    shared = platforms.common_folders(names)
    unknown = [name for name in names if roster.by_file(name, "/".join(Path(name).parts[shared:])) is None]
    if names and not unknown:
        return Reader("files", notebooks, assignment, zone, shared)
    reader = platforms.choose(unknown, notebooks, assignment, zone, platform)
    if reader.platform == "folders" and names:  # of one student alone: folders within that student's are nobody else's
        for level, name in enumerate(Path(names[0]).parts[: reader.skipped]):
            if (course / "submitted" / name).is_dir() or roster.by_name(name):
                return replace(reader, skipped=level)
    if reader.platform != "blackboard":
        return reader
    logins = {}
    for entry in outermost(source, limits, zone):
        path = reader.relative(entry.path)
        if not entry.refused and platforms.is_receipt(path):
            with entry.open() as file:
                logins |= platforms.read_receipt(file.read(_LONGEST_RECEIPT).decode("utf-8", "replace"), path)
    return replace(reader, logins=logins, beginning=platforms.shared_beginning(list(map(reader.relative, names))))


def _write_manifest(manifest: Manifest, home: Path) -> None:
    """Writes what a download changed; the manifest before gets a number. Else writes nothing."""
    path = home / "manifest.json"
    if path.exists():
        if all(row.action == "unchanged" for row in manifest.rows):
            return
        path.rename(home / f"manifest-{1 + len(list(home.glob('manifest-*.json')))}.json")
    write_text(path, manifest.to_json())


# --- whose file ---


def _copy_all(found, manifest, staging, reader: Reader, roster: Roster) -> list[Found]:
    """Copies every file that is a submission into the staging folder; the others become rows."""
    taken = []
    for number, entry in enumerate(found):
        row = ManifestRow(entry.path, "refused", size=entry.size, reason=entry.refused or "")
        manifest.rows.append(row)
        upload = reader.read(entry.outer)
        named = roster.by_file(entry.outer, reader.relative(entry.outer))
        if named and not upload:
            upload = Upload(named, Path(entry.outer).name)
        if upload:
            row.student, row.system, row.late = named or upload.student, reader.title, bool(upload.late)
        if entry.refused:
            continue
        name = Path(entry.inner).name if entry.inner else Path(upload.file).name if upload else Path(entry.path).name
        lower = name.lower()
        proper = lower.endswith(_NOTEBOOK_ENDS)
        if upload is None or not safe_name(row.student):
            why = "its name contains no student" if reader.dated else f"it is not named as {reader.title} names entries"
            row.student, row.reason = "", f"{why}; {IN_A_CSV}"
            if not proper:
                row.action, row.reason = "ignored", "it is not a notebook, and its name contains no student"
            continue
        if not proper and (entry.inner and not lower.endswith(ALSO_TAKEN) or upload.file in _OF_THE_SYSTEM):
            row.action, row.reason = "ignored", ONLY
            continue
        notebook = notebook_of(name, reader.notebooks)
        row.file = f"{notebook}.ipynb" if notebook and not lower.endswith(ALSO_TAKEN) else safe_name(name)
        if proper and notebook is None:
            row.reason = f"its name matches no notebook of the assignment ({', '.join(reader.notebooks)})"
            continue
        staged = staging / f"{number}"
        try:
            row.size = copy_out(entry, staged)
        except CollectError as reason:
            row.reason = str(reason)
            continue
        row.sha256 = hash_of(staged)
        odd = not proper and not lower.endswith(ALSO_TAKEN)
        taken.append(Found(row, entry, upload, staged, named is not None, odd))
    return taken


# --- what happens to the files ---


def _settle(folder: Folder, files: list[Found], reader: Reader, times: Times, roster: Roster, people: People) -> None:
    """Moves the newest version of each file to its folder; records the action in each row."""
    for file in files:
        upload, alone = file.upload, roster.by_name(file.upload.student) in (None, folder.student)
        numbered = not (upload.of_group and reader.platform == "moodle")  # there the number is the group's own
        time = times.of(upload if numbered else replace(upload, number=""), folder.student, alone)
        time = time or upload.time or (file.entry.modified if reader.dated else None)
        file.row.timestamp = time.strftime(TIME) if time else ""
    files = undisputed(folder, files, reader, roster, people)
    newest = _newest(folder, files)
    for name, file in list(newest.items()):
        if folder.has(file.arrived()):
            file.row.action = "unchanged"
        elif folder.is_older(file.arrived()) and not file.by_hand:
            folder.keep(file.arrived(), folder.earlier)
            file.row.action, file.row.reason = "kept aside", "the file collected before is newer"
            del newest[name]
        else:
            file.row.action = "replaced" if name in folder.old else "new"
    if folder.is_copy and folder.notebooks and not any(name.endswith(".ipynb") for name in newest):
        for file in newest.values():
            folder.keep(file.arrived(), folder.earlier)
            file.row.action, file.row.reason = "kept aside", "the hand-in of the student's group has a notebook"
        return
    if not newest:
        return
    about, before = _about(folder, newest, reader), folder.before
    is_known_now = before and about.time and (about.time, about.late) != (before.time, before.late)
    if is_known_now or any(file.row.action in ("new", "replaced") for file in newest.values()):
        folder.write({name: file.arrived() for name, file in newest.items()}, about)


def _about(folder: Folder, newest: dict[str, Found], reader: Reader) -> HandIn:
    files = sorted(newest.values(), key=lambda file: file.rank)
    last = files[-1].upload
    old = folder.before if not folder.is_copy else None
    if old and files[-1].by_hand:  # the instructor's decision: the student stays the system's
        entries, order = (
            {name: value for name, value in kept.items() if name not in newest} for kept in (old.entries, old.order)
        )
        return replace(old, entries=entries, order=order, time=files[-1].row.timestamp, late=None)
    stay = [time for name, (_, time) in folder.old.items() if name not in newest] if reader.dated else []
    marks = [file.upload.late for file in files if file.upload.late is not None]
    return HandIn(
        platform=reader.platform,
        number="" if last.of_group else last.number,
        name=last.student,
        late=any(marks) if marks else None,
        time=max([*(file.row.timestamp for file in files), *stay]),
        entries=(old.entries if old else {}) | {name: file.entry.outer for name, file in newest.items()},
        order=(old.order if old else {}) | {name: file.order for name, file in newest.items()},
        group=last.student if last.of_group else "",
        replaced=folder.replaced() if last.of_group and folder.before else None,
        variants=folder.before.variants if folder.before else {},  # of a member who has left: still possible
    )


def _newest(folder: Folder, files: list[Found]) -> dict[str, Found]:
    """The newest file of each name; a file that is not a notebook counts only without a notebook."""
    newest: dict[str, Found] = {}
    for file in sorted(files, key=lambda file: file.rank):
        before = newest.get(file.row.file)
        if before and before.row.sha256 != file.row.sha256:
            folder.keep(before.arrived(), folder.earlier)
            before.row.action = "kept aside"
            before.row.reason = f"another file of this student counts: {file.row.source}"
        elif before:
            before.row.action, before.row.reason = "unchanged", f"the same as {file.row.source}"
        newest[file.row.file] = file
    for name, file in list(newest.items()):
        if file.odd and not name.endswith(".ipynb"):
            file.row.action, file.row.reason = "ignored", ONLY
            del newest[name]
    return newest


def _learn(people: People, student: str, files: list[Found], platform: str) -> None:
    for upload in (file.upload for file in files if file.row.action not in ("disputed", "refused")):
        if not upload.of_group:
            login = upload.student if platform == "blackboard" else ""
            ids = {platform: upload.number} if upload.lasting else {}
            own = "" if student.endswith(f"-{upload.number}") else upload.name  # Moodle calls all "Participant"
            people.learn(student, name=own, login=login, **ids)


def _notes(manifest: Manifest, reader: Reader) -> list[str]:
    new = [row.source for row in manifest.rows if row.action == "new"]
    unsure = [source for source in new if (upload := reader.read(source)) and not upload.sure]
    late = sorted({row.student for row in manifest.rows if row.late and not row.timestamp and row.student})
    notes = [f"this name can be read as another student's too; check whose it is: {source}" for source in unsure]
    if late:
        notes.append(
            f"{len(late)} marked late by {reader.title}, which does not tell by how much ({', '.join(late[:5])}"
            f"{' …' if len(late) > 5 else ''}): no points are taken off until you give the times (--times)"
        )
    elif reader.platform == "moodle" and not any(row.timestamp for row in manifest.rows):
        notes.append("Moodle's download does not tell when students handed in; give its grading worksheet with --times")
    return notes


def _named_by_system(students: dict[str, list[Found]]) -> list[tuple[str, Upload]]:
    return [(student, file.upload) for student, files in students.items() for file in files if not file.by_hand]


def _namesakes(students: dict[str, list[Found]]) -> list[str]:
    """Students whom the system calls alike, but for capitals and what is invisible. None where it calls all alike, as
    Moodle does with blind marking."""
    called = defaultdict(set)
    uploads = [(student, upload) for student, upload in _named_by_system(students) if not upload.of_group]
    for student, upload in uploads:
        called[safe_name(upload.student).casefold()].add(student)
    names, lasting = {upload.student for _, upload in uploads}, all(one.lasting and one.number for _, one in uploads)
    return [
        f"{len(those)} students are called {name}: {', '.join(sorted(those))}; if they are one student with two "
        f"accounts, {'give both numbers in a CSV (columns: student,id)' if lasting else IN_A_CSV}"
        for name, those in sorted(called.items())
        if len(those) > 1 and len(names) > 1
    ]


def _odd_names(students: dict[str, list[Found]], roster: Roster, groups: Groups) -> list[str]:
    """Names that lack, or add, accents of a name in the instructor's table, by which alone they were found there; then
    names of groups that a student is not in."""
    accents, like_groups = set(), set()
    for student, upload in _named_by_system(students):
        name = upload.student
        if roster.by_number(upload.number) != student and (listed := roster.other_accents(student, name)):
            accents.add(
                f"{student}: the system says {name!r}, your table {listed!r}; check that this is one person, else "
                f"{IN_A_CSV}"
            )
        if not upload.of_group and (group := groups.named(name)):
            like_groups.add(
                f"{student}: the system calls this student {name!r}, as the group {group}, but the user id does not "
                "belong to a member; the file counts as the student's own"
            )
    return [*sorted(accents), *sorted(like_groups)]


def _left_behind(students: dict[str, list[Found]], course: Path, assignment: str) -> list[str]:
    """Hand-ins of an earlier collection whose files are another student's by now, for example by a new table."""
    owner = {file.entry.outer: student for student, files in students.items() for file in files}
    notes = []
    for student, record in sorted(HAND_INS.load_all(course, assignment).items()):
        now = {owner[entry] for entry in record.entries.values() if entry in owner}
        if now and student not in students and not record.by and not record.group:
            notes.append(
                f"what is {', '.join(sorted(now))}'s now was collected as {student}'s before and is still graded as "
                f"that; `autograde forget {student} --assignment {assignment}` deletes that (without --assignment: all "
                f"of {student}'s work in all assignments)"
            )
    return notes


def _note_variants(manifest: Manifest, course: Path) -> None:
    """As which variant of the questions each hand-in is graded, and a note where another one was handed in."""
    templates = variants.released_to(course, manifest.assignment)
    for student in manifest.students:
        numbers = variants.of_hand_in(course, manifest.assignment, student, templates)
        manifest.variants |= {student: numbers} if numbers else {}
        for notebook, number in numbers.items():
            path = course / "submitted" / student / manifest.assignment / f"{notebook}.ipynb"
            if path.is_file() and (note := variants.another(path, number)):
                manifest.notes.append(f"{student}: {note}")
