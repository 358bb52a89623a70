"""`autograde new-exercise`: the three places of a new exercise, filled with one that already runs.

solutions/NN_topic.py                    heading, answer and check, at the end
autograde/exercises/nNN_topic/name.py    reference and inputs; hints and misconceptions may follow
solutions/answers/NN_topic.py            other right answers and known wrong ones, at the end

With `--exercises my_folder` they are in my_folder/solutions, my_folder/exercises and my_folder/answers.
"""

import json
import re
from pathlib import Path

from autograde.exercises import folders, notebooks
from autograde.exercises.notebooks import SolutionError

ROOT = Path(__file__).resolve().parents[2]

_NOTEBOOK = """# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # {number} · {title}

# %%
from autograde.student import check, load_backend

load_backend()

# %% tags=["setup"]
from keras import ops
from tensorflow import Tensor
"""

_CELLS = """
# %% [markdown]
# ## {number} Title · 2 points · ~5 minutes
#
# What students are to write, and why.

# %% nbgrader={answer}
def {name}(x: Tensor) -> Tensor:
    \"\"\"Doubles every number.

    x: (..., n)
    returns (..., n)
    \"\"\"
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% nbgrader={check}
check({name})
"""

_PACKAGE = '''"""Notebook {number}: {title}."""

KEPT_IN = ""  # the module of the student's own package for passed answers
'''

_MODULE = '''"""Doubles every number."""

from autograde.exercises.writing import Case, Exercise, draws, mistake, values

EXERCISE = Exercise(
    reference=lambda x: x + x,
    parts=(values(2, draws(__name__, Case(([3, -1],)))),),
    misconceptions=(
        mistake("squared", "2 * x", "x * x", hint="You multiply each number by itself. Multiply it by 2."),
    ),
)
'''

_ANSWERS = """# Other answers to the exercises of notebook {number}: right ones, each of another structure, and wrong
# ones that the checks must find. A cell has the set-up and the answers before it in the notebook.
"""

_ANSWER = """
# %% {id}: right: sum of two
def {name}(x):
    return x + x
"""


def new_exercise(notebook: str, identity: str, root: Path = ROOT) -> list[Path]:
    """Writes a new exercise that runs; returns the files, to be filled in. Raises SolutionError.

    notebook: "03_attention", or the name of a new one; identity: "scores", words joined by hyphens.
    """
    name = identity.replace("-", "_")
    if not re.fullmatch(r"(\d\d[a-z]?|P)_[a-z][a-z0-9_]*", notebook) or not re.fullmatch(
        r"[a-z][a-z0-9]*(-[a-z0-9]+)*", identity
    ):
        raise SolutionError(f"expected names like 03_attention and mean-pooling, got {notebook} and {identity}")
    solution, package, answers = _paths(notebook, root)
    module = package / f"{name}.py"
    if module.exists():
        raise SolutionError(f"{module}: exercise {identity!r} exists already; choose another name")
    known = notebooks.facts_in(solution) if solution.exists() else {}
    prefix, _, title = notebook.partition("_")
    words = {"id": identity, "name": name, "title": title.replace("_", " "), "number": prefix}
    graded = {
        "answer": _metadata(grade_id=identity, solution=True, grade=False, locked=False),
        "check": _metadata(grade_id=f"check-{identity}", solution=False, grade=True, locked=True, points=2),
    }
    number = f"{prefix.lstrip('0') or 0}.{len(known) + 1}"
    _add(solution, _NOTEBOOK.format(**words), _CELLS.format(**words | graded | {"number": number}))
    _add(package / "__init__.py", _PACKAGE.format(**words), "")
    _add(module, _MODULE, "")
    _add(answers, _ANSWERS.format(**words), _ANSWER.format(**words))
    return [solution, module, answers]


def _paths(notebook: str, root: Path) -> tuple[Path, Path, Path]:
    """Notebook, package of exercises, and other answers: in the instructor's folder if there is one."""
    folder = folders.own()
    courses = root / "solutions" / f"{notebook}.py"
    if folder is None:
        return courses, root / "autograde/exercises" / f"n{notebook}", root / "solutions/answers" / f"{notebook}.py"
    solution, package = folder / "solutions" / f"{notebook}.py", folder / "exercises" / f"n{notebook}"
    if courses.exists() and not solution.exists():
        raise SolutionError(
            f"{notebook} is a notebook of the course: copy {courses} to {solution} and "
            f"{root / 'autograde/exercises' / package.name} to {package} to change it, or choose another name"
        )
    return solution, package, folder / "answers" / f"{notebook}.py"


def _add(path: Path, beginning: str, text: str) -> None:
    """Adds text at the end of a file; a new file gets its beginning first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text(encoding="utf-8") if path.exists() else beginning
    path.write_text(before + text, encoding="utf-8")


def _metadata(**fields) -> str:
    return json.dumps(dict(sorted({"schema_version": 3, "task": False, **fields}.items())))
