"""Atomic writing, in which a file is complete or absent, even after a kill or with a full disk; and reading JSON."""

import json
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


def write_json(path: str | Path, values, error: type[BertLabError] = DataError) -> None:
    """Writes a JSON file as `write_atomically` does."""
    write_text(path, json.dumps(values, indent=1, ensure_ascii=False) + "\n", error)


def read_json(
    path: str | Path,
    error: type[BertLabError] = DataError,
    advice: str = "restore the file, or delete it to start again",
    of: type = object,
):
    """The values in a JSON file.

    Raises `error` without the file, and for a content that is not JSON or not of the type `of` (such as dict).

    advice: what to do then. The default is for a file that is made again where it is missing.
    """
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise error(f"{path}: there is no such file") from None
    except (OSError, ValueError) as reason:
        raise error(f"{path}: not valid JSON ({reason}); {advice}") from None
    if not isinstance(values, of):
        raise error(f"{path}: expected a JSON {'object' if of is dict else of.__name__}, got {values!r:.60}; {advice}")
    return values


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
