"""The rates of events over many calls of a random function."""

from dataclasses import dataclass

from autograde.judging import binomial_bounds
from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference
from autograde.judging.random_claims import are_all_the_same, counted


@dataclass(frozen=True)
class Rates(Claim):
    """The rates of events over all calls of a random function.

    rates: event, as the rule names it → (independent tries in one call, the probability of each).
    """

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
