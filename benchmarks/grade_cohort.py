"""A class of strangers, graded: the same grades whatever the number of workers and whoever is killed; and how fast.

    python -m benchmarks.grade_cohort --size 40 --kills 20 --stock 6

1. The class (cohort_class.py: right in five styles, mistaken, half done, broken, hostile) is graded with one worker and
   with two. Grades and verdicts must be identical, nobody may be without one, and nobody may earn what they should not.
2. The grader is killed (SIGKILL) at random moments, started again, and so on; the gradebook must end the same.
3. Beside it, in the same run, stock `nbgrader autograde` grades some of the harmless part: the same notebooks with test
   cells that assert in the kernel, on the visible inputs, what ours asks for on hidden ones.

Seconds are of the wall clock and depend on what else the machine does; CPU seconds hardly do. They are those of the
grader and all its descendants, looked at ten times a second, so the last few hundredths of a room are missed. Memory is
the peak of their proportional share (Pss), added up once a second.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parents[1]))

from autograde.grader.course import make_course
from autograde.grader.grade import without_time
from autograde.grader.gradebook import Course
from autograde.grader.results import load_results
from autograde.release import editions
from autograde.release.assignment import write_assignment, write_fingerprints
from autograde.sandbox.watch import processes
from benchmarks.cohort_class import NOTEBOOK, POINTS, Student, make_class

NAME = "ps3"
HARMLESS = ("right", "mistake", "half")
SECRET = bytes(range(32)).hex()
ROOT = Path(__file__).parents[1]


class Measured(threading.Thread):
    """Watches a process and its descendants until it ends: CPU seconds and peak Pss in bytes."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.pid, self.peak, self._cpu = pid, 0, {}
        self.start()

    def run(self):
        looks = 0
        while Path(f"/proc/{self.pid}/stat").exists():
            family = processes(self.pid)
            for pid in family:
                self._cpu[pid] = max(self._cpu.get(pid, 0.0), _cpu_seconds(pid))
            if looks % 10 == 0:  # adding up memory is dear
                self.peak = max(self.peak, sum(map(_memory, family)))
            looks += 1
            time.sleep(0.1)

    @property
    def cpu(self) -> float:
        return sum(self._cpu.values())


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


def new_course(folder: Path, students: list[Student]) -> Path:
    make_course(folder)
    (folder / ".autograde/secret").write_text(SECRET)
    write_assignment(folder, NAME, [editions.make(NOTEBOOK)])
    hand_in(folder, students)
    return folder


def hand_in(course: Path, students: list[Student]) -> None:
    for student in students:
        path = course / "submitted" / student.name / NAME / f"{NOTEBOOK}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(student.content)


def start(course: Path, workers: int) -> subprocess.Popen:
    words = [sys.executable, "-m", "autograde.cli", "grade", NAME, "--course", str(course), "--workers", str(workers),
             "--cell-seconds", "5", "--json"]  # fmt: skip
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def timed(process: subprocess.Popen) -> dict:
    """Waits for a process; its output, exit code, seconds, CPU seconds and peak memory."""
    began, watch = time.monotonic(), Measured(process.pid)
    said, _ = process.communicate()
    seconds = time.monotonic() - began
    return {"said": said, "seconds": seconds, "cpu": watch.cpu, "peak": watch.peak, "code": process.returncode}


def outcome(course: Path) -> dict:
    """All that must not depend on how the grading went: gradebook rows, and records without their times."""
    with Course(course) as book:
        rows = [{**row, "timestamp": ""} for row in book.grades()]
    return {"gradebook": rows, "records": [without_time(result) for result in load_results(course, NAME)]}


def check_grades(course: Path, students: list[Student]) -> list[str]:
    """Sentences about every grade that is not what it must be."""
    records = {result.student: result for result in load_results(course, NAME)}
    wrong = [f"{student.name}: no grade" for student in students if student.name not in records]
    for student in students:
        result = records.get(student.name)
        if result and student.points is not None and result.points != student.points:
            wrong.append(f"{student.name}: {result.points:g} points, must be {student.points:g}")
        if result and student.mistake and not 0 <= result.points < POINTS:
            wrong.append(f"{student.name}: a mistake that costs nothing")
    return wrong


def named(course: Path, students: list[Student]) -> tuple[int, int, int]:
    """(mistakes named right, mistakes that cost nothing elsewhere, mistakes)."""
    records = {result.student: result for result in load_results(course, NAME)}
    right = alone = 0
    mistaken = [student for student in students if student.mistake]
    for student in mistaken:
        exercise, mistake = student.mistake
        verdicts = records[student.name].verdicts
        right += any(verdict.exercise == exercise and verdict.misconception == mistake for verdict in verdicts)
        alone += all(verdict.passed for verdict in verdicts if verdict.exercise != exercise)
    return right, alone, len(mistaken)


def killed_often(folder: Path, students: list[Student], kills: int, seconds: float) -> tuple[Path, list[float]]:
    """Grades with a grader that is killed at random moments; returns the course and the moments.

    seconds: how long grading undisturbed takes; the kills are spread over about that much work.
    """
    rng, moments = random.Random(0), []
    course = new_course(folder, students)
    while len(moments) < kills:
        run = start(course, workers=2)
        moment = 3.0 + rng.random() * max(4.0, 2.5 * seconds / kills)
        try:
            run.wait(moment)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            moments.append(round(moment, 1))
        else:  # done before the next kill: hand half of it in anew
            for student in students[::2]:
                shutil.rmtree(course / "results" / NAME / student.name, ignore_errors=True)
        run.communicate()
    last = timed(start(course, workers=2))
    assert last["code"] == 0, last["said"]
    return course, moments


# --- stock nbgrader ---


def stock_course(folder: Path, students: list[Student]) -> Path:
    """The same notebooks for stock nbgrader: its own Execute, and test cells that assert in the kernel."""
    content = json.loads(editions.make(NOTEBOOK).source)
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = f"assert {cell['source'].strip()}.verdict.passed"
    source = json.dumps(content)
    folder.mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 60\n")
    write_assignment(folder, NAME, [editions.Editions(NOTEBOOK, source, "")])
    hand_in(folder, students)
    return folder


def start_stock(course: Path, fingerprints: Path) -> subprocess.Popen:
    place = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{place}{os.pathsep}{os.environ['PATH']}", "AUTOGRADE_FINGERPRINTS": str(fingerprints),
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    return subprocess.Popen([str(place / "nbgrader"), "autograde", NAME], cwd=course, env=environment, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip


# --- the report ---


def row(name: str, measured: dict, submissions: int) -> str:
    each, cpu = measured["seconds"] / submissions, measured["cpu"] / submissions
    return f"{name:<38}{submissions:>5}{each:>10.2f}{cpu:>10.2f}{measured['peak'] / 2**20:>10.0f}"


def main() -> None:
    options = _options()
    students = make_class(options.size)
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder = Path(temporary)
        print(f"{len(students)} submissions of {NOTEBOOK}")
        print(f"{'':<38}{'n':>5}{'s each':>10}{'CPU s':>10}{'MiB':>10}")
        one, two = (new_course(folder / name, students) for name in ("one", "two"))
        single = timed(start(one, workers=1))
        print(row("autograde, 1 worker", single, len(students)), flush=True)
        double = timed(start(two, workers=2))
        print(row("autograde, 2 workers", double, len(students)), flush=True)
        if options.stock:
            _beside_stock(folder, [student for student in students if student.kind in HARMLESS], options.stock)
        print(f"same grades and verdicts with 1 and 2 workers: {outcome(one) == outcome(two)}")
        wrong = check_grades(one, students)
        print("\n".join(["grades that are not what they must be:", *wrong]) if wrong else "all grades as they must be")
        print(
            "mistakes named right: {}, costing nothing elsewhere: {}, of {}".format(*named(one, students)), flush=True
        )
        if options.kills:
            course, moments = killed_often(folder / "killed", students, options.kills, double["seconds"])
            print(f"killed {len(moments)} times, after {moments} s; same in the end: {outcome(course) == outcome(one)}")


def _beside_stock(folder: Path, harmless: list[Student], most: int) -> None:
    """Stock nbgrader on the first `most` of them (its time per submission is always the same), ours on all."""
    few = harmless[:most]
    fingerprints = write_fingerprints(folder / "fingerprints")
    stock = timed(start_stock(stock_course(folder / "stock", few), fingerprints))
    print(row("stock nbgrader, harmless part", stock, len(few)), flush=True)
    ours = timed(start(new_course(folder / "harmless", harmless), workers=2))
    print(row("autograde, 2 workers, harmless part", ours, len(harmless)), flush=True)
    with Course(folder / "stock") as book:
        grades = {grade["student"]: grade["score"] for grade in book.grades()}
    right = [student.name for student in few if student.kind == "right"]
    ratio = stock["seconds"] / len(few) / (ours["seconds"] / len(harmless))
    cpu = stock["cpu"] / len(few) / (ours["cpu"] / len(harmless))
    print(
        f"stock gives {sum(grades.get(name) == POINTS for name in right)} of {len(right)} right submissions all points"
    )
    print(f"times faster than stock: {ratio:.1f} by the clock, {cpu:.1f} by CPU seconds", flush=True)


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=40, help="students in the class")
    parser.add_argument("--kills", type=int, default=20, help="how often the grader is killed; 0 leaves this out")
    parser.add_argument("--stock", type=int, default=6, help="submissions for stock nbgrader; 0 leaves it out")
    parser.add_argument("--folder", help="where the courses are made; a temporary folder if not given")
    return parser.parse_args()


if __name__ == "__main__":
    main()
