"""Files that are expensive to make and the same for every test: the first process that needs one makes it."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

VARIABLE = "BERTLAB_TEST_RUN"  # the folder that all processes of this run share


def begin() -> Path | None:
    """Creates the run's folder; None in a process that was started by one that has."""
    if VARIABLE in os.environ:
        return None
    os.environ[VARIABLE] = tempfile.mkdtemp(prefix="bertlab-tests-")
    return Path(os.environ[VARIABLE])


def end(folder: Path | None) -> None:
    if folder is not None:
        del os.environ[VARIABLE]
        shutil.rmtree(folder)


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """The file of this name, which `make` writes where there is none yet."""
    path = Path(os.environ[VARIABLE], name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock"):
        if not path.exists():
            make(path)
    return path
