"""A grader that has no luck: killed with SIGKILL at random moments, and meanwhile the disk is full, the gradebook is
locked, the clock is wrong, or the process that makes its sandboxes is gone. Then it is left alone once.

Every run ends with a kill, so what it was doing is cut off anywhere. After it, the trouble is taken away, as an
instructor would, and the same command is started again.

Part of `benchmarks.grading.grade_cohort`.
"""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from autograde.sandbox.watch import processes
from benchmarks.grading.cohort_class import Student
from benchmarks.grading.cohort_course import Grader, graded, new_course

_LEFT = 40_000  # bytes on a full disk: enough for a record, not for a notebook
_SPARE = 96 << 20  # space for the files of grading besides the submissions, including the gradebook's journal
_YEARS = 20 * 365 * 86400

# The grader, with every clock of the calendar twenty years ahead or back.
_WRONG_CLOCK = """
import datetime, sys, time
real, shift = time.time, {shift}
time.time = lambda: real() + shift
time.time_ns = lambda: int(time.time() * 1e9)
class Moved(datetime.datetime):
    @classmethod
    def now(cls, tz=None): return datetime.datetime.fromtimestamp(time.time(), tz)
    @classmethod
    def utcnow(cls): return datetime.datetime.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)
datetime.datetime, sys.argv = Moved, ["autograde", *sys.argv[1:]]
from autograde.cli import main
main()
"""


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[bool]:
    """A file system of its own for a folder; whether there is one (only root may make it)."""
    folder.mkdir()
    if os.geteuid():
        yield False
        return
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield True
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # something may still be ending in it


def in_hard_times(
    folder: Path, students: list[Student], kills: int, seconds: float, say: Callable[[str], None], keep: Path
) -> dict:
    """Grades the class through everything; the course ends up in `keep`.

    seconds: how long grading undisturbed takes; the kills are spread over about that much work. Returns how often each
    trouble was met, and what the last run took.
    """
    rng, met = random.Random(0), dict.fromkeys(_TROUBLES, 0)
    with small_disk(folder, sum(len(student.content) for student in students) * 3 + _SPARE) as own_disk:
        course = new_course(folder / "course", students)
        names = [name for name in _TROUBLES if own_disk or name != "full disk"]
        if not own_disk:
            say("full disk: left out, because only root may make a small one")
        killed = 0
        while killed < kills:
            name = names[sum(met.values()) % len(names)]
            pause = rng.random() * max(1.0, 2.0 * seconds / kills)
            running = _TROUBLES[name](course, pause, rng)
            killed += running
            met[name] += 1
            end = f"killed (the {killed}. time)" if running else "it had ended before it could be killed"
            say(f"{name}, for {pause:.1f} s: {end}; {_graded(course)} of {len(students)} graded")
            if not running and name not in ("full disk", "locked"):
                forget_half(course, students)
        last = graded(course, workers=2)
        shutil.copytree(course, keep)
    return {"met": met, "killed": killed, "last": last}


def _graded(course: Path) -> int:
    return len(list(course.glob("results/*/*/*.json")))


def forget_half(course: Path, students: list[Student]) -> None:
    """All is graded before enough has happened: every second record goes, so that there is something to do again."""
    for student in students[::2]:
        shutil.rmtree(course / "results" / student.assignment / student.name, ignore_errors=True)


# --- the troubles: (course, seconds, random numbers) → whether the grader still ran when it was killed ---


def _while_it_grades(course, pause, rng):
    grader = Grader(course, workers=2)
    grader.ready.wait()
    time.sleep(pause)
    return grader.kill()


def _while_it_starts(course, pause, rng):
    grader = Grader(course, workers=2)
    time.sleep(pause % 5)
    return grader.kill()


def _locked_gradebook(course, pause, rng):
    """Another program holds the gradebook. It lets go halfway, every second time."""
    with closing(sqlite3.connect(course / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        grader = Grader(course, workers=2)
        grader.ready.wait()
        time.sleep(pause / 2)
        if rng.random() < 0.5:
            other.execute("ROLLBACK")
        time.sleep(pause / 2)
        return grader.kill()


def _full_disk(course, pause, rng):
    filler = course.parent / "filler"
    filler.write_bytes(bytes(max(shutil.disk_usage(course).free - _LEFT, 0)))
    try:
        return _while_it_grades(course, pause, rng)
    finally:
        filler.unlink()


def _wrong_clock(course, pause, rng):
    """The calendar is twenty years off, for the grader and for the files it finds."""
    shift = rng.choice((-_YEARS, _YEARS))
    files = sorted(course.rglob("*.*"))
    for path in rng.sample(files, min(len(files), 20)):
        os.utime(path, (time.time() - shift, time.time() - shift))
    grader = Grader(course, 2, [sys.executable, "-c", _WRONG_CLOCK.format(shift=shift)])
    grader.ready.wait()
    time.sleep(pause)
    return grader.kill()


def _lost_sandboxes(course, pause, rng):
    """The process that makes the sandboxes is killed, as the kernel does when memory is short; later the grader."""
    grader = Grader(course, workers=2)
    grader.ready.wait()
    time.sleep(pause / 2)
    children = [pid for pid in processes(grader.process.pid) if _parent(pid) == grader.process.pid]
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    time.sleep(pause / 2)
    return grader.kill()


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
    except OSError:
        return None


_TROUBLES = {
    "killed while it grades": _while_it_grades,
    "wrong clock": _wrong_clock,
    "full disk": _full_disk,
    "killed while it starts": _while_it_starts,
    "lost sandboxes": _lost_sandboxes,
    "locked gradebook": _locked_gradebook,
}
