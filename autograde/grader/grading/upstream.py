"""The upstream modules of a notebook: the student's answers to earlier notebooks, or the library's versions of them.

When notebook 04 is graded, `mybert` in the sandbox consists of

1. modules handed in with the notebook (`mybert/attention.py`, or `attention.py` from a learning-management system);
2. otherwise the passed answers of the student's own earlier notebooks, if these have been handed in;
3. for every name that is missing there, the library's version from the student package.

The module that the notebook itself builds, and later ones, are left out: they would do the exercise.

**Fixed at the first grading.** The upstream modules of a submission are chosen when it is first graded and stored in
its record (`upstream`). Grading the same file again uses the record, even if the earlier notebook has changed since; a
new version of the file uses the modules of that time. The choice does not depend on the order of grading: an earlier
notebook without a record is graded first (only to find the passed answers; its own grading follows later).

All of it is untrusted text. Here cells are chosen from it (see `dependencies`); it runs only in the sandbox.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from autograde import student as student_package
from autograde.boundary import mybert_importer
from autograde.common.caches import cached
from autograde.common.dependencies import Program, cells_for
from autograde.exercises import catalogue, notebooks
from autograde.grader.grading.results import Result
from autograde.grader.reading.notebook import open_ordinary
from autograde.grader.reading.repair import read_submission
from autograde.grader.reading.template import Template

_MENTIONED = re.compile(rf"\b{mybert_importer.PACKAGE}\.(\w+)")
_MODULE = re.compile(r"[a-z][a-z0-9_]{0,40}")
_LARGEST = 200_000  # bytes of one module
_MAX_FILES = 40
STAND_INS_FOLDER = ".stand_ins"  # in a sandbox's working folder: those that its notebook may use
STUDENT = Path(student_package.__file__).parent


@dataclass(frozen=True)
class EarlierNotebook:
    """One of a student's earlier notebooks. source: its file, or the bytes; result: its record, if it has been graded
    in this version; blank: a record to fill in otherwise."""

    template: Template
    source: Path | bytes
    blank: Result
    beside: dict[str, str] = field(default_factory=dict)
    result: Result | None = None

    @property
    def notebook(self) -> str:
        return self.template.name


@dataclass(frozen=True)
class UpstreamSources:
    """The upstream sources of one submission.

    earlier: notebooks in their order; beside: modules handed in with it, name → text; recorded: notebook → upstream
    modules of an earlier grading of the same file; said: notes about refused files.
    """

    earlier: tuple[EarlierNotebook, ...] = ()
    beside: dict[str, str] = field(default_factory=dict)
    recorded: dict[str, dict[str, str]] = field(default_factory=dict)
    said: tuple[str, ...] = ()


def modules_before(notebook: str) -> tuple[str, ...]:
    """The modules of `mybert` that a notebook may build on, by the number in its name; 08b also on that of 08."""
    number = int(notebook[:2]) if notebook[:2].isdecimal() else len(mybert_importer.MODULES) + 1
    number += notebook[2:3].isalpha()  # the second part of a notebook: 08b
    built = {exercise.kept_in for exercise in catalogue.of_notebook(notebook)}
    return tuple(module for module in mybert_importer.MODULES[: max(number - 1, 0)] if module not in built)


def upstream_modules(
    notebook: str, sources: UpstreamSources, grade: Callable[[EarlierNotebook, dict[str, str]], Result]
) -> dict[str, str]:
    """The student's own modules for a notebook, name → text. grade: grades an earlier notebook that has no record."""
    if notebook in sources.recorded:
        return sources.recorded[notebook]
    modules: dict[str, str] = {}
    for earlier in sources.earlier:
        if earlier.notebook < notebook:
            result = earlier.result or grade(earlier, _allowed(earlier.notebook, modules | earlier.beside))
            modules |= modules_from_answers(earlier, result)
    return _allowed(notebook, modules | sources.beside)


def _allowed(notebook: str, modules: dict[str, str]) -> dict[str, str]:
    """Without the modules of this notebook and later ones; other modules are a student's own helpers and stay."""
    allowed = modules_before(notebook)
    return {name: modules[name] for name in sorted(modules) if name in allowed or name not in mybert_importer.MODULES}


def modules_from_answers(earlier: EarlierNotebook, result: Result) -> dict[str, str]:
    """Module → text, of the passed answers of one notebook and what they need of it.

    Names that they need of a failed answer come from the library's version, if it has them.
    """
    program = Program(cell.parsed.core for cell in read_submission(earlier.source, earlier.template).program)
    passed = {verdict.exercise for verdict in result.verdicts if verdict.passed}
    wanted: dict[str, set[str]] = {}
    failed: dict[str, set[str]] = {}
    for exercise in catalogue.of_notebook(earlier.notebook):
        if exercise.kept_in:
            names = wanted if exercise.id in passed else failed
            names.setdefault(exercise.kept_in, set()).update(exercise.names)
    return {module: _module_text(module, program, names, failed.get(module, set())) for module, names in wanted.items()}


def _module_text(module: str, program: Program, names: set[str], failed: set[str]) -> str:
    chosen = cells_for(names, program)
    replaced = sorted(failed & set().union(*(cell.defines for cell in chosen.cells)))
    stand_ins = [
        f"try:\n    from {mybert_importer.STAND_INS}.{module} import {name}\nexcept ImportError:\n    pass"
        for name in replaced
    ]
    imports = "\n".join(sorted(set(chosen.imports.values())))
    return "\n\n".join([imports, *(cell.source for cell in chosen.cells), *stand_ins]) + "\n"


def sandbox_files(notebook: str, upstream: dict[str, str]) -> dict[str, bytes]:
    """The files that make `mybert` importable in a sandbox: the allowed stand-ins and the student's modules."""
    files = {}
    for module in modules_before(notebook):
        path = STUDENT / "stand_ins" / f"{module}.py"
        if path.exists():
            files[f"{STAND_INS_FOLDER}/{module}.py"] = path.read_bytes()
    return files | {f"mybert/{module}.py": text.encode("utf-8", "replace") for module, text in upstream.items()}


@cached
def stand_ins_of(notebook: str) -> tuple[str, ...]:
    """The modules of `mybert` that a notebook uses, and those that these were built on."""
    used: set[str] = set()
    waiting = [notebook]
    while waiting:
        text = "\n".join(cell.source for cell in notebooks.cells_of(waiting.pop()) if cell.is_code)
        new = set(_MENTIONED.findall(text)) & set(modules_before(notebook)) - used
        used |= new
        waiting += [exercise.notebook for exercise in catalogue.EXERCISES if exercise.kept_in in new]
    return tuple(sorted(used))


# --- modules handed in beside a notebook ---


def submitted_modules(folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """(module → text, sentences about refused files), from a submission's folder. Follows no link."""
    modules: dict[str, str] = {}
    sentences: list[str] = []
    package = folder / mybert_importer.PACKAGE
    flat = [folder / f"{module}.py" for module in mybert_importer.MODULES]
    within = sorted(package.iterdir()) if package.is_dir() and not package.is_symlink() else []
    candidates = flat + [path for path in within if path.suffix == ".py" and path.name != "__init__.py"]
    for path in candidates:
        if not path.is_symlink() and not path.exists():
            continue
        name = path.name if path.parent == folder else f"{mybert_importer.PACKAGE}/{path.name}"
        if len(modules) == _MAX_FILES:
            sentences.append(f"More than {_MAX_FILES} modules were handed in; the rest was not used.")
            break
        content = _ordinary_file(path) if _MODULE.fullmatch(path.stem) else None
        if content is None:
            sentences.append(
                f"{name[:80]!r} was not used: not an ordinary Python file of at most {_LARGEST // 1000} kB."
            )
        else:
            modules[path.stem] = content
    return modules, tuple(sentences)


def _ordinary_file(path: Path) -> str | None:
    """A file's text; None for links, devices, too large files and text that is not UTF-8."""
    try:
        with open_ordinary(path) as file:
            content = file.read(_LARGEST + 1)
        return content.decode("utf-8") if len(content) <= _LARGEST else None
    except (OSError, UnicodeDecodeError):
        return None


def digest_of(modules: dict[str, str]) -> str:
    """One digest of the modules handed in; "" without modules."""
    text = json.dumps(modules, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if modules else ""


def in_notebook_order(notebooks: Iterable[EarlierNotebook]) -> tuple[EarlierNotebook, ...]:
    """Sorts by notebook; if one was handed in several times, the last of `notebooks` counts."""
    return tuple(notebook for _, notebook in sorted({notebook.notebook: notebook for notebook in notebooks}.items()))
