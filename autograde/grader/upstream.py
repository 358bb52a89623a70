"""One mistake costs once: what builds on a wrong answer is asked again on a right one.

After the plain walk, the notebook is walked once more in a room of its own. Each exercise that failed is first asked
again, if an earlier one had failed too, and then the course's own solution is run in its place, so that everything
after it stands on firm ground.

So a solution comes into a room with the student's code, but only after its own exercise has been judged for the last
time. The program there could read it; therefore nothing that this room says in words reaches anybody: of the new
verdict only points and parts are taken.
"""

from dataclasses import replace

from autograde.errors import RoomEnded
from autograde.exercises import cells
from autograde.exercises.spec import Exercise
from autograde.grader.submission import Grading, Step, enter, run_cell
from autograde.verdict import Verdict

_WORTH_ASKING = ("wrong", "partly", "raised", "missing", "technical")
_MOST_ROOMS = 4


def follow_through(grading: Grading, steps: list[Step], sandbox) -> None:
    """Improves verdicts in place. What ends a room here stays as it was, and the rest goes on without it."""
    failed = [step.exercise for step in steps if step.exercise and not grading.verdicts[step.exercise.id].passed]
    candidates = [exercise.id for exercise in failed[1:] if _worth_asking(grading, exercise)]
    for _ in range(_MOST_ROOMS):
        if not candidates:
            return
        try:
            with enter(sandbox, grading.limits) as room:
                _walk_on_solutions(grading, steps, room, failed, candidates)
            return
        except RoomEnded as ended:
            grading.technical.append(f"while asking again on right answers: {ended}")


def _worth_asking(grading: Grading, exercise: Exercise) -> bool:
    """Whether its own cell ran at all and holds an attempt."""
    answer = grading.submission.answers.get(exercise.id)
    if not answer or not answer.attempted or any(position + 1 in grading.ended for position in answer.positions):
        return False
    return grading.verdicts[exercise.id].status in _WORTH_ASKING


def _walk_on_solutions(grading: Grading, steps: list[Step], room, failed: list[Exercise], candidates: list[str]):
    """One pass. A candidate that was asked, or that ended the room, is no candidate any more."""
    last = max(place for place, step in enumerate(steps) if step.exercise and step.exercise.id in candidates)
    replaced: list[Exercise] = []
    for step in steps[: last + 1]:
        if step.exercise is None:
            run_cell(grading, room, step)
        elif step.exercise in failed:
            if step.exercise.id in candidates:
                candidates.remove(step.exercise.id)
                _ask(grading, room, step.exercise, replaced)
            room.run_cell(cells.answer_cell(step.exercise), grading.limits.cell_seconds)
            replaced.append(step.exercise)


def _ask(grading: Grading, room, exercise: Exercise, replaced: list[Exercise]) -> None:
    before, again = grading.verdicts[exercise.id], grading.ask(room, exercise)
    if again.points > before.points:
        grading.verdicts[exercise.id] = _credited(before, again, replaced)


def _credited(before: Verdict, again: Verdict, replaced: list[Exercise]) -> Verdict:
    numbers = ", ".join(f"{exercise.number} {exercise.names[0]}" for exercise in replaced)
    sentence = f"Graded with the course's own {numbers} in place of yours: a mistake there costs points only there."
    if again.passed:
        return replace(again, advice=(), notes=(sentence,))
    return replace(again, advice=(*before.advice, sentence), misconception=before.misconception, notes=())
