"""A class of made-up students for notebooks 03 and 05: right in many ways, mistaken, half done, broken, hostile.

    make_class(200) → [Student("s000-right-style0", "03_attention", …, points=35.0), …]

`points` is what the submission must earn where that is known: everything, nothing, or everything but one exercise.
The same size gives the same class.

Part of `benchmarks.grading.grade_cohort`.
"""

import functools
import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from autograde.exercises import catalogue, cells
from autograde.exercises.proofs import alternatives
from autograde.release import editions
from autograde.sandbox import seccomp

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = {"03_attention": "ps3", "05_bert": "ps5"}  # notebook → assignment
NOTEBOOKS = tuple(ASSIGNMENTS)
HARMLESS = ("right", "mistake", "half")
# Of ten students: kinds in this order, over and over.
_MIX = ("right", "mistake", "attack", "half", "mistake", "right", "broken", "mistake", "attack", "half")
_BESIDE = {"masked-attention": "MASKED_SCORE = -1e9\n"}  # what a solution's cell holds besides its function

# Constants that the attack files expect (tests/hostile/conftest.py has the real values).
_ATTACK_CONSTANTS = """
SECRET_NAME = "COURSE_TOKEN"; CANARY_FILE = "/srv/course/gradebook.db"; OUTSIDE = "/srv/course"; MY_FILE = "/srv/mine"
SHARED_FILE = "/dev/shm/shared"; SHARED_TMP = "/tmp"; VICTIM = 1; PORT_4 = PORT_6 = 9; CHANNEL = 3
ABSTRACT_SOCKET = chr(0) + "grader"; PATH_SOCKET = "/srv/socket"; GRADER_PATHS = ["/srv/grader"]
"""


@dataclass(frozen=True)
class Student:
    """One student and the one notebook that they hand in. kind: a word of the mix; points: what it must earn, None
    where nothing is demanded; mistake: the exercise and the id of the misconception that is in it."""

    name: str
    notebook: str
    kind: str
    content: bytes
    points: float | None
    mistake: tuple[str, str] | None = None

    @property
    def assignment(self) -> str:
        return ASSIGNMENTS[self.notebook]

    @property
    def max_points(self) -> float:
        return points_of(self.notebook)


def points_of(notebook: str) -> float:
    return float(sum(exercise.points for exercise in catalogue.of_notebook(notebook)))


def make_class(size: int) -> list[Student]:
    """The class, in the order of its students' names; the two notebooks take turns, and so for each kind."""
    makers = {"right": _right, "mistake": _mistake, "half": _half, "broken": _broken, "attack": _attack}
    counts: Counter = Counter()
    students = []
    for number in range(size):
        kind = _MIX[number % len(_MIX)]
        name = NOTEBOOKS[(number + number // len(_MIX)) % len(NOTEBOOKS)]
        key = kind if kind == "attack" else (kind, name)  # of the attacks, as many different ones as there can be
        detail, content, points = makers[kind](name, counts[key])
        counts[key] += 1
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        mistake = tuple(detail.split("--")) if kind == "mistake" else None
        students.append(Student(f"s{number:03}-{kind}-{detail}", name, kind, content, points, mistake))
    return students


@functools.cache
def _released(name: str) -> str:
    return editions.make(name).student


def notebook(name: str, answers: dict[str, str], in_front: str = "") -> dict:
    """The released notebook with these answers (exercise → source); in_front: a cell put before the first answer."""
    content = json.loads(_released(name))
    for cell in content["cells"]:
        identity = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = answers.get(identity, cell["source"])
    if in_front:
        index = next(n for n, cell in enumerate(content["cells"]) if cell["metadata"].get("nbgrader"))
        own = {"cell_type": "code", "id": "own", "metadata": {}, "source": in_front, "outputs": []}
        content["cells"].insert(index, own | {"execution_count": None})
    return content


def solution(name: str) -> dict[str, str]:
    return {exercise.id: cells.answer_cell(exercise) for exercise in catalogue.of_notebook(name)}


def _right(name: str, count: int):
    """Style 0 is the solution; each other style takes the next alternative of every exercise."""
    answers = solution(name)
    for exercise in catalogue.of_notebook(name) if count % 5 else ():
        others = list(alternatives(exercise).values())
        own = others[(count - 1) % len(others)]
        answers[exercise.id] = _BESIDE.get(exercise.id, "") + own
    return f"style{count % 5}", notebook(name, answers), points_of(name)


def _mistake(name: str, count: int):
    """One misconception: round the exercises first, then round each one's list."""
    exercises = catalogue.of_notebook(name)
    exercise = exercises[count % len(exercises)]
    known = exercise.misconceptions[count // len(exercises) % len(exercise.misconceptions)]
    answers = solution(name) | {exercise.id: cells.patched_cell(exercise, known)}
    return f"{exercise.id}--{known.id}", notebook(name, answers), None


def _half(name: str, count: int):
    exercises = catalogue.of_notebook(name)
    done = 1 + count * 7 % (len(exercises) - 1)
    answers = dict(list(solution(name).items())[:done])
    return f"first{done}", notebook(name, answers), float(sum(exercise.points for exercise in exercises[:done]))


def _broken(name: str, count: int):
    whole = notebook(name, solution(name))
    text = json.dumps(whole, indent=1)
    bare = [{key: value for key, value in cell.items() if key not in ("id", "metadata")} for cell in whole["cells"]]
    for cell in bare:
        cell["metadata"] = {"id": "c0lab"}
    old = {"worksheets": [{"cells": whole["cells"]}], "nbformat": 3, "nbformat_minor": 0, "metadata": {}}
    huge = json.loads(text)
    huge["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * (20 << 20)}]
    everything = points_of(name)
    makers = (
        ("cut", text[: len(text) * 2 // 3].encode(), None),
        ("colab", {**whole, "cells": bare, "nbformat_minor": 0}, everything),
        ("empty", b"", 0.0),
        ("outputs", huge, everything),
        ("crlf", text.replace("\n", "\r\n").encode(), everything),
        ("pdf", b"%PDF-1.7 my homework", 0.0),
        ("old", old, everything),
        ("noise", random.Random(count).randbytes(5000), 0.0),
    )
    return makers[count % len(makers)]


def _attack(name: str, count: int):
    """An attack before the first answer of a notebook that is otherwise as released: it must earn nothing."""
    files = sorted((ROOT / "tests/hostile/attacks").glob("*.py"))
    path = files[count * 37 % len(files)]  # 37 shares no factor with their number: all get their turn
    shared = ROOT / "tests/hostile/channel_functions.py"
    source = (shared.read_text() if path.stem.startswith("channel_") else "") + path.read_text()
    numbers = {call: seccomp.number(call) for call in (*seccomp.DENIED, "clone", "clone3")}
    return path.stem, notebook(name, {}, in_front=f"{_ATTACK_CONSTANTS}NUMBERS = {numbers}\n{source}"), 0.0
