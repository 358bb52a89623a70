"""A piece: the part of a notebook that one passed answer needs, as text that stands by itself in a module.

`gather` starts at the names an exercise asks for and follows what they read. Each name is looked up as the notebook
has it now: the cell that a function was written in comes from Python's own memory of it (`linecache`), everything else
from the cells that were run (IPython's `In`), where there are such. Of a cell only the statements that are needed are
taken: what was printed or drawn beside a function stays in the notebook.
"""

import ast
import builtins
import functools
import inspect
import linecache
import re
import sys
import types
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from autograde import syntax
from autograde.statements import Statement, givers, statements
from autograde.student.own import PACKAGE, STAND_INS

_STAND_INS = f"{STAND_INS}."
_LONGEST_CONSTANT = 20_000  # characters
_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_TIMED_CELL = re.compile(r"get_ipython\(\)\.run_cell_magic\('(?:time|timeit|capture|prun)', ")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")


class NotKept(Exception):
    """Why an answer cannot stand by itself: one clause, "it uses `x`, which …"."""


@dataclass(frozen=True)
class Piece:
    """What is kept of one exercise. statements: import statements among them; order: later ones were kept later."""

    exercise: str
    number: str
    title: str
    module: str
    names: tuple[str, ...]
    statements: tuple[str, ...]
    order: int = 0

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, values) -> "Piece":
        """The inverse of `to_dict`. Raises ValueError for anything else."""
        try:
            piece = cls(**values | {"names": tuple(values["names"]), "statements": tuple(values["statements"])})
        except (TypeError, KeyError) as error:
            raise ValueError(f"no piece: {error}") from None
        texts = (piece.exercise, piece.number, piece.title, piece.module, *piece.names, *piece.statements)
        if not all(type(text) is str for text in texts) or type(piece.order) is not int:
            raise ValueError("no piece: text was expected")
        if not (_NAME.fullmatch(piece.exercise) and _NAME.fullmatch(piece.module) and piece.module.isidentifier()):
            raise ValueError("no piece: its names are none of the course's")
        return piece


def gather(facts: dict, space: dict, kept: set[str], tried_with: Iterable[str] = ()) -> Piece:
    """The piece of an exercise from a notebook's names. Raises NotKept.

    kept: names that the student's own module has already, from other exercises. tried_with: names that its check needs
    besides, a model to train for instance.
    """
    gathering = _Gathering(space, facts["kept_in"], kept - set(facts["names"]))
    for name in (*facts["names"], *tried_with):
        if name in space:
            gathering.take(name)
    return Piece(facts["id"], facts["number"], facts["title"], facts["kept_in"], tuple(facts["names"]),
                 tuple(gathering.found))  # fmt: skip


class _Gathering:
    """The work of one `gather`. found: texts of statements, what they need before them."""

    def __init__(self, space: dict, module: str, kept: set[str]):
        self.space, self.module, self.kept = space, module, kept
        self.found: dict[str, None] = {}
        self.seen: set[str] = set()
        history = space.get("In")
        cells = history if isinstance(history, list) else []
        self.cells = [_statements_of_cell(cell) for cell in cells if isinstance(cell, str)]

    def take(self, name: str) -> None:
        if name in self.seen or (name not in self.space and hasattr(builtins, name)):
            return
        self.seen.add(name)
        if name not in self.space:
            raise NotKept(f"it uses `{name}`, which this notebook does not define")
        if name in self.kept:  # the module has it
            return
        value = self.space[name]
        own = self._written_here(name, value)
        imported = [statement for statement in own if statement.kind == "import"]
        if own and not imported:
            for statement in own:
                for read in sorted(statement.reads - {name}):
                    self.take(read)
                self.found[statement.source] = None
            return
        line = (_one_import(imported[-1], name) if imported else None) or _live_import(name, value)
        if line is not None:
            self._take_import(name, line)
        else:
            self.found[f"{name} = {_constant(name, value)}"] = None

    def _written_here(self, name: str, value) -> list[Statement]:
        """The statements that gave a name its value, from the cell of a function or class, else from what was run."""
        cell = statements(_cell_of(value)) if getattr(value, "__module__", "") == self.space.get("__name__") else []
        places = givers(cell, name)
        if places:
            if cell not in self.cells:
                self.cells.append(cell)
            return [cell[place] for place in sorted(places)]
        for cell in reversed(self.cells):
            places = givers(cell, name)
            if places:
                return [cell[place] for place in sorted(places)]
        return []

    def _take_import(self, name: str, line: str) -> None:
        own_module = f"{PACKAGE}.{self.module}"
        if line.startswith((f"from {own_module} ", f"import {own_module}")):
            raise NotKept(f"it uses `{name}` from {own_module} itself; define `{name}` in this notebook, too")
        self.found[line] = None


@functools.lru_cache(maxsize=2000)
def _statements_of_cell(cell: str) -> list[Statement]:
    """Of a cell as IPython keeps it: notebook commands are calls by then; one for the whole cell holds the cell."""
    found = statements(cell)
    call = syntax.parse(found[0].source).body[0] if len(found) == 1 else None
    inner = _TIMED_CELL.match(found[0].source) if call else None
    if not inner:
        return found
    return statements(ast.literal_eval(call.value.args[2]))


def _cell_of(value) -> str:
    """The text of the cell in which a function or class was written; empty if it was written elsewhere."""
    value = inspect.unwrap(value) if callable(value) else value
    functions = [value, *vars(value).values()] if inspect.isclass(value) else [value]
    functions = [getattr(function, "__func__", function) for function in functions]
    functions = [getattr(function, "fget", None) or function for function in functions]
    for function in functions:
        code = getattr(function, "__code__", None)
        if code is not None:
            return "".join(linecache.getlines(code.co_filename))
    return ""


# --- imports ---


def _one_import(statement: Statement, name: str) -> str | None:
    """The part of an import statement that binds one name; None of `import *`."""
    node = syntax.parse(statement.source).body[0]
    for alias in node.names:
        if (alias.asname or alias.name.partition(".")[0]) != name:
            continue
        renamed = f" as {alias.asname}" if alias.asname and alias.asname != alias.name else ""
        if isinstance(node, ast.Import):
            return f"import {alias.name}{renamed}"
        module = "." * node.level + (node.module or "")
        if module.startswith(_STAND_INS):
            module = f"{PACKAGE}.{module.removeprefix(_STAND_INS)}"
        return f"from {module} import {alias.name}{renamed}"
    return None


def _live_import(name: str, value) -> str | None:
    """How a value can be imported, judging by what it says about itself."""
    if isinstance(value, types.ModuleType):
        return _module_import(name, value)
    module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(own, str) or not own.isidentifier():
        return None
    renamed = "" if own == name else f" as {name}"
    if module.startswith(_STAND_INS):
        module = f"{PACKAGE}.{module.removeprefix(_STAND_INS)}"
    if module.startswith(f"{PACKAGE}."):
        return f"from {module} import {own}{renamed}"
    for place in (module.partition(".")[0], module):  # the public place, where it has one
        if place != "__main__" and getattr(sys.modules.get(place), own, None) is value:
            return f"from {place} import {own}{renamed}"
    return None


def _module_import(name: str, value) -> str | None:
    if sys.modules.get(value.__name__) is not value:
        return None
    above, _, last = value.__name__.rpartition(".")
    if above:
        return f"from {above} import {last}" + ("" if last == name else f" as {name}")
    return f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")


# --- constants ---


def _constant(name: str, value) -> str:
    """A plain value as source text. Raises NotKept."""
    if not _is_plain(value):
        kind = type(value).__name__
        raise NotKept(f"it uses `{name}` ({kind}), whose cell was not found; define it in the same cell")
    text = _literal(value)
    if len(text) > _LONGEST_CONSTANT:
        raise NotKept(f"it uses `{name}`, a constant of {len(text)} characters; pass it as an argument")
    return text


def _is_plain(value) -> bool:
    if type(value) in (list, tuple, set, frozenset):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(_is_plain(part) for pair in value.items() for part in pair)
    return type(value) in _PLAIN


def _literal(value) -> str:
    if type(value) is float and repr(value).strip("-") in ("inf", "nan"):
        return f'float("{value!r}")'
    if type(value) in (list, tuple):
        inner = ", ".join(map(_literal, value)) + ("," if type(value) is tuple and len(value) == 1 else "")
        return f"[{inner}]" if type(value) is list else f"({inner})"
    if type(value) in (set, frozenset):
        return f"{type(value).__name__}([{', '.join(sorted(map(_literal, value)))}])"
    if type(value) is dict:
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    return repr(value)
