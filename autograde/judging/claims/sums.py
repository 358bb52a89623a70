"""The sums along an axis."""

from dataclasses import dataclass

import numpy as np

from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference, Tolerance, compare


@dataclass(frozen=True)
class Sums(Claim):
    """The sums along an axis of an answer are all `total`."""

    kind = "sums"

    total: float
    answer: int = 0
    axis: int = -1

    def planned(self, trial):
        yield trial.common | {
            "kind": "sums", "answer": trial.index(self.answer), "axis": self.axis, "total": self.total
        }  # fmt: skip

    @staticmethod
    def difference(claim, answers):
        value = answers[claim["answer"]].value
        if type(value) is not np.ndarray or value.dtype.kind != "f" or value.ndim < 1:
            return Difference("type", "expected an array of floats")
        sums = value.sum(axis=claim["axis"], dtype="float64").astype("float32")
        return compare(np.full_like(sums, claim["total"]), sums, Tolerance(claim["rtol"], claim["atol"]))
