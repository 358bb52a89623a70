"""Grades for other programs: CSV for people, CSV as Canvas and Moodle import it, JSON for scripts.

Rows come from `gradebook.Gradebook.grades`, with late penalties computed again.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from pathlib import Path

from autograde.common.errors import InputError
from autograde.grader.book.course import in_utc
from autograde.grader.exports.lms import canvas, fill_canvas, fill_worksheet, moodle
from autograde.grader.exports.tables import Filled, table

FORMATS = ("csv", "canvas", "moodle", "json")
_COLUMNS = (
    "assignment", "student", "last_name", "first_name", "email", "submitted", "timestamp", "late", "raw_score",
    "late_penalty", "score", "max_score", "needs_manual_grade",
)  # fmt: skip


def export(
    rows: Sequence[dict],
    form: str,
    theirs: str | None = None,
    columns: dict[str, str] | None = None,
    feedback: Mapping[str, str] | None = None,
) -> Filled:
    """A grade file. form: one of FORMATS.

    theirs: the text of Canvas's gradebook export or of Moodle's grading worksheet: then its rows and ids are kept, and
    only grades (for Moodle also feedback) are filled in. columns: assignment → its column in Canvas.
    Raises InputError.
    """
    if form == "json":
        return Filled(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    if form == "canvas":
        return fill_canvas(rows, theirs, columns) if theirs is not None else canvas(rows)
    if form == "moodle":
        return fill_worksheet(rows, theirs, feedback or {}) if theirs is not None else moodle(rows)
    if form == "csv":
        return Filled(table([_COLUMNS, *([row[column] for column in _COLUMNS] for row in rows)]))
    raise InputError(f"expected a format of {', '.join(FORMATS)}, got {form!r}")


def must_be_graded(rows: Sequence[dict], named: Sequence[str]) -> list[dict]:
    """The rows of graded assignments: for files that a system imports.

    named: assignments that were asked for. Raises InputError if one of them, or all, have no grade at all.
    """
    graded = _graded(rows)
    for name in named or ([] if graded else ["the course"]):
        if name not in graded:
            raise InputError(f"{name}: nothing is graded yet; run `autograde grade` first")
    return [row for row in rows if row["assignment"] in graded]


def still_open(course: Path, rows: Sequence[dict]) -> list[str]:
    """Sentences about hand-ins to graded assignments that have no grade, or none that is final."""
    notes = []
    for name in sorted(_graded(rows)):
        there = {row["student"] for row in rows if row["assignment"] == name and row["submitted"]}
        waiting = {path.parent.name for path in course.glob(f"submitted/*/{name}") if path.is_dir()} - there
        if waiting:
            notes.append(
                f"{name}: handed in and not graded: {', '.join(sorted(waiting))}; run `autograde grade {name}`"
            )
        by_hand = [row["student"] for row in rows if row["assignment"] == name and row["needs_manual_grade"]]
        if by_hand:
            notes.append(f"{name}: {len(by_hand)} wait for points by hand; their grades are not final")
    return notes


def _graded(rows: Sequence[dict]) -> set[str]:
    return {row["assignment"] for row in rows if row["submitted"]}


def in_zone(rows: Sequence[dict], zone: tzinfo) -> list[dict]:
    """The rows with times in the course's zone: "2026-01-30 13:00:00+01:00"."""
    return [
        row
        | {"timestamp": in_utc(row["timestamp"]).astimezone(zone).isoformat(" ", "seconds") if row["timestamp"] else ""}
        for row in rows
    ]
