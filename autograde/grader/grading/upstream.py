"""The upstream modules of a notebook: the student's answers to earlier notebooks, or the library's versions of them.

When notebook 04 is graded, `mybert` in the sandbox consists of

1. modules handed in with the notebook (`mybert/attention.py`, or `attention.py` from a learning-management system);
2. otherwise the passed answers of the student's own earlier notebooks, if these have been handed in;
3. for every name that is missing there, the library's version from the student package.

The module that the notebook itself builds, and later ones, are left out: they would do the exercise.

**Fixed at the first grading.** The modules are stored in the record (`upstream`), and grading the same file again uses
them; a new version of the file uses the modules of that time. The order of grading does not matter: an earlier notebook
without a record is graded first, only to find the passed answers.

All of it is untrusted text. Here cells are chosen from it (see `dependencies`); it runs only in the sandbox.
"""

import ast
import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograde import student as student_package
from autograde.boundary.mybert_importer import MODULES, PACKAGE, STAND_INS
from autograde.common import syntax
from autograde.common.caches import cached
from autograde.common.dependencies import ParsedCell, Program, cells_for, reached
from autograde.exercises import catalogue, notebooks
from autograde.grader.grading.budget import Budget
from autograde.grader.grading.results import Result
from autograde.grader.grading.submission import Outcome, Task
from autograde.grader.reading.notebook import open_ordinary
from autograde.grader.reading.repair import read_submission
from autograde.grader.reading.template import Template

_MENTIONED = re.compile(rf"\b{PACKAGE}\.(\w+)")
_MODULE = re.compile(r"[a-z][a-z0-9_]{0,40}")
_LARGEST = 200_000  # bytes of one module
_MAX_FILES = 40
STAND_INS_FOLDER = ".stand_ins"  # in a sandbox's working folder: those that its notebook may use
_STAND_INS = Path(student_package.__file__).parent / "stand_ins"
_IMPORTING = re.compile(rf"{re.escape(PACKAGE)}|{re.escape(STAND_INS)}")
_ANSWERED = ("passed", "partly", "wrong", "raised")


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
    number = int(notebook[:2]) if notebook[:2].isdecimal() else len(MODULES) + 1
    number += notebook[2:3].isalpha()  # the second part of a notebook: 08b
    built = {exercise.kept_in for exercise in catalogue.of_notebook(notebook)}
    return tuple(module for module in MODULES[: max(number - 1, 0)] if module not in built)


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
    return {name: modules[name] for name in sorted(modules) if name in allowed or name not in MODULES}


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
        f"try:\n    from {STAND_INS}.{module} import {name}\nexcept ImportError:\n    pass" for name in replaced
    ]
    imports = "\n".join(sorted(set(chosen.imports.values())))
    return "\n\n".join([imports, *(cell.source for cell in chosen.cells), *stand_ins]) + "\n"


def sandbox_files(notebook: str, upstream: dict[str, str]) -> dict[str, bytes]:
    """The files that make `mybert` importable in a sandbox: the allowed stand-ins and the student's modules."""
    files = {}
    for module in modules_before(notebook):
        path = _STAND_INS / f"{module}.py"
        if path.exists():
            files[f"{STAND_INS_FOLDER}/{module}.py"] = path.read_bytes()
    return files | {f"mybert/{module}.py": text.encode("utf-8", "replace") for module, text in upstream.items()}


@cached
def stand_ins_of(notebook: str) -> tuple[str, ...]:
    """The modules of `mybert` that a notebook uses, and those that these were built on."""
    before = set(modules_before(notebook))

    def used_in(one: str) -> set[str]:
        text = "\n".join(cell.source for cell in notebooks.cells_of(one) if cell.is_code)
        return before & set(_MENTIONED.findall(text))

    def built_in(one: str) -> list[str]:
        return [exercise.notebook for exercise in catalogue.EXERCISES if exercise.kept_in in used_in(one)]

    return tuple(sorted(set().union(*map(used_in, reached([notebook], built_in)))))


# --- modules handed in beside a notebook ---


def submitted_modules(folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """(module → text, sentences about refused files), from a submission's folder. Follows no link."""
    modules: dict[str, str] = {}
    sentences: list[str] = []
    package = folder / PACKAGE
    flat = [folder / f"{module}.py" for module in MODULES]
    within = sorted(package.iterdir()) if package.is_dir() and not package.is_symlink() else []
    candidates = flat + [path for path in within if path.suffix == ".py" and path.name != "__init__.py"]
    for path in candidates:
        if not path.is_symlink() and not path.exists():
            continue
        name = path.name if path.parent == folder else f"{PACKAGE}/{path.name}"
        if len(modules) == _MAX_FILES:
            sentences.append(f"More than {_MAX_FILES} modules were handed in; the rest was not used.")
            break
        try:
            with open_ordinary(path) as file:
                content = file.read(_LARGEST + 1)
            if len(content) > _LARGEST or not _MODULE.fullmatch(path.stem):
                raise OSError
            modules[path.stem] = content.decode("utf-8")
        except (OSError, UnicodeDecodeError):
            limit = f"at most {_LARGEST // 1000} kB"
            sentences.append(f"{name[:80]!r} was not used: not an ordinary Python file of {limit}.")
    return modules, tuple(sentences)


def digest_of(modules: dict[str, str]) -> str:
    """One digest of the modules handed in; "" without modules."""
    text = json.dumps(modules, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if modules else ""


# --- notes on what was used ---


def add_stand_in_notes(task: Task, outcome: Outcome, budget: Budget) -> Outcome:
    """Adds a note to each verdict on answers that used library versions, unless it has one (by carry_forward.py).

    The names are found in the texts; the sandbox is not asked. No note where the budget is spent: it changes no points.
    """
    with budget.thinking():
        program = Program(statement for cell in task.submission.program for statement in cell.parsed.statements)
        modules = {module: ParsedCell(text).statements for module, text in task.upstream.items()}
    for exercise in task.exercises:
        if budget.spent_on:
            break
        judged = outcome.judged[exercise.id]
        if judged.verdict.status in _ANSWERED and not judged.credited:
            with budget.thinking():
                names = stand_ins_used(program, set(exercise.names), exercise.notebook, modules)
            if names:
                quoted = [f"`{name}`" for name in names]
                both = " and ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1])))
                note = f"It ran on the library's stand-in for {both}: no passed answer of yours was there."
                verdict = replace(judged.verdict, notes=(*judged.verdict.notes, note))
                outcome = outcome.with_verdict(exercise, verdict)
    return outcome


def stand_ins_used(program: Program, names: set[str], notebook: str, modules: dict[str, Program]) -> list[str]:
    """The names "mybert.module.name" that these names of a program need, directly or through own modules, and that are
    not the student's own. modules: the own ones, as statements."""
    allowed = set(modules_before(notebook))
    stand_ins: set[str] = set()
    seen: set[tuple[str, str, str]] = set()
    waiting = list(_imports(program, names))
    while waiting:
        package, module, name = asked = waiting.pop()
        if asked in seen or module not in allowed or name not in _stand_in_names(module):
            continue
        seen.add(asked)
        module_program = modules.get(module, Program())
        if package == PACKAGE and name in module_program.last_with:
            waiting += _imports(module_program, {name})
        else:
            stand_ins.add(f"{PACKAGE}.{module}.{name}")
    return sorted(stand_ins)


def _imports(program: Program, names: set[str]) -> Iterator[tuple[str, str, str]]:
    """(package, module, name) of what these names need of `mybert` or of the stand-ins."""
    chosen = cells_for(names, program)
    used = names.union(*(statement.reads for statement in chosen.cells))
    importing = [statement.tree for statement in chosen.cells if _IMPORTING.search(statement.source)]
    for tree in (*map(syntax.parse, chosen.imports.values()), *importing):
        for node in ast.walk(tree):
            package, _, module = (getattr(node, "module", None) or "").rpartition(".")
            if isinstance(node, ast.ImportFrom) and package in (PACKAGE, STAND_INS):
                wanted = [alias.name for alias in node.names if (alias.asname or alias.name) in used]
                yield from ((package, module, name) for name in wanted)


@functools.cache
def _stand_in_names(module: str) -> frozenset[str]:
    """The names for which there is a stand-in: its `__all__`, read without importing it (that would load Keras)."""
    path = _STAND_INS / f"{module}.py"
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []
    lists = [node.value for node in body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    return frozenset(ast.literal_eval(lists[0])) if lists else frozenset()
