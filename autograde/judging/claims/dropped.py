"""Dropout acts on a result, and what it drops is chance."""

from dataclasses import dataclass

import numpy as np

from autograde.judging import drawn_numbers
from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference, Tolerance, compare


@dataclass(frozen=True)
class Dropped(Claim):
    """Dropout acts on the result: about `rate` of its numbers are 0, the others are the reference's / (1 − rate).

    The reference gives the result without dropout; the case has a `seed`. unlike: another answer, of the same arguments
    under another seed, in which other numbers must be 0. signs: behind a LayerNorm, the negative numbers are those that
    were 0 before; only these are counted. beside: what is added to the result of dropout, an array of its shape. of:
    which numbers, for the sentence, if they are not the result itself: "that attention adds to x".
    """

    kind = "dropped"
    drawn = True

    rate: float
    answer: int = 0
    unlike: int | None = None
    signs: bool = False
    beside: np.ndarray | None = None
    of: str = ""

    def planned(self, trial):
        other = {} if self.unlike is None else {"unlike": trial.index(self.unlike)}
        other |= {} if self.beside is None else {"beside": self.beside}
        other |= {"of": self.of} if self.of else {}
        whole = trial.expected(trial.cases[self.answer])
        yield trial.common | other | {
            "kind": "dropped", "answer": trial.index(self.answer), "rate": self.rate, "whole": whole,
            "signs": self.signs,
        }  # fmt: skip

    @staticmethod
    def difference(claim, answers):
        """Each number is 0 or the whole / (1 − rate), with a plausible number of zeros (five standard deviations)."""
        got, rate, signs = answers[claim["answer"]].value, claim["rate"], claim.get("signs", False)
        beside = claim.get("beside", np.float32(0))  # exact zeros stay: (b + 0) − b
        scaled = ((claim["whole"].astype("float64") - beside) / (1 - rate)).astype("float32")
        if type(got) is not np.ndarray or got.shape != scaled.shape or got.dtype.kind != "f":
            return compare(scaled, got)
        got = got - beside
        zero = zeros(got, signs)
        if "unlike" in claim and np.array_equal(zero, zeros(answers[claim["unlike"]].value, signs)):
            return Difference(
                "values", "two calls drop the same numbers; expected new random numbers at each call (is a seed fixed?)"
            )
        if drawn_numbers.only_whole_rows(zero):
            return Difference("values", "numbers are dropped together; expected that each number is drawn by itself")
        share = float(zero.mean())
        if abs(share - rate) > 5 * (rate * (1 - rate) / got.size) ** 0.5:
            numbers = f"numbers {claim['of']}" if "of" in claim else "numbers"
            return Difference("values", f"{share:.0%} of the {numbers} are 0; expected about {rate:.0%}")
        together = drawn_numbers.drawn_together(zero, rate)
        if together:
            return Difference("values", together)
        if signs:
            return None
        return compare(np.where(zero, np.float32(0), scaled), got, Tolerance(claim["rtol"], claim["atol"]))


def zeros(value, signs: bool = False) -> np.ndarray:
    """The numbers that dropout has made 0; signs: behind a LayerNorm they are negative."""
    if type(value) is not np.ndarray or value.dtype.kind != "f":
        return np.zeros(0, bool)
    return value < 0 if signs else value == 0
