"""Times of hand-ins that a download does not tell, from a table that the system writes.

Canvas   the submissions of its API, `/api/v1/courses/C/assignments/A/submissions?per_page=100`, saved as JSON or CSV
Moodle   the grading worksheet (View all submissions > Download grading worksheet)
others   a CSV with a column for the student and a column `time`
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograde.common.delimited import read_records
from autograde.common.errors import InputError
from autograde.grader.hand_ins.platforms import Upload

_MOODLES = "identifier"  # "Participant 90210"
_PARTICIPANT = re.compile(r"^\D+(?=\d+$)")
_NUMBERS = ("user_id", "anonymous_id", _MOODLES, "id")
_STUDENTS = ("student", "login", "username", "sis login id", "user name")
_TIMES = ("submitted_at", "last modified (submission)", "zuletzt geändert (abgabe)", "time", "submitted")
_FORMATS = (
    "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
    "%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M", "%d. %B %Y, %H:%M", "%d/%m/%y, %H:%M",
)  # fmt: skip
_GERMAN = {"januar": "January", "februar": "February", "märz": "March", "mai": "May", "juni": "June", "juli": "July",
           "oktober": "October", "dezember": "December"}  # fmt: skip


@dataclass
class Times:
    """Hand-in times by the system's number of a student, and by the student's id or login."""

    by_number: dict[str, datetime] = field(default_factory=dict)
    by_student: dict[str, datetime] = field(default_factory=dict)

    def of(self, upload: Upload, student: str, alone: bool = True) -> datetime | None:
        """The time by the number, else by the student's id, else, if alone with it, by the name in the entry."""
        if upload.number in self.by_number:
            return self.by_number[upload.number]
        is_a_namesake = student.endswith(f"-{upload.number}")
        names = (student, upload.student) if alone and not is_a_namesake else (student,)
        return next((self.by_student[name.casefold()] for name in names if name.casefold() in self.by_student), None)


def read_times(paths: Sequence[Path], zone: tzinfo = UTC) -> Times:
    """Reads JSON lists or CSVs, such as the pages of a long list. zone: of times without one. Raises InputError."""
    times = Times()
    for path in paths:
        _read(path, zone, times)
    return times


def _read(path: Path, zone: tzinfo, times: Times) -> None:
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = json.loads(text) if path.suffix.lower() == ".json" else read_records(text)
        rows = [{str(key).strip().lower(): str(value or "").strip() for key, value in row.items()} for row in rows]
    except (OSError, ValueError, AttributeError) as reason:
        raise InputError(f"{path}: expected a CSV, or a JSON list of Canvas's submissions ({reason})") from None
    time = _first(rows, _TIMES)
    number, student = _first(rows, _NUMBERS), _first(rows, _STUDENTS)
    if not time or not (number or student):
        raise InputError(
            f"{path}: expected a column of times ({', '.join(_TIMES)}) and one of students ({', '.join(_NUMBERS)}, "
            f"{', '.join(_STUDENTS)}), got {', '.join(rows[0]) if rows else 'no rows'}"
        )
    for line, row in enumerate(rows, start=2):
        at = _time(row[time], zone, f"{path} line {line}")
        if at and number and row[number]:
            own = _PARTICIPANT.sub("", row[number]) if number == _MOODLES else row[number]  # Canvas: "abcD5" is whole
            times.by_number[own] = at
        if at and student and row[student]:
            times.by_student[row[student].casefold()] = at


def _first(rows: Sequence[dict], names: Sequence[str]) -> str | None:
    return next((name for name in names if rows and name in rows[0]), None)


def _time(text: str, zone: tzinfo, where: str) -> datetime | None:
    text = re.sub(r"^[^\W\d_]+,\s*", "", text)  # a day of the week in front
    text = re.sub(r"[^\W\d_]+", lambda word: _GERMAN.get(word[0].lower(), word[0]), text)
    if text in ("", "-"):
        return None
    for form in _FORMATS:
        try:
            time = datetime.strptime(text, form)
        except ValueError:
            continue
        in_utc = form.endswith(("Z", "UTC"))
        return (time if time.tzinfo else time.replace(tzinfo=UTC if in_utc else zone)).astimezone(UTC)
    raise InputError(f"{where}: expected a time such as 2026-01-30 12:00:00, got {text!r}")
