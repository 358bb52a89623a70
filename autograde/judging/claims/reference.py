"""An answer equals the result of the reference."""

from dataclasses import dataclass

from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Tolerance, compare


class Equals(Claim):
    """Judges by an expected value."""

    kind = "equals"

    @staticmethod
    def difference(claim, answers):
        return compare(claim["expected"], answers[claim["answer"]].value, Tolerance(claim["rtol"], claim["atol"]))


@dataclass(frozen=True)
class Reference(Equals):
    """The answer to case `answer` equals the result of the reference; exact: to the last digit.

    rtol: a relative tolerance that is smaller than the exercise's, where a small term must show.
    """

    answer: int = 0
    exact: bool = False
    rtol: float | None = None

    def planned(self, trial):
        tolerance = {"rtol": self.rtol, "atol": 0.0} if self.rtol else {}
        tolerance = {"rtol": 0.0, "atol": 0.0} if self.exact else tolerance
        returns = {"returns": "list"} if trial.cases[self.answer].calls else {}
        expected = trial.expected(trial.cases[self.answer])
        claim = {"kind": "equals", "answer": trial.index(self.answer), "expected": expected}
        yield trial.common | tolerance | returns | claim
