"""`autograde grade`, `regrade`, `demo` and `doctor`: what runs submissions, or tests whether that is safe."""

import functools
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click

from autograde.cli.options import COURSE, EXERCISES, FOLDER_THERE, quiet_tensorflow
from autograde.common.errors import SandboxError
from autograde.common.texts import one_line
from autograde.grader.book.course import CourseError
from bertlab.cli.from_signature import FOLDER, command, option
from bertlab.common.settings import Settings

JSON = "Print one JSON object for scripts."


def seconds_text(seconds: float) -> str:
    """A readable duration: 8 s, 3 min 20 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@dataclass(frozen=True)
class Running(Settings):
    """The options for running submissions."""

    scheduler: str | None = option(
        None, "Grade on the Dask cluster at this address: tcp://host:8786.", metavar="ADDRESS"
    )
    workers: int = option(
        1, "Grade this many submissions at a time; grades do not depend on it.", at_least=1, at_most=64
    )
    cell_seconds: float = option(30.0, "Stop a cell after this many seconds.", at_least=1)
    trust: bool = option(
        False, "Run submissions without a sandbox, as yourself. Only for code that you wrote.", "--trust-submissions"
    )

    def open_assignment(self, course: Path, name: str):
        """An assignment whose cells may run this long. Warns where its checks are not those of its release."""
        from autograde.grader.grading.grade import open_assignment
        from autograde.grader.grading.submission import LIMITS
        from autograde.release.sources import warnings

        opened = open_assignment(course, name, replace(LIMITS, cell_seconds=self.cell_seconds))
        for line in warnings(opened.course, opened.name, opened.templates):
            click.echo(f"Warning: {line}", err=True)
        return opened

    @contextmanager
    def place(self, now: bool = True):
        """Yields the function that grades submissions, and the arguments with which `regrade` grades them again.

        now: see `make_launcher`. Raises UsageError for --trust-submissions on a cluster.
        """
        from autograde.grader.grading import cluster
        from autograde.grader.grading.grade import grade as grade_here

        if self.scheduler:
            if self.trust:
                raise click.UsageError("--trust-submissions cannot be used with --scheduler")
            with cluster.cluster(self.scheduler) as (pool, slots):
                again = functools.partial(cluster.grade_again, pool)
                yield functools.partial(cluster.grade, pool, slots), {"launcher": None, "again": again}
        else:
            with make_launcher(self.trust, now) as launcher:
                here = functools.partial(grade_here, launcher=launcher, workers=self.workers)
                yield here, {"launcher": launcher}


@contextmanager
def progress_bar(label: str) -> Iterator:
    """A progress bar; gives the function (student, done, total) that moves it."""
    from bertlab.common.progress import bar

    with bar(label) as running:

        def progress(student, done, total):
            running.set_total(total)
            running.advance(note=student)

        yield progress


def make_launcher(trust: bool, now: bool = True):
    """The sandboxes of this run, opened now, so that a machine without a sandbox says so before anything else.

    now: False where there is nothing to run; opening takes seconds.
    """
    from autograde.sandbox.launchers import SharedLauncher, open_launcher

    launcher = SharedLauncher(lambda: open_launcher(trust, tell=lambda line: click.echo(line, err=True)))
    if now:
        launcher.open()  # in this thread: a zygote ends with the thread that started it
    return launcher


@command(json=JSON)
def grade(
    assignment: str | None = None,
    *,
    course: FOLDER = COURSE,
    students: tuple[str, ...] = option((), "Grade only this student; repeat for more.", "--student"),
    resume: bool = option(True, "Resume where an earlier run stopped, or grade everything again.", "--resume/--again"),
    running: Running,
    own_exercises: FOLDER_THERE = EXERCISES,
):
    """Grade ASSIGNMENT (default: all) in a sandbox; write the gradebook, verdicts and notebooks.

    \b
    Example:
      autograde grade ps3 --course course2026 --workers 2
      autograde grade ps3 --student jane --again

    A graded submission is graded again only when its file changes. You can stop the run at any time and start it
    again. Exit code 1: some submissions have no grade yet; they are listed.
    """
    quiet_tensorflow()
    from autograde.grader.grading import grade as grading

    names = [assignment] if assignment else grading.assignments(course)
    if not names:
        raise CourseError(f"{course}: no assignment is released; run `autograde release --course {course}`")
    opened = [running.open_assignment(course, name) for name in names]
    began = time.monotonic()
    any_new = not resume or any(grading.anything_new(item, students) for item in opened)
    reports, again = {}, not resume
    with running.place(any_new) as (grade_all, _):
        for item in opened:
            with progress_bar(f"Grading {item.name}") as progress:
                reports[item.name] = grade_all(item, students=students, again=again, progress=progress)
    as_data = {name: asdict(report) for name, report in reports.items()}
    yield as_data, "\n".join(_lines(reports, time.monotonic() - began))
    sys.exit(any(report.failures for report in reports.values()))


def _lines(reports, seconds) -> list[str]:
    lines = []
    for name, report in reports.items():
        before = f", {report.up_to_date} graded before" if report.up_to_date else ""
        lines.append(f"{name}: {report.graded} graded{before} in {seconds_text(seconds)}")
        if report.technical:
            lines.append(f"  {report.technical} with technical failures; `autograde report {name}` lists them")
        lines += [f"  {line}" for line in (*report.damaged, *report.regrouped)]
        lines += [one_line(f"  not graded: {student}: {reason}") for student, reason in report.failures]
    return lines


@command(json=JSON)
def regrade(
    exercise: str,
    assignment: str,
    *,
    course: FOLDER = COURSE,
    students: tuple[str, ...] = option((), "Grade only this student; repeat for more.", "--student"),
    running: Running,
):
    """Grade EXERCISE of ASSIGNMENT again, for example after its check was repaired; change nothing else.

    \b
    Example:
      autograde regrade masked-attention ps3 --course course2026

    Keeps scores given by hand, extensions and extra credit. Exit code 1: some submissions could not be regraded.
    """
    quiet_tensorflow()
    from autograde.exercises import catalogue
    from autograde.grader.grading.regrade import regrade as regrade_exercise

    wanted = catalogue.find(exercise)
    opened = running.open_assignment(course, assignment)
    with running.place() as (_, where), progress_bar(f"Regrading {wanted.id}") as progress:
        report = regrade_exercise(
            opened, wanted, students=students, workers=running.workers, progress=progress, **where
        )
    lines = [f"{wanted.id}: {len(report.changed)} changed, {report.same} as before"]
    lines += [f"  {c.student}: {c.before:g} -> {c.after:g} of {wanted.points:g} ({c.status})" for c in report.changed]
    if report.outdated:
        lines.append(f"  handed in again, so run `autograde grade` for: {', '.join(report.outdated)}")
    lines += [f"  not regraded: {student}: {reason}" for student, reason in report.failures]
    yield asdict(report), "\n".join(lines)
    sys.exit(bool(report.failures))


@command()
def demo(*, out: FOLDER = option("build/demo/class", "Folder for the course and its pages.")):
    """Make a course in OUT with twelve invented students, grade their notebooks and write the pages.

    \b
    Example:
      autograde demo --out build/demo/class

    An interrupted run resumes when you start it again. Without a sandbox it prints what is missing and grades nothing.
    """
    quiet_tensorflow()
    from bertlab.common.backend import load_backend

    load_backend()
    from autograde.demo import grade_sample_class, summary_lines

    began = time.monotonic()
    try:
        launcher = make_launcher(trust=False)
    except SandboxError as missing:
        click.echo(f"the sample class is not graded: {missing}")
        return
    with launcher, progress_bar("Grading a sample class") as progress:
        graded = grade_sample_class(out, launcher, progress=progress)
    click.echo("\n".join(summary_lines(graded)))
    click.echo(f"{'time':<14} {seconds_text(time.monotonic() - began)}")
    sys.exit(bool(graded.run.failures))


@command(json="Print one JSON list for scripts.")
def doctor():
    """Test every protection in a running sandbox and print what is missing, with the command that repairs it.

    \b
    Example:
      autograde doctor

    Exit code 1: a protection is missing; do not run submissions on this machine.
    """
    from autograde.sandbox.doctor import examine

    findings = examine()
    yield [asdict(finding) for finding in findings], "\n".join(map(str, findings))
    sys.exit(any(finding.grave and not finding.ok for finding in findings))
