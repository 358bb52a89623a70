"""The student of each file of a download, and the notebook that a Python script is.

Claims on one student that exclude each other are only reported. A script counts as a notebook that the student did not
hand in if it has the notebook's name, or if it is the only one that can be meant: the only one with the notebook's name
in its own, or the only one that defines a name of the notebook's exercises. It never replaces a notebook. All other
scripts are collected beside; where no script and no notebook counts, a note says so.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from autograde.common.texts import json_without_controls
from autograde.grader.book.people import Groups, People
from autograde.grader.hand_ins.archives import Entry
from autograde.grader.hand_ins.filenames import is_own_module, nearness, notebook_of, own_stem, safe_name
from autograde.grader.hand_ins.hand_in import HAND_INS, TIME, Arrived, Folder, HandIn
from autograde.grader.hand_ins.platforms import Reader, Upload
from autograde.grader.hand_ins.roster import Roster
from autograde.grader.reading.notebook import read_notebook

ALSO_TAKEN = (".py", ".safetensors")  # beside notebooks: modules of a student's own, and trained weights
IN_A_CSV = "name the student in a CSV (columns: file,student)"
ONLY = f"only notebooks, {' and '.join(ALSO_TAKEN)} files are collected"


@dataclass
class ManifestRow:
    """One file of a download.

    action: "new", "replaced", "unchanged", "kept aside", "disputed", "ignored" or "refused"; system: which named the
    student; timestamp: of the hand-in, empty if the system does not tell it; late: the system's own mark.
    """

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
    """The outcome of one collection. notes: sentences for the instructor about the whole download; variants: student →
    notebook → the number of the variant that the hand-in is graded as, where notebooks have variants."""

    assignment: str
    source: str
    system: str = ""
    rows: list[ManifestRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    variants: dict[str, dict[str, int]] = field(default_factory=dict)

    def count(self, action: str) -> int:
        return sum(row.action == action for row in self.rows)

    @property
    def students(self) -> list[str]:
        left_out = ("refused", "ignored", "disputed")
        return sorted({row.student for row in self.rows if row.student and row.action not in left_out})

    def to_json(self) -> str:
        return json_without_controls(json.dumps(asdict(self), indent=1, ensure_ascii=False)) + "\n"


@dataclass
class Found:
    """A file that was copied out, with what the system said about its entry. by_hand: the roster names the file."""

    row: ManifestRow
    entry: Entry
    upload: Upload
    staged: Path
    by_hand: bool
    odd: bool

    @property
    def order(self) -> list:
        """The values by which the newer of two uploads is recognised: nothing in them is the student's."""
        return [self.upload.order, self.entry.modified.strftime(TIME) if self.entry.modified else ""]

    @property
    def rank(self):
        """The file that counts comes last: of the newest upload the one named exactly, and least deep in an archive."""
        path = Path(self.entry.inner or self.upload.file)
        exact = own_stem(path.name) == own_stem(self.row.file)
        return not self.odd, self.order, exact, -len(path.parts), self.row.source

    def arrived(self) -> Arrived:
        return Arrived(self.row.file, self.staged, self.row.sha256, self.order, self.row.timestamp)


def by_student(
    found: list[Found], course: Path, reader: Reader, roster: Roster, people: People, groups: Groups
) -> dict:
    """Files by the student's folder. Two students never share one: the system's number distinguishes students of the
    same name, now and in later downloads that contain only one of them. An entry with the name of a group goes to the
    group's first member."""
    records = {
        student: record.number
        for student, record in HAND_INS.load_all(course, reader.assignment).items()
        if record.platform == reader.platform
    }
    keys, spellings, students = defaultdict(set), defaultdict(set), defaultdict(list)
    for file in found:
        group = groups.named(file.upload.student) if not file.by_hand else None
        if group and not _is_a_strangers(file.upload, groups.members[group], reader, roster, people):
            file.upload = replace(file.upload, student=group, lasting=False, name="", of_group=True)
            file.row.student = groups.members[group][0]
        elif not file.by_hand:
            file.row.student = _known(file.upload, reader, roster, people, records) or ""
        if not file.row.student:
            keys[file.upload.student].add(file.upload.key)
    taken = {file.row.student for file in found if file.row.student} | roster.people.keys()
    for file in found:
        name, number = file.upload.student, file.upload.number
        if not file.row.student:
            theirs = records.get(safe_name(name)) or people[safe_name(name)].ids.get(reader.platform)
            namesake = len(keys[name]) > 1 or (theirs and theirs != number) or safe_name(name) in taken
            file.row.student = f"{name}-{number}" if namesake and number else name
        spellings[safe_name(file.row.student).casefold()].add(file.row.student)
    for file in found:
        name = safe_name(file.row.student)
        is_known = file.row.student == name and name in people.known  # one who is known keeps the folder
        if len(spellings[name.casefold()]) > 1 and not is_known:
            name += f"-{hashlib.sha256(file.row.student.encode('utf-8', 'replace')).hexdigest()[:6]}"
        file.row.student = name
        students[name].append(file)
    return students


def _is_a_strangers(upload: Upload, members: tuple[str, ...], reader: Reader, roster: Roster, people: People) -> bool:
    """Whether an entry with the name of a group has the user id of somebody else: students can choose their names."""
    if not upload.lasting or not upload.number:
        return False
    whose = roster.by_number(upload.number) or people.by_id(reader.platform, upload.number)
    if whose:
        return whose not in members
    return all(roster.numbers_of(one) or people[one].ids.get(reader.platform) for one in members)


def _known(upload: Upload, reader: Reader, roster: Roster, people: People, records: dict[str, str]) -> str | None:
    """The student of the course: by the roster, else by the number that an earlier download told."""
    if reader.platform == "blackboard":
        return roster.by_login(upload.student)
    number = upload.number
    if upload.lasting and number and (student := roster.by_number(number) or people.by_id(reader.platform, number)):
        return student
    if number and number in records.values():
        return next(student for student, theirs in records.items() if theirs == number)
    student = roster.by_name(upload.student)
    other_number = student and upload.lasting and number and roster.people[student].id
    return None if other_number else student


def undisputed(folder: Folder, files: list[Found], reader: Reader, roster: Roster, people: People) -> list[Found]:
    """Files whose entries one student can have handed in. Others are kept as disputed: they replace no work."""
    if any(file.by_hand for file in files):
        return _set_aside(folder, files, lambda file: file.by_hand, "your CSV names another file for this student")
    if _has_these_accounts(folder, files, roster):
        return files

    def is_there(file: Found) -> bool:
        return folder.has(file.arrived())

    own = folder.before if not folder.is_copy else None  # a copy of a group's claims nothing
    claims = {(file.upload.key, file.upload.student) for file in files}
    both = " and ".join(sorted(f"{student} ({key})" for key, student in claims))
    reason = f"{both} claim to be one student" if len(claims) > 1 else _another_account(own, files, reader, people)
    uploads = {(file.row.file, file.row.sha256) for file in files}
    if not reason and reader.platform == "files" and len({name for name, _ in uploads}) < len(uploads):
        reason = "two files name this student"
    if reason:
        return _set_aside(folder, files, is_there, reason)
    if any(file.upload.sure for file in files) or (folder.old and not all(file.upload.sure for file in files)):
        reason = "its name can be read as another student's too"
        files = _set_aside(folder, files, lambda file: file.upload.sure or is_there(file), reason)
    if not folder.is_own or (own and own.key == (reader.platform, _key(files))):
        return files
    came = own.platform if own else "another way"
    return _set_aside(folder, files, is_there, f"{folder.student}'s work came from {came}, this file from "
                                               f"{reader.platform}")  # fmt: skip


def _another_account(own: HandIn | None, files: list[Found], reader: Reader, people: People) -> str:
    """Why an entry may be another person's than the one before; else "". Of a group's entry only the group's name is
    known: it may be a stranger's. Moodle's number is the group's own."""
    if own and own.key == (reader.platform, _key(files)) and own.name != files[0].upload.student:
        return f"{reader.title} called this student {own.name!r} before and {files[0].upload.student!r} now"
    if not (own and own.group and files and files[0].upload.of_group):
        return ""
    uploads = [upload for entry in own.entries.values() if (upload := reader.read(entry))]
    before, now = {upload.number for upload in uploads}, files[0].upload.number
    if now in before or not before or people.by_id(reader.platform, now):
        return ""
    return (
        f"the user id in it is {now}, was {min(before)} before, and the course knows neither as a member of {own.group}"
    )


def _has_these_accounts(folder: Folder, files: list[Found], roster: Roster) -> bool:
    """Whether the instructor's table gives the student several numbers, and each file has one of them."""
    same_way = not folder.old or (folder.before is not None and folder.before.platform == "canvas")
    return (
        same_way
        and len(roster.numbers_of(folder.student)) > 1
        and all(file.upload.sure and file.upload.lasting and file.upload.number for file in files)
        and all(roster.by_number(file.upload.number) == folder.student for file in files)
    )


def _key(files: list[Found]) -> str:
    """A group's is its name alone: the number in it is a member's, and not always the same one's."""
    first = files[0].upload if files else Upload("", "")
    return first.student if first.of_group else first.key


def _set_aside(folder: Folder, files: list[Found], stays: Callable[[Found], bool], reason: str) -> list[Found]:
    kept = [file for file in files if stays(file)]
    for file in files:
        if file not in kept:
            folder.keep(file.arrived(), folder.disputed)
            file.row.action, file.row.reason = "disputed", f"{reason}; {IN_A_CSV}"
    return kept


# --- scripts ---


def take_scripts(
    folder: Folder, files: list[Found], notebooks: Sequence[str], names: Mapping[str, frozenset[str]]
) -> list[str]:
    """Gives each script that counts the name of its notebook; returns notes for the instructor.

    names: which names a notebook's exercises define, as `exercise_names` returns them.
    """
    handed_in = {file.row.file for file in files if not file.odd and file.row.file.endswith(".ipynb")}
    groups: dict[str | None, list[Found]] = defaultdict(list)
    for file in files:
        if file.row.file.lower().endswith(".py") and not is_own_module(file.entry.inner or file.entry.path):
            groups[notebook_of(file.row.file, notebooks)].append(file)
    notes = []
    for notebook, scripts in groups.items():
        target = f"{notebook}.ipynb"
        already = handed_in if notebook is None else target in handed_in
        if already:
            continue
        if target in folder.notebooks:
            notes.append(_note(folder, scripts, target, "a notebook was collected before"))
        elif meant := notebook and _meant(scripts, notebooks, names.get(notebook, frozenset())):
            for file in meant:
                file.row.file = target
        else:
            why = f"none is named {notebook or 'NOTEBOOK'}.py, and not exactly one defines names of its exercises"
            notes.append(_note(folder, scripts, target if notebook else "NOTEBOOK.ipynb", why))
    return notes


def _meant(scripts: list[Found], notebooks: Sequence[str], names: frozenset[str]) -> list[Found]:
    """The uploads of the one script that can be meant; [] if several can be."""
    near = {file.row.source: nearness(file.row.file, notebooks) for file in scripts}
    best = max(near.values())
    nearest = [file for file in scripts if near[file.row.source] == best]
    if best == 1 or _number_of_scripts(nearest) > 1:
        nearest = [file for file in nearest if names & _defined(file.staged)]
    return nearest if _number_of_scripts(nearest) == 1 else []


def _number_of_scripts(files: list[Found]) -> int:
    """Without what copying and handing in again add to a name."""
    return len({own_stem(file.row.file).lower() for file in files})


def _note(folder: Folder, scripts: list[Found], target: str, why: str) -> str:
    listed = ", ".join(sorted({file.row.file for file in scripts}))
    path = f"submitted/{folder.student}/{folder.assignment}/{target}"
    return f"{folder.student}: not graded: {listed} ({why}); to have a script graded, copy it to {path}"


def exercise_names(course: Path, assignment: str) -> dict[str, frozenset[str]]:
    """notebook → the names that its exercises define, of the released notebooks."""
    folders = (course / kind / assignment for kind in ("release", "source"))
    paths = next(filter(None, (sorted(folder.glob("*.ipynb")) for folder in folders)), [])
    return {path.stem: _defined(path, only_answers=True) for path in paths}


def _defined(path: Path, only_answers: bool = False) -> frozenset[str]:
    cells = [cell for cell in read_notebook(path).cells if cell.kind == "code" and (cell.solution or not only_answers)]
    return frozenset().union(*(cell.parsed.declares for cell in cells))
