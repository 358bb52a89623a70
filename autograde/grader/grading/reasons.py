"""Every verdict that costs points has a reason in words: the last step before the record.

A known mistake has been named before (mistakes.py). Otherwise a sentence tells how the answer first differs, in
words that reveal nothing about hidden inputs, and the exercise's first hint follows: the weakest student must not get
the emptiest page.
"""

import numpy as np

from autograde.exercises.planning import chained_calls
from autograde.grader.grading.carry_forward import NOT_REACHED
from autograde.grader.grading.submission import Judged, Outcome, Task
from autograde.judging import judge
from autograde.judging.advice import ONLY_TOGETHER
from autograde.judging.compare import Difference
from autograde.judging.verdict import title_of_part

_EXPLAINED_BY_A_HINT = ("wrong", "partly", "raised", "missing", "not attempted")
_KINDS = {
    "type": "A result has another type than the text asks for.",
    "length": "A result has another number of items than expected.",
    "shape": "A result has another shape than expected.",
    "dtype": "A result has another dtype than expected.",
    "nan": "A result has NaN where a number is expected.",
    "rate": "Over many calls, something happens more or less often than it should.",
    "always the same": "Calls with generators of different seeds all gave the same result: draw from `rng` only.",
    "own chance": "Two calls with generators of the same seed differ: draw from `rng` only.",
    "mutated": "An argument was changed.",
    "unstable": "Two equal calls gave different results.",
}
_OTHERWISE = "A result breaks one of the rules in the text."
_RAISES = "A call that must raise an error did not raise the error that the text asks for."


def with_reasons(task: Task, outcome: Outcome) -> Outcome:
    """Adds a sentence to each verdict that costs points without a known mistake."""
    for exercise in task.exercises:
        judged = outcome.judged[exercise.id]
        if judged.verdict.status in _EXPLAINED_BY_A_HINT and not judged.verdict.misconception:
            sentences = (*_difference(task.plans[exercise.id], judged), f"Hint: {exercise.hints[0]}")
            outcome = outcome.with_verdict(exercise, judged.verdict.with_advice(*sentences))
    return outcome


def _difference(plan: dict, judged: Judged) -> list[str]:
    """The answers' first difference from what is expected; empty where an error or another sentence tells it already.

    Answers on the course's own earlier answers are preferred: in them only this exercise is wrong. Of these no place is
    told: the program could read the course's solutions there, and spell them by the places that it chooses.
    """
    says_more = any(sentence not in (judged.credited, NOT_REACHED) for sentence in judged.verdict.advice)
    if judged.verdict.status not in ("wrong", "partly") or says_more:
        return []
    answers = list(judged.on_course or judged.answers)
    alone = chained_calls.without(plan)
    if len(answers) == len(alone["questions"]):  # it was judged without compositions
        plan = alone
    if len(answers) != len(plan["questions"]):
        return []
    for part in plan["parts"]:
        for claim in part["claims"]:
            difference = judge.fault(claim, plan["questions"], answers, strict=False)
            if difference and judge.fails_only_together(plan, claim, answers, strict=False):
                return [ONLY_TOGETHER]
            if difference:
                told = not (judged.on_course or judged.credited)
                title = title_of_part(part["name"])
                where = "" if part is plan["parts"][0] else f"{title[:1].upper()}{title[1:]}: "
                return [where + _in_words(claim, difference, told)]
    return []


def _in_words(claim: dict, difference: Difference, with_place: bool) -> str:
    """One of few sentences: nothing of the inputs, the expected values or the student's own values."""
    if claim["kind"] == "raises":
        return _RAISES
    if difference.kind == "raised":
        return "A call raised an error."
    if difference.kind == "values":
        if type(difference.expected) is not np.ndarray or not difference.index:
            return "A value differs from the expected one."
        return f"The shape is right and values differ{f'; {_location(difference)}' if with_place else ''}."
    return _KINDS.get(difference.kind, _OTHERWISE)


def _location(difference: Difference) -> str:
    """The location of the first difference: whether it is in the first or last row and column of its matrix."""
    shape = difference.expected.shape[-2:]
    steps = difference.index[-len(shape) :] if shape else ()
    if len(steps) != len(shape) or not all(type(step) is int for step in steps):
        return "the first difference is in one of the results"
    axes = ("row", "column") if len(shape) == 2 else ("position",)
    words = [f"{_which(step, size)} {axis}" for axis, step, size in zip(axes, steps, shape)]
    return f"the first difference is in the {', '.join(words)}" if words else "there is one value"


def _which(step: int, size: int) -> str:
    return "first" if step == 0 else "last" if step == size - 1 else "middle"
