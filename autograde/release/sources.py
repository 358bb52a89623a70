"""Hashes of the sources of exercises: a release makes only those fingerprints again whose sources have changed, and
grading warns when the checks that students have are of another version.

The hash of a fingerprint covers the exercise's module and the planning code, all modules that these import (found in
their text, also inside functions), the notebook's set-up and its answers down to this one, and the versions of the
libraries. Of the modules, those of `autograde` and `bertlab` count, with the data files beside them; a package that
loads its names lazily counts whole.
"""

import ast
import functools
import hashlib
import importlib.util
import json
import platform
import shlex
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from autograde import exercises
from autograde.boundary.mybert_importer import PACKAGE, STAND_INS
from autograde.common import syntax
from autograde.common.caches import cached
from autograde.common.dependencies import reached
from autograde.exercises import catalogue, cells, folders, notebooks
from autograde.exercises.spec import Exercise
from bertlab import __version__
from bertlab.common.files import write_text

ROOT = Path(__file__).resolve().parents[2]
_OURS = ("autograde", "bertlab")
_LIBRARIES = ("keras", "tensorflow", "numpy", "ml_dtypes")
_PLANNING = "autograde.exercises.planning.planner"
_RELEASED = Path(".autograde", "released")
_WHOLE = ".*"  # behind the name of a package: all of its files count


def hash_of(exercise: Exercise) -> str:
    """The same as long as nothing changes on which the exercise's fingerprint depends."""
    facts, module = notebooks.facts_of(exercise.notebook)[exercise.id], _module_of(exercise)
    setup, answers = cells.read(exercise.notebook, exercise.variant)
    last = list(answers).index(exercise.id)
    program = [setup, *list(answers.values())[: last + 1]]  # what runs before a known mistake
    stated = [platform.python_version_tuple()[:2], [metadata.version(name) for name in _LIBRARIES], repr(facts)]
    stated += [repr(exercise.variant)] if exercise.variant else []
    total = hashlib.sha256(json.dumps([*stated, program], ensure_ascii=False).encode())
    for name in sorted(_with_imports({_PLANNING, module, *_imported("\n".join(program))})):
        for path in _files_of(name):
            total.update(f"\0{name} {path.name}\0".encode() + _digest(path, path.stat().st_mtime_ns))
    return total.hexdigest()


def hash_of_own_code(exercise: Exercise) -> str:
    """The same as long as neither the code of the exercise's module changes, nor of those that it imports from its own
    folder or from the instructor's, nor the code of its answer. Lines of comments and line ends do not count.
    """
    first, own = _path_of(_module_of(exercise)), folders.own()

    def near_ones(path: Path) -> list[Path]:
        imported = filter(None, map(_path_of, _imports_of(path, path.stat().st_mtime_ns)))
        return [one for one in imported if one.parent == first.parent or (own and one.is_relative_to(own))]

    _, answers = cells.read(exercise.notebook, exercise.variant)
    total = hashlib.sha256(f"{exercise.points} {_code(answers[exercise.id])}".encode())
    for path in sorted(reached(filter(None, [first]), near_ones)):  # none for an exercise without a file
        total.update(f"\0{path.name}\0{_code(path.read_text(encoding='utf-8'))}".encode())
    return total.hexdigest()


def _code(text: str) -> str:
    """The lines of a program without empty ones and comments: the same for every version of Python."""
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def _module_of(exercise: Exercise) -> str:
    return f"{exercises.__name__}.n{exercise.notebook}.{exercise.id.replace('-', '_')}"


def _with_imports(names: set[str]) -> set[str]:
    """These modules and all that they import, directly or not, with the packages that they are in."""

    def then(name: str) -> Iterator[str]:
        if "." in name:
            yield name.removesuffix(_WHOLE).rpartition(".")[0] or name.removesuffix(_WHOLE)
        for path in _files_of(name):
            if path.suffix == ".py":
                yield from _imports_of(path, path.stat().st_mtime_ns)

    return reached(names, then)


@cached
def _imports_of(path: Path, changed: int) -> frozenset[str]:
    folder = next((folder for folder in exercises.__path__ if path.is_relative_to(folder)), None)
    parts = path.parent.relative_to(folder or ROOT).parts
    package = ".".join((exercises.__name__, *parts) if folder else parts)
    return frozenset(_imported(path.read_text(encoding="utf-8"), package))


def _imported(text: str, inside: str = "") -> Iterator[str]:
    """Our modules that a program imports anywhere, `mybert` as the stand-ins for it. inside: the program's package."""
    for node in ast.walk(syntax.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in _OURS)
        elif isinstance(node, ast.ImportFrom) and (inside or not node.level):
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), inside)
            package, _, rest = module.partition(".")
            home = f"{STAND_INS}.{rest}".rstrip(".") if package == PACKAGE else module
            if home.partition(".")[0] in _OURS:
                yield from (_home_of(home, alias.name) for alias in node.names)


def _home_of(module: str, name: str) -> str:
    """The module that `from module import name` needs."""
    if _path_of(f"{module}.{name}"):
        return f"{module}.{name}"
    path = _path_of(module)
    lazy = path and path.name == "__init__.py" and "import_module(" in path.read_text(encoding="utf-8")
    return f"{module}{_WHOLE}" if lazy else module


def _path_of(module: str) -> Path | None:
    """The file of a module, found without importing it; None if there is none."""
    inside = f"{exercises.__name__}."
    roots = exercises.__path__ if module.startswith(inside) else [ROOT]
    for place in (Path(root, *module.removeprefix(inside).split(".")) for root in roots):
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                return path
    return None


def _files_of(name: str) -> list[Path]:
    """The file of a module and the data files beside it, or all files of a whole package."""
    path = _path_of(name.removesuffix(_WHOLE))
    if path is None:
        return []
    if name.endswith(_WHOLE):
        return sorted(file for file in path.parent.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return [path, *sorted(file for file in path.parent.iterdir() if file.is_file() and file.suffix != ".py")]


@functools.cache
def _digest(path: Path, changed: int) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


# --- the checks of a release ---
#
# .autograde/released/ASSIGNMENT.json   of each notebook: the version, and a hash of the code of each exercise
#
# Students' `check` asked the questions of the release. A new version can ask others; so can an exercise that was
# repaired and not released again. Lines of comments, the notebook's texts and other libraries do not count.


def write_record(course: Path, assignment: str, notebooks: Iterable[str]) -> None:
    """Records these notebooks as students have them; keeps the record of the assignment's other ones."""
    path = _record_of(course, assignment)
    path.parents[1].mkdir(mode=0o700, parents=True, exist_ok=True)  # policies and groups lie there, too
    path.parent.mkdir(exist_ok=True)
    record = (_read(path) or {}) | {name: {"version": __version__, "exercises": _hashes(name)} for name in notebooks}
    write_text(path, json.dumps(record, indent=1) + "\n")


def warnings(course: Path, assignment: str, notebooks: Iterable[str]) -> list[str]:
    """A sentence for each notebook that differs from its release; none for one without a record."""
    path = _record_of(course, assignment)
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


def _record_of(course: Path, assignment: str) -> Path:
    return Path(course) / _RELEASED / f"{assignment}.json"
