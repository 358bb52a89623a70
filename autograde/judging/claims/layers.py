"""Claims about a layer's name, its weights and their initial numbers, and about lists that a function shares."""

from dataclasses import dataclass

import numpy as np

from autograde.judging.claims.results import Claim, Equals
from autograde.judging.compare import Difference

LARGEST_CORRELATION = 0.5  # of two tables of one size with numbers of their own
DEVIATIONS = 5  # standard deviations of chance that a spread may be away


def made(trial, case, config: dict, values: bool = False) -> dict:
    """The question that constructs the layer of a case with further arguments, and does not call it."""
    question = {"seed": 1} | trial.question(case)  # so that the same code has the same initial weights
    probe = question["probe"] | {"config": case.config | config}
    return question | {"probe": {"kind": "made", "of": probe, "values": values}}


@dataclass(frozen=True)
class HandsOn(Equals):
    """A layer's constructor hands `name` and `trainable` on to Keras, and all its weights can be trained: the layer of
    the case is constructed again with them. dtype: constructed with this one too, but not called."""

    asks = "made"

    answer: int = 0
    dtype: str = ""

    def planned(self, trial):
        case = trial.cases[self.answer]
        trained = {"named": True, "trainable": True, "trained": list(case.weights)}
        fixed = trained | {"trainable": False, "trained": []}
        wanted = [({"name": "mine"}, trained), ({"name": "mine", "trainable": False}, fixed)]
        wanted += [({"dtype": self.dtype}, {"in its dtype": True})] if self.dtype else []
        for config, expected in wanted:
            index = trial.ask(made(trial, case, config))
            yield self.plain(trial, index, expected=expected, returns="dict")

    @staticmethod
    def advice(claim, answer, difference):
        if "named" not in claim.get("expected", ()):
            return []
        if all(answer.value.get(name) == claim["expected"][name] for name in ("named", "trainable")):
            return ["A weight of your layer cannot be trained: leave out `trainable=False` where you make it."]
        return [
            "The layer was made with `name=...` and `trainable=...`: hand all of `**kwargs` on to `super().__init__`."
        ]


@dataclass(frozen=True)
class OwnWeights(Equals):
    """The layer has as many weights as the case gives it, and all of them can be trained; none with `trainable=False`.
    One too many is a bias that the formula does not have, or a matrix that should be shared."""

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
        yield self.plain(trial, index, expected=expected, returns="dict")

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


@dataclass(frozen=True)
class OwnLists(Equals):
    """The result shares no list or dict with the arguments: those stay as they were when the lists and dicts in the
    result of another call are changed."""

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


@dataclass(frozen=True)
class Initial(Claim):
    """The initial weights of a new layer: each role's standard deviation, and the largest number without its sign
    (`limit`). No two roles have the same numbers."""

    kind = "initial"

    spreads: dict[str, float]
    limit: float = np.inf
    answer: int = 0

    def planned(self, trial):
        index = trial.ask(made(trial, trial.cases[self.answer], {}, values=True))
        of = {role: trial.shown_name(role) for role in self.spreads}
        yield self.plain(trial, index, spreads=self.spreads, limit=float(self.limit), returns="dict", of=of)

    @staticmethod
    def difference(claim, answers):
        weights, seen = answers[claim["answer"]].value, []
        for role, spread in claim["spreads"].items():
            numbers = weights.get(role) if type(weights) is dict else None
            if type(numbers) is not np.ndarray or numbers.dtype.kind != "f" or numbers.size < 2:
                return Difference("type", f"expected the initial numbers of {role}")
            numbers, of = numbers.astype("float64").ravel(), claim.get("of", {}).get(role, role)
            got, largest = numbers.std(), np.abs(numbers).max()
            if not abs(got / spread - 1) <= DEVIATIONS / (2 * numbers.size) ** 0.5:
                sentence = (
                    f"the initial numbers of {of} have a standard deviation of {got:.4g}; expected about {spread:.4g}"
                )
                if got > spread:
                    sentence += " (a truncated normal distribution has a smaller one than its `stddev`)"
                return Difference("values", sentence)
            if not largest <= claim["limit"]:
                return Difference("values", f"an initial number of {of} is {largest:.4g}: larger than expected")
            of_one_size = [other for other in seen if other.size == numbers.size]
            if any(abs(np.corrcoef(numbers, other)[0, 1]) > LARGEST_CORRELATION for other in of_one_size):
                return Difference("values", f"the initial numbers of {of} are those of another table")
            seen.append(numbers)
        return None
