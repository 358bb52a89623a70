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
from dataclasses import dataclass, field

from autograde import syntax

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Names:
    """Names at the top level of a program text.

    defines: names it gives a value, or whose value it changes by assignment (`TABLE["a"] = 1`); reads: all names that
    it uses and that are not local to its functions; needs: those of them that must come from elsewhere.
    """

    defines: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CodeCell:
    """A cell without its top-level imports and bare expressions (calls such as `print(…)`, a drawing, a check).

    imports: name → the import statement that gives it its value.
    """

    source: str
    imports: dict[str, str] = field(default_factory=dict)
    names: Names = Names()


@dataclass(frozen=True)
class Chosen:
    """What some names depend on. cells: in the program's order; imports: name → statement; missing: in no cell."""

    cells: list[CodeCell]
    imports: dict[str, str]
    missing: set[str]


def cells_for(names: set[str], program: list[CodeCell]) -> Chosen:
    """The last cell that defines each name, and what those cells need in turn."""
    places, imports, missing = set(), {}, set()
    waiting = [(name, len(program)) for name in sorted(names)]
    seen = set(waiting)
    while waiting:
        name, end = waiting.pop()
        place = next((place for place in reversed(range(end)) if _gives(program[place], name)), None)
        if place is None:
            missing |= {name} - set(dir(builtins))
            continue
        cell = program[place]
        if name not in cell.names.defines:
            imports[name] = cell.imports[name]
            continue
        places.add(place)
        imports |= {other: cell.imports[other] for other in cell.names.needs & cell.imports.keys()}
        for other in sorted(cell.names.needs - cell.imports.keys()):
            asked = (other, place if other in cell.names.defines else len(program))  # `f = wrap(f)`: an earlier f
            if asked not in seen:
                seen.add(asked)
                waiting.append(asked)
    return Chosen([program[place] for place in sorted(places)], imports, missing)


def _gives(cell: CodeCell, name: str) -> bool:
    return name in cell.names.defines or name in cell.imports


@functools.lru_cache(maxsize=4000)
def read_cell(source: str, with_expressions: bool = False) -> CodeCell:
    """A cell of a notebook. One that is no Python program has no names."""
    tree = syntax.parsed(source)
    if tree is None:
        return CodeCell(source)
    apart = (*_IMPORTS,) if with_expressions else (*_IMPORTS, ast.Expr)
    staying = {line for node in tree.body if not isinstance(node, apart) for line in _lines_of(node)}
    leaving = [node for node in tree.body if isinstance(node, apart) and not _lines_of(node) & staying]
    left_out = {line for node in leaving for line in _lines_of(node)}
    lines = [line for number, line in enumerate(source.split("\n"), start=1) if number not in left_out]
    imports = {}
    for node in leaving:
        imports |= _imported(node) if isinstance(node, _IMPORTS) else {}
    text = "\n".join(lines).strip("\n")
    return CodeCell(text, imports, names_of(text))


def statements(source: str) -> list[CodeCell]:
    """The top-level statements of a program text, each as a cell of its own."""
    tree, lines = syntax.parsed(source), source.split("\n")
    spans = [sorted(_lines_of(node)) for node in tree.body] if tree else []
    return [read_cell("\n".join(lines[span[0] - 1 : span[-1]])) for span in spans]


def _lines_of(node) -> set[int]:
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return set(range(first, node.end_lineno + 1))


def _imported(node) -> dict[str, str]:
    """name → a statement that imports it alone."""
    before = f"from {'.' * node.level}{node.module or ''} " if isinstance(node, ast.ImportFrom) else ""
    given = {}
    for alias in node.names:
        renamed = f" as {alias.asname}" if alias.asname and alias.asname != alias.name else ""
        given[alias.asname or alias.name.partition(".")[0]] = f"{before}import {alias.name}{renamed}"
    return given


def names_of(source: str) -> Names:
    """The names of a program text; none of a text that is no program."""
    tree = syntax.parsed(source)
    defines, needs, reads, in_functions = set(), set(), set(), set()
    for node in tree.body if tree else ():
        defined, at_once, later = _names_of_statement(node)
        needs |= at_once - defines
        in_functions |= later
        reads |= at_once | later
        defines |= defined
    return Names(frozenset(defines), frozenset(reads), frozenset(needs | (in_functions - defines)))


def _names_of_statement(node) -> tuple[set[str], set[str], set[str]]:
    """Names of one statement: (defined, read when it runs, read by its functions when they are called)."""
    try:
        top = symtable.symtable(ast.unparse(node), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it will fail when it runs
        return set(), set(), set()
    symbols = top.get_symbols()
    defined = {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()
               or symbol.is_namespace()}  # fmt: skip
    at_once, later = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}, set()
    tables = [(child, at_once) for child in top.get_children()]
    while tables:
        table, into = tables.pop()
        into = into if table.get_type() == "class" else later
        into |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and symbol.is_global()}
        tables += [(child, into) for child in table.get_children()]
    if not isinstance(node, _DEFINITIONS):
        at_once -= defined if hasattr(node, "body") else set()  # `i` of `for i in …: total = i`
        changed = _changed(node)
        defined, at_once = defined | changed, at_once | changed
    return defined, at_once, later


def _changed(node) -> set[str]:
    """`a` of `a[0] = 1`, `a.b = 1` and `a += 1`: its value is changed, so it had one before."""
    targets = [part for part in ast.walk(node) if isinstance(getattr(part, "ctx", None), (ast.Store, ast.Del))
               and not isinstance(part, ast.Name)]  # fmt: skip
    targets += [part.target for part in ast.walk(node) if isinstance(part, ast.AugAssign)]
    return {base.id for base in map(_base, targets) if isinstance(base, ast.Name)}


def _base(node):
    """`a` of `a.b[c].d`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node
