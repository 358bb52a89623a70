"""Notes in a verdict which library versions were used instead of the student's own earlier answers.

A later notebook builds on `mybert`. If an earlier answer is missing or failed, the library's version is used (see
upstream.py), and an answer can then be right or wrong for a reason that the student cannot see: for example, a helper
that expects other names in a layer. So the verdict names the library versions.

The names are found in the texts: the names that the exercise needs in the notebook, and the names that these need in
each own module. The sandbox is not asked.
"""

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograde.boundary.mybert_importer import PACKAGE, STAND_INS
from autograde.common import syntax
from autograde.common.dependencies import CodeCell, cells_for, statements
from autograde.grader.grading.submission import Outcome, Task
from autograde.grader.grading.upstream import STUDENT, modules_before

_ANSWERED = ("passed", "partly", "wrong", "raised")


def add_stand_in_notes(task: Task, outcome: Outcome) -> Outcome:
    """Adds a note to each verdict on answers that used library versions, unless it has one (see upstream.py)."""
    program = [statement for cell in task.submission.program for statement in statements(cell.source)]
    for exercise in task.exercises:
        judged = outcome.judged[exercise.id]
        if judged.verdict.status in _ANSWERED and not judged.credited:
            names = stand_ins_used(program, set(exercise.names), exercise.notebook, task.upstream)
            if names:
                notes = (*judged.verdict.notes, _sentence(names))
                outcome = outcome.with_verdict(exercise, replace(judged.verdict, notes=notes))
    return outcome


def stand_ins_used(program: Sequence[CodeCell], names: set[str], notebook: str, upstream: dict[str, str]) -> list[str]:
    """The names "mybert.module.name" that these names of a program need, directly or through own modules, and that are
    not the student's own. upstream: module → text of the own ones."""
    allowed = set(modules_before(notebook))
    found: set[str] = set()
    seen: set[tuple[str, str, str]] = set()
    waiting = list(_imports(program, names))
    while waiting:
        package, module, name = asked = waiting.pop()
        if asked in seen or module not in allowed or name not in _stand_in_names(module):
            continue
        seen.add(asked)
        own = statements(upstream.get(module, ""))
        if package == PACKAGE and any(name in {*statement.defines, *statement.imports} for statement in own):
            waiting += _imports(own, {name})
        else:
            found.add(f"{PACKAGE}.{module}.{name}")
    return sorted(found)


def _sentence(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    both = " and ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1])))
    return f"It ran on the library's stand-in for {both}: no passed answer of yours was there."


def _imports(program: Sequence[CodeCell], names: set[str]) -> Iterator[tuple[str, str, str]]:
    """(package, module, name) of what these names need of `mybert` or of the stand-ins."""
    chosen = cells_for(names, program)
    used = names.union(*(statement.reads for statement in chosen.cells))
    for text in (*chosen.imports.values(), *(statement.source for statement in chosen.cells)):
        for node in ast.walk(syntax.parse(text)):
            package, _, module = (getattr(node, "module", None) or "").rpartition(".")
            if isinstance(node, ast.ImportFrom) and package in (PACKAGE, STAND_INS):
                wanted = [alias.name for alias in node.names if (alias.asname or alias.name) in used]
                yield from ((package, module, name) for name in wanted)


@functools.cache
def _stand_in_names(module: str) -> frozenset[str]:
    """The names for which there is a stand-in: its `__all__`, read without importing it (that would load Keras)."""
    path = STUDENT / "stand_ins" / f"{module}.py"
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []
    lists = [node.value for node in body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    return frozenset(ast.literal_eval(lists[0])) if lists else frozenset()
