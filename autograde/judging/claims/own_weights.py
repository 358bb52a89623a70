"""The number of weights of a layer."""

from dataclasses import dataclass

from autograde.judging.claims.reference import Equals


@dataclass(frozen=True)
class OwnWeights(Equals):
    """The layer has as many weights as the case gives it, and all of them can be trained; none with `trainable=False`.

    A weight too many is a bias that the formula does not have, or a matrix that should be shared.
    """

    asks = "trainable"

    answer: int = 0

    def planned(self, trial):
        case = trial.cases[self.answer]
        question = trial.question(case)
        del question["weights"]
        numbers = sum(array.size for array in case.weights.values())
        can_be_trained = numbers if case.config.get("trainable", True) else 0
        expected = {"numbers that can be trained": can_be_trained, "numbers that are fixed": numbers - can_be_trained}
        index = trial.ask(question | {"probe": {"kind": "trainable", "of": question["probe"]}})
        yield trial.common | {"kind": "equals", "answer": index, "expected": expected, "returns": "dict"}

    @staticmethod
    def advice(claim, answer, difference):
        if type(answer.value) is not dict:
            return []
        got = sum(count for count in answer.value.values() if type(count) is int)
        expected = sum(claim["expected"].values())
        if got == expected:
            return ["A weight cannot be trained, or should not be: leave out `trainable=False` where you make it."]
        more = "more" if got > expected else "fewer"
        return [
            f"The layer's weights hold {more} numbers than expected. Is there a bias too many, or is a part left out?"
        ]
