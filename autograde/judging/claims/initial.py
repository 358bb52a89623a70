"""The initial weights of a new layer."""

from dataclasses import dataclass

import numpy as np

from autograde.judging.claims.claim import Claim
from autograde.judging.claims.hands_on import made
from autograde.judging.compare import Difference

LARGEST_CORRELATION = 0.5  # of two tables of one size with numbers of their own
DEVIATIONS = 5  # standard deviations of chance that a spread may be away


@dataclass(frozen=True)
class Initial(Claim):
    """The initial weights of a new layer: of each role the standard deviation; no two roles have the same numbers.

    limit: the largest number, without its sign.
    """

    kind = "initial"

    spreads: dict[str, float]
    limit: float = np.inf
    answer: int = 0

    def planned(self, trial):
        index = trial.ask(made(trial, trial.cases[self.answer], {}, values=True))
        yield trial.common | {
            "kind": "initial", "answer": index, "spreads": self.spreads, "limit": float(self.limit),
            "returns": "dict", "of": {role: trial.shown_name(role) for role in self.spreads},
        }  # fmt: skip

    @staticmethod
    def difference(claim, answers):
        weights, seen = answers[claim["answer"]].value, []
        for role, spread in claim["spreads"].items():
            numbers = weights.get(role) if type(weights) is dict else None
            if type(numbers) is not np.ndarray or numbers.dtype.kind != "f" or numbers.size < 2:
                return Difference("type", f"expected the initial numbers of {role}")
            numbers, of = numbers.astype("float64").ravel(), claim.get("of", {}).get(role, role)
            got, largest = numbers.std(), np.abs(numbers).max()
            if not abs(got / spread - 1) <= DEVIATIONS / (2 * numbers.size) ** 0.5:
                sentence = (
                    f"the initial numbers of {of} have a standard deviation of {got:.4g}; expected about {spread:.4g}"
                )
                if got > spread:
                    sentence += " (a truncated normal distribution has a smaller one than its `stddev`)"
                return Difference("values", sentence)
            if not largest <= claim["limit"]:
                return Difference("values", f"an initial number of {of} is {largest:.4g}: larger than expected")
            of_one_size = [other for other in seen if other.size == numbers.size]
            if any(abs(np.corrcoef(numbers, other)[0, 1]) > LARGEST_CORRELATION for other in of_one_size):
                return Difference("values", f"the initial numbers of {of} are those of another table")
            seen.append(numbers)
        return None
