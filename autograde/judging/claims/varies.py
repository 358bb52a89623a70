"""Dropout acts inside of a layer."""

from dataclasses import dataclass, replace

import numpy as np

from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference, compare

# Of the standard deviation of a result without dropout: rounding stays below 1e-5 of it, dropout of 0.5 is near 1.
LEAST_CHANGE = 0.02
LEAST_SHARE = 0.5  # of the numbers that must change by so much


@dataclass(frozen=True)
class Varies(Claim):
    """Calls under two seeds give different results, because of dropout: the case's `seed` and the next.

    item: which one of several results, if the answer is a tuple.
    """

    kind = "varies"
    drawn = True

    answer: int = 0
    item: int | None = None

    def planned(self, trial):
        case = trial.cases[self.answer]
        other = trial.ask(trial.question(replace(case, seed=case.seed + 1)))
        whole = trial.expected(case)
        item = {} if self.item is None else {"item": self.item}
        yield trial.common | item | {
            "kind": "varies", "answer": trial.index(self.answer), "other": other,
            "whole": whole if self.item is None else whole[self.item],
        }  # fmt: skip

    @staticmethod
    def difference(claim, answers):
        """Calls under two seeds differ in most numbers, and by far more than rounding: dropout acted on a sub-layer."""
        first, second = (_item(answers[claim[name]].value, claim.get("item")) for name in ("answer", "other"))
        whole = claim["whole"]
        for value in (first, second):
            if type(value) is not np.ndarray or value.shape != whole.shape or value.dtype.kind != "f":
                return compare(whole, value)
        distances = np.abs(first.astype("float64") - second)
        if not np.isfinite(distances).all():
            return Difference("nan", "the result has NaN or infinite numbers")
        far = distances > LEAST_CHANGE * whole.std()
        if far.mean() < LEAST_SHARE:
            return Difference(
                "values",
                f"two calls in training under different seeds differ in {far.mean():.0%} of the numbers; expected "
                "random dropout, which changes most of them",
            )
        return None


def _item(value, index: int | None):
    """An item of a tuple of results; the value itself if no index is given; None if there is no such item."""
    if index is None:
        return value
    return value[index] if type(value) in (list, tuple) and index < len(value) else None
