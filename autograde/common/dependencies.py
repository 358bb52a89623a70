"""Which cells of a program some names depend on. Only text is looked at: nothing is run.

    program = [read_cell("SCALE = 2\nprint(SCALE)"), read_cell("def scale(d):\n    return d ** SCALE")]
    chosen = cells_for({"scale"}, program)
    [cell.source for cell in chosen.cells]   # ["SCALE = 2", "def scale…"]: what is printed stays in the notebook
    chosen.missing                           # names that are read and that no cell defines: none

Both sides use it: the student's own package is made of the chosen cells, and the grader chooses from the earlier
notebooks of a student in the same way.
"""

import ast
import builtins
import functools
import symtable
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograde.common import syntax

_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class CodeCell:
    """A cell without its top-level imports and bare expressions (calls such as `print(…)`, a drawing, a check).

    defines: names that it gives a value; reads: names that it uses and that are not local to its functions;
    imports: name → the import statement that gives it its value.
    """

    source: str
    defines: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    imports: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Chosen:
    """The dependencies of some names. cells: in the program's order; imports: name → statement; missing: in no cell."""

    cells: list[CodeCell]
    imports: dict[str, str]
    missing: set[str]


def cells_for(names: set[str], program: Sequence[CodeCell]) -> Chosen:
    """The last cell that defines each name, and what those cells need in turn."""
    indices, imports, missing = set(), {}, set()
    waiting, seen = sorted(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        index = next((index for index in reversed(range(len(program))) if _gives(program[index], name)), None)
        if index is None:
            missing |= {name} - set(dir(builtins))
        elif name not in program[index].defines:
            imports[name] = program[index].imports[name]
        else:
            indices.add(index)
            waiting += sorted(program[index].reads - program[index].defines)
    return Chosen([program[index] for index in sorted(indices)], imports, missing)


def _gives(cell: CodeCell, name: str) -> bool:
    return name in cell.defines or name in cell.imports


@functools.lru_cache(maxsize=4000)
def read_cell(source: str, with_expressions: bool = False) -> CodeCell:
    """A cell of a notebook. It has no names if it cannot be parsed."""
    tree = syntax.parsed(source)
    if tree is None:
        return CodeCell(source)
    apart = _IMPORTS if with_expressions else (*_IMPORTS, ast.Expr)
    staying = {line for node in tree.body if not isinstance(node, apart) for line in _lines_of(node)}
    leaving = [node for node in tree.body if isinstance(node, apart) and not staying & set(_lines_of(node))]
    left_out = {line for node in leaving for line in _lines_of(node)}
    lines = [line for number, line in enumerate(source.split("\n"), start=1) if number not in left_out]
    imports = {}
    for node in leaving:
        imports |= _imported(node) if isinstance(node, _IMPORTS) else {}
    text = "\n".join(lines).strip("\n")
    return CodeCell(text, *names_of(text), imports)


@functools.lru_cache(maxsize=400)
def statements(source: str) -> tuple[CodeCell, ...]:
    """The top-level statements of a program text, each as a cell of its own."""
    tree, lines = syntax.parsed(source), source.split("\n")
    spans = map(_lines_of, tree.body if tree else ())
    return tuple(read_cell("\n".join(lines[span.start - 1 : span.stop - 1])) for span in spans)


@functools.lru_cache(maxsize=4000)
def names_of(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """(names defined at the top level, names read that are not local to functions); of no program, none."""
    try:
        top = symtable.symtable(source, "cell", "exec") if syntax.is_program(source) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it will fail when it runs
        top = None
    defines, reads, tables = set(), set(), [top] if top else []
    while tables:
        table = tables.pop()
        for symbol in table.get_symbols():
            if table is top and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()):
                defines.add(symbol.get_name())
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                reads.add(symbol.get_name())
        tables += table.get_children()
    return frozenset(defines), frozenset(reads)


def _lines_of(node) -> range:
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return range(first, node.end_lineno + 1)


def _imported(node) -> dict[str, str]:
    """name → a statement that imports it alone."""
    before = f"from {'.' * node.level}{node.module or ''} " if isinstance(node, ast.ImportFrom) else ""
    given = {}
    for alias in node.names:
        renamed = f" as {alias.asname}" if alias.asname and alias.asname != alias.name else ""
        given[alias.asname or alias.name.partition(".")[0]] = f"{before}import {alias.name}{renamed}"
    return given
