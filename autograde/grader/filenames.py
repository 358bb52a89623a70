"""Reads student, notebook and time from the file names of learning-management systems.

| system | name of a file in the download |
|---|---|
| Canvas | `doejane_LATE_4711_90210_03_attention-1.ipynb`: name, late mark, user, submission, file, attempt |
| Moodle | `Jane Doe_90210_assignsubmission_file_03_attention.ipynb`, or a folder of that name |
| Blackboard | `Week 3_jdoe_attempt_2026-01-30-15-00-00_03_attention.ipynb` |
| nbgrader | `jdoe/ps1/03_attention.ipynb` |
| a folder per student | `Jane Doe/03_attention.ipynb` |
| plain files | `03_attention_jane_doe.ipynb`, `Copy of 03_attention - Jane Doe.ipynb` |
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import PurePosixPath

_CANVAS = re.compile(
    r"(?P<student>[^_/]+)_(?:(?P<late>LATE)_)?(?P<number>\d+)_(?:question_\d+_)?(?P<attempt>\d+)_(?P<file>[^/]+)"
)
_MOODLE = re.compile(r"(?P<student>[^/]+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?/?(?P<file>[^/].*)")
_BLACKBOARD = re.compile(r"[^/]+?_(?P<student>[^_/]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})_(?P<file>[^/]+)")
_COPY = re.compile(
    r"(?i)^(?:(?:copy|kopie|copie|copia|cópia)\s+(?:of|von|de|di)\s+)+|\s*\(\d+\)$|-(?:copy)?\d{1,2}$|\s+-\s+copy$"
)
_FILE_ENDS = (".ipynb.txt", ".ipynb.json", ".ipynb")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|+]+")


@dataclass(frozen=True)
class ParsedName:
    """The parts of a file name. student: as the system writes it; number: the system's id; file: the student's name."""

    student: str
    file: str
    system: str
    number: str | None = None
    attempt: int = 0
    late: bool = False
    time: datetime | None = None


@dataclass(frozen=True)
class Roster:
    """A table of the course: `files` (file name → student) and `students` (name, login, e-mail or number → student)."""

    files: dict[str, str] = field(default_factory=dict)
    students: dict[str, str] = field(default_factory=dict)

    def student_of(self, path: str) -> str | None:
        return self.files.get(_folded(path)) or self.files.get(_folded(PurePosixPath(path).name))

    def known(self, named: ParsedName) -> str | None:
        for key in (named.number, named.student):
            if key and _folded(key) in self.students:
                return self.students[_folded(key)]
        return None


def read_roster(rows: Sequence[dict]) -> Roster:
    """From the rows of a CSV with a column `student`, and `file`, or any of `name`, `email`, `id`, `login`."""
    files, students = {}, {}
    for row in rows:
        row = {(key or "").strip().lower(): (value or "").strip() for key, value in row.items() if key is not None}
        student = row.get("student") or row.get("student_id")
        if not student:
            continue
        if row.get("file"):
            files[_folded(row["file"])] = student
        for column in ("name", "email", "id", "login"):
            if row.get(column):
                students[_folded(row[column])] = student
        students[_folded(student)] = student
    return Roster(files, students)


def _folded(text: str) -> str:
    """A name without case, accents, order of words or punctuation: "Doe, Jané" is "jane doe"."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    if "/" in plain or re.search(r"\.\w{1,6}$", plain):
        return plain.strip()
    return " ".join(sorted(re.findall(r"\w+", plain)))


def parse_name(
    path: str, notebooks: Sequence[str], assignment: str, zone: tzinfo = UTC, common: int = 0
) -> ParsedName | None:
    """Reads one path within a download; None if it contains no student.

    common: how many leading folders all files of the download share; the next one, if any, is a student's.
    """
    base = PurePosixPath(path).name
    if moodle := _MOODLE.fullmatch(path) or _MOODLE.search(path):
        return ParsedName(moodle["student"].strip(), PurePosixPath(moodle["file"]).name, "Moodle", moodle["number"])
    if blackboard := _BLACKBOARD.fullmatch(base):
        try:
            time = datetime.strptime(blackboard["time"], "%Y-%m-%d-%H-%M-%S").replace(tzinfo=zone).astimezone(UTC)
        except ValueError:
            time = None
        return ParsedName(blackboard["student"], blackboard["file"], "Blackboard", time=time)
    if canvas := _CANVAS.fullmatch(PurePosixPath(path).parts[0]) or _CANVAS.fullmatch(base):
        file = canvas["file"] if canvas.string == base else base  # an archive that a student handed in
        again = re.search(r"-(\d{1,2})(?=\.\w+$|$)", file)
        late = canvas["late"] is not None
        return ParsedName(canvas["student"], file, "Canvas", canvas["number"], int(again[1]) if again else 0, late)
    folders = PurePosixPath(path).parts[:-1]
    own = [folder for folder in folders[common:] if folder not in (assignment, "submitted")]
    if own:
        return ParsedName(own[0], base, "folder")
    if student := _without_notebook(base, notebooks):
        return ParsedName(student, base, "file")
    shared = [folder for folder in folders if folder not in (assignment, "submitted")]
    return ParsedName(shared[-1], base, "folder") if shared else None


def common_folders(paths: Sequence[str]) -> int:
    """How many leading folders all paths share."""
    folders = [PurePosixPath(path).parts[:-1] for path in paths]
    shared = 0
    for level in zip(*folders):
        if len(set(level)) > 1:
            break
        shared += 1
    return shared


def _without_notebook(base: str, notebooks: Sequence[str]) -> str:
    """The student: the rest of a file's name without the notebook's name."""
    stem = own_stem(base)
    for name in sorted(notebooks, key=len, reverse=True):
        place = stem.lower().find(name.lower())
        if place >= 0:
            stem = f"{stem[:place]} {stem[place + len(name) :]}"
            return stem.strip(" _-().,[]")
    return ""


def own_stem(file: str) -> str:
    """A file's name without ends and what copying adds: "Copy of 03_attention (1).ipynb" → "03_attention"."""
    stem = file
    for end in _FILE_ENDS:
        if stem.lower().endswith(end):
            stem = stem[: -len(end)]
            break
    else:
        stem = PurePosixPath(stem).stem
    while (shorter := _COPY.sub("", stem).strip()) != stem:
        stem = shorter
    return stem


def notebook_of(named: ParsedName, notebooks: Sequence[str]) -> str | None:
    """Which notebook of the assignment a file is: by its name, or the only one there is."""
    stem = own_stem(named.file).lower()
    exact = [name for name in notebooks if name.lower() == stem]
    within = [name for name in notebooks if name.lower() in stem]
    longest = sorted(within, key=len, reverse=True)
    return next(iter(exact or longest or (notebooks if len(notebooks) == 1 else [])), None)


def safe_name(student: str) -> str:
    """A student's name as the name of one folder. Empty when nothing is left of it."""
    name = _UNSAFE.sub("_", unicodedata.normalize("NFC", student)).strip(" .")
    name = "".join(character for character in name if character.isprintable())
    return name[:100].strip(" .")
