"""A result shares no list with the arguments."""

from dataclasses import dataclass

from autograde.judging.claims.reference import Equals


@dataclass(frozen=True)
class OwnLists(Equals):
    """The result shares no list or dict with the arguments: a caller who changes it changes nothing else.

    The call is made once more; lists and dicts of its result are changed, and the arguments must stay as they were.
    """

    asks = "own lists"

    answer: int = 0

    def planned(self, trial):
        case = trial.cases[self.answer]
        question = trial.question(case)
        index = trial.ask(question | {"probe": {"kind": "own lists", "of": question["probe"]}})
        yield {
            "kind": "equals", "answer": index, "expected": list(case.arguments), "returns": "list", "rtol": 0.0,
            "atol": 0.0,
        }  # fmt: skip

    @staticmethod
    def advice(claim, answer, difference):
        return [
            "Your function returns its argument itself: a change of the result changes the argument, too. Return a "
            "new list. (`check` appended 'changed' to the result to see this.)"
        ]
