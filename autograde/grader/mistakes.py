"""Recognises known mistakes in wrong answers: the slowest step of grading.

Known mistakes run in this process, on the student's own inputs; nothing of the student's runs here. An answer is
compared with them twice: as it was given on the student's own earlier answers, and as it was given on the course's (see
carry_forward.py), because after an earlier mistake only the second can look like a known one. The questions of the
first part exclude most mistakes, so only the others get all questions.
"""

import threading
from dataclasses import replace

from autograde import planning, random_claims
from autograde.answers import Answer
from autograde.exercises.spec import Exercise
from autograde.grader.budget import Budget
from autograde.grader.submission import Judged, Outcome, Task
from autograde.naming import recognise, same_outcome
from autograde.verdict import Verdict
from bertlab.backend import load_backend

_RUNNING = threading.Lock()  # while known mistakes run, this process's output is redirected, for all threads


def name_mistakes(task: Task, outcome: Outcome, budget: Budget) -> Outcome:
    """Adds the mistake's id and hint to each verdict that is wrong, partly right, or raised an error."""
    for exercise in task.exercises:
        judged = outcome.judged[exercise.id]
        if judged.verdict.status in ("wrong", "partly", "raised") and judged.answers:
            load_backend()  # once in this process: not this submission's time
            with budget.thinking():
                mistake = _known_mistake(task, exercise, judged)
            if mistake:
                outcome = outcome.with_verdict(exercise, _named(judged, mistake))
    return outcome


def _named(judged: Judged, mistake: dict) -> Verdict:
    """The verdict with the mistake's hint first. Other sentences stay where they may explain more: an error, a part of
    the points that was lost to the clock."""
    verdict = judged.verdict
    rest = () if verdict.status == "wrong" else verdict.advice
    return replace(verdict, misconception=mistake["id"], advice=(mistake["hint"], *rest))


def _known_mistake(task: Task, exercise: Exercise, judged: Judged) -> dict | None:
    """The one known mistake behind these answers, or None. On the student's own earlier answers first."""
    plan = task.plans[exercise.id]
    given = [answers for answers in (judged.answers, judged.on_course) if len(answers) == len(plan["questions"])]
    with _RUNNING:
        plan = planning.with_misconceptions(_still_possible(exercise, plan, given), plan)
    found = (recognise(plan, answers) or random_claims.recognise(plan, answers) for answers in given)
    return next(filter(None, found), None)


def _still_possible(exercise: Exercise, plan: dict, given: list[tuple[Answer, ...]]) -> Exercise:
    """The exercise with those misconceptions that answer the first part's questions as the student does; with all where
    chance decides the answers."""
    claims = plan["parts"][0]["claims"]
    if any(claim["kind"] in random_claims.KINDS for claim in claims):
        return exercise
    first = [claim["answer"] for claim in claims]
    asked = plan | {"questions": [plan["questions"][place] for place in first]}
    alike = {
        known["id"]
        for known in planning.with_misconceptions(exercise, asked)["misconceptions"]
        for answers in given
        if all(same_outcome(outcome, answers[place]) for outcome, place in zip(known["outcomes"], first))
    }
    return replace(exercise, misconceptions=tuple(one for one in exercise.misconceptions if one.id in alike))
