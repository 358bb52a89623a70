"""A class of made-up students for notebook 03: right in many ways, mistaken, half done, broken, hostile.

    make_class(40) → [Student("s000-right", text, 35.0), …]

`points` is what the submission must earn where that is known: everything, nothing, or everything but one exercise.
The same size gives the same class.
"""

import json
import random
from dataclasses import dataclass
from pathlib import Path

from autograde.exercises import catalogue, cells
from autograde.release import editions
from autograde.sandbox import seccomp

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = "03_attention"
EXERCISES = catalogue.of_notebook(NOTEBOOK)
POINTS = sum(exercise.points for exercise in EXERCISES)
# Of ten students: kinds in this order, over and over.
_MIX = ("right", "mistake", "attack", "half", "mistake", "right", "broken", "mistake", "attack", "half")

# What the attack files expect to be told (tests/hostile/conftest.py tells the truth).
_TOLD = """
SECRET_NAME = "COURSE_TOKEN"; CANARY_FILE = "/srv/course/gradebook.db"; OUTSIDE = "/srv/course"; MY_FILE = "/srv/mine"
SHARED_FILE = "/dev/shm/shared"; SHARED_TMP = "/tmp"; VICTIM = 1; PORT_4 = PORT_6 = 9; HATCH = 3
ABSTRACT_SOCKET = chr(0) + "grader"; PATH_SOCKET = "/srv/socket"; GRADER_PATHS = ["/srv/grader"]
"""


@dataclass(frozen=True)
class Student:
    """One submission. kind: a word of the mix; points: what it must earn, None where nothing is demanded; mistake: the
    exercise and the id of the misconception that is in it."""

    name: str
    kind: str
    content: bytes
    points: float | None
    mistake: tuple[str, str] | None = None


def make_class(size: int) -> list[Student]:
    """The class, in the order of its students' names."""
    makers = {"right": _right, "mistake": _mistake, "half": _half, "broken": _broken, "attack": _attack}
    counts = dict.fromkeys(makers, 0)
    students = []
    for number in range(size):
        kind = _MIX[number % len(_MIX)]
        detail, content, points = makers[kind](counts[kind])
        counts[kind] += 1
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        mistake = tuple(detail.split("--")) if kind == "mistake" else None
        students.append(Student(f"s{number:03}-{kind}-{detail}", kind, content, points, mistake))
    return students


def notebook(answers: dict[str, str], in_front: str = "") -> dict:
    """The released notebook with these answers (exercise → source); in_front: a cell put before the first answer."""
    content = json.loads(editions.make(NOTEBOOK).student)
    for cell in content["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = answers.get(name, cell["source"])
    if in_front:
        place = next(n for n, cell in enumerate(content["cells"]) if cell["metadata"].get("nbgrader"))
        own = {"cell_type": "code", "id": "own", "metadata": {}, "source": in_front, "outputs": []}
        content["cells"].insert(place, own | {"execution_count": None})
    return content


def solution() -> dict[str, str]:
    return {exercise.id: cells.answer_cell(exercise) for exercise in EXERCISES}


def _right(count: int):
    """Style 0 is the solution; each other style takes the next alternative of every exercise."""
    answers = solution()
    for exercise in EXERCISES if count % 5 else ():
        files = sorted((ROOT / "tests/solutions_alternative" / NOTEBOOK / exercise.id).glob("*.py"))
        own = files[(count - 1) % len(files)].read_text()
        constants = "HIDDEN = -1e9\n" if exercise.id == "masked-attention" else ""  # the cell's other line
        answers[exercise.id] = constants + own
    return f"style{count % 5}", notebook(answers), POINTS


def _mistake(count: int):
    """One misconception: round the exercises first, then round each one's list."""
    exercise = EXERCISES[count % len(EXERCISES)]
    known = exercise.misconceptions[count // len(EXERCISES) % len(exercise.misconceptions)]
    answers = solution() | {exercise.id: cells.patched_cell(exercise, known)}
    return f"{exercise.id}--{known.id}", notebook(answers), None


def _half(count: int):
    done = 1 + count * 3 % (len(EXERCISES) - 1)
    answers = dict(list(solution().items())[:done])
    return f"first{done}", notebook(answers), float(sum(exercise.points for exercise in EXERCISES[:done]))


def _broken(count: int):
    whole = notebook(solution())
    text = json.dumps(whole, indent=1)
    bare = [{key: value for key, value in cell.items() if key not in ("id", "metadata")} for cell in whole["cells"]]
    for cell in bare:
        cell["metadata"] = {"id": "c0lab"}
    old = {"worksheets": [{"cells": whole["cells"]}], "nbformat": 3, "nbformat_minor": 0, "metadata": {}}
    huge = json.loads(text)
    huge["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * (20 << 20)}]
    makers = (
        ("cut", text[: len(text) * 2 // 3].encode(), None),
        ("colab", {**whole, "cells": bare, "nbformat_minor": 0}, POINTS),
        ("empty", b"", 0.0),
        ("outputs", huge, POINTS),
        ("crlf", text.replace("\n", "\r\n").encode(), POINTS),
        ("pdf", b"%PDF-1.7 my homework", 0.0),
        ("old", old, POINTS),
        ("noise", random.Random(count).randbytes(5000), 0.0),
    )
    return makers[count % len(makers)]


def _attack(count: int):
    """An attack before the first answer of a notebook that is otherwise as released: it must earn nothing."""
    files = sorted((ROOT / "tests/hostile/attacks").glob("*.py"))
    path = files[count * 37 % len(files)]  # 37 shares no factor with their number: all get their turn
    numbers = {name: seccomp.number(name) for name in (*seccomp.DENIED, "clone", "clone3")}
    return path.stem, notebook({}, in_front=f"{_TOLD}NUMBERS = {numbers}\n{path.read_text()}"), 0.0
