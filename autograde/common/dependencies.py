"""Cells of a program, each parsed once, and which of them some names depend on. Only text is looked at: nothing is run.

    texts = ("SCALE = 2\nprint(SCALE)", "def scale(d):\n    return d ** SCALE")
    program = Program(ParsedCell(text).core for text in texts)
    chosen = cells_for({"scale"}, program)
    [cell.source for cell in chosen.cells]   # ["SCALE = 2", "def scale…"]: what is printed stays in the notebook
    chosen.missing                           # names that are read and that no cell defines: none

The student's own package is made of cells so chosen, and the grader chooses from earlier notebooks in the same way.
"""

import ast
import builtins
import re
import symtable
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from autograde.common import syntax

T = TypeVar("T")
_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASSIGNED = re.compile(r"^(?:async\s+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


class ParsedCell:
    """A cell's text with its tree and its names, each found once, when it is first asked for. It is sent as its text.

    imports: name → the import statement that gives it its value, of those that were taken out of the text (`core`).
    """

    def __init__(self, source: str, imports: Mapping[str, str] | None = None):
        self.source, self.imports = source, imports or {}

    def __reduce__(self):
        return ParsedCell, (self.source, self.imports)

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None of a text that is not a program of bounded size."""
        return syntax.parsed(self.source)

    @property
    def is_program(self) -> bool:
        return self.tree is not None

    @property
    def defines(self) -> frozenset[str]:
        """All names that have a value after the cell, by an import or inside of an `if` too; of no program, none."""
        return self._names[0]

    @property
    def reads(self) -> frozenset[str]:
        """Names that are used and that are not local to functions; of no program, none."""
        return self._names[1]

    @cached_property
    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        try:
            top = symtable.symtable(self.source, "cell", "exec") if self.is_program else None
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

    @cached_property
    def declares(self) -> frozenset[str]:
        """Names of top-level functions, classes and assigned variables: what an answer consists of. Found by a pattern
        where the text is not a program."""
        if self.tree is None:
            return frozenset(word or other for word, other in _ASSIGNED.findall(self.source[: syntax.LARGEST]))
        names = {node.name for node in self.tree.body if isinstance(node, _FUNCTIONS)}
        for node in self.tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                    names |= {part.id for part in parts if isinstance(part, ast.Name)}
        return frozenset(names)

    def called_with(self, function: str) -> list[str]:
        """The arguments of `function`, if the cell contains only such calls: check(a) → ["a"], check("a") too."""
        names = []
        for statement in self.tree.body if self.tree else ():
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == function):
                return []
            for argument in call.args[:1]:
                if isinstance(argument, ast.Name):
                    names.append(argument.id)
                elif isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    names.append(argument.value)
        return names

    @cached_property
    def core(self) -> "ParsedCell":
        """The cell without its top-level imports and bare expressions (such as `print(…)`, a drawing, a check)."""
        return self._without((*_IMPORTS, ast.Expr))

    @cached_property
    def without_imports(self) -> "ParsedCell":
        """The cell without its top-level imports."""
        return self._without(_IMPORTS)

    def _without(self, kinds: tuple[type, ...]) -> "ParsedCell":
        """The cell without statements of these kinds, except those that share a line with another one."""
        if self.tree is None:
            return self
        staying = {line for node in self.tree.body if not isinstance(node, kinds) for line in _lines_of(node)}
        leaving = [node for node in self.tree.body if isinstance(node, kinds) and not staying & set(_lines_of(node))]
        left_out = {line for node in leaving for line in _lines_of(node)}
        lines = [line for number, line in enumerate(self.source.split("\n"), start=1) if number not in left_out]
        imports = {}
        for node in leaving:
            imports |= _imported(node) if isinstance(node, _IMPORTS) else {}
        text = "\n".join(lines).strip("\n")
        return self if text == self.source else ParsedCell(text, imports)

    @cached_property
    def statements(self) -> "Program":
        """The top-level statements, each as the core of a cell of its own."""
        lines, spans = self.source.split("\n"), map(_lines_of, self.tree.body if self.tree else ())
        return Program(ParsedCell("\n".join(lines[span.start - 1 : span.stop - 1])).core for span in spans)


class Program(tuple[ParsedCell, ...]):
    """Cells in their order. The index of their names is made once, however often the program is asked."""

    @cached_property
    def last_with(self) -> dict[str, int]:
        """name → the index of the last cell that gives it a value"""
        return {name: index for index, cell in enumerate(self) for name in (*cell.imports, *cell.defines)}


@dataclass(frozen=True)
class Chosen:
    """The dependencies of some names. cells: in the program's order; imports: name → statement; missing: in no cell."""

    cells: list[ParsedCell]
    imports: dict[str, str]
    missing: set[str]


def cells_for(names: set[str], program: Program) -> Chosen:
    """The last cell that defines each name, and what those cells need in turn: in time linear in the names."""
    indices, imports, missing = set(), {}, set()
    waiting, seen = sorted(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        index = program.last_with.get(name)
        if index is None:
            missing.add(name)
        elif name not in program[index].defines:
            imports[name] = program[index].imports[name]
        elif index not in indices:
            indices.add(index)
            waiting += sorted(program[index].reads - program[index].defines)
    return Chosen([program[index] for index in sorted(indices)], imports, missing - set(dir(builtins)))


def reached(start: Iterable[T], then: Callable[[T], Iterable[T]]) -> set[T]:
    """These things and all that they lead to, directly or through others. then: what a thing leads to."""
    found, waiting = set(), list(start)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += then(one)
    return found


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
