"""Recognises known mistakes in wrong answers: the slowest step of grading.

Known mistakes run in a sandbox of their own, on the student's own inputs; nothing of the student's runs there. So
several workers name mistakes at the same time, and none of them loads TensorFlow. An answer is compared with them
twice: as it was given on the student's own earlier answers, and as it was given on the course's (see carry_forward.py),
because after an earlier mistake only the second can look like a known one. The questions of the first part exclude most
mistakes, so only the others get all questions.
"""

from dataclasses import replace

from autograde.common.errors import SandboxEnded
from autograde.exercises import cells
from autograde.exercises.planning import planner
from autograde.exercises.spec import Exercise, Misconception
from autograde.grader.grading.budget import Budget, BudgetSpent
from autograde.grader.grading.run_cells import entered
from autograde.grader.grading.submission import Judged, Outcome, Task
from autograde.judging import random_claims
from autograde.judging.answers import Answer
from autograde.judging.judge import known_mistake
from autograde.judging.match_mistake import same_outcome
from autograde.judging.verdict import Verdict

_REMEMBER = "_before = None; _before = dict(globals())"
_RESTORE = """
for _name in set(globals()) - set(_before) - {"_name"}:
    del globals()[_name]
globals().update(_before | {"_before": _before})
"""


def name_mistakes(task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """Adds the mistake's id and hint to each verdict that is wrong, partly right, or raised an error."""
    unnamed = {exercise.id for exercise in task.exercises if _is_unexplained(outcome.judged[exercise.id])}
    if not unnamed:
        return outcome
    setup, answers = cells.read(task.notebook, task.exercises[0].variant)
    try:
        with entered(task, launcher, {}, budget) as sandbox:
            sandbox.run_cell(setup, task.limits.cell_seconds)
            for exercise in task.exercises:
                if exercise.id in unnamed:
                    judged = outcome.judged[exercise.id]
                    mistake = _known_mistake(task, exercise, judged, sandbox)
                    outcome = outcome.with_verdict(exercise, _named(judged, mistake)) if mistake else outcome
                    unnamed.remove(exercise.id)
                if not unnamed:
                    break
                sandbox.run_cell(answers[exercise.id], task.limits.cell_seconds)
    except BudgetSpent:
        return outcome
    except SandboxEnded as ended:
        return outcome.with_technical(f"while known mistakes were compared with the answers: {ended.reason.reason}")
    return outcome


def _is_unexplained(judged: Judged) -> bool:
    return judged.verdict.status in ("wrong", "partly", "raised") and bool(judged.answers)


def _named(judged: Judged, mistake: dict) -> Verdict:
    """The verdict with the mistake's hint first. Other sentences stay where they may explain more: an error, a part of
    the points that was lost to the clock."""
    verdict = judged.verdict
    rest = () if verdict.status == "wrong" else verdict.advice
    return replace(verdict, misconception=mistake["id"], advice=(mistake["hint"], *rest))


def _known_mistake(task: Task, exercise: Exercise, judged: Judged, sandbox) -> dict | None:
    """The one known mistake behind these answers, or None. On the student's own earlier answers first."""
    plan = task.plans[exercise.id]
    given = [answers for answers in (judged.answers, judged.on_course) if len(answers) == len(plan["questions"])]
    sandbox.run_cell(_REMEMBER)
    possible = _still_possible(task, exercise, plan, given, sandbox)
    plan = planner.with_misconceptions(
        replace(exercise, misconceptions=tuple(possible)),
        plan,
        {one.id: [_outcome(answer) for answer in answers] for one, answers in possible.items()},
    )
    found = (known_mistake(plan, answers, strict=False) for answers in given)
    return next(filter(None, found), None)


def _still_possible(
    task: Task, exercise: Exercise, plan: dict, given: list[tuple[Answer, ...]], sandbox
) -> dict[Misconception, list[Answer]]:
    """The misconceptions that answer the first part's questions as the student does, or all where chance decides the
    answers; each with its answers to all questions."""
    claims = plan["parts"][0]["claims"]
    indices = sorted({claim["answer"] for claim in claims})
    by_chance = any(claim["kind"] in random_claims.KINDS for claim in claims)
    possible = {}
    for one in exercise.misconceptions:
        first = _answers(task, exercise, one, [plan["questions"][index] for index in indices], sandbox)
        if by_chance or any(_are_alike(first, [answers[index] for index in indices]) for answers in given):
            everything = _answers(task, exercise, one, plan["questions"], sandbox)
            if not any(answer.late for answer in everything):
                possible[one] = everything
    return possible


def _are_alike(known: list[Answer], got: list[Answer]) -> bool:
    return all(map(same_outcome, known, got))


def _answers(task: Task, exercise: Exercise, mistake: Misconception, questions: list[dict], sandbox) -> list[Answer]:
    """The answers of a student with this mistake, whose earlier answers are the course's."""
    sandbox.run_cell(cells.patched_cell(exercise, mistake), task.limits.cell_seconds)
    answers = sandbox.ask(questions, task.limits.cell_seconds)
    sandbox.run_cell(_RESTORE)
    return answers


def _outcome(answer: Answer) -> dict:
    """The answer as a plan holds a known mistake's."""
    failure = answer.failure
    shapes = " ".join(map(str, failure.shapes)) if failure else ""
    error = {"type": failure.kind, "message": shapes, "digest": failure.digest} if failure else None
    return {"status": answer.status, "value": answer.value, "error": error}
