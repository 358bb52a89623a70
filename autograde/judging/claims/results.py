"""The base of all claims, and claims about a call: it returns the result of the reference or of another call, certain
sums, or raises an error; its gradients are those of the reference."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from autograde.judging.answers import Answer, is_a
from autograde.judging.compare import Difference, Tolerance, compare, distinct_texts
from autograde.judging.match_mistake import same_value

STEP = 1e-5  # of the central differences, in float64


class Claim:
    """A kind of claim about the answers to a trial's cases. Exercises make its instances; a plan holds plain data.

    kind: its name in plans; asks: the kind of the further question that it puts, if it has advice about that; drawn:
    the numbers of its answer depend on chance.
    """

    kind: ClassVar[str]
    asks: ClassVar[str] = ""
    drawn: ClassVar[bool] = False

    def planned(self, trial) -> Iterator[dict]:
        """Its plain data. trial: the trial on its way into a plan (`PlannedTrial`), which also takes its questions."""
        raise NotImplementedError

    def plain(self, trial, answer: int, **facts) -> dict:
        """The plain data about the answer with this index in the plan."""
        return trial.common | {"kind": self.kind, "answer": answer} | facts

    @staticmethod
    def difference(claim: dict, answers: list[Answer]) -> Difference | None:
        """Why the plain data does not hold for these answers; None if it holds."""
        raise NotImplementedError

    @staticmethod
    def advice(claim: dict, answer: Answer, difference: Difference) -> list[str]:
        """Sentences for the student where it does not hold, if this kind knows more than "another value"."""
        return []

    @classmethod
    def may_vary(cls, question: dict) -> bool:
        """Whether two equal calls may give different results."""
        return cls.drawn


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


@dataclass(frozen=True)
class Slopes(Claim):
    """The gradients of an output with respect to weights (by role) or arguments (by index), each along one direction.

    The sum of output × cotangent changes by `slope · h` when a weight moves by `h · direction`. The expected slope is a
    central difference of the reference in float64, so no reference has to be differentiated by hand.
    """

    kind = "slopes"

    cotangent: np.ndarray
    directions: dict[str | int, np.ndarray]  # role or index → an array of that shape
    answer: int = 0
    item: int | None = None  # which one of several outputs, if the answer is a tuple

    def planned(self, trial):
        case = trial.cases[self.answer]
        question = trial.question(case)
        probe = {"kind": "gradient", "of": question["probe"], "with_respect_to": list(self.directions)}
        item = {} if self.item is None else {"item": self.item}
        yield {
            "kind": "slopes", "answer": trial.ask(question | item | {"probe": probe, "cotangent": self.cotangent}),
            "directions": list(self.directions.values()), "of": [trial.shown_name(key) for key in self.directions],
            "expected": self._expected(trial, case), "rtol": 1e-3, "atol": 1e-3, "returns": "list",
        }  # fmt: skip

    def _expected(self, trial, case) -> np.ndarray:
        def total(name, shift):
            arguments, weights = list(case.arguments), dict(case.weights)
            moved = arguments if type(name) is int else weights
            moved[name] = moved[name].astype("float64") + shift * self.directions[name]
            result = trial.reference(arguments, case.keywords, weights, case.config)
            return np.sum((result if self.item is None else result[self.item]) * self.cotangent)

        return np.array([(total(name, STEP) - total(name, -STEP)) / (2 * STEP) for name in self.directions], "float32")

    @staticmethod
    def difference(claim, answers):
        gradients, directions = answers[claim["answer"]].value, claim["directions"]
        if type(gradients) is not list or len(gradients) != len(directions):
            return Difference("type", "expected a gradient for each weight")
        for gradient, direction in zip(gradients, directions):
            if type(gradient) is not np.ndarray or gradient.shape != direction.shape or gradient.dtype.kind != "f":
                return Difference("shape", "a gradient has a different shape than its weight")
        slopes = [np.sum(g.astype("float64") * d) for g, d in zip(gradients, directions)]
        difference = compare(claim["expected"], np.array(slopes, "float32"), Tolerance(claim["rtol"], claim["atol"]))
        if difference is None:
            return None
        index = difference.index[0]
        of = claim["of"][index] if "of" in claim else "an argument or a weight"
        absent = slopes[index] == 0 or np.isnan(slopes[index])  # NaN if no gradient arrived at all, otherwise 0
        if absent and answers[claim["answer"]].no_gradient:
            return replace(difference, kind="values", message=f"no gradient reaches {of}; expected one")
        message = difference.message
        message = message.partition("   yours")[2] or message.partition("first difference yours")[2]
        return replace(difference, message=f"gradient of {of}, in one direction:   yours{message}")

    @staticmethod
    def advice(claim, answer, difference):
        if answer.status == "ok" and difference.kind == "values":
            return [
                "The results are right, but not their gradient: is a part computed with NumPy (`np.mean`, "
                "`.numpy()`), or is a gradient stopped (`ops.stop_gradient`)?"
            ]
        return []
