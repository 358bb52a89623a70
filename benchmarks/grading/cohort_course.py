"""A course for the cohort benchmark: made, graded by the command in a process of its own, measured, compared.

Seconds are of the wall clock and depend on what else the machine does; CPU seconds hardly do. They are those of the
grader and all its descendants, looked at ten times a second, so the last few hundredths of a sandbox are missed. Memory
is their proportional share (Pss), added up once a second: its peak, and its median early and late in the run.

Part of `benchmarks.grading.grade_cohort`.
"""

import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from autograde.grader.book.course import make_course
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.results import load_results
from autograde.release import editions
from autograde.release.assignment import write_assignment
from autograde.sandbox.watch import processes
from benchmarks.grading.cohort_class import ASSIGNMENTS, ROOT, Student

SECRET = bytes(range(32)).hex()
_PROGRAM = [sys.executable, "-m", "autograde"]


def new_course(folder: Path, students: list[Student]) -> Path:
    """A course with both assignments released and everything handed in; its secret is the same every time."""
    make_course(folder)
    (folder / ".autograde/secret").write_text(SECRET)
    for notebook, assignment in ASSIGNMENTS.items():
        write_assignment(folder, assignment, [editions.make(notebook)])
    hand_in(folder, students)
    return folder


def hand_in(course: Path, students: list[Student]) -> None:
    for student in students:
        path = course / "submitted" / student.name / student.assignment / f"{student.notebook}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(student.content)


class Grader:
    """`autograde grade`, running. `ready` is set once its sandbox is up; `said`: what it wrote to stderr."""

    def __init__(self, course: Path, workers: int, program: list[str] = _PROGRAM):
        words = [*program, "grade", "--course", str(course), "--workers", str(workers), "--cell-seconds", "5", "--json"]
        self.process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said, self.ready = [], threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stderr:
            self.said.append(line)
            if line.startswith("sandbox: "):
                self.ready.set()
        self.ready.set()  # it has ended

    def kill(self) -> bool:
        """SIGKILL. Whether it was still running."""
        running = self.process.poll() is None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        return running


def graded(course: Path, workers: int) -> dict:
    """Grades to the end; what it took. Raises RuntimeError where the command fails."""
    grader = Grader(course, workers)
    try:
        measured = timed(grader.process)
    finally:  # Ctrl-C: it must not go on in the background
        grader.kill()
    if grader.process.returncode:
        raise RuntimeError(f"{course}: autograde grade failed: {''.join(grader.said[-5:])}")
    return measured


class Measured(threading.Thread):
    """Watches a process and its descendants until it ends: CPU seconds, and Pss in bytes once a second."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.pid, self.memory, self._cpu = pid, [], {}
        self.start()

    def run(self):
        looks = 0
        while _alive(self.pid):
            family = processes(self.pid)
            for pid in family:
                self._cpu[pid] = max(self._cpu.get(pid, 0.0), _cpu_seconds(pid))
            if looks % 10 == 0:  # adding up memory is expensive
                self.memory.append(sum(map(_memory, family)))
            looks += 1
            time.sleep(0.1)

    @property
    def cpu(self) -> float:
        return sum(self._cpu.values())

    def early_and_late(self) -> tuple[float, float]:
        """Median memory in the second quarter of the run (the first one is start-up) and in the last."""
        quarter = max(len(self.memory) // 4, 1)
        return statistics.median(self.memory[quarter : 2 * quarter] or [0]), statistics.median(self.memory[-quarter:])


def _alive(pid: int) -> bool:
    try:
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return False


def _cpu_seconds(pid: int) -> float:
    """Its own, without its children's; 0 once it has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return sum(int(word) for word in words[11:13]) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def timed(process: subprocess.Popen) -> dict:
    """Waits for a process that has just been started: seconds, CPU seconds, bytes."""
    began, watch = time.monotonic(), Measured(process.pid)
    process.wait()
    seconds = time.monotonic() - began
    watch.join()
    early, late = watch.early_and_late()
    return {"seconds": seconds, "cpu": watch.cpu, "peak": max(watch.memory, default=0), "early": early, "late": late}


# --- what came of it ---


def records(course: Path) -> list:
    return [result for assignment in ASSIGNMENTS.values() for result in load_results(course, assignment)]


def outcome(course: Path) -> dict:
    """All that must not depend on how the grading went: gradebook rows, and records without their times."""
    with Gradebook(course) as book:
        rows = {(row["assignment"], row["student"]): {**row, "timestamp": ""} for row in book.grades()}
    return {"gradebook": rows, "records": {result.student: replace(result, seconds=0.0) for result in records(course)}}


def differences(course: Path, other: Path) -> list[str]:
    """Sentences about everything that is not the same in two courses of one class; empty where all is."""
    first, second = outcome(course), outcome(other)
    said = []
    for part in first:
        for key in sorted(first[part].keys() | second[part].keys()):
            left, right = first[part].get(key), second[part].get(key)
            if left != right:
                said.append(f"{part} {key}:\n  {left}\n  {right}")
    return said


def check_grades(course: Path, students: list[Student]) -> list[str]:
    """Sentences about every grade that is not what it must be."""
    found = {result.student: result for result in records(course)}
    wrong = [f"{student.name}: no grade" for student in students if student.name not in found]
    for student in students:
        result = found.get(student.name)
        if result and student.points is not None and result.points != student.points:
            wrong.append(f"{student.name}: {result.points:g} points, must be {student.points:g}")
        if result and student.mistake and not 0 <= result.points < student.max_points:
            wrong.append(f"{student.name}: a mistake that costs nothing")
    return wrong


def named(course: Path, students: list[Student]) -> tuple[int, int, int]:
    """(mistakes named right, mistakes that cost nothing elsewhere, mistakes)."""
    found = {result.student: result for result in records(course)}
    right = alone = 0
    mistaken = [student for student in students if student.mistake]
    for student in mistaken:
        exercise, mistake = student.mistake
        verdicts = found[student.name].verdicts
        right += any(verdict.exercise == exercise and verdict.misconception == mistake for verdict in verdicts)
        alone += all(verdict.passed for verdict in verdicts if verdict.exercise != exercise)
    return right, alone, len(mistaken)
