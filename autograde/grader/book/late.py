"""Late hand-ins: when they came, who is late, and how many points that costs by the course's own rule.

A penalty is computed from the score, the time, the due date, extensions, free late days and the rule as they are now;
nothing that is stored is trusted to be up to date.
"""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from autograde.grader.book.course import YEARS
from autograde.grader.book.policy import POLICY, Policy
from autograde.grader.book.store import StoreError
from autograde.grader.hand_ins.hand_in import HandIn

LatePenalty = Callable[[str, float, float], float | None]  # (student, score, seconds late) → points taken off
_DAY = 86_400
_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")  # of anything less, nbgrader guesses the rest from today


def configured_penalty(course: str | Path) -> LatePenalty:
    """The late-submission plugin of the course's own `nbgrader_config.py`; nbgrader's default deducts nothing."""
    from nbgrader.preprocessors import AssignLatePenalties
    from traitlets.config import Config
    from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

    try:
        config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    except ConfigFileNotFound:
        config = Config()
    preprocessor = AssignLatePenalties(config=config)
    preprocessor.init_plugin()
    return preprocessor.plugin_inst.late_submission_penalty


def penalty_to_take(course: str | Path) -> LatePenalty | None:
    """The rule of the course; None while its policy is damaged: without extensions it would take too much off. Points
    are computed again when the policy is mended."""
    try:
        POLICY.load(course)
    except StoreError:
        return None
    return configured_penalty(course)


def hand_in_time(text: str) -> str:
    """The time in a timestamp.txt, in UTC, as records have it; empty if the text is not a date with a time of day."""
    from nbgrader.utils import parse_utc

    try:
        time = parse_utc(text) if _DATE.match(text) else None
    except (ValueError, OverflowError):
        return ""
    return f"{time.isoformat(' ')} UTC" if time and time.year in YEARS else ""


def set_time(submission, graded: str | None, record: HandIn | None) -> None:
    """The time of the hand-in: as collecting recorded it, also where it is unknown; else as the graded file has it."""
    from nbgrader.utils import parse_utc

    if record is not None:
        submission.timestamp = parse_utc(record.time) if record.time else None
    elif graded:
        submission.timestamp = parse_utc(graded)


def set_extension(submission, policy: Policy, zone: tzinfo = UTC) -> None:
    """The student's extension by `autograde extend`; one that was given with nbgrader alone stays.

    Whole days end at the same time of the day, also where clocks are set back in between.
    """
    days = policy.extensions.get(submission.assignment.name, {}).get(submission.student_id)
    if days is None:
        return
    extension, due = timedelta(days=days), submission.assignment.duedate
    if due is not None and days == int(days):
        extension += _set_back(due, due + extension, zone)
    submission.extension = extension if days else None


def seconds_late(submission, record: HandIn | None, zone: tzinfo = UTC) -> float:
    """After extensions. A system that marks late hand-ins decides who is late: it knows its own extensions.

    The hour by which clocks are set back begins no further day.
    """
    if record is not None and record.late is False:
        return 0.0
    seconds = max(0.0, submission.total_seconds_late)
    if seconds <= _DAY:
        return seconds
    hour = _set_back(submission.timestamp - timedelta(seconds=seconds), submission.timestamp, zone)
    return max(_DAY, seconds - hour.total_seconds())


def _set_back(start: datetime, end: datetime, zone: tzinfo) -> timedelta:
    """The time by which clocks are set back between two times in UTC; never negative."""
    before, after = (time.replace(tzinfo=UTC).astimezone(zone).utcoffset() for time in (start, end))
    return max(before - after, timedelta())


def penalty(notebook, seconds: float, rule: LatePenalty) -> float | None:
    """Points to take off a notebook, never more than its score."""
    if seconds <= 0:
        return None
    points = rule(notebook.assignment.student_id, notebook.score, seconds)
    return None if points is None else min(max(points, 0.0), notebook.score)


def free_days(
    submissions: list, records: Mapping[str, HandIn], policy: Policy, rule: LatePenalty, zone: tzinfo = UTC
) -> dict[str, int]:
    """The late days that one student's submissions take for nothing, by assignment: the first due date comes first.

    A delay for which the rule takes nothing off takes no late day.
    """
    left, taken = policy.late_days, {}
    dated = [one for one in submissions if one.assignment.duedate is not None]
    for one in sorted(dated, key=lambda one: (one.assignment.duedate, one.assignment.name)):
        late = seconds_late(one, records.get(one.assignment.name), zone)
        if left and late and rule(one.student_id, 1.0, late):
            taken[one.assignment.name] = min(left, math.ceil(late / _DAY))
            left -= taken[one.assignment.name]
    return taken


def lateness(submission, record: HandIn | None, zone: tzinfo = UTC) -> str:
    """The lateness of a hand-in as text for tables: empty for a punctual one."""
    if record is not None and record.late and not record.time:
        return "late, days unknown"
    seconds = seconds_late(submission, record, zone)
    days = math.ceil(seconds / _DAY)
    if not days:
        return "marked late, by our due date punctual" if record is not None and record.late else ""
    return f"{days} {'day' if days == 1 else 'days'} late"
