"""A call raises an error."""

from dataclasses import dataclass

from autograde.judging.answers import is_a
from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference


@dataclass(frozen=True)
class Raises(Claim):
    """The call raises an error of this type: "ValueError"."""

    kind = "raises"

    error: str
    answer: int = 0

    def planned(self, trial):
        yield trial.common | {"kind": "raises", "answer": trial.index(self.answer), "error": self.error}

    @staticmethod
    def difference(claim, answers):
        answer = answers[claim["answer"]]
        if answer.status != "raised":
            return Difference("raised", f"expected this call to raise {claim['error']}; it returned")
        if not is_a(answer.failure.kind, claim["error"]):
            raised = answer.failure.type or answer.failure.kind
            return Difference("raised", f"expected this call to raise {claim['error']}; it raised {raised}")
        return None
