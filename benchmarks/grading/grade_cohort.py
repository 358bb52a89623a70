"""An untrusted class, graded: the same grades with any number of workers and after any interruption; and how fast.

    python -m benchmarks.grading.grade_cohort --size 200 --stock 12                 # everything, about twenty minutes
    python -m benchmarks.grading.grade_cohort --size 200 --only kills               # one part; finished ones are kept

1. `workers`: the class (cohort_class.py: right in five styles, mistaken, half done, broken, hostile) is graded with one
   worker, two and four. Grades and verdicts must be identical, nobody may be without one, and nobody may earn what
   they should not.
2. `kills`: graded again by a grader that is killed at random moments, with a full disk, a locked gradebook, a wrong
   clock, and without its sandboxes (cohort_hard_times.py). The results must be the same.
3. `stock`: the harmless submissions again, with BertLab and, some of them, with plain `nbgrader autograde`
   (cohort_stock.py).

Finished parts are stored in the folder (`build/cohort`), so that an interrupted run resumes; `--again` repeats a part.
`log.txt` there lists what happened when. cohort_course.py explains the measurements.

Supports: docs/instructor/before_the_term.md, "One notebook took 2 s on an idle core";
  docs/threat_model.md, "a grader that is killed".
"""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.grading import cohort_course as courses
from benchmarks.grading.cohort_class import HARMLESS, ROOT, make_class
from benchmarks.grading.cohort_hard_times import in_hard_times
from benchmarks.grading.cohort_stock import all_points, graded_by_stock, some_of_each, stock_course

PARTS = ("workers", "kills", "stock")
_HEAD = f"{'':<38}{'n':>5}{'s each':>10}{'CPU s':>10}{'peak':>10}{'early':>10}{'late':>10}   MiB"


class Cohort:
    """The class, the folder, and what is finished. Each finished part is a value in `state.json`."""

    def __init__(self, folder: Path, size: int, kills: int, stock: int):
        self.folder, self.kills, self.stock = folder, kills, stock
        self.students = make_class(size)
        folder.mkdir(parents=True, exist_ok=True)
        self._state = folder / "state.json"
        self.done = json.loads(self._state.read_text()) if self._state.exists() else {"size": size}
        if self.done["size"] != size:
            raise SystemExit(f"{folder} holds a class of {self.done['size']}; delete it, or name another --folder")

    def keep(self, name: str, value) -> None:
        self.done[name] = value
        self._state.write_text(json.dumps(self.done, indent=1))

    def forget(self, *names: str) -> None:
        for name in names:
            self.done.pop(name, None)

    def say(self, line: str) -> None:
        print(line, flush=True)
        with (self.folder / "log.txt").open("a") as log:
            log.write(f"{time.strftime('%H:%M:%S')}  {line}\n")

    def course(self, name: str, students=None) -> Path:
        """A new course of this name; what an interrupted run left of it goes."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return courses.new_course(self.folder / name, self.students if students is None else students)

    def graded_with(self, workers: int) -> None:
        name = f"workers {workers}"
        if name not in self.done:
            self.keep(name, courses.graded(self.course(name), workers))
        self.say(row(f"autograde, {workers} worker{'s' * (workers > 1)}", self.done[name], len(self.students)))

    # --- the parts ---

    def workers(self) -> None:
        for number in (1, 2, 4):
            self.graded_with(number)
        one = self.folder / "workers 1"
        for other in ("workers 2", "workers 4"):
            self.compare(one, self.folder / other)
        wrong = courses.check_grades(one, self.students)
        self.say(f"{len(courses.records(one))} results of {len(self.students)} submissions")
        self.say("\n  ".join(["NOT what they must be:", *wrong]) if wrong else "all grades are what they must be")
        right, alone, all_of_them = courses.named(one, self.students)
        self.say(f"mistakes named right: {right}, costing nothing elsewhere: {alone}, of {all_of_them}")

    def compare(self, first: Path, second: Path) -> None:
        found = courses.differences(first, second)
        self.say(f"{second.name}: {'the same grades and verdicts' if not found else 'NOT the same:'} as {first.name}")
        for line in found:
            self.say(f"  {line}")

    def hard_times(self) -> None:
        self.graded_with(2)
        kept = self.folder / "killed"
        if "kills" not in self.done:
            shutil.rmtree(kept, ignore_errors=True)
            shutil.rmtree(self.folder / "small disk", ignore_errors=True)
            seconds = self.done["workers 2"]["seconds"]
            self.keep("kills", in_hard_times(
                self.folder / "small disk", self.students, self.kills, seconds, self.say, kept))  # fmt: skip
        met = ", ".join(f"{name} {times}" for name, times in self.done["kills"]["met"].items())
        self.say(f"killed {self.done['kills']['killed']} times ({met}); then left alone")
        self.compare(self.folder / "workers 2", kept)

    def beside_stock(self) -> None:
        harmless = [student for student in self.students if student.kind in HARMLESS]
        few = some_of_each(harmless, self.stock)
        if "stock" not in self.done:
            shutil.rmtree(self.folder / "stock", ignore_errors=True)
            self.keep("stock", graded_by_stock(stock_course(self.folder / "stock", few)))
        if "harmless" not in self.done:
            self.keep("harmless", courses.graded(self.course("harmless", harmless), 2))
        stock, ours = self.done["stock"], self.done["harmless"]
        self.say(row("stock nbgrader, some of the harmless", stock, len(few)))
        self.say(row("autograde, 2 workers, all of them", ours, len(harmless)))
        self.say("stock gives {} of {} right submissions all points".format(*all_points(self.folder / "stock", few)))
        clock, cpu = (stock[key] / len(few) / (ours[key] / len(harmless)) for key in ("seconds", "cpu"))
        self.say(f"times faster than stock: {clock:.1f} by the clock, {cpu:.1f} by CPU seconds")


def row(name: str, measured: dict, submissions: int) -> str:
    each = "".join(f"{measured[key] / submissions:>10.2f}" for key in ("seconds", "cpu"))
    return f"{name:<38}{submissions:>5}{each}" + "".join(
        f"{measured[k] / 2**20:>10.0f}" for k in ("peak", "early", "late")
    )


def main() -> None:
    options = _options()
    cohort = Cohort(options.folder, options.size, options.kills, options.stock)
    chosen = options.only or PARTS
    if options.again:
        names = {
            "workers": ("workers 1", "workers 2", "workers 4"),
            "kills": ("kills",),
            "stock": ("stock", "harmless"),
        }
        for part in chosen:
            cohort.forget(*names[part])
    cohort.say(f"{options.size} submissions, {os.cpu_count()} processors")
    cohort.say(_HEAD)
    parts = {"workers": cohort.workers, "kills": cohort.hard_times, "stock": cohort.beside_stock}
    for part in chosen:
        parts[part]()


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=200, help="students in the class")
    parser.add_argument("--kills", type=int, default=20, help="how often the grader is killed")
    parser.add_argument("--stock", type=int, default=12, help="submissions for stock nbgrader, half of each notebook")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part only; may be given several times")
    parser.add_argument("--again", action="store_true", help="repeat the chosen parts")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/cohort", help="where courses and results are kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
