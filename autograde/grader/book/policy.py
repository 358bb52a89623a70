"""The rules of a course for points: late hand-ins, extensions, free late days, weights, and the course grade.

`.autograde/policy.json` keeps them. The course grade is 100 × Σ weight × share / Σ weight over the assignments that
count; a share is points by maximum points, and an assignment without a weight has weight 1.

A penalty is computed from the score, the time, the due date, extensions, free late days and the rule as they are now;
nothing that is stored is trusted to be up to date.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from autograde.common.errors import InputError
from autograde.grader.book.course import YEARS
from autograde.grader.book.store import StoreError, Table
from autograde.grader.hand_ins.hand_in import HandIn

MAX_DAYS = 3650  # of an extension
LatePenalty = Callable[[str, float, float], float | None]  # (student, score, seconds late) → points taken off
_DAY = 86_400
_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")  # of anything less, nbgrader guesses the rest from today


@dataclass(frozen=True)
class Policy:
    """late_days: free for each student over the term; drop_lowest: how many assignments do not count; weights: by
    assignment, 1 where none is given."""

    late_days: int = 0
    drop_lowest: int = 0
    weights: dict[str, float] = field(default_factory=dict)
    extensions: dict[str, dict[str, float]] = field(default_factory=dict)  # assignment → student → days

    def extended(self, assignment: str, student: str, days: float) -> "Policy":
        """The policy with an extension given, or taken back (0 days)."""
        given = self.extensions.get(assignment, {}) | {student: days}
        return replace(self, extensions=self.extensions | {assignment: given})

    def without(self, student: str) -> "Policy":
        """The policy without a student's extensions."""
        kept = {
            name: {one: days for one, days in given.items() if one != student}
            for name, given in self.extensions.items()
        }
        return replace(self, extensions=kept)

    def set_extension(self, submission, zone: tzinfo) -> None:
        """The student's extension by `autograde extend`; one that was given with nbgrader alone stays.

        Whole days end at the same time of the day, also where clocks are set back in between.
        """
        days = self.extensions.get(submission.assignment.name, {}).get(submission.student_id)
        if days is None:
            return
        extension, due = timedelta(days=days), submission.assignment.duedate
        if due is not None and days == int(days):
            extension += _set_back(due, due + extension, zone)
        submission.extension = extension if days else None

    def free_days(
        self, submissions: list, records: Mapping[str, HandIn], rule: LatePenalty, zone: tzinfo
    ) -> dict[str, int]:
        """The late days that one student's submissions take for nothing, by assignment: the first due date comes first.

        A delay for which the rule takes nothing off takes no late day.
        """
        left, taken = self.late_days, {}
        dated = [one for one in submissions if one.assignment.duedate is not None]
        for one in sorted(dated, key=lambda one: (one.assignment.duedate, one.assignment.name)):
            late = seconds_late(one, records.get(one.assignment.name), zone)
            if left and late and rule(one.student_id, 1.0, late):
                taken[one.assignment.name] = min(left, math.ceil(late / _DAY))
                left -= taken[one.assignment.name]
        return taken


def _parsed(text: str) -> Policy:
    policy = Policy(**json.loads(text))
    wrong = [days for given in policy.extensions.values() for days in given.values() if not 0 <= days <= MAX_DAYS]
    if wrong:
        raise ValueError(f"expected extensions of 0 to {MAX_DAYS} days, got {wrong[0]}")
    return policy


POLICY = Table(
    ".autograde/policy.json", "a policy", "correct it there, or write it again with `autograde policy`",
    parse=_parsed, empty=Policy, text=lambda policy: json.dumps(asdict(policy), indent=1) + "\n",
    without=Policy.without,
)  # fmt: skip


# --- late hand-ins ---


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


def seconds_late(submission, record: HandIn | None, zone: tzinfo) -> float:
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


def lateness(submission, record: HandIn | None, zone: tzinfo) -> str:
    """The lateness of a hand-in as text for tables: empty for a punctual one."""
    if record is not None and record.late and not record.time:
        return "late, days unknown"
    days = math.ceil(seconds_late(submission, record, zone) / _DAY)
    if not days:
        return "marked late, by our due date punctual" if record is not None and record.late else ""
    return f"{days} {'day' if days == 1 else 'days'} late"


# --- the course grade ---


@dataclass(frozen=True)
class Total:
    """One student's course grade. shares: by assignment; dropped: those that do not count."""

    student: str
    shares: dict[str, float]
    dropped: tuple[str, ...]
    percent: float


def totals(rows: Sequence[dict], policy: Policy) -> list[Total]:
    """Course grades, by student, from the rows of `Gradebook.grades`; what was not handed in counts 0, an assignment
    without points not at all. Raises InputError where nothing would be left to count."""
    students: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["max_score"] > 0:
            students.setdefault(row["student"], {})[row["assignment"]] = row["score"] / row["max_score"]
    return [_total(student, shares, policy) for student, shares in sorted(students.items())]


def _total(student: str, shares: dict[str, float], policy: Policy) -> Total:
    weights = {name: weight for name in shares if (weight := policy.weights.get(name, 1.0)) > 0}
    if policy.drop_lowest >= len(weights):
        raise InputError(
            f"{policy.drop_lowest} assignments are dropped and {len(weights)} count; drop fewer, or wait for more"
        )
    order = sorted(weights, key=lambda name: (shares[name], weights[name], name))  # the lowest shares first
    kept = [name for name in weights if name not in order[: policy.drop_lowest]]
    percent = 100 * sum(weights[name] * shares[name] for name in kept) / sum(weights[name] for name in kept)
    return Total(student, shares, tuple(order[: policy.drop_lowest]), percent)
