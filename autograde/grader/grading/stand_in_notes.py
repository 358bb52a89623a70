"""Notes in a verdict which library versions were used instead of the student's own earlier answers.

A later notebook builds on `mybert`. If an earlier answer is missing or failed, the library's version is used (see
upstream.py), and an answer can then be right or wrong for a reason that the student cannot see: for example, a helper
that expects other names in a layer. So the verdict names the library versions.

The names are found in the texts: the names that the exercise needs in the notebook, and the names that these need in
each own module. The sandbox is not asked.
"""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import replace

from autograde.boundary.mybert_importer import PACKAGE, STAND_INS
from autograde.common import syntax
from autograde.common.dependencies import ParsedCell, Program, cells_for
from autograde.grader.grading.budget import Budget
from autograde.grader.grading.submission import Outcome, Task
from autograde.grader.grading.upstream import STUDENT, modules_before

_MENTIONED = rf"{re.escape(PACKAGE)}|{re.escape(STAND_INS)}"  # what a statement that imports from them has
_ANSWERED = ("passed", "partly", "wrong", "raised")


def add_stand_in_notes(task: Task, outcome: Outcome, budget: Budget) -> Outcome:
    """Adds a note to each verdict on answers that used library versions, unless it has one (see upstream.py), as far as
    the budget reaches: a note changes no points."""
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
    importing = [statement.tree for statement in chosen.cells if re.search(_MENTIONED, statement.source)]
    for tree in (*map(syntax.parse, chosen.imports.values()), *importing):
        for node in ast.walk(tree):
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
