"""Shared by the commands that grade: limits, workers, the sandbox, and progress messages."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click


def quiet_tensorflow() -> None:
    """Keeps TensorFlow's own log off the terminal. Call it before TensorFlow is imported."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # known mistakes run here, on a few small inputs


def seconds_text(seconds: float) -> str:
    """A readable duration: 8 s, 3 min 20 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def warn_of_changed_checks(assignment) -> None:
    """Prints a line for each notebook of an assignment that differs from its release."""
    from autograde.release.released_checks import warnings

    for line in warnings(assignment.course, assignment.name, assignment.templates):
        click.echo(f"Warning: {line}", err=True)


scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="Grade on the Dask cluster at this address: tcp://host:8786."
)


def no_trust_on_a_cluster(trust: bool) -> None:
    """Raises UsageError if `trust` is set."""
    if trust:
        raise click.UsageError("--trust-submissions cannot be used with --scheduler")


def grading_options(command):
    """The options of every command that runs submissions."""
    options = (
        click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64),
                     help="Grade this many submissions at a time; grades do not depend on it."),
        click.option("--cell-seconds", default=30.0, show_default=True, type=click.FloatRange(1),
                     help="Stop a cell after this many seconds."),
        click.option("--trust-submissions", "trust", is_flag=True,
                     help="Run submissions without a sandbox, as yourself. Only for code that you wrote."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object for scripts."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def progress_bar(label: str) -> Iterator:
    """A progress bar; gives the function (student, done, total) that moves it."""
    from bertlab.common.progress import bar

    with bar(label) as running:

        def progress(student, done, total):
            running.set_total(total)
            running.advance(note=student)

        yield progress


def limits_of(cell_seconds: float):
    """The limits of a sandbox with this long for a cell."""
    from dataclasses import replace

    from autograde.grader.grading.submission import LIMITS

    return replace(LIMITS, cell_seconds=cell_seconds)


def make_launcher(trust: bool, now: bool = True):
    """The sandboxes of this run, opened now, so that a machine without a sandbox says so before anything else.

    now: False where there is nothing to run; opening takes seconds.
    """
    from autograde.grader.grading.launcher import SharedLauncher
    from autograde.sandbox.launchers import open_launcher

    launcher = SharedLauncher(lambda: open_launcher(trust, tell=lambda line: click.echo(line, err=True)))
    if now:
        launcher.open()  # in this thread: a zygote ends with the thread that started it
    return launcher
