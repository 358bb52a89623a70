"""Compositions: questions in which an answer meets the student's other answers, most of them hidden. The trusted side.

A case with `calls` (`spec.composed`) becomes one question: all its calls are made before a result is read, and results
are arguments of later calls. So an answer is refused that is right alone and not beside others: a list that the next
call empties, a layer that uses the weights of the layer made last.

Every draw, also the visible one, has two calls of a function that returns lists, dicts or arrays (`of_two_calls`): the
second call must not change what the first one returned.

A mistake of another answer must not cost a point here. The others come before the exercise in the release; where it
loses points, follow-through asks again on the course's (`grader/carry_forward.py`), and if that is not possible, or
where only the exercise's own code is in question, the plan is judged `without` its compositions.
"""

from collections.abc import Callable, Iterator

import numpy as np

from autograde.boundary.values import encode
from autograde.exercises import catalogue
from autograde.exercises.spec import Case, Exercise, Reference, Trial, composed


def is_composition(trial: Trial) -> bool:
    """Whether a trial is a composition."""
    return any(case.calls for case in trial.cases)


def of_two_calls(
    exercise: Exercise, trials: list[Trial], expected_of: Callable[[Exercise, Case], object]
) -> list[Trial]:
    """Two calls of an exercise's function as one question, if it returns what a later call could change.

    The calls are those of its first trial and of the next one with another result. Returns an empty list if there are
    no two such trials, and for functions that return tensors or draw at random. (Of the latter `probe` compares the
    first result again after later calls.)
    expected_of: (exercise, case) → the reference's result.
    """
    if exercise.probe["kind"] != "function" or exercise.returns == "tensor":
        return []
    cases = [trial.cases[0] for trial in trials if not is_composition(trial) and isinstance(trial.claims[0], Reference)]
    first = None
    for case in cases:
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


def calls_of(exercise: Exercise, case: Case) -> Iterator[tuple[Exercise, Case]]:
    """Each call of a composition with its exercise. Raises ValueError for one that is later, or of another notebook."""
    order = [listed.id for listed in catalogue.of_notebook(exercise.notebook)]
    for name, call in case.calls:
        if name != exercise.id and name not in order[: order.index(exercise.id)]:
            raise ValueError(
                f"{exercise.id}: expected a composition with exercises of {exercise.notebook} up to this one, got "
                f"{name!r}; only what comes before can be replaced by the course's answer"
            )
        yield (exercise if name == exercise.id else catalogue.find(name)), call


def names_in(plan: dict) -> set[str]:
    """The names of all that a plan's compositions call."""
    return {call["probe"]["name"] for question in plan["questions"] for call in question.get("calls", ())}


def meets_others(plan: dict) -> bool:
    """Whether a plan's compositions call more than the exercise's own names."""
    return not names_in(plan) <= set(plan["exercise"]["names"])


def without(plan: dict) -> dict:
    """The same plan with the questions that call the exercise's thing alone; compositions are its last questions."""
    alone = [question for question in plan["questions"] if "calls" not in question]
    parts = [
        part | {"claims": [claim for claim in part["claims"] if claim["answer"] < len(alone)]} for part in plan["parts"]
    ]
    return plan | {"questions": alone, "parts": parts}
