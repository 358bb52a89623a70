"""The student's progress, in one small JSON file in the course's home (see home.py). It survives restarts.

    {"version": 1, "exercises": {"scores": {"points": 2, "status": "partly", "failures": 2, "last": "digest"}}}

`failures` counts attempts with *different* code since the exercise was last passed: running the same cell again does
not count. The file is used only for hints and for `progress()`; grades come from the grader.
"""

import contextlib
import hashlib
import json
import os
from pathlib import Path

from autograde.student import home
from bertlab.common.errors import DataError
from bertlab.common.files import write_json

FILE = home.PROGRESS


def load(path: Path | None = None) -> dict:
    """The entries by exercise id; empty without a file. A damaged file is renamed to `….damaged`."""
    path = path or _own_file()
    try:
        return parse(path.read_bytes())
    except OSError:
        return {}
    except ValueError:
        with contextlib.suppress(OSError):
            os.replace(path, f"{path}.damaged")
        return {}


def has_passed(exercise: str) -> bool:
    """Whether an exercise passed its last check."""
    return load().get(exercise, {}).get("status") == "passed"


def parse(content: bytes) -> dict:
    """The entries in a progress file's content. Raises ValueError."""
    try:
        entries = json.loads(content.decode("utf-8"))["exercises"]
        return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no record of progress: {error}") from None


def digest_of(source: str) -> str:
    """The digest by which a changed answer is recognised."""
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:16]


def record(exercise: str, status: str, points: float, source: str, path: Path | None = None) -> int:
    """Records the outcome of a check and returns how many different attempts have failed since the last pass. In a
    folder that cannot be written, hints do not progress, but the check still works."""
    path = path or _own_file()
    with home.locked(path.parent):
        entries = load(path)
        entry = entries.get(exercise, {})
        digest = digest_of(source)
        failures = entry.get("failures") if isinstance(entry.get("failures"), int) else 0
        if status == "passed":
            failures = 0
        elif status not in ("not attempted", "missing") and (not source or digest != entry.get("last")):
            failures += 1
        hints = {name: entry[name] for name in ("hint", "hint_after") if name in entry and failures}
        entries[exercise] = {"points": points, "status": status, "failures": failures, "last": digest} | hints
        _write(path, entries)
    return failures


def next_hint(exercise: str, failures: int, max_hints: int, path: Path | None = None) -> int:
    """Which hint is due, from 1: the first, after another failing attempt the one after the last that was shown."""
    path = path or _own_file()
    with home.locked(path.parent):
        entries = load(path)
        entry = entries.get(exercise, {})
        shown = entry.get("hint") if isinstance(entry.get("hint"), int) else 0
        if entry.get("hint_after") != failures or not shown:
            shown = min(shown + 1, max_hints)
        entries[exercise] = entry | {"hint": shown, "hint_after": failures}
        _write(path, entries)
    return shown


def merge(others: dict, path: Path | None = None) -> None:
    """Adds other entries that have more points than the ones here."""
    path = path or _own_file()
    with home.locked(path.parent):
        entries = load(path)
        better = {name: entry for name, entry in others.items() if _points(entry) > _points(entries.get(name, {}))}
        _write(path, entries | better)


def _points(entry: dict) -> float:
    points = entry.get("points")
    return points if isinstance(points, (int, float)) else -1.0


def _own_file() -> Path:
    """The file in the home. One in the current folder, from before there was a home, is moved there."""
    path, old = home.find() / FILE, Path.cwd() / FILE
    if old != path and old.is_file():
        with contextlib.suppress(OSError):
            merge(load(old), path)
            os.replace(old, f"{old}.moved")
    return path


def _write(path: Path, entries: dict) -> None:
    with contextlib.suppress(OSError, DataError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, {"version": 1, "exercises": entries})
