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
from pathlib import Path

import numpy as np

from autograde.boundary import fingerprints
from autograde.exercises import catalogue, cells, kept_layers, notebooks, runs
from autograde.exercises.planning import chained_calls
from autograde.exercises.planning.trial_claims import PlannedTrial, expected_of
from autograde.exercises.spec import Exercise, Reference, Trial
from autograde.judging.claims import random_claims
from autograde.judging.match_mistake import outcome_of


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
    rng, is_hidden = generator(exercise, seed), seed != visible_seed(exercise)
    drawn = [part.trials(rng) + (part.hidden(rng) if is_hidden else []) for part in exercise.parts]
    asked_in_graph = _put_in_graph(exercise, drawn) if exercise.in_graph else None
    drawn[-1] += chained_calls.of_two_calls(exercise, [trial for trials in drawn for trial in trials], expected_of)
    questions: list[dict] = []
    claims: list[list[dict]] = [[] for _ in drawn]
    for composed in (False, True):  # last, so that another answer that never ends leaves time for the questions before
        for plain, trials in zip(claims, drawn):
            chosen = [trial for trial in trials if chained_calls.is_composition(trial) == composed]
            for trial in chosen:
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


def _reader_facts(exercise):
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
