"""Twelve invented students: all right, with mistakes, half done, without metadata, damaged, hostile, another document,
hardly anything right, a Python script, a program that ends itself, unfinished, a mistake that later answers build on.

Their notebooks are made from the released notebook, the solution's own cells and the known mistakes, so the class
changes with the course. The same course gives the same class.
"""

import json

from autograde.exercises import catalogue, cells
from autograde.exercises.spec import Exercise
from autograde.release.editions import Editions

# First cell of the hostile student: reads files, opens connections, gives itself points, kills processes.
_HOSTILE = """
import builtins, os, socket
print(os.listdir(".."), [name for name in os.listdir("/proc") if name.isdigit()])
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError as refused:
    print(refused)
builtins.check = lambda thing: {"points": 100}
os.kill(os.getppid(), 9)
"""


def make_class(editions: Editions) -> dict[str, str | bytes]:
    """The submissions by student: the text of a notebook file."""
    exercises = catalogue.of_notebook(editions.name)
    right = {exercise.id: cells.answer_cell(exercise) for exercise in exercises}
    wrong = {exercise.id: cells.patched_cell(exercise, exercise.misconceptions[-1]) for exercise in exercises}
    some_wrong = {one.id: cells.patched_cell(one, one.misconceptions[0]) for one in exercises[::3]}
    ending_itself = {exercises[4].id: f"import os\nos._exit(0)\n{right[exercises[4].id]}"}
    return {
        "ada": _notebook(editions, right),
        "ben": _notebook(editions, right | some_wrong),
        "cleo": _notebook(editions, dict(list(right.items())[: len(right) // 2])),
        "dora": _stripped(_notebook(editions, right)),
        "eli": _notebook(editions, right)[: -len(right) * 500],
        "finn": _notebook(editions, {}, in_front=_HOSTILE),
        "gus": "%PDF-1.7\n",
        "hana": _notebook(editions, _first(5, wrong)),
        "ivan": _script(_notebook(editions, _first(4, right))),
        "jule": _notebook(editions, _first(4, right) | ending_itself),
        "kim": _notebook(editions, _first(3, right) | _unfinished(exercises[3:5])),
        "lena": _notebook(editions, _first(8, right) | _first(3, wrong, 2)),
    }


def _first(number: int, answers: dict[str, str], begin: int = 0) -> dict[str, str]:
    return dict(list(answers.items())[begin:number])


def _unfinished(exercises: tuple[Exercise, ...]) -> dict[str, str]:
    """One answer that is not Python yet, the others raise an error."""
    first, *others = exercises
    return {first.id: f"{cells.answer_cell(first)}\nprint((1, 2)"} | {
        exercise.id: f"{cells.answer_cell(exercise)}\nprint(unknown_name)" for exercise in others
    }


def _notebook(editions: Editions, answers: dict[str, str], in_front: str = "") -> str:
    """The student edition with these answers (exercise → source); in_front: a cell before the first of them."""
    content = json.loads(editions.student)
    for cell in content["cells"]:
        lines = answers.get(_grade_id(cell), cell["source"]).splitlines()
        cell["source"] = "\n".join(line for line in lines if "### " not in line)  # without the marks of solutions
    if in_front:
        index = next(index for index, cell in enumerate(content["cells"]) if _grade_id(cell))
        own = {"cell_type": "code", "id": "own", "metadata": {}, "source": in_front, "outputs": []}
        content["cells"].insert(index, own | {"execution_count": None})
    return json.dumps(content)


def _grade_id(cell: dict) -> str | None:
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def _stripped(notebook: str) -> str:
    """The same cells without ids and metadata, as some editors save them."""
    content = json.loads(notebook)
    for cell in content["cells"]:
        cell["metadata"] = {}
        del cell["id"]
    return json.dumps(content | {"nbformat_minor": 0, "metadata": {}})


def _script(notebook: str) -> str:
    """The notebook as Jupyter exports it: a Python script with a mark above each cell."""
    texts = (cell["source"] for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code")
    return "#!/usr/bin/env python\n# coding: utf-8\n" + "".join(f"\n# In[ ]:\n\n\n{text}\n" for text in texts)
