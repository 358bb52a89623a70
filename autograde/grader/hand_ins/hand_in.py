"""One student's hand-in: the folder `submitted/STUDENT/ASSIGNMENT/`, and the record of whom and what it is from.

The record, `collected/ASSIGNMENT/hand_ins/STUDENT.json`, is outside the folder that students' files are in. It keeps
what the system wrote (user, late mark, time, names of the entries): later downloads, late penalties, exports and
feedback use it. Folder and record can be written twice with the same effect; the record is written first, then the
folder is moved in one step.
"""

import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path

from autograde.exercises import runs
from autograde.grader.book.store import Table
from autograde.grader.hand_ins.filenames import composed
from bertlab.common.files import write_text

_FOR_FEEDBACK = ("timestamp.txt", "submission_secret.txt")  # of nbgrader's exchange, which names a page by the secret
TIME = "%Y-%m-%d %H:%M:%S UTC"  # as nbgrader reads timestamp.txt
_NUMBERED = ("canvas", "moodle")  # systems that write a user's number into each entry, except of a group
_BEFORE_JSON = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"  # byte-order marks, halves of UTF-16's characters, white space
_WHOLE = ".whole"  # in a folder that is complete and not yet moved


@dataclass(frozen=True)
class HandIn:
    """The facts about a student's hand-in.

    platform, number, name: as the system writes them; late: the system's mark, None where it has none; time: in UTC,
    empty if unknown; entries: name of a file → its entry in the download; order: name of a file → [number of the
    upload, date of the entry], by which a newer one is recognised; by: the member of the student's group who handed it
    in, empty if the student did; group: whose it is, empty if it is the student's alone; replaced: of a group's, the
    student's own hand-in that it took the place of: {"folder": name in earlier/, "record": its facts or None};
    variants: of a group's, notebook → the number of the variant that it is graded as (see variants.py).
    """

    platform: str
    number: str = ""
    name: str = ""
    late: bool | None = None
    time: str = ""
    entries: dict[str, str] = field(default_factory=dict)
    order: dict[str, list] = field(default_factory=dict)
    by: str = ""
    group: str = ""
    replaced: dict | None = None
    variants: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        return self.platform, self.number or self.name


def _parsed(text: str) -> HandIn:
    """A record; one of an earlier version, which did not keep the group, is a group's if it has no user's number, and
    its name may have accents apart."""
    values = json.loads(text)
    if "group" not in values:
        of_group = values.get("by") or (values["platform"] in _NUMBERED and not values.get("number"))
        values["group"] = values.get("name", "") if of_group else ""
    return HandIn(**values | {"name": composed(values.get("name", ""))})


# The record of a student's hand-in; None where it came another way, for example through nbgrader's exchange.
HAND_INS = Table(
    "collected/{}/hand_ins/{}.json", "the record of a hand-in", "delete it and collect the download again",
    parse=_parsed, empty=lambda: None,
)  # fmt: skip


@dataclass(frozen=True)
class Arrived:
    """One file of a download for a student, copied to `staged`. time: of the hand-in, empty if unknown."""

    name: str
    staged: Path
    sha256: str
    order: list
    time: str


class Folder:
    """One student's folder of one assignment."""

    def __init__(self, course: Path, assignment: str, student: str):
        self.course, self.assignment, self.student = course, assignment, student
        self.before = HAND_INS.load_or_empty(course, assignment, student)
        self.target = course / "submitted" / student / assignment
        self.partial = self.target.with_name(f".{assignment}.partial")
        self.earlier = course / "collected" / assignment / "earlier" / student
        self.disputed = course / "collected" / assignment / "disputed" / student
        (self.target / _WHOLE).unlink(missing_ok=True)
        if (self.partial / _WHOLE).is_file() and not self.target.exists():  # a move was interrupted
            self._put_in_place()
        self.old = self._existing()

    @property
    def is_copy(self) -> bool:
        """Whether another member of the student's group handed it in."""
        return bool(self.before and self.before.by)

    @property
    def is_own(self) -> bool:
        """Whether the student handed something in."""
        return bool(self.old) and not self.is_copy

    @property
    def notebooks(self) -> set[str]:
        """Names of the notebooks that are there; a script, PDF or web page with such a name does not count."""
        found = set()
        for name in (name for name in self.old if name.endswith(".ipynb")):
            with (self.target / name).open("rb") as file:
                if file.read(4096).lstrip(_BEFORE_JSON).startswith((b"{", b"[")):
                    found.add(name)
        return found

    def has(self, arrived: Arrived) -> bool:
        """Whether this very content is there."""
        return self.old.get(arrived.name, ("", ""))[0] == arrived.sha256

    def is_older(self, arrived: Arrived) -> bool:
        """Whether the file that is there is the newer one."""
        if arrived.name not in self.old:
            return False
        if self.before and arrived.name in self.before.order:
            return self.before.order[arrived.name] > arrived.order
        return bool(arrived.time) and self.old[arrived.name][1] > arrived.time

    def _existing(self) -> dict[str, tuple[str, str]]:
        """Hash and time of each file that is there. Other tools leave the time of copying on files: the earlier of it
        and timestamp.txt counts."""
        stamp = self.target / "timestamp.txt"
        latest = stamp.read_text(encoding="utf-8").strip() if stamp.is_file() else "9999"
        files = {}
        for path in sorted(self.target.iterdir()) if self.target.is_dir() else ():
            if path.is_file() and path != stamp:
                modified = datetime.fromtimestamp(int(path.stat().st_mtime), UTC).strftime(TIME)
                files[path.name] = hash_of(path), min(modified, latest)
        return files

    def write(self, newest: dict[str, Arrived], about: HandIn, whole: bool = False) -> None:
        """Puts these files into the folder; the folder as it was is kept.

        Files of other names stay, except if whole, or if what is there is another member's.
        """
        stay = set() if whole or self.is_copy else self.old.keys() - newest.keys()
        shutil.rmtree(self.partial, ignore_errors=True)
        self.partial.mkdir(parents=True)
        for name in stay:
            shutil.copy2(self.target / name, self.partial / name)
        for name, file in newest.items():
            shutil.copyfile(file.staged, self.partial / name)
            if file.time:
                seconds = datetime.strptime(file.time, TIME).replace(tzinfo=UTC).timestamp()
                os.utime(self.partial / name, (seconds, seconds))
        self.save(about)
        if about.time:
            write_text(self.partial / "timestamp.txt", about.time)
        (self.partial / _WHOLE).touch()  # last: a partial folder that has it is complete
        self._put_in_place()

    def save(self, about: HandIn) -> None:
        """Writes the record."""
        HAND_INS.save(about, self.course, self.assignment, self.student)

    def replaced(self) -> dict | None:
        """The student's own hand-in that a group's takes the place of, as in `HandIn.replaced`."""
        if self.before and (self.is_copy or self.before.group):
            return self.before.replaced
        return {"folder": self._next_earlier(), "record": self.before and asdict(self.before)} if self.old else None

    def give_back(self) -> bool:
        """Takes a group's hand-in away, and puts back what it replaced; returns whether there was something.

        The record comes last: until then it shows that this is not done yet.
        """
        replaced = self.before.replaced or {}
        kept = self.earlier / replaced.get("folder", "")
        back = bool(replaced) and kept.is_dir()
        if back:
            shutil.rmtree(self.partial, ignore_errors=True)
            shutil.copytree(kept, self.partial)
            (self.partial / _WHOLE).touch()
            self._put_in_place()
        else:
            self._move_to_earlier()
        if back and replaced["record"]:
            self.save(HandIn(**replaced["record"]))
        else:
            HAND_INS.path(self.course, self.assignment, self.student).unlink()
        return back

    def _next_earlier(self) -> str:
        return f"{len(list(self.earlier.iterdir())) + 1 if self.earlier.is_dir() else 1:03}"

    def _move_to_earlier(self) -> None:
        if self.target.exists():
            self.earlier.mkdir(parents=True, exist_ok=True)
            self.target.rename(self.earlier / self._next_earlier())

    def _put_in_place(self) -> None:
        self._move_to_earlier()
        self.partial.rename(self.target)
        (self.target / _WHOLE).unlink()

    def keep(self, file: Arrived, folder: Path) -> None:
        """Keeps a file in `earlier` or `disputed` under its hash, so that doing it twice is doing it once."""
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.staged, folder / f"{file.sha256[:12]}-{file.name}")


def copy_for_feedback(course: str | Path, assignment: str, student: str, folder: Path) -> None:
    """Copies what `nbgrader release_feedback` reads beside a page from a hand-in, as far as it has it."""
    for name in _FOR_FEEDBACK:
        source = Path(course, "submitted", student, assignment, name)
        if source.is_file():
            write_text(folder / name, source.read_text(encoding="utf-8", errors="replace"))


# --- digests: the record of a grading names the file by it ---


def digest(path: Path) -> str:
    """SHA-256 of a notebook and of the trained weights beside it, if there are any."""
    own, *weights = ("" if file.is_symlink() or not file.is_file() else hash_of(file) for file in (path, *beside(path)))
    return sha256("".join((own, *weights)).encode()).hexdigest() if any(weights) else own


def beside(path: Path) -> list[Path]:
    """The files of trained weights that belong to a notebook, whether they are there or not."""
    return [path.parent / run.file for run in runs.of_notebook(path.stem)]


def hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
