"""Dropout acts on a result or inside of a layer, and what it drops is chance: each number is drawn by itself."""

from dataclasses import dataclass, replace

import numpy as np

from autograde.judging import binomial_bounds
from autograde.judging.claims.results import Claim
from autograde.judging.compare import Difference, Tolerance, compare

FEWEST_ROWS, FEWEST_PAIRS = 20, 50  # below these numbers chance explains nearly everything
STRETCH = 400  # as many numbers in a row: chance drops the same ones again once in 10¹⁵ times, for rates of 0.1 to 0.9
# Of the standard deviation of a result without dropout: rounding stays below 1e-5 of it, dropout of 0.5 is near 1.
LEAST_CHANGE = 0.02
LEAST_SHARE = 0.5  # of the numbers that must change by so much


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
        if only_whole_rows(zero):
            return Difference("values", "numbers are dropped together; expected that each number is drawn by itself")
        share = float(zero.mean())
        if abs(share - rate) > 5 * (rate * (1 - rate) / got.size) ** 0.5:
            numbers = f"numbers {claim['of']}" if "of" in claim else "numbers"
            return Difference("values", f"{share:.0%} of the {numbers} are 0; expected about {rate:.0%}")
        together = drawn_together(zero, rate)
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


def drawn_together(zero: np.ndarray, rate: float) -> str:
    """A sentence if zeros repeat or depend on each other along an axis, more than chance does once in 10⁹ times."""
    for axis, size in enumerate(zero.shape):
        rows = np.moveaxis(zero, axis, -1).reshape(-1, size)
        if size == 1 or len(rows) == 1 and size < FEWEST_PAIRS:
            continue
        alike = rows.all(axis=1) | ~rows.any(axis=1)
        if alike.sum() > binomial_bounds.bounds(alike.size, rate**size + (1 - rate) ** size)[1]:
            return "numbers are dropped together; expected that each number is drawn by itself"
        pairs = rows[:, : size // 2 * 2].reshape(-1, 2)  # neighbours; no number is in two pairs
        equal = int((pairs[:, 0] == pairs[:, 1]).sum())
        lowest, highest = binomial_bounds.bounds(len(pairs), rate**2 + (1 - rate) ** 2)
        if len(pairs) >= FEWEST_PAIRS and not lowest <= equal <= highest:
            return "neighbouring numbers depend on each other; expected that each number is drawn by itself"
        if len(rows) >= FEWEST_ROWS and size >= FEWEST_ROWS and np.ptp(rows.sum(axis=1)) == 0:
            return "all rows have the same number of zeros; expected that each number is drawn by itself"
    dropped = zero.tobytes()
    later = dropped.find(dropped[:STRETCH], 1) if zero.size > STRETCH else -1
    if later > 0:
        return f"the zeros repeat after {later} numbers; expected that each number is drawn by itself"
    return ""


def only_whole_rows(zero: np.ndarray) -> bool:
    """Whether along some axis of many numbers always all or none are 0, and both occur."""
    along = (axis for axis, size in enumerate(zero.shape) if size > 7)
    return bool(zero.any() and not zero.all()) and any(
        (zero.all(axis=axis) | ~zero.any(axis=axis)).all() for axis in along
    )


@dataclass(frozen=True)
class AnyCount(Claim):
    """The zeros of dropout are not a fixed share: their number is not round(rate · n) in all of these answers. A right
    answer has that number, or one next to it, in about 6 % of calls with 2,000 numbers: give at least seven."""

    kind = "any count"
    drawn = True

    rates: tuple[float, ...]  # of the answers 0, 1, 2, …

    def planned(self, trial):
        yield self.plain(trial, trial.index(0), rates=list(self.rates))

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


@dataclass(frozen=True)
class Varies(Claim):
    """Calls under two seeds, the case's `seed` and the next, give different results, because of dropout. item: which
    one of several results."""

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
