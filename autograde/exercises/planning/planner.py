"""Makes a plan from an exercise and a seed: questions, claims about the answers, and the answers of known mistakes.

A plan is a plain value (see `values`): it contains arrays and sentences, but no code, and can be graded anywhere.

    {"exercise": {…facts for the reader…}, "seed": "71c4", "watch": [names], "questions": [question, …],
     "parts": [{"name", "points", "failure", "claims": [{"kind", …}, …]}, …],
     "misconceptions": [{"id", "hint", "outcomes": [{"status", "value", "error"}, …one per question…]}, …]}
"""

import hashlib
import hmac
from functools import partial
from pathlib import Path

import numpy as np

from autograde.boundary import fingerprints
from autograde.boundary.calls import with_results
from autograde.boundary.plain_values import nested
from autograde.boundary.values import encode
from autograde.exercises import catalogue, cells, kept_layers, notebooks, runs
from autograde.exercises.draws import turned
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import Case, Exercise, Reference, Trial, composed
from autograde.judging.claims import random_claims
from autograde.judging.compare import EXACT, Tolerance, compare
from autograde.judging.match_mistake import outcome_of

MOST_DRAWS = 20  # of the trials for one seed


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
    """The plan of one exercise for one seed (default: the visible one). misconceptions: also run the known mistakes on
    the same inputs, so that the judge can name them (loads TensorFlow)."""
    seed = visible_seed(exercise) if seed is None else seed
    drawn = drawn_trials(exercise, seed)
    asked_in_graph = _put_in_graph(exercise, drawn) if exercise.in_graph else None
    drawn[-1] += of_two_calls(exercise, [trial for trials in drawn for trial in trials])
    questions: list[dict] = []
    claims: list[list[dict]] = [[] for _ in drawn]
    for are_last in (False, True):  # compositions: an answer in them that never ends leaves time for the others
        for plain, trials in zip(claims, drawn):
            for trial in (one for one in trials if chained_calls.is_composition(one) == are_last):
                planned = PlannedTrial(exercise, trial, questions, graph=trial is asked_in_graph)
                plain += [data for claim in trial.claims for data in claim.planned(planned)]
    parts = []
    for part, plain in zip(exercise.parts, claims):
        asked_there = exercise.in_graph and part.name == "gradients"
        failure = part.failure + ("; or a call inside of `tf.function` fails" if asked_there else "")
        parts.append({"name": part.name, "points": float(part.points), "failure": failure, "claims": plain})
    # The modules from which this exercise's own result could be imported instead of being written.
    with_it = ("autograde.student.stand_ins", f"mybert.{exercise.kept_in}") if exercise.kept_in else ()
    plan = {
        "exercise": _reader_facts(exercise),
        "seed": seed,
        "watch": [*exercise.forbidden.names, *with_it],
        "questions": questions,
        "parts": parts,
        "misconceptions": [],
    }
    return with_misconceptions(exercise, plan) if misconceptions else plan


def drawn_trials(exercise: Exercise, seed: str) -> list[list[Trial]]:
    """The trials of each part for a seed; drawn again while float32 alone would decide a verdict about one of them."""
    rng, is_hidden = generator(exercise, seed), seed != visible_seed(exercise)
    for _ in range(MOST_DRAWS):
        drawn = [part.trials(rng) + (part.hidden(rng) if is_hidden else []) for part in exercise.parts]
        if all(is_steady(exercise, trial) for trials in drawn for trial in trials):
            break
    return drawn


def is_steady(exercise: Exercise, trial: Trial) -> bool:
    """Whether a right answer cannot fail by rounding: the reference in float32 differs from the one in float64 by less
    than a quarter of the tolerance.

    In attention it may not, where scores of a thousand almost tie: a rounding of 0.0001 then moves a weight as much.
    References of training steps are not asked: they take small differences, which float32 cannot hold.
    """
    exact = exercise.reference is None or exercise.tolerance == EXACT
    if exact or exercise.probe["kind"] == "step" or Reference() not in trial.claims:
        return True
    quarter = Tolerance(exercise.tolerance.rtol / 4, exercise.tolerance.atol / 4)
    for case in trial.cases:
        if not case.calls:
            with np.errstate(all="ignore"):
                rounded = _as_returned(
                    exercise, _called(exercise, case.arguments, case.keywords, case.weights, case.config)
                )
            difference = compare(expected_of(exercise, case), rounded, quarter)
            if difference and difference.kind == "values":
                return False
    return True


def draws_anything(exercise: Exercise) -> bool:
    """Whether hidden inputs differ from the visible ones: something is drawn from the generator."""
    rng = generator(exercise, "drawn")
    before = rng.bit_generator.state
    for part in exercise.parts:
        part.trials(rng), part.hidden(rng)
    return rng.bit_generator.state != before


def _put_in_graph(exercise: Exercise, drawn: list[list[Trial]]) -> Trial:
    """The trial whose call is made inside of `tf.function`: one of the first part that claims only a result.

    A part "gradients" gets it as a further trial: then code that leaves the tensors earns its values. Otherwise it
    stays where it is. It is never the first trial: then the first answer, outside of `tf.function`, shows whether the
    code works at all. Raises LookupError if no trial fits.
    """
    plain = (
        trial for trial in drawn[0][1:]
        if not chained_calls.is_composition(trial) and all(isinstance(claim, Reference) for claim in trial.claims)
    )  # fmt: skip
    chosen = next(plain, None)
    if chosen is None:
        raise LookupError(f"{exercise.id}: expected a second trial of the first part that claims only a result")
    for part, trials in zip(exercise.parts, drawn):
        if part.name == "gradients":
            chosen = Trial(chosen.cases, chosen.claims)
            trials.append(chosen)
    return chosen


def of_two_calls(exercise: Exercise, trials: list[Trial]) -> list[Trial]:
    """Two calls of an exercise's function as one question, if it returns what a later call could change.

    The calls are those of its first trial and of the next one with another result. Returns an empty list if there are
    no two such trials, and for functions that return tensors or draw at random. (Of the latter `probe` compares the
    first result again after later calls.)
    """
    if exercise.probe["kind"] != "function" or exercise.returns == "tensor":
        return []
    first = None
    for trial in trials:
        if chained_calls.is_composition(trial) or not isinstance(trial.claims[0], Reference):
            continue
        case = trial.cases[0]
        result = expected_of(exercise, case)
        if not _can_change(result):
            continue
        first = first or (case, result)
        if encode(result) != encode(first[1]):
            return [Trial((composed((exercise.id, first[0]), (exercise.id, case)),))]
    return []


def _can_change(value) -> bool:
    if type(value) is tuple:
        return any(map(_can_change, value))
    return isinstance(value, (list, dict, np.ndarray))


def with_misconceptions(exercise: Exercise, plan: dict, answers: dict[str, list[dict]] | None = None) -> dict:
    """The same plan with the answers of the known mistakes, which only a failed check needs. answers: those that are
    there already, by the id of the misconception."""
    first_case = exercise.parts[0].trials(generator(exercise, visible_seed(exercise)))[0].cases[0]
    facts, misconceptions = exercise.facts(first_case), []  # hints have visible numbers: they reveal no hidden ones
    for misconception in exercise.misconceptions:
        outcomes = (answers or {}).get(misconception.id)
        if not outcomes:
            names = cells.namespace(exercise, cells.patched_cell(exercise, misconception))
            outcomes = kept_layers.answers(plan["questions"], names)
        outcomes = [outcome_of(answer) for answer in outcomes]
        hint = misconception.hint.format(**facts)
        outcomes = random_claims.tallied(plan, outcomes)
        misconceptions.append({"id": misconception.id, "hint": hint, "outcomes": outcomes})
    return plan | {"misconceptions": misconceptions}


def _reader_facts(exercise: Exercise) -> dict:
    rng = generator(exercise, visible_seed(exercise))
    cases = [case for part in exercise.parts for trial in part.trials(rng) for case in trial.cases]
    by_position = max(len(case.arguments) for case in cases)  # as many arguments as the longest visible call has
    return {
        "id": exercise.id, "notebook": exercise.notebook, "number": exercise.number, "title": exercise.title,
        "minutes": exercise.minutes, "lines": exercise.lines, "points": float(exercise.points),
        "names": list(exercise.names), "arguments": list(exercise.arguments[:by_position]),
        "hints": list(exercise.hints),
        "forbidden_because": exercise.forbidden.because, "kept_in": exercise.kept_in,
    }  # fmt: skip


def index() -> list[dict]:
    """The facts of every exercise of the course, in order."""
    return index_of(catalogue.EXERCISES)


def index_of(exercises) -> list[dict]:
    """The facts of some exercises, which everybody may read, with the titles of their notebooks."""
    found = []
    for exercise in exercises:
        facts = _reader_facts(exercise) | {"notebook_title": notebooks.title_of(exercise.notebook)}
        del facts["hints"]
        if variants := catalogue.variants_of(exercise.notebook):  # of its question
            facts["variants"] = len(variants)
        found.append(facts)
    return found


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


# --- one trial ---


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
    if type(result) is tuple:  # of the tensors of a layer, or of a function of tensors?
        floats = all(isinstance(item, np.ndarray) and item.dtype == "float64" for item in result)
        if exercise.probe["kind"] == "layer" or floats and exercise.probe.get("tensors", True):
            return tuple(item.astype(exercise.dtype) for item in result)
    return result.astype(exercise.dtype) if isinstance(result, (np.ndarray, np.generic)) else result


def _reference(exercise: Exercise, arguments, keywords, weights, config):
    return _called(exercise, _as_float64(list(arguments)), _as_float64(keywords), _as_float64(weights), config)


def _called(exercise: Exercise, arguments, keywords, weights, config):
    has_weights = exercise.probe["kind"] in ("layer", "step", "with model")
    extra = {"weights": weights, "config": config} if has_weights else {}
    return exercise.reference(*arguments, **keywords, **extra)


def _as_float64(value):
    def convert(leaf):
        return leaf.astype("float64") if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f" else leaf

    return nested(value, convert)
