"""Grades one notebook of one student: cells and hidden questions run in a sandbox, verdicts are made outside.

The program is run in the order in which it was handed in: cell by cell, and after the last cell of an answer its
exercise is tested, like in a test cell below it. An exercise that lacked a name is tested again at the end, because an
answer may be above the cells it needs. If a sandbox ends, earned points stay: the cell or exercise that ended it is
named and skipped, and the others continue in a new sandbox.

All verdicts come from `judge`; no claim of a sandbox about itself gives points.
"""

import time
from dataclasses import dataclass, field, replace

from autograde import planning
from autograde.answers import Answer, cell_outcome
from autograde.errors import SandboxEnded
from autograde.exercises.spec import Exercise
from autograde.grader.prerequisites import cells_to_run
from autograde.grader.repair import Submission
from autograde.grader.sentences import how_a_cell_failed, what_was_raised
from autograde.grader.template import Template
from autograde.grader.upstream import STAND_INS_FOLDER, sandbox_files
from autograde.judge import judge
from autograde.sandbox import limits as names
from autograde.sandbox.limits import Limits
from autograde.verdict import Verdict

LIMITS = Limits(cell_seconds=30.0, wall_seconds=300.0, cpu_seconds=300.0)
MAX_SANDBOXES = 8  # for one notebook
QUESTION_SECONDS = 15.0  # for all questions of one exercise: an honest answer to them takes a fraction of one

# `mybert` comes from the files that `sandbox_files` has put into the working folder.
_PRELUDE = f"""
def _activate():
    import pathlib
    from autograde import mybert_importer

    here = pathlib.Path.cwd()
    mybert_importer.activate(here, say=lambda line: None, stand_ins=here / "{STAND_INS_FOLDER}")

_activate()
del _activate
"""


@dataclass(frozen=True)
class Step:
    """One step: run a cell (source, number) or, if `exercise` is given, test it."""

    number: int = 0
    source: str = ""
    exercise: Exercise | None = None


@dataclass
class Grading:
    """One notebook being graded. `verdicts` by exercise id; `technical`: what ended sandboxes, sentences; `upstream`:
    the student's own modules from earlier notebooks (see upstream.py)."""

    submission: Submission
    exercises: tuple[Exercise, ...]
    student: str
    secret: bytes
    limits: Limits = LIMITS
    upstream: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    answers: dict[str, list[Answer]] = field(default_factory=dict)  # that the verdicts are from
    credited: dict[str, str] = field(default_factory=dict)  # exercise → on what it was asked again (see upstream.py)
    technical: list[str] = field(default_factory=list)
    ended: set[int] = field(default_factory=set)  # numbers of cells that ended a sandbox
    late: set[int] = field(default_factory=set)  # numbers of cells that ran out of time
    asked_twice: set[str] = field(default_factory=set)
    errors: dict[int, str] = field(default_factory=dict)  # number of a cell → how it failed, for the student

    def __post_init__(self):
        self.plans = {exercise.id: self._plan(exercise) for exercise in self.exercises}

    def _plan(self, exercise: Exercise) -> dict:
        seed = planning.hidden_seed(self.secret, self.student, exercise)
        return planning.make_plan(exercise, seed, misconceptions=False)

    def source_of(self, exercise: Exercise) -> str:
        answer = self.submission.answers.get(exercise.id)
        return answer.source if answer else ""

    def ask(self, sandbox, exercise: Exercise) -> tuple[Verdict, list[Answer]]:
        """The verdict on one exercise in a sandbox as it is now, and the answers it is from. Raises SandboxEnded."""
        answers: list[Answer] = []

        def ask_sandbox(questions):
            answers.extend(sandbox.ask(questions, QUESTION_SECONDS))
            return answers

        verdict = judge(self.plans[exercise.id], ask_sandbox, self.source_of(exercise), reveal=False)
        if verdict.status == "raised":
            verdict = verdict.with_advice(what_was_raised(answers, self.source_of(exercise), QUESTION_SECONDS))
        elif not verdict.passed and any(answer.late for answer in answers):
            verdict = verdict.with_advice(f"To a question it had given no answer after {QUESTION_SECONDS:g} seconds.")
        return verdict, answers

    def ask_and_keep(self, sandbox, exercise: Exercise) -> None:
        """Asks, and keeps the verdict if it is the first or a better one. Raises SandboxEnded."""
        verdict, answers = self.ask(sandbox, exercise)
        if exercise.id not in self.verdicts or verdict.points > self.verdicts[exercise.id].points:
            self.verdicts[exercise.id], self.answers[exercise.id] = verdict, answers


def steps_of(submission: Submission, template: Template, exercises: tuple[Exercise, ...]) -> list[Step]:
    """Cells in their order; each exercise after its last cell, one without cells before the next exercise's first."""
    cells = cells_to_run(submission.program, template)
    last = {}  # exercise id → place of its last cell
    for exercise in exercises:
        answer = submission.answers.get(exercise.id)
        positions = answer.positions if answer else ()
        places = [place for place, cell in enumerate(cells) if cell.position in positions]
        if places:
            last[exercise.id] = places[-1]
    after: dict[int, list[Exercise]] = {}
    place = len(cells) - 1
    for exercise in reversed(exercises):
        place = last.get(exercise.id, place)
        after.setdefault(place, []).insert(0, exercise)
        place = place if exercise.id not in last else max(place - 1, -1)
    steps = [Step(exercise=exercise) for exercise in after.get(-1, [])]
    for place, cell in enumerate(cells):
        steps.append(Step(cell.position + 1, cell.source))
        steps += [Step(exercise=exercise) for exercise in after.get(place, [])]
    return steps


def enter(grading: Grading, launcher, upstream: dict[str, str]):
    """A sandbox in which a notebook's cells can run, with these modules of the student, otherwise the library's."""
    sandbox = launcher.start(grading.limits, seed=0)
    sandbox.put(sandbox_files(grading.exercises[0].notebook, upstream))
    sandbox.run_cell(_PRELUDE)
    return sandbox


def walk_plainly(grading: Grading, steps: list[Step], launcher) -> None:
    """Fills in the verdict of every exercise."""
    began = time.monotonic()
    for count in range(MAX_SANDBOXES):
        at = [Step()]
        try:
            with enter(grading, launcher, grading.upstream) as sandbox:
                _walk_once(grading, steps, sandbox, at)
            break
        except SandboxEnded as ended:
            if ended.reason.reason != names.LOST or count:  # a sandbox may be lost with its zygote, once
                _blame(grading, at[0], str(ended))
        if time.monotonic() - began > grading.limits.wall_seconds or count == MAX_SANDBOXES - 1:
            grading.technical.append(f"given up after {count + 1} sandboxes")
            break
    for exercise in grading.exercises:
        if exercise.id not in grading.verdicts:
            reason = "; ".join(grading.technical) or "no answer"
            grading.verdicts[exercise.id] = unjudged(exercise, grading.plans[exercise.id], reason)
    _add_errors(grading)


def _walk_once(grading: Grading, steps: list[Step], sandbox, at: list[Step]) -> None:
    """Does the steps in order; at[0] is the current one, so that the one that ends the sandbox can be named."""
    for step in steps:
        at[0] = step
        if step.exercise is None:
            run_cell(grading, sandbox, step)
        elif step.exercise.id not in grading.verdicts:
            grading.ask_and_keep(sandbox, step.exercise)
    for step in steps:
        if step.exercise and _lacked_a_name(grading, step.exercise) and step.exercise.id not in grading.asked_twice:
            at[0] = step
            grading.asked_twice.add(step.exercise.id)
            grading.ask_and_keep(sandbox, step.exercise)


def _lacked_a_name(grading: Grading, exercise: Exercise) -> bool:
    """Whether a name was missing: an answer may be above the cells it needs."""
    if grading.verdicts[exercise.id].status == "missing":
        return True
    failures = [answer.failure for answer in grading.answers.get(exercise.id, ())]
    return any(failure and failure.kind == "NameError" for failure in failures)


def run_cell(grading: Grading, sandbox, step: Step) -> None:
    """Runs a cell and notes how it failed. Raises SandboxEnded."""
    if step.number in grading.ended | grading.late:
        return
    outcome = cell_outcome(sandbox.run_cell(step.source, grading.limits.cell_seconds), step.source)
    if outcome.status == "late":
        grading.late.add(step.number)
        grading.errors[step.number] = f"it did not end within {grading.limits.cell_seconds:g} seconds"
    elif outcome.status == "failed":
        grading.errors[step.number] = how_a_cell_failed(step.source, outcome, grading.submission.program)


def _blame(grading: Grading, step: Step, reason: str) -> None:
    """Records what ended a sandbox, and skips it from now on."""
    if step.exercise is None:
        grading.technical.append(f"cell {step.number} ended the program ({reason})" if step.number else reason)
        grading.ended.add(step.number)
        grading.errors[step.number] = f"it ended the whole program ({reason})"
    else:
        sentence = f"calling {step.exercise.names[0]} ended the program ({reason})"
        grading.technical.append(sentence)
        known = grading.verdicts.get(step.exercise.id)
        plan = grading.plans[step.exercise.id]
        grading.verdicts[step.exercise.id] = known or unjudged(step.exercise, plan, sentence)


def unjudged(exercise: Exercise, plan: dict, reason: str) -> Verdict:
    """No points, and why: for an exercise whose answers never came out of a sandbox."""
    label = f"{exercise.number} {exercise.names[0]}"
    advice = (f"It could not be graded: {reason}.",)
    return Verdict(exercise.id, label, "technical", 0.0, float(exercise.points), seed=plan["seed"],
                   advice=advice, technical=reason)  # fmt: skip


def unread(exercise: Exercise, message: str) -> Verdict:
    """No points, for every exercise of a file that cannot be read."""
    label = f"{exercise.number} {exercise.names[0]}"
    return Verdict(exercise.id, label, "missing", 0.0, float(exercise.points), advice=(message,))


def _add_errors(grading: Grading) -> None:
    """Adds the reason why a name is missing: the cell that defines it failed."""
    for exercise in grading.exercises:
        verdict = grading.verdicts[exercise.id]
        answer = grading.submission.answers.get(exercise.id)
        numbers = [position + 1 for position in answer.positions] if answer else []
        failed = next((number for number in numbers if number in grading.errors), None)
        if verdict.status != "missing" or failed is None:
            continue
        sentence = f"Cell {failed} failed: {grading.errors[failed]}."
        if failed in grading.ended:
            verdict = replace(verdict, status="technical", technical=sentence, advice=())
        grading.verdicts[exercise.id] = verdict.with_advice(sentence)
