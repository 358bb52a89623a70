"""Claims about a call: it returns the result of the reference or of another call, certain sums, or raises an error."""

from dataclasses import dataclass

import numpy as np

from autograde.judging.answers import is_a
from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference, Tolerance, compare, distinct_texts
from autograde.judging.match_mistake import same_value


class Equals(Claim):
    """Judges by an expected value."""

    kind = "equals"

    @staticmethod
    def difference(claim, answers):
        return compare(claim["expected"], answers[claim["answer"]].value, Tolerance(claim["rtol"], claim["atol"]))


@dataclass(frozen=True)
class Reference(Equals):
    """The answer to case `answer` equals the result of the reference; exact: to the last digit; rtol: a smaller
    relative tolerance than the exercise's, where a small term must show."""

    answer: int = 0
    exact: bool = False
    rtol: float | None = None

    def planned(self, trial):
        facts = {"expected": trial.expected(trial.cases[self.answer])}
        if self.exact or self.rtol:
            facts |= {"rtol": 0.0 if self.exact else self.rtol, "atol": 0.0}
        if trial.cases[self.answer].calls:
            facts["returns"] = "list"
        yield self.plain(trial, trial.index(self.answer), **facts)


@dataclass(frozen=True)
class Same(Claim):
    """Two answers, each possibly cut down, are equal: `left` and `right` are (answer, axis, indices)."""

    kind = "same"

    left: tuple[int, int, tuple[int, ...]]
    right: tuple[int, int, tuple[int, ...]]

    def planned(self, trial):
        (left, left_axis, left_indices), (right, right_axis, right_indices) = self.left, self.right
        yield self.plain(
            trial, trial.index(left), axis=left_axis, indices=list(left_indices),
            other=trial.index(right), other_axis=right_axis, other_indices=list(right_indices),
        )  # fmt: skip

    @staticmethod
    def difference(claim, answers):
        left = _taken(answers[claim["answer"]].value, claim["axis"], claim["indices"])
        right = _taken(answers[claim["other"]].value, claim["other_axis"], claim["other_indices"])
        if left is None or right is None:
            return Difference("shape", "a result has a different shape than expected")
        difference = compare(right, left, Tolerance(claim["rtol"], claim["atol"]))
        if difference is None or difference.kind != "values":
            return difference
        texts = " and ".join(distinct_texts(left[difference.index], right[difference.index]))
        of = "this result" if claim["answer"] == claim["other"] else "two calls"
        return Difference("values", f"two numbers of {of} must be equal, and are {texts}")

    @classmethod
    def may_vary(cls, question):
        return "seed" in question


def _taken(value, axis: int, indices: list[int]) -> np.ndarray | None:
    if type(value) is not np.ndarray or value.ndim < -axis or max(indices) >= value.shape[axis]:
        return None
    return np.take(value, indices, axis=axis)


@dataclass(frozen=True)
class Alike(Claim):
    """Two whole answers are the same: the same seed, the same order. With `wanted=False`: they differ."""

    kind = "alike"

    answer: int = 0
    other: int = 1
    wanted: bool = True

    def planned(self, trial):
        yield self.plain(trial, trial.index(self.answer), other=trial.index(self.other), wanted=self.wanted)

    @staticmethod
    def difference(claim, answers):
        if same_value(answers[claim["other"]].value, answers[claim["answer"]].value) == claim["wanted"]:
            return None
        got, expected = ("differ", "the same results") if claim["wanted"] else ("are the same", "different results")
        return Difference("values", f"the results of two calls {got}; expected {expected}")


@dataclass(frozen=True)
class Sums(Claim):
    """The sums along an axis of an answer are all `total`."""

    kind = "sums"

    total: float
    answer: int = 0
    axis: int = -1

    def planned(self, trial):
        yield self.plain(trial, trial.index(self.answer), axis=self.axis, total=self.total)

    @staticmethod
    def difference(claim, answers):
        value = answers[claim["answer"]].value
        if type(value) is not np.ndarray or value.dtype.kind != "f" or value.ndim < 1:
            return Difference("type", "expected an array of floats")
        sums = value.sum(axis=claim["axis"], dtype="float64").astype("float32")
        return compare(np.full_like(sums, claim["total"]), sums, Tolerance(claim["rtol"], claim["atol"]))


@dataclass(frozen=True)
class Raises(Claim):
    """The call raises an error of this type: "ValueError"."""

    kind = "raises"

    error: str
    answer: int = 0

    def planned(self, trial):
        yield self.plain(trial, trial.index(self.answer), error=self.error)

    @staticmethod
    def difference(claim, answers):
        answer = answers[claim["answer"]]
        if answer.status != "raised":
            return Difference("raised", f"expected this call to raise {claim['error']}; it returned")
        if not is_a(answer.failure.kind, claim["error"]):
            raised = answer.failure.type or answer.failure.kind
            return Difference("raised", f"expected this call to raise {claim['error']}; it raised {raised}")
        return None
