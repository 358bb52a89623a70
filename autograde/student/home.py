"""Finds the folder of a student's course, with `mybert/` and the progress file, from any of its notebooks.

course/                      the home
├── .course_progress.json
├── mybert/
└── 03_attention/03_attention.ipynb
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "MYBERT_HOME"
PACKAGE = "mybert"
PROGRESS = ".course_progress.json"
_NOTEBOOK = re.compile(r"(\d\d[a-z]?|P)_\w+")


def find() -> Path:
    """The home: $MYBERT_HOME; else the nearest folder from here upwards that has `mybert/` or the progress file; else
    the folder above if this one is a notebook's own (`03_attention`); else this one."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    here = Path.cwd()
    of_a_notebook = _NOTEBOOK.fullmatch(here.name) is not None
    for folder in (here, *here.parents):
        if (folder / PACKAGE).is_dir():
            return folder
        if (folder / PROGRESS).is_file() and not (folder == here and of_a_notebook):  # from before there was a home
            return folder
    return here.parent if of_a_notebook else here


def of_notebook(name: str) -> Path:
    """The folder for the files of a notebook such as "07_pretraining": the current one if it is in the home; else, as
    on Colab with a Drive, the home's own folder for the notebook."""
    folder, here = find(), Path.cwd()
    return here if folder in (here, *here.parents) else folder / name


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A lock, since two notebooks may be open. On a system without such locks, the last write counts."""
    handle = None
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)  # which releases the lock
