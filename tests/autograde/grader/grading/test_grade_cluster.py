"""Grading on a Dask cluster whose scheduler and workers are processes of their own, of which one is killed."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from grade_class import (
    EXPECTED,
    NAME,
    NOTEBOOK,
    answer,
    copied,
    hand_in,
    open_shared_launcher,
    opened,
    outcome,
    released_template,
    result_of,
    small_class,
    solved,
)

from autograde.cli import cli
from autograde.common.errors import SandboxError
from autograde.exercises import catalogue
from autograde.grader.grading import cluster
from autograde.grader.grading.grade import Assignment, grade
from autograde.grader.grading.regrade import regrade
from autograde.grader.grading.results import Result
from autograde.release import editions
from autograde.sandbox.launchers import SharedLauncher

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The small class and one more, graded on this machine."""
    course = small_class(tmp_path_factory.mktemp("calm"))
    hand_in(course, "unscaled", solved({"scores": answer("scores").replace("/ d_attn**0.5", "* 1.0")}))
    before = copied(course, tmp_path_factory.mktemp("before") / "course")
    with open_shared_launcher() as launcher:
        grade(opened(course), launcher)
        yield course, before, launcher


@contextmanager
def _cluster(workers: int):
    """(address, processes of the workers)."""
    pytest.importorskip("distributed")
    run = dict(cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    words = "-m distributed.cli.dask_scheduler --host 127.0.0.1 --port 0 --no-dashboard"
    started = [subprocess.Popen([sys.executable, *words.split()], **run)]
    try:
        address = next(line.split()[-1] for line in started[0].stderr if "Scheduler at:" in line)
        words = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
        for _ in range(workers):
            started.append(subprocess.Popen([*words, "--no-dashboard"], **run | {"stderr": subprocess.DEVNULL}))
        _await(address, workers)
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.communicate()


def _await(address: str, workers: int) -> None:
    from distributed import Client

    with Client(address, timeout=60) as client:
        client.wait_for_workers(workers, timeout=120)


@pytest.mark.exhaustive
def test_a_worker_that_is_killed_in_the_middle_costs_no_grade(calm, tmp_path):
    course = copied(calm[1], tmp_path / "course")
    with _cluster(workers=2) as (address, workers):
        words = [sys.executable, "-m", "autograde", "grade", NAME, "--course", str(course), "--scheduler", address]
        run = subprocess.Popen([*words, "--json"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not list(course.glob("results/*/*/*.json")) and run.poll() is None:
            time.sleep(0.1)
        os.kill(workers[0].pid, signal.SIGKILL)
        said, complaints = run.communicate(timeout=300)
    assert run.returncode == 0, complaints
    assert json.loads(said)[NAME]["graded"] == len(EXPECTED) + 1
    assert outcome(course) == outcome(calm[0])


@pytest.mark.exhaustive
def test_regrading_on_a_cluster_changes_what_regrading_here_does(calm, tmp_path):
    here, there = (copied(calm[0], tmp_path / name) for name in ("here", "there"))
    for course in (here, there):
        spoiled = result_of(course, "right")
        verdicts = [dict(verdict.to_dict(), points=0.0, status="wrong") for verdict in spoiled.verdicts[:1]]
        path = spoiled.path(course)
        record = json.loads(path.read_text())
        record["verdicts"][0] = verdicts[0]
        path.write_text(json.dumps(record))
    exercise = catalogue.of_notebook("03_attention")[0]
    assert len(regrade(opened(here), exercise, calm[2]).changed) == 1
    with _cluster(workers=1) as (address, _):
        words = ["regrade", exercise.id, NAME, "--course", str(there), "--scheduler", address, "--json"]
        run = CliRunner().invoke(cli, words)
    assert run.exit_code == 0, run.output
    assert outcome(there) == outcome(here) == outcome(calm[0])


class _Pickling(ThreadPoolExecutor):
    """An executor that moves work and results as a cluster does."""

    def submit(self, function, *arguments):
        carried = pickle.loads(pickle.dumps((function, arguments)))
        return super().submit(lambda: pickle.loads(pickle.dumps(carried[0](*carried[1]))))


def test_what_is_regraded_elsewhere_travels_as_bytes_and_its_failures_come_back(tmp_path, monkeypatch):
    assignment = Assignment(tmp_path, NAME, {NOTEBOOK: released_template()}, b"s" * 32)
    hand_in(tmp_path, "broken", "hello")  # needs no sandbox
    hand_in(tmp_path, "right", editions.make(NOTEBOOK).source)

    def none():
        raise SandboxError("no sandbox works there")

    monkeypatch.setattr(cluster, "_shared_launcher", lambda: SharedLauncher(none))
    names = [exercise.id for exercise in catalogue.of_notebook(NOTEBOOK)[:2]]
    with _Pickling(1) as pool:
        broken, right = (
            cluster.grade_again(pool, assignment, Result(NAME, student, NOTEBOOK), names)
            for student in ("broken", "right")
        )
        broken = broken()
        with pytest.raises(SandboxError, match="no sandbox works there"):
            right()
    assert len(broken.result.verdicts) == 2 and broken.result.problem and broken.submission.problem
