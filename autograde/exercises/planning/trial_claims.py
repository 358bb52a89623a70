"""One trial on its way into a plan: its questions as plain data, and the reference's results, computed in float64."""

from functools import partial

import numpy as np

from autograde.boundary.calls import with_results
from autograde.boundary.plain_values import nested
from autograde.exercises.draws import turned
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import Case, Exercise, Trial


class PlannedTrial:
    """Adds a trial's calls to a plan's questions. Its claims (`autograde.judging.claims`) then ask it for their plain
    data: the index of an answer, an expected result, further questions.

    graph: its calls are made inside of `tf.function`; there a layer does not know the size of the batch, as in `fit`.
    """

    def __init__(self, exercise: Exercise, trial: Trial, questions: list[dict], graph: bool):
        self.exercise, self.cases, self._questions, self._first = exercise, trial.cases, questions, len(questions)
        self.question = partial(as_question, exercise)  # case → question
        self.expected = partial(expected_of, exercise)  # case → the reference's result, as the student's must come back
        self.reference = partial(_reference, exercise)  # (arguments, keywords, weights, config) → result in float64
        tolerance = exercise.tolerance
        self.common = {"rtol": tolerance.rtol, "atol": tolerance.atol, "returns": exercise.returns}
        more = {"graph": True} if graph else {}
        if graph and exercise.probe["kind"] == "layer" and exercise.unknown_batch:
            more |= {"unknown_batch": True}
        for case in trial.cases:
            question = as_question(exercise, case) | more
            if not questions:  # names to watch; for a function an earlier call, to be forgotten
                question |= {"watch": list(exercise.forbidden.names)}
                plain = exercise.probe["kind"] == "function" and case.seed is None and not case.first
                question |= {"first": turned(case.arguments)} if plain else {}
            questions.append(question)

    def index(self, answer: int) -> int:
        """The index in the plan of the answer to one of the trial's cases."""
        return self._first + answer

    def ask(self, question: dict) -> int:
        """Adds a further question; returns the index of its answer."""
        self._questions.append(question)
        return len(self._questions) - 1

    def shown_name(self, key: str | int) -> str:
        """A weight or an argument for a sentence: "self.dense.kernel", "hidden"."""
        exercise = self.exercise
        return exercise.arguments[key] if type(key) is int else f"self.{exercise.probe['roles'][key][0]}"


def as_question(exercise: Exercise, case: Case) -> dict:
    """The question that tests the student's code with this case."""
    if case.calls:
        calls = [as_question(called, call) for called, call in chained_calls.calls_of(exercise, case)]
        probe = {"kind": "composition", "name": exercise.names[0]}
        return {"probe": probe, "arguments": [], "keywords": {}, "calls": calls}
    more = {name: value for name, value in (("config", case.config), ("seeds", list(case.seeds))) if value}
    question = {"probe": exercise.probe | more, "arguments": list(case.arguments), "keywords": case.keywords}
    if case.weights:
        question["weights"] = case.weights
    if case.first:
        question["first"] = list(case.first)
    if case.seed is not None:
        question["seed"] = case.seed
    return question


def expected_of(exercise: Exercise, case: Case):
    """The reference's result, in float64, then in the dtype of the exercise; of a composition the list of all
    results."""
    if not case.calls:
        return _as_returned(exercise, _reference(exercise, case.arguments, case.keywords, case.weights, case.config))
    called, results = list(chained_calls.calls_of(exercise, case)), []
    for other, call in called:
        arguments, keywords = with_results(call.arguments, results), with_results(call.keywords, results)
        results.append(_reference(other, arguments, keywords, call.weights, call.config))
    return [_as_returned(other, result) for (other, _), result in zip(called, results)]


def _as_returned(exercise: Exercise, result):
    if type(result) is tuple and _of_tensors(exercise, result):
        return tuple(item.astype(exercise.dtype) for item in result)
    return result.astype(exercise.dtype) if isinstance(result, (np.ndarray, np.generic)) else result


def _of_tensors(exercise: Exercise, result: tuple) -> bool:
    """Whether a tuple holds the tensors of a layer, or of a function of tensors."""
    floats = all(isinstance(item, np.ndarray) and item.dtype == "float64" for item in result)
    return exercise.probe["kind"] == "layer" or (floats and exercise.probe.get("tensors", True))


def _reference(exercise: Exercise, arguments, keywords, weights, config):
    has_weights = exercise.probe["kind"] in ("layer", "step", "with model")
    extra = {"weights": _as_float64(weights), "config": config} if has_weights else {}
    return exercise.reference(*_as_float64(list(arguments)), **_as_float64(keywords), **extra)


def _as_float64(value):
    def convert(leaf):
        return leaf.astype("float64") if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f" else leaf

    return nested(value, convert)
