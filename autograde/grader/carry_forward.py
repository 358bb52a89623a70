"""Carries errors forward: a mistake costs points only once, because later exercises are tested again on right answers.

After the first run, the notebook is run once more in a second sandbox. Each failed exercise is tested again there, and
after each exercise the course's own solution is run, so that all later exercises build on right answers. That also
helps a right answer that depends on another right answer of an unusual form. The student's answers to earlier notebooks
(`mybert`, see upstream.py) are not in that sandbox; the library's versions are used instead. The better of the two
verdicts counts.

So solutions are in a sandbox with the student's code, but each only after its own exercise has been graded for the last
time. The program there could read them; therefore no text from this sandbox is shown to anybody: only points and parts
of the new verdict are used.
"""

from dataclasses import replace

from autograde.errors import SandboxEnded
from autograde.exercises import cells
from autograde.exercises.spec import Exercise
from autograde.grader.submission import Grading, Step, enter, run_cell
from autograde.mybert_importer import PACKAGE

_WORTH_ASKING = ("wrong", "partly", "raised", "missing", "technical")
_MAX_SANDBOXES = 4


def carry_forward(grading: Grading, steps: list[Step], launcher) -> None:
    """Improves verdicts in place. An exercise that ends a sandbox here keeps its verdict; the others continue."""
    asked = [step.exercise for step in steps if step.exercise]
    if own_modules_used(grading, steps):  # what ended or held up the program may have been in the student's own package
        grading.ended, grading.late = set(), set()
    else:
        asked = asked[1:]
    candidates = [exercise.id for exercise in asked if _worth_retrying(grading, exercise)]
    for _ in range(_MAX_SANDBOXES):
        if not candidates:
            return
        at = [Step()]
        try:
            with enter(grading, launcher, upstream={}) as sandbox:
                _walk_on_solutions(grading, steps, sandbox, candidates, at)
            return
        except SandboxEnded as ended:
            grading.technical.append(f"while asking again on right answers: {ended}")
            if at[0].exercise is None:
                grading.ended.add(at[0].number)


def own_modules_used(grading: Grading, steps: list[Step]) -> list[str]:
    """The student's own modules that this notebook can have used."""
    mentioned = any(PACKAGE in step.source for step in steps)
    return [f"{PACKAGE}.{module}" for module in grading.upstream] if mentioned else []


def _worth_retrying(grading: Grading, exercise: Exercise) -> bool:
    """Whether its own cell ran at all and holds an attempt."""
    answer = grading.submission.answers.get(exercise.id)
    if not answer or not answer.attempted or any(position + 1 in grading.ended for position in answer.positions):
        return False
    return grading.verdicts[exercise.id].status in _WORTH_ASKING


def _walk_on_solutions(grading: Grading, steps: list[Step], sandbox, candidates: list[str], at: list[Step]) -> None:
    """One pass. A candidate that was asked, or that ended the sandbox, is no candidate any more. at[0]: the step."""
    last = max(place for place, step in enumerate(steps) if step.exercise and step.exercise.id in candidates)
    replaced = own_modules_used(grading, steps)
    failed: list[Exercise] = []
    for step in steps[: last + 1]:
        at[0] = step
        if step.exercise is None:
            run_cell(grading, sandbox, step)
            continue
        if step.exercise.id in candidates:
            candidates.remove(step.exercise.id)
            _ask_again(grading, sandbox, step.exercise, failed, replaced)
        if not grading.verdicts[step.exercise.id].passed:
            failed.append(step.exercise)
        sandbox.run_cell(cells.answer_cell(step.exercise), grading.limits.cell_seconds)


def _ask_again(grading: Grading, sandbox, exercise: Exercise, failed: list[Exercise], replaced: list[str]) -> None:
    before = grading.verdicts[exercise.id]
    grading.ask_and_keep(sandbox, exercise)
    now = grading.verdicts[exercise.id]
    if now is not before:
        sentence = _what_was_replaced(failed, replaced)
        grading.credited[exercise.id] = sentence
        said = {"advice": (), "notes": (sentence,)} if now.passed else {"advice": (sentence,), "notes": ()}
        grading.verdicts[exercise.id] = replace(now, **said)


def _what_was_replaced(failed: list[Exercise], replaced: list[str]) -> str:
    names = ", ".join(f"{other.number} {other.names[0]}" for other in failed)
    if not names and not replaced:
        names = "answers to the exercises before it"
    course = f"the course's own {names}" if names else ""
    library = f"the library's stand-ins for {', '.join(replaced)}" if replaced else ""
    both = " and ".join(filter(None, (course, library)))
    return f"Graded with {both} in place of yours: a mistake there costs points only there."
