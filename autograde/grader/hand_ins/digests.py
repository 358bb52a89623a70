"""Digests of what was handed in: the record of a grading names the file by it."""

from hashlib import file_digest, sha256
from pathlib import Path

from autograde.exercises import runs


def digest(path: Path) -> str:
    """SHA-256 of a notebook and of the trained weights beside it, if there are any."""
    weights = [_digest(file) for file in beside(path)]
    own = _digest(path)
    return sha256("".join((own, *weights)).encode()).hexdigest() if any(weights) else own


def beside(path: Path) -> list[Path]:
    """The files of trained weights that belong to a notebook, whether they are there or not."""
    return [path.parent / run.file for run in runs.of_notebook(path.stem)]


def _digest(path: Path) -> str:
    """SHA-256 of a file; "" for a link, device or folder."""
    return "" if path.is_symlink() or not path.is_file() else hash_of(path)


def hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
