"""Finds and deletes everything that a course stores about one student.

    submitted/ID  autograded/ID  feedback/ID      nbgrader's folders
    results/*/ID  results/*/faults/ID.txt         what the grader found
    collected/*/earlier/ID, disputed/ID           older files, and files that somebody else's entry claims
    collected/*/hand_ins/ID.json, rows of the manifest, people.json   what a download told
    .autograde/mailed/*/ID.json                   e-mails that were sent
    .autograde/groups, by_hand                    rows of groups and of graders
    variants/*/handed_out.csv                     which variant of the questions the student has
    gradebook.db                                  grades, comments, name
    reports/*.html, feedback/*.zip, sheets/*.csv  about their assignments: deleted, to be written again

Data elsewhere stays: the LMS and its downloads, the exchange, copies and backups.
"""

import glob
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

from autograde.common.errors import InputError
from autograde.grader.book import store
from autograde.grader.book.all_tables import TABLES
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.group_hand_ins import remove_grade
from autograde.grader.book.people import PEOPLE
from autograde.grader.book.variants import HANDED_OUT
from autograde.grader.hand_ins.hand_in import HAND_INS
from bertlab.common.files import write_text

_FOLDERS = ("submitted/{}", "autograded/{}", "feedback/{}", "results/*/{}", "results/*/faults/{}.txt",
            "collected/*/earlier/{}", "collected/*/disputed/{}", "collected/*/hand_ins/{}.json",
            ".autograde/mailed/*/{}.json")  # fmt: skip
_OF_ONE_ASSIGNMENT = ("submitted/{}/ASSIGNMENT", "autograded/{}/ASSIGNMENT", "feedback/{}/ASSIGNMENT")
_IMPOSSIBLE = set("*?/\\")


def kept_about(course: str | Path, student: str, assignment: str | None = None) -> list[Path]:
    """A student's folders and files, and the pages that name them; of one assignment, or of all. Raises InputError."""
    course = Path(course)
    _check_name(student, "a student")
    patterns, who = _FOLDERS, glob.escape(student)
    if assignment is not None:
        _check_name(assignment, "an assignment")
        several = [pattern.replace("/*/", f"/{assignment}/") for pattern in _FOLDERS if "/*/" in pattern]
        patterns = [*(pattern.replace("ASSIGNMENT", assignment) for pattern in _OF_ONE_ASSIGNMENT), *several]
    own = [path for pattern in patterns for path in sorted(course.glob(pattern.replace("{}", who)))]
    assignments = {path.parent.name for path in own if path.parent.parent.name == "results"}
    assignments |= {path.name for path in course.glob(f"submitted/{who}/{assignment or '*'}")}
    about_all = ("reports/{}*.html", "feedback/{}-*.zip", "sheets/{}-*.csv")  # they name each student
    patterns = [each.format(name) for name in sorted(assignments) for each in about_all]
    patterns += ["reports/term*.*"] if own else []
    pages = [page for pattern in patterns for page in sorted(course.glob(pattern))]
    return [*own, *dict.fromkeys(pages)]


def _check_name(name: str, of: str) -> None:
    if name in ("", ".", "..") or _IMPOSSIBLE & set(name):
        raise InputError(f"{name!r} cannot be the name of {of}; `autograde export` lists students and assignments")


def unknown(course: str | Path, student: str) -> InputError:
    """The error about a student of whom nothing is stored."""
    return InputError(f"{course}: nothing is stored about {student!r}; `autograde export` lists the students")


def is_known(course: str | Path, student: str) -> bool:
    """Whether anything is stored about a student: a file, a row of the gradebook or of a manifest, a name."""
    course = Path(course)
    manifests = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(course.glob("collected/*/manifest*.json"))
    ]
    if any(row["student"] == student for manifest in manifests for row in manifest["rows"]):
        return True
    handed_out = any(student == who for (name,) in HANDED_OUT.keys(course) for who, _ in HANDED_OUT.load(course, name))
    if kept_about(course, student) or student in PEOPLE.load(course) or handed_out:
        return True
    if not (course / "gradebook.db").is_file():
        return False
    with Gradebook(course) as book:
        return any(one.id == student for one in book.book.students)


def forget(course: str | Path, student: str) -> list[Path]:
    """Deletes all of it, also in gradebook and manifests; returns the paths. Raises InputError if nothing is known."""
    course = Path(course)
    paths = kept_about(course, student)
    in_store = store.forget(course, TABLES, student)
    in_gradebook = False
    if (course / "gradebook.db").is_file():
        with Gradebook(course) as book:
            in_gradebook = book.forget(student)
    in_manifests = [_strike_out(path, student) for path in sorted(course.glob("collected/*/manifest*.json"))]
    _release_copies(course, student)
    if not (paths or in_gradebook or any(in_manifests) or in_store):
        raise unknown(course, student)
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return paths


def forget_assignment(course: str | Path, student: str, assignment: str) -> list[Path]:
    """Deletes the hand-in, results and grade of one assignment; returns the paths. Raises InputError without any."""
    course = Path(course)
    paths = kept_about(course, student, assignment)
    if not paths:
        raise InputError(f"{course}: nothing of {student!r} is stored in {assignment}; `autograde export` lists both")
    _release_copies(course, student, assignment)
    remove_grade(course, assignment, student)
    for path in paths:
        if path.exists():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in sorted(course.glob(f"collected/{assignment}/manifest*.json")):
        _strike_out(path, student)
    return paths


def _release_copies(course: Path, student: str, assignment: str = "") -> None:
    """Copies of the student's hand-in are their owners' own now."""
    for name, owner in HAND_INS.keys(course, *([assignment] if assignment else [])):
        record = HAND_INS.load(course, name, owner)
        if record.by == student:
            entries = {file: entry for file, entry in record.entries.items() if not _names(student, entry)}
            HAND_INS.save(replace(record, by="", entries=entries), course, name, owner)


def _names(student: str, text: str) -> bool:
    """Whether a text names a student: as a whole, not as letters in other words."""
    return bool(re.search(rf"(?<![^\W_]){re.escape(student)}(?![^\W_])", text))


def _strike_out(manifest: Path, student: str) -> bool:
    """Takes a student's rows and notes out of the list of a download; returns whether there were any."""
    content = json.loads(manifest.read_text(encoding="utf-8"))
    rows = [row for row in content["rows"] if row["student"] != student]
    notes = [note for note in content.get("notes", ()) if not _names(student, note)]
    if len(rows) == len(content["rows"]) and notes == content.get("notes", []):
        return False
    content |= {"rows": rows, "notes": notes}
    content.get("variants", {}).pop(student, None)
    write_text(manifest, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return True
