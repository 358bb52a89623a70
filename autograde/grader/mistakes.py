"""Recognises known mistakes in wrong answers: the last step of grading, and the slowest.

Known mistakes run in this process, on the student's own inputs. The questions of the first part exclude most of them,
so only the others get all questions.
"""

import threading
from dataclasses import replace

from autograde import planning
from autograde.answers import Answer
from autograde.exercises.spec import Exercise
from autograde.grader.submission import Grading
from autograde.judge import judge
from autograde.naming import same_outcome
from bertlab.backend import load_backend

_one_at_a_time = threading.Lock()  # Python's and TensorFlow's output is redirected meanwhile, for all threads


def name_mistakes(grading: Grading) -> None:
    """Adds the mistake's id and hint to each verdict that is wrong, partly right, or raised an error."""
    for exercise in grading.exercises:
        if grading.verdicts[exercise.id].status in ("wrong", "partly", "raised") and grading.answers.get(exercise.id):
            _name_mistake(grading, exercise)


def _name_mistake(grading: Grading, exercise: Exercise) -> None:
    verdict, answers = grading.verdicts[exercise.id], grading.answers[exercise.id]
    plan = grading.plans[exercise.id]
    with _one_at_a_time:
        load_backend()
        plan = planning.with_misconceptions(_still_possible(exercise, plan, answers), plan)
    named = judge(plan, lambda questions: answers, grading.source_of(exercise), reveal=False)
    if named.misconception is None:
        return
    advice = named.advice
    if exercise.id in grading.credited:  # words of the hint only: see upstream.py
        advice = (named.advice[0], grading.credited[exercise.id])
    grading.verdicts[exercise.id] = replace(verdict, misconception=named.misconception, advice=advice)


def _still_possible(exercise: Exercise, plan: dict, answers: list[Answer]) -> Exercise:
    """The exercise with those misconceptions that answer the first part's questions as the student does."""
    first = [claim["answer"] for claim in plan["parts"][0]["claims"]]
    asked = plan | {"questions": [plan["questions"][place] for place in first]}
    known = planning.with_misconceptions(exercise, asked)["misconceptions"]
    given = [answers[place] for place in first]
    alike = {mistake["id"] for mistake in known if all(map(same_outcome, mistake["outcomes"], given))}
    return replace(exercise, misconceptions=tuple(one for one in exercise.misconceptions if one.id in alike))
