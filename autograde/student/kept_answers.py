"""A kept answer: the whole cells of a notebook that one passed exercise depends on, as text that runs by itself.

The cells are those that IPython remembers (`In`), in the order in which they ran: the last one that defines a name
counts, as it does in the notebook. The bare expressions of a cell are left out: prints, drawings, checks, calls to try
something out. Only the imports that the cells need are kept.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from autograde.boundary.mybert_importer import PACKAGE
from autograde.common import syntax
from autograde.common.dependencies import ParsedCell, Program, cells_for

_COMMAND_FOR_A_CELL = re.compile(r"get_ipython\(\)\.run_cell_magic\('(?:time|timeit|capture|prun)', ")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")


class NotKept(Exception):
    """Why an answer cannot run by itself: one clause, "it uses `x`, which …"."""


@dataclass(frozen=True)
class KeptAnswer:
    """The kept answer to one exercise. cells: import statements first, one each; order: later ones were kept later."""

    exercise: str
    number: str
    title: str
    module: str
    names: tuple[str, ...]
    cells: tuple[str, ...]
    order: int = 0

    @classmethod
    def from_dict(cls, values) -> "KeptAnswer":
        """The inverse of `asdict`; also reads version 0.1, in which each statement is a cell. Raises ValueError."""
        try:
            values = dict(values)
            values["cells"] = tuple(values.pop("statements") if "statements" in values else values["cells"])
            answer = cls(**values | {"names": tuple(values["names"])})
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"expected a kept answer: {error}") from None
        texts = (answer.exercise, answer.number, answer.title, answer.module, *answer.names, *answer.cells)
        if not all(type(text) is str for text in texts) or type(answer.order) is not int:
            raise ValueError("expected a kept answer: a value is of another type")
        if not (_NAME.fullmatch(answer.exercise) and _NAME.fullmatch(answer.module) and answer.module.isidentifier()):
            raise ValueError("expected a kept answer: its exercise or module has a name that the course never uses")
        return answer


def gather(facts: dict, space: dict, tried_with: Iterable[str] = ()) -> KeptAnswer:
    """The kept answer to an exercise, from a notebook's names and cells. tried_with: further names that its check
    needs. Raises NotKept."""
    module, names = facts["kept_in"], tuple(facts["names"])
    program = Program(ParsedCell(_as_written(cell)).core for cell in space.get("In", ()) if isinstance(cell, str))
    chosen = cells_for({name for name in (*names, *tried_with) if name in space}, program)
    for name in sorted(chosen.missing):
        raise NotKept(f"it uses `{name}`, and no cell that was run in this notebook defines that")
    for name, line in chosen.imports.items():
        if f"{PACKAGE}.{module}" in line.split():
            raise NotKept(f"it uses `{name}` from {PACKAGE}.{module} itself; define `{name}` in this notebook, too")
    cells = (*sorted(set(chosen.imports.values())), *(cell.source for cell in chosen.cells))
    return KeptAnswer(facts["id"], facts["number"], facts["title"], module, names, cells)


def _as_written(cell: str) -> str:
    """A cell of IPython's `In`, where `%%time` over a cell has become a call that contains the cell."""
    if _COMMAND_FOR_A_CELL.match(cell) is None:
        return cell
    call = syntax.parse(cell).body[0].value
    return ast.literal_eval(call.args[2])
