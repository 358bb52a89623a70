"""The methods that all kinds of claims have."""

from collections.abc import Iterator
from typing import ClassVar

from autograde.judging.answers import Answer
from autograde.judging.compare import Difference


class Claim:
    """A kind of claim about the answers to a trial's cases. Exercises make its instances; a plan holds plain data.

    kind: its name in plans; asks: the kind of the further question that it puts, if it has advice about that; drawn:
    the numbers of its answer depend on chance.
    """

    kind: ClassVar[str]
    asks: ClassVar[str] = ""
    drawn: ClassVar[bool] = False

    def planned(self, trial) -> Iterator[dict]:
        """Its plain data. trial: the trial on its way into a plan (`PlannedTrial`), which also takes its questions."""
        raise NotImplementedError

    def plain(self, trial, answer: int, **facts) -> dict:
        """The plain data about the answer with this index in the plan."""
        return trial.common | {"kind": self.kind, "answer": answer} | facts

    @staticmethod
    def difference(claim: dict, answers: list[Answer]) -> Difference | None:
        """Why the plain data does not hold for these answers; None if it holds."""
        raise NotImplementedError

    @staticmethod
    def advice(claim: dict, answer: Answer, difference: Difference) -> list[str]:
        """Sentences for the student where it does not hold, if this kind knows more than "another value"."""
        return []

    @classmethod
    def may_vary(cls, question: dict) -> bool:
        """Whether two equal calls may give different results."""
        return cls.drawn
