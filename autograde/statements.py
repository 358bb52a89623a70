"""The statements of a cell that some names need: what each binds, reads and changes. Works on text only.

    pieces = statements("HIDDEN = -1e9\n\ndef mask(s):\n    return s + HIDDEN\n\nprint(mask(3))")
    needed(pieces, {"mask"})          # the first two: printing makes no name
    needed(pieces, {"mask"}).missing  # the names that are read and bound nowhere: none

Used on both sides: the student's own package is written from it, and the grader puts together from it what a student
built in earlier notebooks. Nothing is compiled for running, and nothing is run.
"""

import ast
import builtins
import symtable
import warnings
from dataclasses import dataclass, field

from autograde import syntax

LARGEST = 200_000  # characters that are parsed
_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Statement:
    """One top-level statement with the comments above it.

    binds: names it gives a value; reads: names of the notebook it uses, in its functions too; changes: names whose
    value it changes without binding them (`TABLE["a"] = 1`, `words.append(…)`).
    """

    source: str
    binds: frozenset[str]
    reads: frozenset[str]
    changes: frozenset[str] = frozenset()
    kind: str = ""  # "import", "definition" or ""


@dataclass(frozen=True)
class Needed:
    """What some names need. statements: in their order; missing: names that are read but bound by none."""

    statements: list[Statement]
    missing: set[str] = field(default_factory=set)


def statements(source: str) -> list[Statement]:
    """The top-level statements of a program text; none of a text that is no program."""
    tree = _parsed(source)
    lines = source.splitlines()
    found, above = [], 0  # number of lines that belong to the statements before
    for place, node in enumerate(tree.body if tree else ()):
        after = tree.body[place + 1 : place + 2]
        shares_a_line = node.lineno <= above or (after and after[0].lineno == node.end_lineno)
        if shares_a_line:
            text = ast.get_source_segment(source, node)
        else:
            text = "\n".join(lines[above : node.end_lineno]).strip("\n")
        above = node.end_lineno
        while above < len(lines) and lines[above].startswith((" ", "\t")) and lines[above].lstrip().startswith("#"):
            text, above = f"{text}\n{lines[above]}", above + 1  # a remark at the end of a function
        found.append(_statement(node, text))
    return [statement for statement in found if statement is not None]


def needed(pieces: list[Statement], names: set[str]) -> Needed:
    """The statements that give these names their last values, with all that those read and what changes it."""
    chosen: set[int] = set()
    reached: set[str] = set()
    waiting = sorted(names)
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        for place in givers(pieces, name):
            if place not in chosen:
                chosen.add(place)
                waiting += sorted(pieces[place].reads)
    bound = set().union(*(pieces[place].binds for place in chosen)) | set(dir(builtins))
    return Needed([pieces[place] for place in sorted(chosen)], reached - bound)


def givers(pieces: list[Statement], name: str) -> set[int]:
    """Places of the last statement that binds a name, of earlier ones that it builds on (`f = wrap(f)`), of changes."""
    places: set[int] = set()
    for place in range(len(pieces) - 1, -1, -1):
        if name in pieces[place].binds:
            places.add(place)
            if name not in pieces[place].reads or pieces[place].kind:
                break
    imported = any(pieces[place].kind == "import" for place in places)
    if places and not imported:
        places |= {place for place, piece in enumerate(pieces) if name in piece.changes and place > min(places)}
    return places


def outer_names(source: str) -> set[str]:
    """The names of the notebook that a program text reads: not those that are local to its functions."""
    return set(_names(source)[1]) if _parsed(source) is not None else set()


def _statement(node, text: str) -> Statement | None:
    try:
        binds, reads = _names(text)
    except _UNPARSABLE:
        return None
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return Statement(text, binds, reads, kind="import")
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return Statement(text, binds, reads, kind="definition")
    return Statement(text, binds, reads, _changed(node) - binds)


def _names(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """(names bound at the top level, names of the notebook that are read)."""
    try:
        top = symtable.symtable(source, "cell", "exec")
    except _UNPARSABLE:  # it will fail when it runs
        return frozenset(), frozenset()
    binds = {
        symbol.get_name()
        for symbol in top.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }
    reads, tables = set(), [top]
    while tables:
        table = tables.pop()
        outside = table.get_type() == "module"
        reads |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (outside or symbol.is_global())
        }
        tables += table.get_children()
    return frozenset(binds), frozenset(reads)


def _changed(node) -> set[str]:
    """Names whose value a statement at the top level changes in place."""
    changed = set()
    for part in ast.walk(node):
        if isinstance(part, (ast.Subscript, ast.Attribute)) and isinstance(part.ctx, (ast.Store, ast.Del)):
            changed.add(_base(part))
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            if isinstance(part.value.func, ast.Attribute):
                changed.add(_base(part.value.func))
    return changed - {""}


def _base(node) -> str:
    """`a` of `a.b[c].d`; empty where it begins with something else."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _parsed(source: str) -> ast.Module | None:
    if len(source) > LARGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence" is not ours to say
            return syntax.parse(source)
    except _UNPARSABLE:
        return None
