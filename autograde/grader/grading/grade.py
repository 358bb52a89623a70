"""Grades an assignment: every new or changed submission, several at a time; one that fails does not stop the others.

    submitted/STUDENT/ASSIGNMENT/ ─▶ worker: read, repair, run, judge ─▶ this thread: gradebook, autograded/, results/

A submission's records are written last, after its grades: they mark it as done, and a new start after a kill continues
with the others. Verdicts depend on the file, its upstream modules, the release and the course's secret alone.
"""

import contextlib
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from autograde.common.errors import AutogradeError, InputError
from autograde.exercises import catalogue
from autograde.grader.book import variants
from autograde.grader.book.course import read_secret, use_exercises_of
from autograde.grader.book.forget import damaged
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.group_hand_ins import copies, follow, spread
from autograde.grader.book.policy import hand_in_time, penalty_to_take
from autograde.grader.grading.autograded import record_results
from autograde.grader.grading.budget import Budget
from autograde.grader.grading.notebook_grading import Graded, grade_notebook
from autograde.grader.grading.results import Result, last_result
from autograde.grader.grading.submission import LIMITS, MAX_TRIES
from autograde.grader.grading.upstream import (
    EarlierNotebook,
    UpstreamSources,
    digest_of,
    submitted_modules,
    upstream_modules,
)
from autograde.grader.hand_ins.hand_in import digest
from autograde.grader.reading.template import Template, TemplateError
from autograde.sandbox.launchers import SharedLauncher
from autograde.sandbox.limits import Limits
from bertlab.common.errors import BertLabError
from bertlab.common.files import write_text

_NO_TIME = "timestamp.txt has no time such as 2026-01-30 12:00:00 UTC; the hand-in counts as one without a time."


@dataclass(frozen=True)
class Submission:
    """One student's submission: the files of an assignment's notebooks that are there.

    variants: notebook → the number of the variant that it is graded as, for notebooks that have variants (see
    variants.py); said: a sentence if its time cannot be read.
    """

    assignment: str
    student: str
    files: tuple[Path, ...]
    handed_in: str = ""
    variants: dict[str, int] = field(default_factory=dict)
    said: tuple[str, ...] = ()


@dataclass
class Report:
    """The outcome of a run. failures: (student, reason), for submissions that have no grade yet; regrouped: what
    changed groups have undone, sentences; damaged: files of the course that cannot be read, sentences."""

    graded: int = 0
    up_to_date: int = 0
    technical: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    regrouped: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Assignment:
    """The data that grading needs: course folder, notebooks and the secret. Made by `open_assignment`.

    released: the notebooks of all assignments, this one last: (assignment, template).
    """

    course: Path
    name: str
    templates: dict[str, Template]
    secret: bytes
    limits: Limits = LIMITS
    released: tuple[tuple[str, Template], ...] = ()


def open_assignment(course: str | Path, name: str, limits: Limits = LIMITS) -> Assignment:
    """Reads the release and the secret. Raises InputError, CourseError, TemplateError."""
    course = Path(course)
    use_exercises_of(course)
    paths = sorted((course / "release" / name).glob("*.ipynb"))
    if not paths:
        raise InputError(f"{course / 'release' / name}: expected a notebook; run `autograde release --course {course}`")
    for path in paths:
        if not catalogue.of_notebook(path.stem):
            raise InputError(f"{path}: the catalogue has no exercises for this notebook; check its name")
    templates = {path.stem: variants.released(course, name, path) for path in paths}
    released = []
    for other in assignments(course):
        for path in sorted((course / "release" / other).glob("*.ipynb")) if other != name else ():
            with contextlib.suppress(TemplateError, OSError):  # damage in another assignment must not stop this one
                released.append((other, variants.released(course, other, path)))
    released += [(name, template) for template in templates.values()]
    return Assignment(course, name, templates, read_secret(course), limits, tuple(released))


def edition_of(assignment: Assignment, student: str, notebook: str) -> Template:
    """The notebook as this student, or another member of the student's group, got it."""
    numbers = variants.of_hand_in(assignment.course, assignment.name, student, assignment.templates)
    return assignment.templates[notebook].edition(numbers.get(notebook, 0))


def assignments(course: str | Path) -> list[str]:
    """The names of all released assignments, in the order of their first notebooks."""
    first: dict[str, str] = {}
    for path in sorted(Path(course).glob("release/*/*.ipynb"), key=lambda path: path.name):
        first.setdefault(path.parent.name, path.name)
    return sorted(first, key=lambda name: (first[name], name))


def find_submissions(assignment: Assignment, students: Iterable[str] = ()) -> list[Submission]:
    """All submissions, or those of some students, by student."""
    chosen = set(students)
    submissions = []
    for folder in sorted(assignment.course.glob(f"submitted/*/{assignment.name}")):
        student = folder.parent.name
        files = tuple(path for path in sorted(folder.glob("*.ipynb")) if path.stem in assignment.templates)
        if (not chosen or student in chosen) and folder.is_dir():
            numbers = variants.of_hand_in(assignment.course, assignment.name, student, assignment.templates)
            time, notes = _timestamp(folder)
            submissions.append(Submission(assignment.name, student, files, time, numbers, notes))
    missing = chosen - {item.student for item in submissions}
    if missing:
        raise InputError(f"{assignment.course / 'submitted'}: no submission of {', '.join(sorted(missing))}")
    return submissions


def _timestamp(folder: Path) -> tuple[str, tuple[str, ...]]:
    """The time of a hand-in as a record has it, empty if unknown, and a sentence if it cannot be read."""
    path = folder / "timestamp.txt"
    text = path.read_text(encoding="utf-8", errors="replace").strip()[:40] if path.is_file() else ""
    time = hand_in_time(text) if text else ""
    return time, () if time or not text else (_NO_TIME,)


def current_results(assignment: Assignment, item: Submission, files: Iterable[Path]) -> list[Result]:
    """The records of those files that have been graded as they are now."""
    results = [_current(assignment.course, item.assignment, item.student, path) for path in files]
    return [result for result in results if result and result.variant == item.variants.get(result.notebook, 0)]


def _current(course: Path, assignment: str, student: str, path: Path) -> Result | None:
    """The record of a file as it is now, with what was handed in beside it."""
    result = last_result(course, Result(assignment, student, path.stem))
    same = result and result.sha256 == digest(path) and result.beside == digest_of(submitted_modules(path.parent)[0])
    return result if same else None


def is_up_to_date(assignment: Assignment, item: Submission) -> bool:
    """Whether each of its files has a record that names this very file, without a sandbox killed from outside."""
    results = current_results(assignment, item, item.files)
    return bool(item.files) and len(results) == len(item.files) and not any(result.again for result in results)


def anything_new(assignment: Assignment, students: Iterable[str] = ()) -> bool:
    """Whether `grade` would have to run anything."""
    copied = copies(assignment.course, assignment.name)
    chosen = find_submissions(assignment, [copied.get(student, student) for student in students])
    return any(item.files and item.student not in copied and not is_up_to_date(assignment, item) for item in chosen)


def upstream_sources(assignment: Assignment, item: Submission) -> UpstreamSources:
    """The upstream sources of a submission: the student's earlier notebooks, and modules handed in with these files."""
    earlier = {}  # of a notebook that was handed in to several assignments the last one
    for name, template in assignment.released:
        path = assignment.course / "submitted" / item.student / name / f"{template.name}.ipynb"
        if path.exists():
            number = variants.of_hand_in(assignment.course, name, item.student, {template.name: template})
            template = template.edition(number.get(template.name, 0))
            time, _ = _timestamp(path.parent)
            blank = Result(name, item.student, template.name, handed_in=time, sha256=digest(path))
            result = _current(assignment.course, name, item.student, path)
            modules, _ = submitted_modules(path.parent)
            earlier[template.name] = EarlierNotebook(template, path, blank, modules, result)
    recorded = {result.notebook: result.upstream for result in current_results(assignment, item, item.files)}
    beside, notes = submitted_modules(item.files[0].parent) if item.files else ({}, ())
    return UpstreamSources(tuple(earlier[name] for name in sorted(earlier)), beside, recorded, notes)


def grade_submission(
    assignment: Assignment, item: Submission, launcher: SharedLauncher, sources: UpstreamSources | None = None
) -> list[Graded]:
    """Grades each notebook of one submission. Writes no file of the course: `record` writes the results. Raises
    SandboxError if no sandbox can be made; never for anything in a file.

    sources: the upstream sources, if the course folder is not available. All notebooks, and the earlier ones that they
    build on, share one budget of time.
    """
    sources = sources or upstream_sources(assignment, item)
    budget = Budget.of(assignment.limits, len(item.files))
    graded = []
    for index, path in enumerate(item.files):
        share = budget.part(1 / (len(item.files) - index))
        graded.append(grade_file(assignment, item, path, launcher, sources, share))
        budget.take(share)
        done = {one.result.notebook: one.result for one in graded}
        earlier = tuple(replace(one, result=done.get(one.notebook, one.result)) for one in sources.earlier)
        sources = replace(sources, earlier=earlier)
    return graded


def grade_file(
    assignment: Assignment, item: Submission, path: Path, launcher: SharedLauncher, sources: UpstreamSources,
    budget: Budget,
) -> Graded:  # fmt: skip
    """Grades one notebook. budget: what it and the earlier notebooks that have no record may take; these together half
    of it at most."""
    for_earlier = budget.part(0.5)

    def grade_earlier(notebook: EarlierNotebook, upstream: dict[str, str]) -> Result:
        blank = replace(notebook.blank, upstream=upstream)
        return grade_within(assignment, notebook.source, notebook.template, launcher, blank, budget=for_earlier).result

    modules = upstream_modules(path.stem, sources, grade_earlier)
    budget.take(for_earlier)
    blank = Result(
        assignment.name, item.student, path.stem, handed_in=item.handed_in, sha256=digest(path), upstream=modules,
        beside=digest_of(sources.beside), variant=item.variants.get(path.stem, 0),
    )  # fmt: skip
    template = assignment.templates[path.stem].edition(blank.variant)
    graded = grade_within(assignment, path, template, launcher, blank, budget=budget)
    repairs = (*graded.result.repairs, *item.said, *sources.said)
    doubt = variants.another(path, blank.variant) if blank.variant else ""
    doubts = (*graded.result.doubts, doubt) if doubt else graded.result.doubts
    return replace(graded, result=replace(graded.result, repairs=repairs, doubts=doubts))


def grade_within(
    assignment: Assignment, source: Path | bytes, template: Template, launcher: SharedLauncher, blank: Result,
    names: Iterable[str] = (), budget: Budget | None = None,
) -> Graded:  # fmt: skip
    """The record `blank` filled in. names: of the exercises that are graded; by default all of the notebook."""
    chosen = set(names)
    exercises = catalogue.of_notebook(template.name, template.values)
    exercises = tuple(exercise for exercise in exercises if not chosen or exercise.id in chosen)
    return grade_notebook(source, template, exercises, launcher, blank, assignment.secret, assignment.limits, budget)


def record(
    assignment: Assignment, graded: list[Graded], book: Gradebook, penalty=None, others: Iterable[Result] = ()
) -> None:
    """Writes one submission's grades, as `record_results` does."""
    counted_ones = [(counted(assignment.course, one.result), one.submission) for one in graded]
    record_results(book, counted_ones, assignment.templates, penalty, others)


def counted(course: Path, result: Result) -> Result:
    """The record with the number of gradings of this file in which a sandbox was killed from outside.

    A program that kills itself looks the same, so `grade` does not try for ever.
    """
    if not result.again:
        return result
    before = last_result(course, result)
    same = before and (before.sha256, before.beside) == (result.sha256, result.beside)
    tries = 1 + (before.tries if same else 0)
    if tries < MAX_TRIES:
        return replace(result, tries=tries)
    sentence = (
        f"tried {tries} times and not again; `autograde grade {result.assignment} --student {result.student} --again`"
    )
    return replace(result, tries=tries, again=False, technical=f"{result.technical}; {sentence} tries once more")


def grade(
    assignment: Assignment,
    launcher: SharedLauncher,
    students: Iterable[str] = (),
    workers: int = 1,
    again: bool = False,
    progress: Callable[[str, int, int], None] = lambda student, done, total: None,
) -> Report:
    """Grades new and changed submissions (again: all). A failing one never stops the others.

    progress: called after each with its student, how many are done and how many there are.
    """
    pool = ThreadPoolExecutor(workers)
    try:
        return grade_by(
            lambda item: pool.submit(grade_submission, assignment, item, launcher),
            lambda item, graded: graded, assignment, students, workers, again, progress,
        )  # fmt: skip
    except BaseException:  # Ctrl-C too: the sandboxes end, so the workers do
        launcher.close()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def grade_by(
    send: Callable[[Submission], Future],
    receive: Callable[[Submission, object], list[Graded]],
    assignment: Assignment,
    students: Iterable[str],
    slots: int,
    again: bool,
    progress: Callable[[str, int, int], None],
) -> Report:
    """`grade` on any machine: `send` starts a submission, `receive` turns the future's result into records."""
    report = Report(regrouped=spread(assignment.course, assignment.name), damaged=damaged(assignment.course))
    copied = copies(assignment.course, assignment.name)
    chosen = [copied.get(student, student) for student in students]  # of a group, the member who handed in
    submissions = find_submissions(assignment, chosen)
    names = ", ".join(f"{name}.ipynb" for name in assignment.templates)  # a file may only have the wrong name
    report.failures += [
        (item.student, f"expected {names} among the submitted files") for item in submissions if not item.files
    ]
    waiting = [item for item in submissions if item.files and item.student not in copied]
    todo = [item for item in waiting if again or not is_up_to_date(assignment, item)]
    report.up_to_date = len(waiting) - len(todo)
    penalty = penalty_to_take(assignment.course)
    with Gradebook(assignment.course) as book:
        book.assignment(assignment.name)  # before the work of grading
        for done, (item, future) in enumerate(_as_completed(send, todo, slots + 1), start=1):
            _finish(assignment, item, lambda: receive(item, future.result()), book, penalty, report)  # noqa: B023
            progress(item.student, done, len(todo))
        follow(assignment.course, assignment.name, assignment.templates, book, penalty)
        if report.up_to_date and penalty:
            book.write_late_penalties(penalty)
    return report


def _as_completed(send, todo: list[Submission], max_running: int) -> Iterator[tuple[Submission, Future]]:
    """Yields finished submissions. Only a few are in progress at a time: memory does not grow with the class."""
    rest = iter(todo)
    running: dict[Future, Submission] = {}
    while True:
        for item in islice(rest, max_running - len(running)):
            running[send(item)] = item
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future


def _finish(assignment, item: Submission, result: Callable[[], list[Graded]], book: Gradebook, penalty, report) -> None:
    try:
        graded = result()
        record(assignment, graded, book, penalty)
    except (AutogradeError, BertLabError) as reason:
        report.failures.append((item.student, str(reason)))
    except Exception as fault:  # a bug of the grader in one submission must not stop the others
        path = assignment.course / "results" / assignment.name / "faults" / f"{item.student}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, "".join(traceback.format_exception(fault)))
        sentence = (
            f"a fault of the grader, {type(fault).__name__}; {path} has its traceback, which may quote the submission"
        )
        report.failures.append((item.student, sentence))
    else:
        report.graded += 1
        report.technical += any(one.result.failed_technically for one in graded)
