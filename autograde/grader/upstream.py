"""One mistake costs once: what fails is asked again on right answers to everything before it.

After the plain walk, the notebook is walked once more in a room of its own. Each exercise that failed is asked again
there, and after each exercise the course's own solution is run in its place, so that all that follows stands on firm
ground. That also helps an answer that is right, and leans on another that is right in its own way.

So solutions come into a room with the student's code, but each only after its own exercise has been judged for the last
time. The program there could read them; therefore nothing that this room says in words reaches anybody: of the new
verdict only points and parts are taken.
"""

from dataclasses import replace

from autograde.errors import RoomEnded
from autograde.exercises import cells
from autograde.exercises.spec import Exercise
from autograde.grader.submission import Grading, Step, enter, run_cell

_WORTH_ASKING = ("wrong", "partly", "raised", "missing", "technical")
_MOST_ROOMS = 4


def follow_through(grading: Grading, steps: list[Step], sandbox) -> None:
    """Improves verdicts in place. What ends a room here stays as it was, and the rest goes on without it."""
    asked = [step.exercise for step in steps if step.exercise]
    candidates = [exercise.id for exercise in asked[1:] if _worth_asking(grading, exercise)]
    for _ in range(_MOST_ROOMS):
        if not candidates:
            return
        try:
            with enter(sandbox, grading.limits) as room:
                _walk_on_solutions(grading, steps, room, candidates)
            return
        except RoomEnded as ended:
            grading.technical.append(f"while asking again on right answers: {ended}")


def _worth_asking(grading: Grading, exercise: Exercise) -> bool:
    """Whether its own cell ran at all and holds an attempt."""
    answer = grading.submission.answers.get(exercise.id)
    if not answer or not answer.attempted or any(position + 1 in grading.ended for position in answer.positions):
        return False
    return grading.verdicts[exercise.id].status in _WORTH_ASKING


def _walk_on_solutions(grading: Grading, steps: list[Step], room, candidates: list[str]) -> None:
    """One pass. A candidate that was asked, or that ended the room, is no candidate any more."""
    last = max(place for place, step in enumerate(steps) if step.exercise and step.exercise.id in candidates)
    failed: list[Exercise] = []
    for step in steps[: last + 1]:
        if step.exercise is None:
            run_cell(grading, room, step)
            continue
        if step.exercise.id in candidates:
            candidates.remove(step.exercise.id)
            _ask_again(grading, room, step.exercise, failed)
        if not grading.verdicts[step.exercise.id].passed:
            failed.append(step.exercise)
        room.run_cell(cells.answer_cell(step.exercise), grading.limits.cell_seconds)


def _ask_again(grading: Grading, room, exercise: Exercise, failed: list[Exercise]) -> None:
    before = grading.verdicts[exercise.id]
    grading.ask_and_keep(room, exercise)
    now = grading.verdicts[exercise.id]
    if now is not before:
        names = (
            ", ".join(f"{other.number} {other.names[0]}" for other in failed) or "answers to the exercises before it"
        )
        sentence = f"Graded with the course's own {names} in place of yours: a mistake there costs points only there."
        grading.credited[exercise.id] = sentence
        said = {"advice": (), "notes": (sentence,)} if now.passed else {"advice": (sentence,), "notes": ()}
        grading.verdicts[exercise.id] = replace(now, **said)
