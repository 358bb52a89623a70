"""Two whole answers are the same, or are not."""

from dataclasses import dataclass

from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference
from autograde.judging.match_mistake import same_value


@dataclass(frozen=True)
class Alike(Claim):
    """Two answers are the same: the same seed, the same order. With `wanted=False`: they differ."""

    kind = "alike"

    answer: int = 0
    other: int = 1
    wanted: bool = True

    def planned(self, trial):
        yield trial.common | {
            "kind": "alike", "answer": trial.index(self.answer), "other": trial.index(self.other),
            "wanted": self.wanted,
        }  # fmt: skip

    @staticmethod
    def difference(claim, answers):
        if same_value(answers[claim["other"]].value, answers[claim["answer"]].value) == claim["wanted"]:
            return None
        got, expected = ("differ", "the same results") if claim["wanted"] else ("are the same", "different results")
        return Difference("values", f"the results of two calls {got}; expected {expected}")
