"""Sorts downloads of a learning-management system into nbgrader's `submitted/STUDENT/ASSIGNMENT/`, with a manifest.

    manifest = collect("downloads/week3.zip", "course", "ps3", notebooks=["03_attention"])

The newest file of each student counts; older ones are kept in `collected/ASSIGNMENT/earlier/`. Each student's folder is
built elsewhere and moved in one step, so collecting can be killed and started again, and collecting the same download
twice changes nothing. The manifest lists every file of the download with its action and the reason; the manifests of
earlier downloads are kept, the oldest as `manifest-1.json`.
"""

import hashlib
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path

from autograde.grader.archives import CollectError, Entry, Limits, copy_out, entries
from autograde.grader.filenames import ParsedName, Roster, common_folders, notebook_of, parse_name, safe_name
from bertlab.files import write_text

_ALSO_TAKEN = (".py", ".safetensors")  # beside notebooks: modules of a student's own, and trained weights
_NOTEBOOK_ENDS = (".ipynb", ".ipynb.txt", ".ipynb.json")
_TIME = "%Y-%m-%d %H:%M:%S UTC"  # as nbgrader reads timestamp.txt


@dataclass
class Row:
    """One file of a download. action: "new", "replaced", "unchanged", "kept aside", "ignored" or "refused"."""

    source: str
    action: str
    student: str = ""
    file: str = ""
    system: str = ""
    timestamp: str = ""
    late: bool = False
    size: int = 0
    sha256: str = ""
    reason: str = ""


@dataclass
class Manifest:
    """The outcome of one collection."""

    assignment: str
    source: str
    rows: list[Row] = field(default_factory=list)

    def count(self, action: str) -> int:
        return sum(row.action == action for row in self.rows)

    @property
    def students(self) -> list[str]:
        return sorted({row.student for row in self.rows if row.student and row.action not in ("refused", "ignored")})

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


@dataclass
class _Found:
    """A file that was copied out. file: its name in the student's folder; odd: no notebook by its name."""

    row: Row
    staged: Path
    named: ParsedName
    odd: bool

    @property
    def newest_last(self):
        return self.row.timestamp, self.named.attempt, self.row.source


def collect(
    source: str | Path,
    course: str | Path,
    assignment: str,
    notebooks: Sequence[str],
    roster: Roster = Roster(),  # noqa: B008 (frozen)
    zone: tzinfo = UTC,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    progress: Callable[[Iterable], Iterable] = iter,
) -> Manifest:
    """Collects one download and writes `collected/ASSIGNMENT/manifest.json`.

    source: a folder, a zip archive or a single notebook. notebooks: names in the release, without .ipynb. zone: of
    times without one. progress: wraps the loop over files. Raises CollectError when nothing can be collected at all.
    """
    course, manifest = Path(course), Manifest(assignment, Path(source).name)
    home = course / "collected" / assignment
    staging = home / ".staging"
    shutil.rmtree(staging, ignore_errors=True)  # of a collection that was killed
    staging.mkdir(parents=True)
    try:
        names = [entry.path for entry in entries(Path(source), limits, zone) if not entry.refused]
        found = progress(entries(Path(source), limits, zone))
        reader = partial(
            parse_name, notebooks=notebooks, assignment=assignment, zone=zone, common=common_folders(names)
        )
        found = _copy_all(found, manifest, staging, notebooks, roster, reader)
        for student, files in sorted(_by_student(found, course).items()):
            _Folder(course, assignment, student).take(files)
        manifest.rows.sort(key=lambda row: (row.student, row.source))
        _write_manifest(manifest, home)
    except OSError as reason:
        raise CollectError(
            f"{course}: cannot be written ({reason.strerror}); files collected before are kept"
        ) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return manifest


def _write_manifest(manifest: Manifest, home: Path) -> None:
    """Writes what a download changed; the manifest before gets a number. Else writes nothing."""
    path = home / "manifest.json"
    if path.exists():
        if all(row.action == "unchanged" for row in manifest.rows):
            return
        path.rename(home / f"manifest-{1 + len(list(home.glob('manifest-*.json')))}.json")
    write_text(path, manifest.to_json())


def _copy_all(found, manifest, staging, notebooks, roster, reader) -> list[_Found]:
    """Copies every file that is a submission into the staging folder; the others become rows."""
    taken = []
    for number, entry in enumerate(found):
        row = Row(entry.path, "refused", size=entry.size, reason=entry.refused or "")
        manifest.rows.append(row)
        if entry.refused:
            continue
        named, student = _who(entry, roster, reader)
        if named is None and not entry.path.lower().endswith(_NOTEBOOK_ENDS):
            row.action, row.reason = "ignored", "it is not a notebook, and its name contains no student"
            continue
        if named is None:
            row.reason = "its name contains no student; name the student in a CSV (columns: file,student)"
            continue
        row.student, row.system, row.late = student, named.system, named.late
        row.timestamp = (named.time or entry.modified or datetime.fromtimestamp(0, UTC)).strftime(_TIME)
        lower = named.file.lower()
        proper = lower.endswith(_NOTEBOOK_ENDS)
        notebook = notebook_of(named, notebooks)
        row.file = f"{notebook}.ipynb" if notebook and not lower.endswith(_ALSO_TAKEN) else safe_name(named.file)
        if proper and notebook is None:
            row.reason = f"its name matches no notebook of the assignment ({', '.join(notebooks)})"
            continue
        staged = staging / f"{number}"
        try:
            row.size = copy_out(entry, staged)
        except CollectError as reason:
            row.reason = str(reason)
            continue
        row.sha256 = _hash(staged)
        taken.append(_Found(row, staged, named, odd=not proper and not lower.endswith(_ALSO_TAKEN)))
    return taken


def _who(entry: Entry, roster, reader) -> tuple[ParsedName | None, str]:
    named = reader(entry.path)
    student = roster.student_of(entry.path)
    if student:
        named = named or ParsedName(student, Path(entry.path).name, "CSV")
    elif named:
        student = roster.known(named) or named.student
    return (named, student) if student and safe_name(student) else (None, "")


def _by_student(found: list[_Found], course: Path) -> dict[str, list[_Found]]:
    """Files by the student's folder. Two students never share one: the system's number distinguishes students of the
    same name, now and in later downloads that contain only one of them."""
    folders = {path.name for path in course.glob("submitted/*/")}
    numbers, spellings, students = defaultdict(set), defaultdict(set), defaultdict(list)
    for file in found:
        if file.named.number:
            numbers[file.row.student, file.named.system].add(file.named.number)
    for file in found:
        numbered = f"{file.row.student}-{file.named.number}"
        namesakes = len(numbers[file.row.student, file.named.system]) > 1 or safe_name(numbered) in folders
        if file.named.student == file.row.student and namesakes:
            file.row.student = numbered
        spellings[safe_name(file.row.student).casefold()].add(file.row.student)
    for file in found:
        name = safe_name(file.row.student)
        if len(spellings[name.casefold()]) > 1:
            name += f"-{hashlib.sha256(file.row.student.encode('utf-8', 'replace')).hexdigest()[:6]}"
        file.row.student = name
        students[name].append(file)
    return students


class _Folder:
    """One student's folder of one assignment."""

    def __init__(self, course: Path, assignment: str, student: str):
        self.student = student
        self.target = course / "submitted" / student / assignment
        self.partial = self.target.with_name(f".{assignment}.partial")
        self.earlier = course / "collected" / assignment / "earlier" / student

    def take(self, files: list[_Found]) -> None:
        """Moves the newest version of each file to its folder; records the action in each row."""
        self._finish_interrupted_move()
        newest = self._newest(files)
        old = self._existing()
        for name, file in list(newest.items()):
            content, time = old.get(name, ("", ""))
            if content == file.row.sha256:
                file.row.action = "unchanged"
            elif time > file.row.timestamp:
                self._keep_older(file, f"the file collected before is newer ({time})")
                del newest[name]
            else:
                file.row.action = "replaced" if name in old else "new"
        if any(file.row.action in ("new", "replaced") for file in newest.values()):
            self._write(newest, old)

    def _newest(self, files: list[_Found]) -> dict[str, _Found]:
        """The newest file of each name; a file that is not a notebook counts only without a notebook."""
        newest: dict[str, _Found] = {}
        for file in sorted(files, key=lambda file: (not file.odd, *file.newest_last)):
            before = newest.get(file.row.file)
            if before and before.row.sha256 != file.row.sha256:
                self._keep_older(before, f"replaced by {file.row.source}")
            elif before:
                before.row.action, before.row.reason = "unchanged", f"the same as {file.row.source}"
            newest[file.row.file] = file
        for name, file in list(newest.items()):
            if file.odd and not name.endswith(".ipynb"):
                file.row.reason = f"only notebooks, {' and '.join(_ALSO_TAKEN)} files are collected"
                del newest[name]
        return newest

    def _existing(self) -> dict[str, tuple[str, str]]:
        """Hash and time of each file that is there. Other tools leave the time of copying on files: the earlier of it
        and timestamp.txt counts."""
        stamp = self.target / "timestamp.txt"
        latest = stamp.read_text(encoding="utf-8").strip() if stamp.is_file() else "9999"
        files = {}
        for path in sorted(self.target.iterdir()) if self.target.is_dir() else ():
            if path.is_file() and path != stamp:
                modified = datetime.fromtimestamp(int(path.stat().st_mtime), UTC).strftime(_TIME)
                files[path.name] = _hash(path), min(modified, latest)
        return files

    def _write(self, newest: dict[str, _Found], old: dict[str, tuple[str, str]]) -> None:
        shutil.rmtree(self.partial, ignore_errors=True)
        self.partial.mkdir(parents=True)
        times = [file.row.timestamp for file in newest.values()]
        for name, (_, time) in old.items():
            if name not in newest:
                shutil.copy2(self.target / name, self.partial / name)
                times.append(time)
        for name, file in newest.items():
            shutil.copyfile(file.staged, self.partial / name)
            seconds = datetime.strptime(file.row.timestamp, _TIME).replace(tzinfo=UTC).timestamp()
            os.utime(self.partial / name, (seconds, seconds))
        stamp = self.partial / "timestamp.txt"
        write_text(stamp, max(times))  # last, in one step: a partial folder that has it is whole
        self._put_in_place()

    def _put_in_place(self) -> None:
        if self.target.exists():
            self.earlier.mkdir(parents=True, exist_ok=True)
            self.target.rename(self.earlier / f"{len(list(self.earlier.iterdir())) + 1:03}")
        self.partial.rename(self.target)

    def _finish_interrupted_move(self) -> None:
        if (self.partial / "timestamp.txt").is_file() and not self.target.exists():
            self._put_in_place()

    def _keep_older(self, file: _Found, reason: str) -> None:
        """Keeps an older file under its hash, so that doing it twice is doing it once."""
        self.earlier.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.staged, self.earlier / f"{file.row.sha256[:12]}-{file.row.file}")
        file.row.action, file.row.reason = "kept aside", reason


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
