"""Parts of two answers are equal."""

from dataclasses import dataclass

import numpy as np

from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference, Tolerance, compare, distinct_texts


@dataclass(frozen=True)
class Same(Claim):
    """Two answers, each possibly cut down, are equal: `left` and `right` are (answer, axis, indices)."""

    kind = "same"

    left: tuple[int, int, tuple[int, ...]]
    right: tuple[int, int, tuple[int, ...]]

    def planned(self, trial):
        (left, left_axis, left_indices), (right, right_axis, right_indices) = self.left, self.right
        yield trial.common | {
            "kind": "same", "answer": trial.index(left), "axis": left_axis, "indices": list(left_indices),
            "other": trial.index(right), "other_axis": right_axis, "other_indices": list(right_indices),
        }  # fmt: skip

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
