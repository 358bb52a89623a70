"""From points to a course grade: free late days, weights, and how many of the lowest assignments are dropped.

`.autograde/policy.json` keeps it. The course grade is 100 × Σ weight × share / Σ weight over the assignments that
count; a share is points by maximum points, and an assignment without a weight has weight 1.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from autograde.common.errors import InputError
from autograde.grader.book.store import Table

MAX_DAYS = 3650  # of an extension


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
        return replace(
            self, extensions=self.extensions | {assignment: self.extensions.get(assignment, {}) | {student: days}}
        )

    def without(self, student: str) -> "Policy":
        """The policy without a student's extensions."""
        kept = {
            name: {one: days for one, days in given.items() if one != student}
            for name, given in self.extensions.items()
        }
        return replace(self, extensions=kept)


def _parsed(text: str) -> Policy:
    policy = Policy(**json.loads(text))
    wrong = [days for given in policy.extensions.values() for days in given.values() if not 0 <= days <= MAX_DAYS]
    if wrong:
        raise ValueError(f"expected extensions of 0 to {MAX_DAYS} days, got {wrong[0]}")
    return policy


POLICY = Table(
    ".autograde/policy.json", "a policy", "correct it there, or write it again with `autograde policy`",
    parse=_parsed, empty=Policy, text=lambda policy: json.dumps(asdict(policy), indent=1) + "\n",
    without=lambda policy, student: policy.without(student),
)  # fmt: skip


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
    counting = {name: share for name, share in shares.items() if policy.weights.get(name, 1.0) > 0}
    if policy.drop_lowest >= len(counting):
        raise InputError(
            f"{policy.drop_lowest} assignments are dropped and {len(counting)} count; drop fewer, or wait for more"
        )
    weights = {name: policy.weights.get(name, 1.0) for name in counting}
    order = sorted(counting, key=lambda name: (counting[name], weights[name], name))  # the lowest shares first
    kept = [name for name in counting if name not in order[: policy.drop_lowest]]
    percent = 100 * sum(weights[name] * counting[name] for name in kept) / sum(weights[name] for name in kept)
    return Total(student, shares, tuple(order[: policy.drop_lowest]), percent)
