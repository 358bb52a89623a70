"""A layer hands the arguments of its constructor on to Keras."""

from dataclasses import dataclass

from autograde.judging.claims.reference import Equals


def made(trial, case, config: dict, values: bool = False) -> dict:
    """The question that constructs the layer of a case with further arguments, and does not call it."""
    question = {"seed": 1} | trial.question(case)  # so that the same code has the same initial weights
    probe = question["probe"] | {"config": case.config | config}
    return question | {"probe": {"kind": "made", "of": probe, "values": values}}


@dataclass(frozen=True)
class HandsOn(Equals):
    """A layer's constructor hands `name` and `trainable` on to Keras, and all its weights can be trained.

    The layer of the case is constructed again, with a name and with `trainable=False`. dtype: constructed with this
    one too, but not called.
    """

    asks = "made"

    answer: int = 0
    dtype: str = ""

    def planned(self, trial):
        case = trial.cases[self.answer]
        trained = {"named": True, "trainable": True, "trained": list(case.weights)}
        wanted = [({"name": "mine"}, trained)]
        wanted.append(({"name": "mine", "trainable": False}, trained | {"trainable": False, "trained": []}))
        wanted += [({"dtype": self.dtype}, {"in its dtype": True})] if self.dtype else []
        for config, expected in wanted:
            index = trial.ask(made(trial, case, config))
            yield trial.common | {"kind": "equals", "answer": index, "expected": expected, "returns": "dict"}

    @staticmethod
    def advice(claim, answer, difference):
        if "named" not in claim.get("expected", ()):
            return []
        if all(answer.value.get(name) == claim["expected"][name] for name in ("named", "trainable")):
            return ["A weight of your layer cannot be trained: leave out `trainable=False` where you make it."]
        return [
            "The layer was made with `name=...` and `trainable=...`: hand all of `**kwargs` on to `super().__init__`."
        ]
