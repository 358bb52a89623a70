"""Claims about random functions: rules for every result, and how often events happen over many calls.

    {"kind": "obeys", "answer": 0, "rule": "replaced", "given": [arguments], "calls": 300, …}
    {"kind": "rates", …the same…, "events": ["masked", …], "tries": [1500, …], "probabilities": [0.8, …],
     "bounds": [[1103, 1291], …]}

The answer is a list with one result for each call; the last call repeats the first one's seed. With `calls` of 0 the
answer is one result. Two programs with the same mistake need not draw the same numbers: so a plan keeps of a known
mistake's answer only the tally, {"faults": {"twice": 41}} or {"events": {"position 1": 113, …}}.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from autograde.judging import binomial_bounds
from autograde.judging.answers import Answer, read
from autograde.judging.claims.results import Claim
from autograde.judging.compare import Difference
from autograde.judging.match_mistake import same_outcome, same_value
from autograde.judging.rules import RULES

KINDS = ("obeys", "rates")
_FEW = 10  # calls, of which the counts must be equal
_ALIKE = 4.0  # standard deviations between two counts that are taken for the same rate


@dataclass(frozen=True)
class Obeys(Claim):
    """Each result of a random function obeys a rule, named as in `autograde.judging.rules`."""

    kind = "obeys"

    rule: str
    answer: int = 0

    def planned(self, trial):
        case = trial.cases[self.answer]
        yield trial.common | {
            "answer": trial.index(self.answer), "rule": self.rule, "given": list(case.arguments),
            "calls": len(case.seeds), "kind": "obeys",
        }  # fmt: skip

    @staticmethod
    def difference(claim, answers):
        events = counted(claim, answers[claim["answer"]].value)
        return events if isinstance(events, Difference) else None


@dataclass(frozen=True)
class Rates(Claim):
    """The rates of events over all calls of a random function: event, as the rule names it → (independent tries in one
    call, the probability of each)."""

    kind = "rates"

    rule: str
    rates: dict[str, tuple[int, float]]
    answer: int = 0

    def planned(self, trial):
        """Its events share the probability of a false alarm of one claim."""
        case = trial.cases[self.answer]
        calls = len(case.seeds) - 1  # the last one repeats the first
        tries = [calls * each for each, _ in self.rates.values()]
        probabilities = [float(probability) for _, probability in self.rates.values()]
        allowed = binomial_bounds.FALSE_ALARM / len(tries)
        bounds = [list(binomial_bounds.bounds(n, p, allowed)) for n, p in zip(tries, probabilities)]
        yield trial.common | {
            "answer": trial.index(self.answer), "rule": self.rule, "given": list(case.arguments),
            "calls": len(case.seeds), "kind": "rates", "events": list(self.rates), "tries": tries,
            "probabilities": probabilities, "bounds": bounds,
        }  # fmt: skip

    @staticmethod
    def difference(claim, answers):
        """Whether each event happened about as often as it should."""
        value = answers[claim["answer"]].value
        events = counted(claim, value)
        if isinstance(events, Difference):
            return events
        expectations = zip(claim["events"], claim["tries"], claim["probabilities"], claim["bounds"])
        for event, tries, probability, (lowest, highest) in expectations:
            if not lowest <= events[event] <= highest:
                if are_all_the_same(claim, value):
                    every = f"all {claim['calls']} calls, each with another seed, gave the same result"
                    return Difference("always the same", f"{every}: draw from `rng` only")
                usual = f"expected about {tries * probability:.0f}, by chance between {lowest} and {highest}"
                return Difference("rate", f"{event}: {events[event]} times in {tries}; {usual}")
        return None


def are_all_the_same(claim, results) -> bool:
    """Whether many calls, each with a generator of another seed, gave one and the same result."""
    return claim["calls"] > _FEW and len(set(map(_key, results))) == 1


def counted(claim, value) -> Counter | Difference:
    """The events of all calls except the repeated one, or the first result that breaks the rule."""
    happened = Counter()
    for found, times in _findings(claim, value):
        if isinstance(found, Difference):
            return found
        for event in found:
            happened[event] += times
    return happened


def _findings(claim, value) -> list[tuple[list[str] | Difference, int]]:
    """The rule's finding for each different result, in the order of the calls, and the number of calls that returned
    this result; or of all calls the reason why the answer as a whole is wrong."""
    rule = RULES[claim["rule"]]
    results = [value] if claim["calls"] == 0 else value
    if type(results) is not list or len(results) != max(claim["calls"], 1):
        return [(Difference("type", "expected one result for each call"), claim["calls"])]
    if claim["calls"] == 0 and type(value) is not list:
        return [(Difference("type", "expected a result that can be iterated over"), 0)]
    different: dict[object, list] = {}  # key → a result, the number of calls that returned it
    for result in results[: max(claim["calls"] - 1, 1)]:
        different.setdefault(_key(result), [result, 0])[1] += 1
    findings = [(rule(claim["given"], result), times) for result, times in different.values()]
    broken = any(isinstance(found, Difference) for found, _ in findings)
    if not broken and not same_value(results[0], results[-1]):
        words = "two calls with generators of the same seed differ: draw from `rng` only"
        return [(Difference("own chance", words), claim["calls"])]
    return findings


def _key(value):
    """A key that only equal values of the same types share."""
    kind = type(value)
    if kind in (list, tuple):
        numbers = {int}.issuperset(map(type, value))
        return kind, tuple(value if numbers else map(_key, value))
    if kind is np.ndarray:
        return value.dtype.str, value.shape, value.tobytes()
    return (kind, value) if kind in (int, bool, str) else id(value)


# --- naming ---


def tallied(plan: dict, outcomes: list[dict]) -> list[dict]:
    """A known mistake's outcomes, with tallies in place of the results of many calls."""
    claims = {claim["answer"]: claim for part in plan["parts"] for claim in part["claims"] if claim["kind"] in KINDS}
    counted = {index for index in claims if outcomes[index]["status"] == "ok"}
    return [
        outcome | {"value": _tally(claims[index], outcome["value"])} if index in counted else outcome
        for index, outcome in enumerate(outcomes)
    ]


def _tally(claim, value) -> dict:
    """Counts the faults by kind; the events by name, if no fault occurred."""
    faults, events = Counter(), Counter()
    for found, times in _findings(claim, value):
        is_fault = isinstance(found, Difference)
        for name in [found.kind] if is_fault else found:
            (faults if is_fault else events)[name] += times
    return {"faults": dict(faults)} if faults else {"events": dict(events)}


def match_by_counts(plan: dict, answers: list[Answer]) -> dict | None:
    """The one known mistake with the same events as these answers; None if there is no such mistake or several."""
    claims = [claim for part in plan["parts"] for claim in part["claims"]]
    if not any(claim["kind"] in KINDS for claim in claims):
        return None
    tallies = [
        _tally(claim, answer.value) if claim["kind"] in KINDS and answer.status == "ok" else None
        for claim, answer in ((claim, answers[claim["answer"]]) for claim in claims)
    ]
    alike = [
        known for known in plan["misconceptions"]
        if all(_alike(claim, tally, known, answers) for claim, tally in zip(claims, tallies))
    ]  # fmt: skip
    return alike[0] if len(alike) == 1 else None


def _alike(claim, tally, known, answers) -> bool:
    outcome, answer = read(known["outcomes"][claim["answer"]]), answers[claim["answer"]]
    if claim["kind"] not in KINDS:
        return same_outcome(outcome, answer)
    if outcome.status != answer.status:
        return False
    if outcome.status != "ok":
        return outcome.failure.signature == answer.failure.signature
    theirs, ours = tally, outcome.value
    if theirs.keys() != ours.keys():
        return False
    if "faults" in theirs:
        return _same_counts(theirs["faults"], ours["faults"], {**theirs["faults"], **ours["faults"]}, claim["calls"])
    if claim["kind"] == "obeys":
        return True
    tries = zip(claim["events"], claim["tries"])
    return all(_same_counts(theirs["events"], ours["events"], [event], n) for event, n in tries)


def _same_counts(one: dict, other: dict, names, tries: int) -> bool:
    return all(_same_rate(one.get(name, 0), other.get(name, 0), tries) for name in names)


def _same_rate(one: int, other: int, tries: int) -> bool:
    """Whether two counts are equal; of many tries, whether chance explains their difference."""
    share = (one + other + 1) / (2 * tries + 2)
    return abs(one - other) <= (0.0 if tries < _FEW else _ALIKE * (2 * tries * share * (1 - share)) ** 0.5)
