"""Grading on other machines: submissions go to the workers of a Dask cluster, verdicts come back.

Each worker makes sandboxes of its own. No file system is shared: a submission's files travel as bytes, verdicts as JSON
text, and only the machine with the course writes. The cluster gets the course's secret and every submission, so it must
be trusted as the grader's own machine is, and its connections protected (Dask: `--tls-*`).
"""

import functools
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from autograde.common.errors import InputError
from autograde.grader.grading.grade import (
    Assignment,
    Report,
    Submission,
    grade_by,
    grade_submission,
    upstream_sources,
)
from autograde.grader.grading.notebook_grading import Graded
from autograde.grader.grading.regrade import file_behind, graded_again
from autograde.grader.grading.results import Result
from autograde.grader.grading.upstream import UpstreamSources
from autograde.grader.hand_ins.hand_in import beside
from autograde.grader.reading.repair import read_submission
from autograde.sandbox.launchers import SharedLauncher

_PATIENCE = 20.0  # seconds for the scheduler to answer


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """(an executor whose work is done by the cluster, how many submissions it takes at a time)."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--scheduler needs Dask: pip install 'bertlab[cluster]'") from None
    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as reason:
        raise InputError(f"{address}: no Dask scheduler answers ({reason}); start one with `dask scheduler`") from None
    with client:
        slots = sum(client.nthreads().values())
        if not slots:
            raise InputError(f"{address}: the scheduler has no workers; start one with `dask worker {address}`")
        yield client.get_executor(pure=False), slots


def grade(pool: Executor, slots: int, assignment: Assignment, students, again: bool, progress) -> Report:
    """As `grade.grade`, with a cluster's executor."""
    bare = replace(assignment, course=Path(), released=())  # a worker has no course

    def send(item: Submission):
        weights = [file for path in item.files for file in beside(path) if file.exists()]
        files = dict(_content(path) for path in (*item.files, *weights))
        sources = upstream_sources(assignment, item)
        portable = (replace(one, source=_content(one.source)[1] or b"") for one in sources.earlier)
        sources = replace(sources, earlier=tuple(portable))
        return pool.submit(_graded_here, bare, replace(item, files=()), files, sources)

    def receive(item: Submission, texts: list[str]) -> list[Graded]:
        results = [Result.from_json(text) for text in texts]
        templates = [assignment.templates[one.notebook].edition(one.variant) for one in results]
        submissions = [read_submission(path, template) for path, template in zip(item.files, templates)]
        return [Graded(result, submission) for result, submission in zip(results, submissions)]

    return grade_by(send, receive, assignment, students, slots, again, progress)


def grade_again(pool: Executor, assignment: Assignment, result: Result, names: list[str]) -> Callable[[], Graded]:
    """The argument `again` of `regrade.regrade`, with a cluster's executor."""
    template = assignment.templates[result.notebook]
    bare = replace(assignment, course=Path(), released=(), templates={template.name: template})
    content = _content(file_behind(assignment, result))[1] or b""
    future = pool.submit(_graded_again_here, bare, content, result, names)
    edition = template.edition(result.variant)
    return lambda: Graded(Result.from_json(future.result()), read_submission(content, edition))


def _content(path: Path) -> tuple[str, bytes | None]:
    """The name and bytes of a file; no bytes if it is not a file or cannot be read, then the worker skips it."""
    try:
        return path.name, path.read_bytes() if path.is_file() and not path.is_symlink() else None
    except OSError:
        return path.name, None


def _graded_here(
    assignment: Assignment, item: Submission, files: dict[str, bytes | None], sources: UpstreamSources
) -> list[str]:
    """On a worker: grades one submission in sandboxes of this process; its records as JSON texts."""
    with tempfile.TemporaryDirectory(prefix="autograde-") as folder:
        for name, content in files.items():
            if content is not None:
                Path(folder, name).write_bytes(content)
        paths = tuple(Path(folder, name) for name in files if name.endswith(".ipynb"))
        graded = grade_submission(assignment, replace(item, files=paths), _shared_launcher(), sources)
    return [record.result.to_json() for record in graded]


def _graded_again_here(assignment: Assignment, content: bytes, result: Result, names: list[str]) -> str:
    """On a worker: grades some exercises of a notebook, by the worker's own catalogue."""
    return graded_again(assignment, content, result, names, _shared_launcher()).result.to_json()


@functools.cache
def _shared_launcher() -> SharedLauncher:
    return SharedLauncher()
