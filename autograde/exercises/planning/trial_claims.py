"""The questions and claims of one trial as plain data, with the reference's results, computed in float64."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from autograde.boundary.calls import with_results
from autograde.exercises.draws import turned
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import (
    Alike,
    AnyCount,
    Case,
    Dropped,
    Exercise,
    HandsOn,
    Initial,
    Obeys,
    OwnLists,
    OwnWeights,
    Raises,
    Rates,
    Reference,
    Same,
    Slopes,
    Sums,
    Trial,
    Varies,
)  # fmt: skip
from autograde.judging import binomial_bounds


def claims_of(exercise: Exercise, trial: Trial, questions: list[dict], graph: bool) -> Iterator[dict]:
    """Adds a trial's calls to the questions and yields its claims, with indices into that list.

    graph: its calls are made inside of `tf.function`; there a layer does not know the size of the batch, as in `fit`.
    """
    first = len(questions)
    more = {"graph": True} if graph else {}
    if graph and exercise.probe["kind"] == "layer" and exercise.unknown_batch:
        more |= {"unknown_batch": True}
    for case in trial.cases:
        questions.append(as_question(exercise, case) | more | ({} if questions else _of_the_first(exercise, case)))
    common = {"rtol": exercise.tolerance.rtol, "atol": exercise.tolerance.atol, "returns": exercise.returns}
    for claim in trial.claims:
        if isinstance(claim, Reference):
            expected = expected_of(exercise, trial.cases[claim.answer])
            closely = {"rtol": claim.rtol, "atol": 0.0} if claim.rtol else {}
            exactly = {"rtol": 0.0, "atol": 0.0} if claim.exact else closely
            exactly |= {"returns": "list"} if trial.cases[claim.answer].calls else {}
            yield common | exactly | {"kind": "equals", "answer": first + claim.answer, "expected": expected}
        elif isinstance(claim, Sums):
            yield common | {"kind": "sums", "answer": first + claim.answer, "axis": claim.axis, "total": claim.total}
        elif isinstance(claim, Raises):
            yield common | {"kind": "raises", "answer": first + claim.answer, "error": claim.error}
        elif isinstance(claim, Dropped):
            whole = expected_of(exercise, trial.cases[claim.answer])
            other = {} if claim.unlike is None else {"unlike": first + claim.unlike}
            other |= {} if claim.beside is None else {"beside": claim.beside}
            other |= {"of": claim.of} if claim.of else {}
            yield common | other | {
                "kind": "dropped", "answer": first + claim.answer, "rate": claim.rate, "whole": whole,
                "signs": claim.signs,
            }  # fmt: skip
        elif isinstance(claim, AnyCount):
            yield common | {"kind": "any count", "answer": first, "rates": list(claim.rates)}
        elif isinstance(claim, Varies):
            case = trial.cases[claim.answer]
            questions.append(as_question(exercise, replace(case, seed=case.seed + 1)))
            whole = expected_of(exercise, case)
            item = {} if claim.item is None else {"item": claim.item}
            yield common | item | {
                "kind": "varies", "answer": first + claim.answer, "other": len(questions) - 1,
                "whole": whole if claim.item is None else whole[claim.item],
            }  # fmt: skip
        elif isinstance(claim, Slopes):
            case = trial.cases[claim.answer]
            questions.append(_gradient_question(exercise, case, claim))
            yield {
                "kind": "slopes", "answer": len(questions) - 1, "directions": list(claim.directions.values()),
                "of": [_shown_name(exercise, key) for key in claim.directions],
                "expected": _expected_slopes(exercise, case, claim), "rtol": 1e-3, "atol": 1e-3, "returns": "list",
            }  # fmt: skip
        elif isinstance(claim, HandsOn):
            for config, expected in _handed_on(trial.cases[claim.answer], claim.dtype):
                questions.append(_made_question(exercise, trial.cases[claim.answer], config))
                yield common | {"kind": "equals", "answer": len(questions) - 1, "expected": expected, "returns": "dict"}
        elif isinstance(claim, Initial):
            questions.append(_made_question(exercise, trial.cases[claim.answer], {}, values=True))
            yield common | {
                "kind": "initial", "answer": len(questions) - 1, "spreads": claim.spreads, "limit": float(claim.limit),
                "returns": "dict", "of": {role: _shown_name(exercise, role) for role in claim.spreads},
            }  # fmt: skip
        elif isinstance(claim, OwnLists):
            case = trial.cases[claim.answer]
            questions.append(_own_lists_question(exercise, case))
            yield {
                "kind": "equals", "answer": len(questions) - 1, "expected": list(case.arguments), "returns": "list",
                "rtol": 0.0, "atol": 0.0,
            }  # fmt: skip
        elif isinstance(claim, OwnWeights):
            case = trial.cases[claim.answer]
            questions.append(_own_weights_question(exercise, case))
            yield common | {
                "kind": "equals", "answer": len(questions) - 1, "expected": _own_weights(case), "returns": "dict",
            }  # fmt: skip
        elif isinstance(claim, Alike):
            yield common | {
                "kind": "alike", "answer": first + claim.answer, "other": first + claim.other, "wanted": claim.wanted,
            }  # fmt: skip
        elif isinstance(claim, (Obeys, Rates)):
            yield common | {"answer": first + claim.answer} | _chance_claim(claim, trial.cases[claim.answer])
        elif isinstance(claim, Same):
            (left, left_axis, left_indices), (right, right_axis, right_indices) = claim.left, claim.right
            yield common | {
                "kind": "same", "answer": first + left, "axis": left_axis, "indices": list(left_indices),
                "other": first + right, "other_axis": right_axis, "other_indices": list(right_indices),
            }  # fmt: skip


def _chance_claim(claim, case):
    """A claim about a random function. Its events share the probability of a false alarm of one claim."""
    stated = {"rule": claim.rule, "given": list(case.arguments), "calls": len(case.seeds)}
    if isinstance(claim, Obeys):
        return stated | {"kind": "obeys"}
    calls = len(case.seeds) - 1  # the last one repeats the first
    tries = [calls * each for each, _ in claim.rates.values()]
    probabilities = [float(probability) for _, probability in claim.rates.values()]
    allowed = binomial_bounds.FALSE_ALARM / len(tries)
    bounds = [list(binomial_bounds.bounds(n, p, allowed)) for n, p in zip(tries, probabilities)]
    return stated | {"kind": "rates", "events": list(claim.rates), "tries": tries, "probabilities": probabilities,
                     "bounds": bounds}  # fmt: skip


def _of_the_first(exercise, case):
    """The further entries of the first question: names to watch; for a function an earlier call, to be forgotten."""
    more = {"watch": list(exercise.forbidden.names)}
    plain = exercise.probe["kind"] == "function" and case.seed is None and not case.first
    return more | ({"first": turned(case.arguments)} if plain else {})


def as_question(exercise: Exercise, case: Case) -> dict:
    """The question that tests the student's code with this case."""
    if case.calls:
        calls = [as_question(one, call) for one, call in chained_calls.calls_of(exercise, case)]
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
    """The reference's result, computed in float64; arrays take the dtype that the exercise asks for.

    Of a composition the results of all calls, as a list.
    """
    if case.calls:
        return _expected_of_calls(exercise, case)
    return _as_returned(exercise, _reference(exercise, case.arguments, case.keywords, case.weights, case.config))


def _expected_of_calls(exercise, case):
    called, results = list(chained_calls.calls_of(exercise, case)), []
    for one, call in called:
        arguments, keywords = with_results(call.arguments, results), with_results(call.keywords, results)
        results.append(_reference(one, arguments, keywords, call.weights, call.config))
    return [_as_returned(one, result) for (one, _), result in zip(called, results)]


def _as_returned(exercise, result):
    if exercise.probe["kind"] == "layer" and type(result) is tuple:
        return tuple(item.astype(exercise.dtype) for item in result)
    return result.astype(exercise.dtype) if isinstance(result, (np.ndarray, np.generic)) else result


def _reference(exercise, arguments, keywords, weights, config):
    """The reference's result in float64."""
    has_weights = exercise.probe["kind"] in ("layer", "step")
    extra = {"weights": _as_float64(weights), "config": config} if has_weights else {}
    return exercise.reference(*_as_float64(list(arguments)), **_as_float64(keywords), **extra)


def _shown_name(exercise: Exercise, key: str | int) -> str:
    """A weight or an argument for a sentence: "self.dense.kernel", "hidden"."""
    return exercise.arguments[key] if type(key) is int else f"self.{exercise.probe['roles'][key][0]}"


def _gradient_question(exercise, case, claim):
    question = as_question(exercise, case)
    probe = {"kind": "gradient", "of": question["probe"], "with_respect_to": list(claim.directions)}
    item = {} if claim.item is None else {"item": claim.item}
    return question | item | {"probe": probe, "cotangent": claim.cotangent}


def _handed_on(case, dtype):
    """Further arguments of a constructor, and what the layer must be then."""
    trained = {"named": True, "trainable": True, "trained": list(case.weights)}
    yield {"name": "mine"}, trained
    yield {"name": "mine", "trainable": False}, trained | {"trainable": False, "trained": []}
    if dtype:
        yield {"dtype": dtype}, {"in its dtype": True}


def _made_question(exercise, case, config, values=False):
    question = {"seed": 1} | as_question(exercise, case)  # so that the same code has the same initial weights
    probe = question["probe"] | {"config": case.config | config}
    return question | {"probe": {"kind": "made", "of": probe, "values": values}}


def _own_lists_question(exercise, case):
    question = as_question(exercise, case)
    return question | {"probe": {"kind": "own lists", "of": question["probe"]}}


def _own_weights_question(exercise, case):
    question = as_question(exercise, case)
    del question["weights"]
    return question | {"probe": {"kind": "trainable", "of": question["probe"]}}


def _own_weights(case):
    numbers = sum(array.size for array in case.weights.values())
    can_be_trained = numbers if case.config.get("trainable", True) else 0
    return {"numbers that can be trained": can_be_trained, "numbers that are fixed": numbers - can_be_trained}


def _expected_slopes(exercise, case, claim, step=1e-5):
    """Central differences of Σ output × cotangent along each direction, in float64."""

    def total(name, shift):
        arguments, weights = list(case.arguments), dict(case.weights)
        moved = arguments if type(name) is int else weights
        moved[name] = moved[name].astype("float64") + shift * claim.directions[name]
        result = _reference(exercise, arguments, case.keywords, weights, case.config)
        return np.sum((result if claim.item is None else result[claim.item]) * claim.cotangent)

    return np.array([(total(name, step) - total(name, -step)) / (2 * step) for name in claim.directions], "float32")


def _as_float64(value):
    if isinstance(value, np.ndarray):
        return value.astype("float64") if value.dtype.kind == "f" else value
    if isinstance(value, (list, tuple)):
        return type(value)(_as_float64(item) for item in value)
    if isinstance(value, dict):
        return {key: _as_float64(item) for key, item in value.items()}
    return value
