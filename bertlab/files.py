"""Atomic writing: a file is complete or absent, even after a kill or with a full disk."""

import os
from collections.abc import Callable
from pathlib import Path

from bertlab.errors import BertLabError, DataError


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
        with partial.open("rb") as file:
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
