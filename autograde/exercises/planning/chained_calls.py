"""Compositions: questions in which an answer meets the student's other answers, most of them hidden. The trusted side.

A case with `calls` (`spec.composed`) becomes one question: all its calls are made before a result is read, and results
are arguments of later calls. So an answer is refused that is right alone and not beside others: a list that the next
call empties, a layer that uses the weights of the layer made last. A mistake of another answer must not cost a point
here: `grader/carry_forward.py` asks again on the course's answers, or judges the plan `without` its compositions.
"""

from collections.abc import Iterator

from autograde.exercises import catalogue
from autograde.exercises.spec import Case, Exercise, Trial


def is_composition(trial: Trial) -> bool:
    """Whether a trial is a composition."""
    return any(case.calls for case in trial.cases)


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
