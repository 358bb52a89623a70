"""The number of zeros that dropout makes is chance, too."""

from dataclasses import dataclass

from autograde.judging.claims.claim import Claim
from autograde.judging.claims.dropped import zeros
from autograde.judging.compare import Difference


@dataclass(frozen=True)
class AnyCount(Claim):
    """The zeros of dropout are not a fixed share: their number is not round(rate · n) in all of these answers.

    A right answer has that number, or one next to it, in about 6 % of calls with 2,000 numbers: give at least seven.
    """

    kind = "any count"
    drawn = True

    rates: tuple[float, ...]  # of the answers 0, 1, 2, …

    def planned(self, trial):
        yield trial.common | {"kind": "any count", "answer": trial.index(0), "rates": list(self.rates)}

    @staticmethod
    def difference(claim, answers):
        for index, rate in enumerate(claim["rates"], start=claim["answer"]):
            zero = zeros(answers[index].value)
            if abs(int(zero.sum()) - rate * zero.size) > 1:
                return None
        return Difference(
            "values",
            "the number of zeros is always rate · n; expected that each number is drawn by itself, so that it varies",
        )
