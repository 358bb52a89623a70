"""Tells whether an assignment's exercises have changed since its release: students' `check` asked other questions then.

.autograde/released/ASSIGNMENT.json   the version of BertLab, and a hash of the sources of each exercise
"""

import json
from collections.abc import Iterable
from pathlib import Path

from autograde.exercises import catalogue
from autograde.release.sources import hash_of
from bertlab import __version__
from bertlab.files import write_text

_FOLDER = Path(".autograde", "released")


def write_record(course: Path, assignment: str, notebooks: Iterable[str]) -> None:
    """Records the exercises of these notebooks as those that students have; keeps those of other notebooks."""
    path = _path_of(course, assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        before = _read(path)[1]
    except (OSError, ValueError):
        before = {}
    record = {"version": __version__, "exercises": before | _hashes(notebooks)}
    write_text(path, json.dumps(record, indent=1) + "\n")


def warning(course: Path, assignment: str, notebooks: Iterable[str]) -> str:
    """A sentence about the exercises of these notebooks that have changed since the release; "" if none has."""
    path = _path_of(course, assignment)
    try:
        version, before = _read(path)
    except FileNotFoundError:
        return f"{assignment}: an older version of BertLab released it, without a record of its exercises. {_advice()}"
    except (OSError, ValueError):
        return f"{path}: expected the record of a release, found a damaged file. {_advice()}"
    now = _hashes(notebooks)
    changed = [name for name in now if now[name] != before.get(name)]
    if not changed:
        return ""
    named = ", ".join(changed) if len(changed) <= 3 else f"{len(changed)} of {len(now)} exercises"
    verb = "has" if len(changed) == 1 else "have"
    versions = "" if version == __version__ else f" (BertLab {version} then, {__version__} now)"
    return f"{assignment}: {named} {verb} changed since the release{versions}. {_advice(version)}"


def _advice(version: str = "") -> str:
    earlier = f"with BertLab {version}" if version and version != __version__ else "with the version that released it"
    return (
        "An answer that passed a student's `check` may fail now. Run `autograde release` for it again and hand out the "
        f"new wheel, or grade {earlier}."
    )


def _hashes(notebooks: Iterable[str]) -> dict[str, str]:
    exercises = (exercise for name in sorted(notebooks) for exercise in catalogue.of_notebook(name))
    return {exercise.id: hash_of(exercise, with_machine=False) for exercise in exercises}


def _read(path: Path) -> tuple[str, dict[str, str]]:
    """The version and the hashes of a record. Raises OSError, ValueError."""
    record = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(record, dict) or not isinstance(record.get("exercises"), dict):
        raise ValueError(path)
    return str(record.get("version", "")), record["exercises"]


def _path_of(course: Path, assignment: str) -> Path:
    return Path(course) / _FOLDER / f"{assignment}.json"
