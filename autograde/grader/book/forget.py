"""Finds and deletes everything that a course stores about one student: folders, files, rows of tables and manifests,
the entry in gradebook.db. Pages, zips and sheets about a class with this student are deleted, to be written again.

Data elsewhere stays: the LMS and its downloads, the exchange, copies and backups.
"""

import glob
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograde.common.errors import InputError
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.group_hand_ins import remove_grade
from autograde.grader.book.manual_points import COMMENTS, SHARES
from autograde.grader.book.people import GROUPS, PEOPLE
from autograde.grader.book.policy import POLICY
from autograde.grader.book.store import StoreError, Table
from autograde.grader.book.variants import HANDED_OUT
from autograde.grader.exports.mailing import MAILED
from autograde.grader.hand_ins.hand_in import HAND_INS
from bertlab.common.files import write_json

TABLES = (POLICY, GROUPS, PEOPLE, HAND_INS, HANDED_OUT, SHARES, COMMENTS, MAILED)  # all that a course keeps in a store
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


def damaged(course: str | Path) -> list[str]:
    """A sentence for each file of a course's store that cannot be read."""
    sentences = []
    for table in TABLES:
        for keys in table.keys(course):
            try:
                table.load(course, *keys)
            except StoreError as reason:
                sentences.append(str(reason))
    return sentences


def check_known(course: str | Path, student: str) -> None:
    """Raises InputError if nothing is stored about a student: no file, no row of a table, gradebook or manifest."""
    course = Path(course)
    manifests = [json.loads(path.read_text(encoding="utf-8")) for path in course.glob("collected/*/manifest*.json")]
    known = {row["student"] for manifest in manifests for row in manifest["rows"]}
    if (course / "gradebook.db").is_file():
        with Gradebook(course) as book:
            known |= {one.id for one in book.book.students}
    if student not in known and not kept_about(course, student) and not without(course, student):
        raise InputError(f"{course}: nothing is stored about {student!r}; `autograde export` lists the students")


def without(course: str | Path, student: str) -> list[tuple[Table, tuple[str, ...], Any]]:
    """(table, keys, value without the student) of each file of the store that has the student. Raises StoreError."""
    found = []
    for table in (table for table in TABLES if table.without):
        for keys in table.keys(course):
            value = table.load(course, *keys)
            if (rest := table.without(value, student)) != value:
                found.append((table, keys, rest))
    return found


def forget(course: str | Path, student: str, assignment: str | None = None) -> list[Path]:
    """Deletes all of it, or what is stored about one assignment; returns the paths. Raises InputError without any."""
    course = Path(course)
    paths = kept_about(course, student, assignment)
    if assignment:
        if not paths:
            raise InputError(
                f"{course}: nothing of {student!r} is stored in {assignment}; `autograde export` lists both"
            )
        remove_grade(course, assignment, student)
    else:
        check_known(course, student)
        for table, keys, rest in without(course, student):
            table.save(rest, course, *keys)
        if (course / "gradebook.db").is_file():
            with Gradebook(course) as book:
                book.forget(student)
    for manifest in course.glob(f"collected/{assignment or '*'}/manifest*.json"):
        _strike_out(manifest, student)
    _release_copies(course, student, assignment)
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return paths


def _release_copies(course: Path, student: str, assignment: str | None) -> None:
    """Copies of the student's hand-in are their owners' own now."""
    for name, owner in HAND_INS.keys(course, *([assignment] if assignment else [])):
        record = HAND_INS.load(course, name, owner)
        if record.by == student:
            entries = {file: entry for file, entry in record.entries.items() if not _names(student, entry)}
            HAND_INS.save(replace(record, by="", entries=entries), course, name, owner)


def _names(student: str, text: str) -> bool:
    """Whether a text names a student: as a whole, not as letters in other words."""
    return bool(re.search(rf"(?<![^\W_]){re.escape(student)}(?![^\W_])", text))


def _strike_out(manifest: Path, student: str) -> None:
    """Takes a student's rows and notes out of the list of a download."""
    content = json.loads(manifest.read_text(encoding="utf-8"))
    rows = [row for row in content["rows"] if row["student"] != student]
    notes = [note for note in content.get("notes", ()) if not _names(student, note)]
    if rows != content["rows"] or notes != content.get("notes", []):
        content.get("variants", {}).pop(student, None)
        write_json(manifest, content | {"rows": rows, "notes": notes})
