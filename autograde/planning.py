"""Makes a plan from an exercise and a seed: questions, claims about the answers, and the answers of known mistakes.

A plan is a plain value (see `values`): it contains arrays and sentences, but no code. It is made on the instructor's
side and can then be graded anywhere (`judge`), also on a student's machine, where a release has put the plan of each
exercise's visible seed (`fingerprints`).

    {"exercise": {…facts for the reader…}, "seed": "71c4", "watch": [names], "questions": [question, …],
     "parts": [{"name", "points", "failure", "claims": [{"kind", …}, …]}, …],
     "misconceptions": [{"id", "hint", "outcomes": [{"status", "value", "error"}, …one per question…]}, …]}
"""

import hashlib
import hmac
from dataclasses import replace
from pathlib import Path

import numpy as np

from autograde import chances, compositions, fingerprints, random_claims
from autograde.exercises import catalogue, cells, kept_layers, notebooks, runs
from autograde.exercises.draws import turned
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
from autograde.naming import without_code
from autograde.questions import with_results


def visible_seed(exercise: Exercise) -> str:
    """The seed of the inputs that every student sees: fixed by the exercise's own name."""
    return hashlib.sha256(f"visible {exercise.notebook} {exercise.id}".encode()).hexdigest()[:8]


def hidden_seed(secret: bytes, student: str, exercise: Exercise, attempt: str = "") -> str:
    """The seed of one attempt's hidden inputs, which cannot be computed without the course's secret.

    attempt: the digest of what was handed in, as the record has it (`Result.sha256`). Another file is tested on other
    inputs, so that nothing learned about them is of use; the same file on the same ones.
    """
    message = "\0".join((student, exercise.notebook, exercise.id, attempt)).encode()
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:32]


def generator(exercise: Exercise, seed: str) -> np.random.Generator:
    """The source of an exercise's inputs: the same for the same seed, on every machine."""
    digest = hashlib.sha256(f"{exercise.id} {seed}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def make_plan(exercise: Exercise, seed: str | None = None, misconceptions: bool = True) -> dict:
    """The plan of one exercise for one seed (default: the visible one).

    misconceptions: also run the known mistakes on the same inputs, so that the judge can name them (loads TensorFlow).
    """
    seed = visible_seed(exercise) if seed is None else seed
    rng, is_hidden = generator(exercise, seed), seed != visible_seed(exercise)
    drawn = [part.trials(rng) + (part.hidden(rng) if is_hidden else []) for part in exercise.parts]
    asked_in_graph = _put_in_graph(exercise, drawn) if exercise.in_graph else None
    drawn[-1] += compositions.of_two_calls(exercise, [trial for trials in drawn for trial in trials], expected_of)
    questions: list[dict] = []
    claims: list[list[dict]] = [[] for _ in drawn]
    for composed in (False, True):  # last, so that another answer that never ends leaves time for the questions before
        for own, trials in zip(claims, drawn):
            chosen = [trial for trial in trials if compositions.is_one(trial) == composed]
            for trial in chosen:
                own += _claims(exercise, trial, questions, graph=trial is asked_in_graph)
    parts = [
        {"name": part.name, "points": float(part.points), "failure": _failure_of(exercise, part), "claims": own}
        for part, own in zip(exercise.parts, claims)
    ]
    plan = {
        "exercise": _reader_facts(exercise),
        "seed": seed,
        "watch": [*exercise.forbidden.names, *_own_modules(exercise)],
        "questions": questions,
        "parts": parts,
        "misconceptions": [],
    }
    return with_misconceptions(exercise, plan) if misconceptions else plan


def _put_in_graph(exercise: Exercise, drawn: list[list[Trial]]) -> Trial:
    """The trial whose call is made inside of `tf.function`: one of the first part that claims only a result.

    A part "gradients" gets it as a further trial: then code that leaves the tensors earns its values. Otherwise it
    stays where it is. It is never the first trial: then the first answer, outside of `tf.function`, shows whether the
    code works at all. Raises LookupError if no trial fits.
    """
    plain = (
        trial for trial in drawn[0][1:]
        if not compositions.is_one(trial) and all(isinstance(claim, Reference) for claim in trial.claims)
    )  # fmt: skip
    chosen = next(plain, None)
    if chosen is None:
        raise LookupError(f"{exercise.id}: expected a second trial of the first part that claims only a result")
    for part, trials in zip(exercise.parts, drawn):
        if part.name == "gradients":
            chosen = Trial(chosen.cases, chosen.claims)
            trials.append(chosen)
    return chosen


def _failure_of(exercise, part):
    is_asked_there = exercise.in_graph and part.name == "gradients"
    return part.failure + ("; or a call inside of `tf.function` fails" if is_asked_there else "")


def _own_modules(exercise):
    """The modules from which this exercise's own result could be imported instead of being written."""
    return ("autograde.student.stand_ins", f"mybert.{exercise.kept_in}") if exercise.kept_in else ()


def with_misconceptions(exercise: Exercise, plan: dict, answers: dict[str, list[dict]] | None = None) -> dict:
    """The same plan with the answers of the known mistakes. Only needed after a failed check.

    answers: of each misconception by its id, if its code has already answered the plan's questions.
    """
    return plan | {"misconceptions": _misconceptions_of(exercise, plan, answers or {})}


def _reader_facts(exercise):
    return {
        "id": exercise.id, "notebook": exercise.notebook, "number": exercise.number, "title": exercise.title,
        "minutes": exercise.minutes, "lines": exercise.lines, "points": float(exercise.points),
        "names": list(exercise.names), "arguments": _named_arguments(exercise), "hints": list(exercise.hints),
        "forbidden_because": exercise.forbidden.because, "kept_in": exercise.kept_in,
    }  # fmt: skip


def _named_arguments(exercise):
    """The names of the arguments that calls give by position: as many as the longest visible call has."""
    rng = generator(exercise, visible_seed(exercise))
    cases = [case for part in exercise.parts for trial in part.trials(rng) for case in trial.cases]
    return list(exercise.arguments[: max(len(case.arguments) for case in cases)])


def _claims(exercise, trial, questions, graph):
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
    allowed = chances.FALSE_ALARM / len(tries)
    bounds = [list(chances.bounds(n, p, allowed)) for n, p in zip(tries, probabilities)]
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
        calls = [as_question(one, call) for one, call in compositions.calls_of(exercise, case)]
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
    called, results = list(compositions.calls_of(exercise, case)), []
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


def _misconceptions_of(exercise, plan, answers):
    facts, questions = exercise.facts(_first_case(exercise)), plan["questions"]
    return [
        {
            "id": misconception.id,
            "hint": misconception.hint.format(**facts),
            "outcomes": random_claims.tallied(plan, [
                {"status": answer["status"], "value": answer["value"], "error": without_code(answer["error"])}
                for answer in answers.get(misconception.id) or _answers(exercise, misconception, questions)
            ]),
        }
        for misconception in exercise.misconceptions
    ]  # fmt: skip


def _answers(exercise, misconception, questions):
    return kept_layers.answers(questions, cells.namespace(exercise, cells.patched_cell(exercise, misconception)))


def _first_case(exercise):
    """The first visible case: hints contain its numbers, so they reveal nothing about hidden ones."""
    return exercise.parts[0].trials(generator(exercise, visible_seed(exercise)))[0].cases[0]


def reader_facts(exercise: Exercise) -> dict:
    """The facts about an exercise that everybody may read."""
    return {key: value for key, value in _reader_facts(exercise).items() if key != "hints"}


def index() -> list[dict]:
    """The facts of every exercise of the course, in order."""
    return index_of(catalogue.EXERCISES)


def index_of(exercises) -> list[dict]:
    """The facts of some exercises, with the titles of their notebooks."""
    return [
        reader_facts(one) | {"notebook_title": notebooks.title_of(one.notebook)} | _variants_of(one)
        for one in exercises
    ]


def _variants_of(exercise: Exercise) -> dict:
    """The number of variants that its question has, if any."""
    count = len(catalogue.variants_of(exercise.notebook))
    return {"variants": count} if count else {}


def runs_of(exercises) -> list[dict]:
    """The facts of the training runs of these exercises' notebooks: their points count, `check` cannot give them."""
    names = list(dict.fromkeys(exercise.notebook for exercise in exercises))
    return [
        {"id": run.id, "notebook": run.notebook, "number": run.number, "title": run.title, "points": run.points}
        for name in names
        for run in runs.of_notebook(name)
    ]


def plan_of(exercise: str, variant: int = 0) -> dict:
    """The visible plan of the exercise with this id, or of a variant of its question."""
    return make_plan(catalogue.find(exercise, variant))


def write_fingerprints(exercises, folder: Path, progress=iter) -> None:
    """Writes the visible plan of each exercise and the index: all that a student's machine needs for `check`."""
    for exercise in progress(exercises):
        write_fingerprint(exercise, folder)
    write_indexes(exercises, folder)


def write_fingerprint(exercise: Exercise, folder: Path, name: str = "") -> Path:
    """Writes the visible plan of one exercise; returns its path. name: of the file, by default the exercise's id."""
    path = folder / f"{name or exercise.id}.npz"
    fingerprints.save(make_plan(exercise), path)
    return path


def write_indexes(exercises, folder: Path) -> None:
    """Writes the lists of these exercises and of their notebooks' training runs."""
    fingerprints.save_index(index_of(exercises), folder)
    fingerprints.save_index(runs_of(exercises), folder, fingerprints.RUNS)
