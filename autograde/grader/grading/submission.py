"""The values that the steps of grading hand on: the work (`Task`), and the knowledge so far (`Outcome`).

No step changes a value: each makes a new `Outcome` (see `notebook_grading.grade_notebook` for the order).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from autograde.common.dependencies import ParsedCell, Program
from autograde.exercises.planning import planner
from autograde.exercises.spec import Exercise
from autograde.grader.grading.results import Result
from autograde.grader.reading.repair import ReadSubmission
from autograde.grader.reading.template import Template, cells_to_run
from autograde.judging.answers import Answer
from autograde.judging.verdict import Verdict
from autograde.sandbox.limits import Limits

MAX_TRIES = 3  # of one file in which a sandbox is killed from outside
LIMITS = Limits(cell_seconds=30.0, wall_seconds=300.0, cpu_seconds=300.0)  # all of one notebook: see budget.py


@dataclass(frozen=True)
class Step:
    """One step in a sandbox: run a cell or, if `exercise` is given, test it.

    number: of the student's cell; 0 for other code, whose outcome is not noted. when: the occasion on which an exercise
    is tested, where an outcome is to remember that it was. alone: without the questions in which it meets other
    answers.
    """

    number: int = 0
    cell: ParsedCell = ParsedCell("")
    exercise: Exercise | None = None
    when: str = ""
    alone: bool = False

    @property
    def is_the_students(self) -> bool:
        return bool(self.number or self.exercise)

    @property
    def key(self) -> int | str:
        """The key by which an outcome remembers this step."""
        return self.exercise.id if self.exercise else self.number


@dataclass
class Questions:
    """A step that puts questions of which no verdict is made; it has the answers when it was taken."""

    questions: list[dict]
    seconds: float
    answers: Sequence[Answer] = ()


@dataclass(frozen=True)
class Task:
    """One notebook to grade. exercises: in the release's order; steps: in the student's; plans: by exercise, with
    hidden inputs; upstream: the student's own modules from earlier notebooks (see upstream.py); attempt: the digest of
    what was handed in."""

    submission: ReadSubmission
    exercises: tuple[Exercise, ...]
    steps: tuple[Step, ...]
    plans: Mapping[str, dict]
    student: str
    secret: bytes
    attempt: str = ""
    limits: Limits = LIMITS
    upstream: Mapping[str, str] = field(default_factory=dict)

    @property
    def notebook(self) -> str:
        return self.exercises[0].notebook

    @cached_property
    def cells(self) -> Program:
        """The program's cells without imports and calls, and the index of their names, made once."""
        return Program(cell.parsed.core for cell in self.submission.program)

    def answer_to(self, exercise: Exercise) -> ParsedCell:
        """The student's text for an exercise; an empty one if there is none."""
        answer = self.submission.answers.get(exercise.id)
        return answer.parsed if answer else ParsedCell("")

    def numbers_of(self, exercise: Exercise) -> tuple[int, ...]:
        """The numbers of the cells that answer an exercise."""
        answer = self.submission.answers.get(exercise.id)
        return tuple(position + 1 for position in answer.positions) if answer else ()


@dataclass(frozen=True)
class Judged:
    """The verdict on one exercise and its grounds. answers: those that the verdict is from; on_course: those that it
    gave on the course's own answers to the exercises before it, where these earned no more; credited: which of the
    student's answers were replaced for the verdict, a sentence."""

    verdict: Verdict
    answers: tuple[Answer, ...] = ()
    on_course: tuple[Answer, ...] = ()
    credited: str = ""


@dataclass(frozen=True)
class Outcome:
    """The knowledge about a notebook so far.

    judged: by exercise id; technical: what ended sandboxes, sentences; errors: number of a cell → how it failed, for
    the student; ended, late: numbers of cells that ended a sandbox or ran out of time, which are skipped from then on;
    asked: (exercise, occasion) of those that were asked again, at the end or on the course's own answers; spared: keys
    of steps at which a sandbox was killed from outside once; again: whether the next `grade` shall try again;
    untested: sentences about tests that are missing, for the instructor; doubts: about results that are too good;
    runs: verdicts on training runs.
    """

    judged: Mapping[str, Judged] = field(default_factory=dict)
    technical: tuple[str, ...] = ()
    errors: Mapping[int, str] = field(default_factory=dict)
    ended: frozenset[int] = frozenset()
    late: frozenset[int] = frozenset()
    asked: frozenset[tuple[str, str]] = frozenset()
    spared: frozenset = frozenset()
    again: bool = False
    untested: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    runs: tuple[Verdict, ...] = ()

    def with_judged(self, exercise: Exercise, judged: Judged) -> "Outcome":
        return replace(self, judged={**self.judged, exercise.id: judged})

    def with_verdict(self, exercise: Exercise, verdict: Verdict) -> "Outcome":
        """The same answers with another verdict, or a verdict without answers."""
        judged = self.judged.get(exercise.id, Judged(verdict))
        return self.with_judged(exercise, replace(judged, verdict=verdict))

    def was_asked(self, exercise: Exercise, when: str) -> bool:
        return (exercise.id, when) in self.asked

    def with_error(self, number: int, words: str) -> "Outcome":
        return replace(self, errors={**self.errors, number: words})

    def with_technical(self, *sentences: str) -> "Outcome":
        return replace(self, technical=(*self.technical, *sentences))

    def with_run(self, verdict: Verdict, *doubts: str) -> "Outcome":
        return replace(self, runs=(*self.runs, verdict), doubts=(*self.doubts, *doubts))

    def verdict(self, exercise: Exercise) -> Verdict:
        return self.judged[exercise.id].verdict


def plan_task(
    submission: ReadSubmission, template: Template, exercises: tuple[Exercise, ...], blank: Result, secret: bytes,
    limits: Limits,
) -> Task:  # fmt: skip
    """The task of grading a submission; `blank` is the record to be filled in."""
    plans = {}
    for exercise in exercises:
        seed = planner.hidden_seed(secret, blank.student, exercise, blank.sha256)
        plans[exercise.id] = planner.make_plan(exercise, seed, misconceptions=False)
    steps = tuple(steps_of(submission, template, exercises))
    return Task(
        submission, exercises, steps, plans, blank.student, secret, blank.sha256, limits, dict(blank.upstream)
    )  # fmt: skip


def steps_of(submission: ReadSubmission, template: Template, exercises: tuple[Exercise, ...]) -> list[Step]:
    """Cells in their order; each exercise after its last cell, one without cells before the next exercise's first."""
    cells = cells_to_run(submission.program, template)
    last = {}  # exercise id → index of its last cell
    for exercise in exercises:
        answer = submission.answers.get(exercise.id)
        positions = answer.positions if answer else ()
        indices = [index for index, cell in enumerate(cells) if cell.position in positions]
        if indices:
            last[exercise.id] = indices[-1]
    after: dict[int, list[Exercise]] = {}
    index = len(cells) - 1
    for exercise in reversed(exercises):
        index = last.get(exercise.id, index)
        after.setdefault(index, []).insert(0, exercise)
        index = index if exercise.id not in last else max(index - 1, -1)
    steps = [Step(exercise=exercise) for exercise in after.get(-1, [])]
    for index, cell in enumerate(cells):
        steps.append(Step(cell.position + 1, cell.parsed))
        steps += [Step(exercise=exercise) for exercise in after.get(index, [])]
    return steps


def label_of(exercise: Exercise) -> str:
    return f"{exercise.number} {exercise.names[0]}"


def unjudged(exercise: Exercise, plan: dict, reason: str) -> Verdict:
    """No points, and why: for an exercise whose answers never came out of a sandbox."""
    advice = (f"It could not be graded: {reason}.",)
    return Verdict(exercise.id, label_of(exercise), "technical", 0.0, float(exercise.points), seed=plan["seed"],
                   advice=advice, technical=reason)  # fmt: skip
