"""The folders of exercises and their notebooks: the course's own, and one of an instructor's (`--exercises my_folder`).

    my_folder/solutions/NN_topic.py             the notebooks
    my_folder/exercises/nNN_topic/name.py       the exercises
    my_folder/answers/NN_topic.py               other right answers and known wrong ones; may be missing
    my_folder/requirements/NN_topic.toml        which part tests which sentence; may be missing

The folder is in $AUTOGRADE_EXERCISES, so that other processes use it too. A notebook that is in both is taken from the
instructor's folder.
"""

import importlib
import os
import re
import sys
from pathlib import Path

from autograde import exercises as package
from autograde.common import caches
from autograde.common.errors import AutogradeError

VARIABLE = package.VARIABLE
COURSE = Path(__file__).resolve().parents[2]
_OLDER = {"alternatives": "right", "wrong": "wrong"}  # folders of earlier versions → the kind of their cells now


class ExerciseFolderError(AutogradeError, ValueError):
    """A folder that cannot hold an instructor's exercises."""


def own() -> Path | None:
    """The instructor's folder, if there is one."""
    return Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def is_own(notebook: str) -> bool:
    """Whether a notebook is in the instructor's folder."""
    folder = own()
    return folder is not None and (folder / "solutions" / f"{notebook}.py").is_file()


def refuse_older(notebook: str) -> None:
    """Raises ExerciseFolderError if the instructor's folder still has answers as earlier versions read them."""
    for name, kind in _OLDER.items() if is_own(notebook) else ():
        path = own() / name / f"{notebook}.py"
        if path.exists():
            raise ExerciseFolderError(
                f"{path}: expected other answers in {own() / 'answers' / path.name}; move its cells there, with "
                f"markers such as `# %% exercise: {kind}: name`"
            )


def use(folder: str | Path) -> None:
    """Uses the instructor's exercises in this folder from now on. Raises ExerciseFolderError."""
    folder = Path(folder).resolve()
    if folder.is_relative_to(Path(sys.prefix).resolve()) or folder.is_relative_to("/usr"):
        raise ExerciseFolderError(
            f"{folder}: expected a folder outside of {sys.prefix} and /usr, which submissions can read; move it"
        )
    if own() == folder:
        return
    os.environ[VARIABLE] = str(folder)
    package.__path__[:] = [str(folder / "exercises"), str(Path(__file__).parent)]
    importlib.invalidate_caches()
    inside = re.compile(rf"{re.escape(package.__name__)}\.(n[\dP]\w*)(\..+)?")
    for found in [found for name in sys.modules if (found := inside.fullmatch(name))]:
        del sys.modules[found[0]]  # a notebook's module that was imported before may be from another folder
        if not found[2]:
            vars(package).pop(found[1], None)
    caches.clear()
    catalogue = sys.modules.get(f"{package.__name__}.catalogue")
    if catalogue:  # it was read before
        catalogue.EXERCISES = catalogue.read_all()
