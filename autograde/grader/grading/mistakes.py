"""Recognises known mistakes in wrong answers: the slowest step of grading.

They run in a sandbox of their own, on the student's own inputs; nothing of the student's runs there. An answer is
compared with them twice: as it was given on the student's own earlier answers, and as it was given on the course's (see
carry_forward.py), because after an earlier mistake only the second can look like a known one. The questions of the
first part exclude most mistakes, so only the others get all questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from autograde.common.dependencies import ParsedCell
from autograde.exercises import cells
from autograde.exercises.planning import planner
from autograde.exercises.spec import Exercise, Misconception
from autograde.grader.grading.budget import Budget
from autograde.grader.grading.carry_forward import course_step
from autograde.grader.grading.run_cells import run_steps
from autograde.grader.grading.submission import Judged, Outcome, Questions, Step, Task
from autograde.judging.answers import Answer
from autograde.judging.claims import random_claims
from autograde.judging.judge import known_mistake
from autograde.judging.match_mistake import same_outcome
from autograde.judging.verdict import Verdict

_REMEMBER = Step(cell=ParsedCell("_before = None; _before = dict(globals())"))
_RESTORE = Step(cell=ParsedCell("""
for _name in set(globals()) - set(_before) - {"_name"}:
    del globals()[_name]
globals().update(_before | {"_before": _before})
"""))  # fmt: skip


def name_mistakes(task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """Adds the mistake's id and hint to each verdict that is wrong, partly right, or raised an error."""
    wrong = ("wrong", "partly", "raised")
    judged = [(exercise, outcome.judged[exercise.id]) for exercise in task.exercises]
    unnamed = [exercise for exercise, it in judged if it.verdict.status in wrong and it.answers]
    if not unnamed:
        return outcome
    named: dict[str, Verdict] = {}
    steps = _steps(task, outcome, [exercise.id for exercise in unnamed], named)
    _, stop = run_steps(task, outcome, steps, launcher, budget, upstream={})
    for exercise in unnamed:
        if exercise.id in named:
            outcome = outcome.with_verdict(exercise, named[exercise.id])
    if stop and stop.end:
        return outcome.with_technical(f"while known mistakes were compared with the answers: {stop.end.reason}")
    return outcome


def _steps(task: Task, outcome: Outcome, unnamed: list[str], named: dict[str, Verdict]) -> Iterator[Step | Questions]:
    """The course's program down to the last unnamed exercise, and before an unnamed one's answer its known mistakes.

    named: gets the verdicts in which a mistake was recognised.
    """
    yield Step(cell=ParsedCell(cells.read(task.notebook, task.exercises[0].variant)[0]))
    for exercise in task.exercises:
        if exercise.id in unnamed:
            judged, possible = outcome.judged[exercise.id], {}
            yield from _try_mistakes(task, exercise, judged, possible)
            mistake = _recognised(task, exercise, judged, possible)
            if mistake:  # its hint first; other sentences may explain more: an error, points lost to the clock
                rest = () if judged.verdict.status == "wrong" else judged.verdict.advice
                advice = (mistake["hint"], *rest)
                named[exercise.id] = replace(judged.verdict, misconception=mistake["id"], advice=advice)
        if exercise.id == unnamed[-1]:
            break
        yield course_step(exercise)


def _try_mistakes(
    task: Task, exercise: Exercise, judged: Judged, possible: dict[Misconception, Sequence[Answer]]
) -> Iterator[Step | Questions]:
    """Puts the questions to each known mistake, whose earlier answers are the course's.

    possible: gets the mistakes that answer the first part's questions as the student does, or all where chance decides
    the answers; each with its answers to all questions.
    """
    plan, seconds = task.plans[exercise.id], task.limits.cell_seconds
    claims = plan["parts"][0]["claims"]
    indices = sorted({claim["answer"] for claim in claims})
    by_chance = any(claim["kind"] in random_claims.KINDS for claim in claims)
    firsts = [[answers[index] for index in indices] for answers in _answers_of(judged, plan)]
    yield _REMEMBER
    for mistake in exercise.misconceptions:
        patched = Step(cell=ParsedCell(cells.patched_cell(exercise, mistake)))
        first = Questions([plan["questions"][index] for index in indices], seconds)
        yield from (patched, first, _RESTORE)
        if by_chance or any(all(map(same_outcome, first.answers, answers)) for answers in firsts):
            every = Questions(plan["questions"], seconds)
            yield from (patched, every, _RESTORE)
            if not any(answer.late for answer in every.answers):
                possible[mistake] = every.answers


def _answers_of(judged: Judged, plan: dict) -> list[Sequence[Answer]]:
    """The student's answers to all questions: on their own earlier answers, and on the course's."""
    return [answers for answers in (judged.answers, judged.on_course) if len(answers) == len(plan["questions"])]


def _recognised(
    task: Task, exercise: Exercise, judged: Judged, possible: Mapping[Misconception, Sequence[Answer]]
) -> dict | None:
    """The one known mistake behind these answers, or None. On the student's own earlier answers first."""
    plan = task.plans[exercise.id]
    exercise = replace(exercise, misconceptions=tuple(possible))
    outcomes = {mistake.id: list(map(_outcome, answers)) for mistake, answers in possible.items()}
    with_answers = planner.with_misconceptions(exercise, plan, outcomes)
    mistakes = (known_mistake(with_answers, answers, strict=False) for answers in _answers_of(judged, plan))
    return next(filter(None, mistakes), None)


def _outcome(answer: Answer) -> dict:
    """The answer as a plan holds a known mistake's."""
    failure = answer.failure
    shapes = " ".join(map(str, failure.shapes)) if failure else ""
    error = {"type": failure.kind, "message": shapes, "digest": failure.digest} if failure else None
    return {"status": answer.status, "value": answer.value, "error": error}
