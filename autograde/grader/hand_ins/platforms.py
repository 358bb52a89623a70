"""The learning-management systems that downloads come from: who handed in and when, from the system's part of a name.

Each name below has a part that the system writes, at its beginning, and a part that the student chose, at its end. Only
the first part is read here, and only in the outermost entries of a download: no file can name another student.

| system | entry of the download | time of the hand-in |
|---|---|---|
| Canvas | `doejane_LATE_4711_90210_03_attention-1.ipynb` (user 4711), `anon_aB3cD_90210_…` | not in it |
| Moodle | `Jane Doe_90210_assignsubmission_file/03_attention.ipynb`, or flat, `…_file_03_attention.ipynb` | not in it |
| Canvas, groups | `group1_4711_90210_03_attention.ipynb`: the group's name, the user id of one member | not in it |
| Moodle, groups | `Group 1_17_assignsubmission_file/03_attention.ipynb`: the group's name and id | not in it |
| Blackboard | `Week 3_jdoe_attempt_2026-01-30-15-00-00_03_attention.ipynb`, and a receipt `….txt` | in the name |
| folders | `Jane Doe/03_attention.ipynb`, `submitted/jdoe/ps1/03_attention.ipynb` (nbgrader) | the entry's date |
| files | `03_attention_jane_doe.ipynb`, `Copy of 03_attention - Jane Doe.ipynb` | the entry's date |

Canvas and Moodle date every entry with the moment of the download. That a name is a group's, only the course's groups
tell (people.py). Sources that these patterns follow: Canvas `lib/content_zipper.rb` (commit 05e9653c),
`app/models/abstract_assignment.rb` (028f76bb, infer_comment_context_from_filename and representatives); Moodle
`public/mod/assign/classes/downloader.php` (b1b5f263), `files/classes/local/archive_writer/zip_writer.php` (04975560).
Blackboard's is not public; its pattern is that of its "Assignment File Download".
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import PurePosixPath

from autograde.common.texts import one_line
from autograde.grader.hand_ins.archives import CollectError
from autograde.grader.hand_ins.filenames import composed, own_stem

_CANVAS = re.compile(
    r"(?P<student>[^/]+?)_(?:(?P<late>LATE)_)?(?P<number>\d+)_"
    r"(?:(?:question_\d+_)?(?P<order>\d+)_(?P<file>[^/]+)|(?P<page>(?:text|link)\.html))"
)
_CANVAS_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?anon_(?P<late_too>LATE_)?(?P<number>[A-Za-z0-9]{5})_"
    r"(?:(?P<order>\d+)_(?P<file>[^/]+)|(?P<page>(?:text|link)\.html))"
)
_MOODLE = re.compile(r"(?P<student>[^/_]+)(?:_(?P<number>\d+))?_assignsubmission_[a-z0-9]+(?:_?/|_)(?P<file>.+)")
_BLACKBOARD = re.compile(
    r"(?P<prefix>[^/]+?)_[^\W\d_]+_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>[^/]+)|(?P<receipt>\.txt))"
)
_RECEIPT = re.compile(r"[^:\n]{1,20}: (?P<name>[^\n]+?) \((?P<login>[^()\n]+)\)\s*(?:\n|$)")


@dataclass(frozen=True)
class Upload:
    """The facts that the system writes about one entry.

    student: name or login as the system writes it; file: the student's part; number: the system's id of the student,
    lasting: the same in all assignments; order: grows with each upload; late: the system's own mark, None where it has
    none; time: of the hand-in; sure: the name can be read in one way only; name: of the person, if the system has it;
    of_group: `student` is a group.
    """

    student: str
    file: str
    number: str = ""
    lasting: bool = True
    order: int = 0
    late: bool | None = None
    time: datetime | None = None
    sure: bool = True
    name: str = ""
    of_group: bool = False

    @property
    def key(self) -> str:
        """Identifies the student within this system."""
        return self.number or self.student


def _canvas(path: str, zone: tzinfo) -> Upload | None:
    if found := _CANVAS_ANONYMOUS.fullmatch(path):
        late = bool(found["late"] or found["late_too"])
        student, file = f"anon_{found['number']}", found["file"] or found["page"]
        return Upload(student, file, found["number"], False, int(found["order"] or 0), late)
    found = _CANVAS.fullmatch(path)
    if not found:
        return None
    again = _CANVAS.fullmatch(path[found.end("number") + 1 :]) if found["file"] else None
    file, late = found["file"] or found["page"], found["late"] is not None
    return Upload(found["student"], file, found["number"], True, int(found["order"] or 0), late, sure=again is None)


def _moodle(path: str, zone: tzinfo) -> Upload | None:
    found = _MOODLE.fullmatch(path)
    if not found:
        return None
    student = found["student"].strip()
    return Upload(student, found["file"], found["number"] or "", lasting=False, name=student)


def _blackboard(path: str, zone: tzinfo) -> Upload | None:
    found = _BLACKBOARD.fullmatch(path)
    if not found or "_" not in found["prefix"]:
        return None
    try:
        time = datetime.strptime(found["time"], "%Y-%m-%d-%H-%M-%S").replace(tzinfo=zone).astimezone(UTC)
    except ValueError:
        return None
    student = found["prefix"].rpartition("_")[2]
    sure = found["prefix"].count("_") == 1  # a title and a login may have a _ of their own, see Reader._with_login
    return Upload(student, found["file"] or "receipt.txt", time=time, order=int(time.timestamp()), sure=sure)


@dataclass(frozen=True)
class Platform:
    """A learning-management system. read: (entry without shared folders, zone) → upload, None if not its own."""

    title: str
    read: Callable[[str, tzinfo], Upload | None]


PLATFORMS = {
    "canvas": Platform("Canvas", _canvas),
    "moodle": Platform("Moodle", _moodle),
    "blackboard": Platform("Blackboard", _blackboard),
}
CHOICES = (*PLATFORMS, "folders", "files")


def _below(entry: str, level: int) -> str:
    return "/".join(PurePosixPath(entry).parts[level:])


@dataclass(frozen=True)
class Reader:
    """Reads the entries of one download. skipped: how many leading folders all entries share."""

    platform: str
    notebooks: Sequence[str]
    assignment: str
    zone: tzinfo
    skipped: int = 0
    logins: dict[str, tuple[str, str]] = field(default_factory=dict)  # Blackboard: beginning of names → login, person
    beginning: str = ""  # Blackboard: what all names begin with, up to a login

    @property
    def title(self) -> str:
        return PLATFORMS[self.platform].title if self.platform in PLATFORMS else self.platform

    @property
    def dated(self) -> bool:
        """Whether the date of an entry is the time of the hand-in."""
        return self.platform not in PLATFORMS

    def relative(self, entry: str) -> str:
        """An entry's path without the folders that all share."""
        return _below(entry, self.skipped)

    def read(self, entry: str) -> Upload | None:
        """The upload of an outermost entry; None where its name is not the system's. A student's name is in the same
        Unicode form (NFC) everywhere: macOS takes accents apart."""
        upload = self._read(entry)
        return upload and replace(upload, student=composed(upload.student), name=composed(upload.name))

    def owner(self, entry: str) -> str:
        """The budget of an entry: its student's, or its own where a student may have written the whole name."""
        upload = self.read(entry)
        return upload.key if upload and upload.sure and self.platform != "files" else entry

    def _read(self, entry: str) -> Upload | None:
        if self.platform in PLATFORMS:
            upload = PLATFORMS[self.platform].read(self.relative(entry), self.zone)
            return self._with_login(entry, upload) if upload and self.platform == "blackboard" else upload
        path, student = PurePosixPath(entry), ""
        if self.platform == "files":
            student = _without_notebook(path.name, self.notebooks)
        elif own := self._students(path.parts[self.skipped : -1]) or self._students(path.parts[:-1])[-1:]:
            student = own[0]
        return Upload(student, path.name) if student else None

    def _with_login(self, entry: str, upload: Upload) -> Upload:
        """The login from the receipt of an attempt; without one, what follows the beginning that all names share."""
        prefix = _BLACKBOARD.fullmatch(self.relative(entry))["prefix"]
        if prefix in self.logins:
            login, person = self.logins[prefix]
            return replace(upload, student=login, name=person, sure=True)
        rest = prefix.removeprefix(self.beginning)
        title_is_plain = self.beginning.count("_") == 1
        return replace(upload, student=rest, sure=True) if self.beginning and title_is_plain and rest else upload

    def _students(self, folders: Sequence[str]) -> list[str]:
        return [folder for folder in folders if folder not in (self.assignment, "submitted")]


def choose(
    entries: Sequence[str], notebooks: Sequence[str], assignment: str, zone: tzinfo, requested: str | None = None
) -> Reader:
    """The reader for a download with these outermost entries: the requested system, or the one that fits them all.

    Raises CollectError where several systems fit, or one fits some of the entries only.
    """
    shared = common_folders(entries)
    fitting = {name: _level(platform, entries, shared, zone) for name, platform in PLATFORMS.items()}
    whole = {name: level for name, (level, count) in fitting.items() if entries and count == len(entries)}
    if requested in PLATFORMS:
        return Reader(requested, notebooks, assignment, zone, fitting[requested][0])
    if requested is None and len(whole) > 1:
        titles = " and ".join(PLATFORMS[name].title for name in whole)
        raise CollectError(
            f"{one_line(entries[0])}: the names in this download can be read as names of {titles}; nothing was "
            f"collected. Tell the system it comes from: --from {' or --from '.join(whole)}"
        )
    if requested is None and whole:
        return Reader(*whole, notebooks, assignment, zone, *whole.values())
    if requested is None:
        _refuse_a_mixture(entries, fitting, zone)
    return _plain(entries, notebooks, assignment, zone, shared, requested)


def _level(platform: Platform, entries: Sequence[str], shared: int, zone: tzinfo) -> tuple[int, int]:
    """The number of shared folders to skip so that most entries fit, and the number of entries that then do."""
    counts = [
        sum(platform.read(_below(entry, level), zone) is not None for entry in entries) for level in range(shared + 1)
    ]
    return counts.index(max(counts)), max(counts)


def _refuse_a_mixture(entries: Sequence[str], fitting: dict[str, tuple[int, int]], zone: tzinfo) -> None:
    name, (level, count) = max(fitting.items(), key=lambda item: item[1][1])
    if not count:
        return
    platform = PLATFORMS[name]
    odd = [entry for entry in entries if platform.read(_below(entry, level), zone) is None]
    raise CollectError(
        f"{count} of {len(entries)} names in this download are of {platform.title}, {odd[0]!r} is not; nothing was "
        f"collected. Tell the system it comes from: --from {name} (other names are then refused one by one), or "
        "--from files or --from folders if students or you named the files"
    )


def _plain(entries, notebooks, assignment, zone, shared: int, requested: str | None) -> Reader:
    """Folders or files named by people: entries of one kind only, unless one is requested."""
    reader = Reader("folders", notebooks, assignment, zone, shared)
    beside = [not reader._students(PurePosixPath(entry).parts[shared:-1]) for entry in entries]
    if requested is None and any(beside) and not all(beside):
        raise CollectError(
            f"{entries[beside.index(True)]!r} is a file, other entries are folders of students; nothing was collected. "
            "Tell which of them name the students: --from folders or --from files"
        )
    named = [_without_notebook(PurePosixPath(entry).name, notebooks) for entry in entries]
    in_one_folder = all(beside) and not any(named) and shared > 0  # a folder with one student's notebook
    name = requested or ("files" if all(beside) and not in_one_folder else "folders")
    return replace(reader, platform=name)


def common_folders(paths: Sequence[str]) -> int:
    """The number of leading folders that all paths share."""
    folders = [PurePosixPath(path).parts[:-1] for path in paths]
    shared = 0
    for level in zip(*folders):
        if len(set(level)) > 1:
            break
        shared += 1
    return shared


def _without_notebook(base: str, notebooks: Sequence[str]) -> str:
    """The student: the rest of a file's name without the notebook's name; all of the name of an archive."""
    stem = own_stem(base)
    for name in sorted(notebooks, key=len, reverse=True):
        at = stem.lower().find(name.lower())
        if at >= 0:
            return f"{stem[:at]} {stem[at + len(name) :]}".strip(" _-().,[]")
    return stem.strip(" _-().,[]") if base.lower().endswith(".zip") else ""


def shared_beginning(entries: Sequence[str]) -> str:
    """The beginning that the names of all attempts in Blackboard's download share, up to a _: the title, maybe more."""
    found = {match["prefix"] for entry in entries if (match := _BLACKBOARD.fullmatch(entry))}
    shared = os.path.commonprefix(sorted(found))
    return shared[: shared.rfind("_") + 1] if len(found) > 1 else ""


def is_receipt(entry: str) -> bool:
    """Whether Blackboard itself wrote this entry: a file of the student has its own name behind the time."""
    found = _BLACKBOARD.fullmatch(entry)
    return found is not None and found["receipt"] is not None


def read_receipt(text: str, entry: str) -> dict[str, tuple[str, str]]:
    """From Blackboard's receipt of one attempt: beginning of this student's entries → (login, name of the person).

    Only its first line is read, which Blackboard writes; the entry's own name must end with the login, too.
    """
    prefix, found = _BLACKBOARD.fullmatch(entry)["prefix"], _RECEIPT.match(text.lstrip("\ufeff"))
    is_theirs = found and prefix.endswith(f"_{found['login']}")
    return {prefix: (found["login"], found["name"].strip())} if is_theirs else {}
