"""Atomic writing: a file is complete or absent, even after a kill or with a full disk."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from bertlab.common.errors import BertLabError, DataError


def write_atomically(path: str | Path, write: Callable[[Path], object], error: type[BertLabError] = DataError) -> None:
    """Lets `write` fill a temporary file next to `path`, then renames it to `path`.

    Raises `error`, with the file and the reason, if the system refuses (a full disk, a folder without permission);
    an older file at `path` then stays as it was.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.touch()
        usual_mode = partial.stat().st_mode
        write(partial)
        partial.chmod(usual_mode)  # safetensors makes files that only their owner can read
        with partial.open("rb+") as file:  # Windows refuses fsync for a file that is open to be read only
            os.fsync(file.fileno())  # on the disk before the name changes
        os.replace(partial, path)
    except OSError as reason:
        raise error(f"{path}: cannot be written ({reason.strerror or reason})") from None
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: str | Path, text: str, error: type[BertLabError] = DataError) -> None:
    """Writes a text file, UTF-8, as `write_atomically` does."""
    write_bytes(path, text.encode("utf-8"), error)


def write_bytes(path: str | Path, content, error: type[BertLabError] = DataError) -> None:
    """Writes bytes, or an array's bytes, as `write_atomically` does."""
    write_atomically(path, lambda partial: partial.write_bytes(content), error)


def remove_files(folder: str | Path, patterns: Iterable[str]) -> None:
    """Deletes the files in a folder whose names match, and then the folder, unless it holds anything else.

    patterns: as of `Path.glob`. A folder that does not exist stays absent.
    """
    folder = Path(folder)
    for pattern in patterns:
        for path in list(folder.glob(pattern)):
            path.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
