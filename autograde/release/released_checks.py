"""Warns when an assignment was released with another version of BertLab, or its exercises have changed since then.

.autograde/released/ASSIGNMENT.json   of each notebook: the version, and a hash of the code of each exercise

Students' `check` asked the questions of the release. A new version can ask others; so can an exercise that was repaired
and not released again. Lines of comments, the notebook's texts and other libraries do not count.
"""

import json
import shlex
from collections.abc import Iterable
from pathlib import Path

from autograde.exercises import catalogue
from autograde.release.sources import hash_of_own_code
from bertlab import __version__
from bertlab.common.files import write_text

_FOLDER = Path(".autograde", "released")


def write_record(course: Path, assignment: str, notebooks: Iterable[str]) -> None:
    """Records these notebooks as students have them; keeps the record of the assignment's other ones."""
    path = _path_of(course, assignment)
    path.parents[1].mkdir(mode=0o700, parents=True, exist_ok=True)  # policies and groups lie there, too
    path.parent.mkdir(exist_ok=True)
    record = (_read(path) or {}) | {name: {"version": __version__, "exercises": _hashes(name)} for name in notebooks}
    write_text(path, json.dumps(record, indent=1) + "\n")


def warnings(course: Path, assignment: str, notebooks: Iterable[str]) -> list[str]:
    """A sentence for each notebook that differs from its release; none for one without a record."""
    path = _path_of(course, assignment)
    record = _read(path)
    if record is None:
        command = _command(course, assignment, notebooks)
        return [f"{path}: expected the record of a release, found a damaged file; run `{command}` again"]
    return [line for name in notebooks if name in record and (line := _warning(course, assignment, name, record[name]))]


def _warning(course: Path, assignment: str, notebook: str, released: dict) -> str:
    now, version = _hashes(notebook), released["version"]
    changed = [name for name in now if now[name] != released["exercises"].get(name)]
    if version != __version__:
        said = f"released with BertLab {version}, and this is {__version__}: its checks can ask other questions"
    elif changed:
        said = f"changed after it was released: {', '.join(changed)}"
    else:
        return ""
    or_else = f"; or grade with BertLab {version}" if version != __version__ else ""
    return (
        f"{assignment}: {notebook} was {said}. An answer that passed a student's `check` may fail now. To give "
        f"students the same checks, run `{_command(course, assignment, [notebook])}` and hand out the wheel{or_else}."
    )


def _command(course: Path, assignment: str, notebooks: Iterable[str]) -> str:
    words = ["autograde", "release", *notebooks, "--course", str(course), "--assignment", assignment, "--wheel", "dist"]
    return shlex.join(words)


def _hashes(notebook: str) -> dict[str, str]:
    return {exercise.id: hash_of_own_code(exercise) for exercise in catalogue.of_notebook(notebook)}


def _read(path: Path) -> dict[str, dict] | None:
    """Notebook → its record; {} without a file, None for a file that is not a record."""
    if not path.exists():
        return {}
    try:
        record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        sound = all(isinstance(one["version"], str) and isinstance(one["exercises"], dict) for one in record.values())
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return record if sound else None


def _path_of(course: Path, assignment: str) -> Path:
    return Path(course) / _FOLDER / f"{assignment}.json"
