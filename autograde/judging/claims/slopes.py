"""Gradients, each along one direction."""

from dataclasses import dataclass, replace

import numpy as np

from autograde.judging.claims.claim import Claim
from autograde.judging.compare import Difference, Tolerance, compare

STEP = 1e-5  # of the central differences, in float64


@dataclass(frozen=True)
class Slopes(Claim):
    """The gradients of an output with respect to weights (by role) or arguments (by index), each along one direction.

    The sum of output × cotangent changes by `slope · h` when a weight moves by `h · direction`. The expected slope is a
    central difference of the reference in float64, so no reference has to be differentiated by hand.
    """

    kind = "slopes"

    cotangent: np.ndarray
    directions: dict[str | int, np.ndarray]  # role or index → an array of that shape
    answer: int = 0
    item: int | None = None  # which one of several outputs, if the answer is a tuple

    def planned(self, trial):
        case = trial.cases[self.answer]
        question = trial.question(case)
        probe = {"kind": "gradient", "of": question["probe"], "with_respect_to": list(self.directions)}
        item = {} if self.item is None else {"item": self.item}
        yield {
            "kind": "slopes", "answer": trial.ask(question | item | {"probe": probe, "cotangent": self.cotangent}),
            "directions": list(self.directions.values()), "of": [trial.shown_name(key) for key in self.directions],
            "expected": self._expected(trial, case), "rtol": 1e-3, "atol": 1e-3, "returns": "list",
        }  # fmt: skip

    def _expected(self, trial, case) -> np.ndarray:
        def total(name, shift):
            arguments, weights = list(case.arguments), dict(case.weights)
            moved = arguments if type(name) is int else weights
            moved[name] = moved[name].astype("float64") + shift * self.directions[name]
            result = trial.reference(arguments, case.keywords, weights, case.config)
            return np.sum((result if self.item is None else result[self.item]) * self.cotangent)

        return np.array([(total(name, STEP) - total(name, -STEP)) / (2 * STEP) for name in self.directions], "float32")

    @staticmethod
    def difference(claim, answers):
        gradients, directions = answers[claim["answer"]].value, claim["directions"]
        if type(gradients) is not list or len(gradients) != len(directions):
            return Difference("type", "expected a gradient for each weight")
        for gradient, direction in zip(gradients, directions):
            if type(gradient) is not np.ndarray or gradient.shape != direction.shape or gradient.dtype.kind != "f":
                return Difference("shape", "a gradient has a different shape than its weight")
        slopes = [np.sum(g.astype("float64") * d) for g, d in zip(gradients, directions)]
        difference = compare(claim["expected"], np.array(slopes, "float32"), Tolerance(claim["rtol"], claim["atol"]))
        if difference is None:
            return None
        index = difference.index[0]
        of = claim["of"][index] if "of" in claim else "an argument or a weight"
        absent = slopes[index] == 0 or np.isnan(slopes[index])  # NaN if no gradient arrived at all, otherwise 0
        if absent and answers[claim["answer"]].no_gradient:
            return replace(difference, kind="values", message=f"no gradient reaches {of}; expected one")
        message = difference.message
        message = message.partition("   yours")[2] or message.partition("first difference yours")[2]
        return replace(difference, message=f"gradient of {of}, in one direction:   yours{message}")

    @staticmethod
    def advice(claim, answer, difference):
        if answer.status == "ok" and difference.kind == "values":
            return [
                "The results are right, but not their gradient: is a part computed with NumPy (`np.mean`, "
                "`.numpy()`), or is a gradient stopped (`ops.stop_gradient`)?"
            ]
        return []
