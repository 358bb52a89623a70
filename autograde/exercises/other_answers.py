"""The other answers to a notebook's exercises, which their author wrote: `solutions/answers/NN_topic.py`.

    # %% scores: right: einsum                      another right answer, and its structure
    # %% scores: wrong: limited to 50               a mistake that the checks must find, but need not name
    # %% scores: wrong: composed: one for all       the same, and it is right alone: only hidden questions find it

A cell has the set-up and the answers before it in the notebook. The file may be missing, and so may any cell. The
instructor's side only.
"""

import re
from pathlib import Path

from autograde.common.caches import cached
from autograde.exercises import folders, notebooks
from autograde.exercises.notebooks import SolutionError
from autograde.exercises.spec import Exercise

RIGHT, WRONG = "right", "wrong"
COMPOSED = "composed: "  # begins the name of a wrong answer that is right alone
_MARKER = re.compile(r"^# %% (?P<marker>.*)\n", re.MULTILINE)
_EXPECTED = "# %% exercise: right: structure, or # %% exercise: wrong: the mistake"


def alternatives(exercise: Exercise) -> dict[str, str]:
    """The other right answers to an exercise: structure → source. Raises SolutionError for a marker of another form."""
    return _cells_of(exercise.notebook).get((exercise.id, RIGHT), {})


def wrong_answers(exercise: Exercise) -> dict[str, str]:
    """The known wrong answers to an exercise: the mistake → source. Raises SolutionError like `alternatives`."""
    return _cells_of(exercise.notebook).get((exercise.id, WRONG), {})


def _cells_of(notebook: str) -> dict[tuple[str, str], dict[str, str]]:
    folders.refuse_older(notebook)
    path = notebooks.path_beside("answers", notebook)
    return _cells_read(path, path.stat().st_mtime_ns) if path.exists() else {}


@cached
def _cells_read(path: Path, changed: int) -> dict[tuple[str, str], dict[str, str]]:
    _, *pieces = _MARKER.split(path.read_text(encoding="utf-8"))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for marker, source in zip(pieces[::2], pieces[1::2]):
        exercise, _, rest = marker.partition(": ")
        kind, _, name = rest.partition(": ")
        if kind not in (RIGHT, WRONG) or not name:
            raise SolutionError(f"{path}: expected {_EXPECTED}; got # %% {marker}")
        cells.setdefault((exercise, kind), {})[name] = source
    return cells
