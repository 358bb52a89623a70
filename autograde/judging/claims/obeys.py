"""Each result of a random function obeys a rule."""

from dataclasses import dataclass

from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference
from autograde.judging.random_claims import counted


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
