"""Variants of a notebook's questions: names with values, which are different from student to student.

A notebook with variants has one locked cell that assigns them, with the grade_id `variant`:

    # %% tags=["setup"] nbgrader={"grade_id": "variant", "locked": true, "grade": false, "solution": false, …}
    FACTOR = 2
    UNIT = "metres"

Code uses the names; in texts and docstrings `{{FACTOR}}` stands for the value. The package of the notebook's exercises
has `VARIANTS`, how many there are, and `draw(rng)`, which returns values for these names. An exercise whose results
depend on them is a function `exercise(values)` in its module, in place of `EXERCISE`.

Variant 1, 2, … of a notebook are drawn from the notebook's name and the package's `SEED`, so that each release makes
the same ones; no two have the same values. Variant 0 has the values that are written in the notebook.
"""

import ast
import hashlib
import importlib
import re

import numpy as np

from autograde import exercises as folder
from autograde.common import syntax
from autograde.common.errors import AutogradeError

CELL = "variant"  # the grade_id of the cell that assigns the values
NUMBER = "VARIANT"  # the name in that cell whose value is the number of the variant
_MAX_DRAWS = 100  # for each variant, to find values that no other one has
_PLAIN = (bool, int, float, str)

Values = tuple[tuple[str, object], ...]  # (name, value) pairs


class VariantError(AutogradeError, ValueError):
    """A notebook whose variants cannot be made."""


def values_in(source: str) -> Values:
    """The names and values that a variant's cell assigns, its number left out. Raises VariantError."""
    found = {}
    for line in syntax.parse(source).body:
        try:
            (target,) = line.targets
            value = ast.literal_eval(line.value)
        except (AttributeError, ValueError):
            value = None
        if not isinstance(value, _PLAIN) or not isinstance(target, ast.Name):
            raise VariantError(
                f"expected only lines such as FACTOR = 2 in the cell {CELL!r}, each with a number or text, got "
                f"{ast.unparse(line)!r}"
            )
        found[target.id] = value
    found.pop(NUMBER, None)
    return tuple(found.items())


def number_in(source: str) -> int | None:
    """The number that a variant's cell states; None if it is not such a cell."""
    stated = re.search(rf"^{NUMBER} *= *(\d{{1,9}})\b", source, re.MULTILINE)
    return int(stated[1]) if stated else None


def cell_of(values: Values, number: int) -> str:
    """The source of the cell of one variant."""
    lines = [f"{name} = {value!r}" for name, value in values]
    stated = [f"{NUMBER} = {number}  # yours: your answers are graded with these values"] if number else []
    return "\n".join([*stated, *lines])


def filled(source: str, values: Values) -> str:
    """A text with the values in place of their names in double braces."""
    for name, value in values:
        source = source.replace("{{" + name + "}}", str(value))
    return source


def drawn(notebook: str, written: Values) -> list[Values]:
    """The values of the notebook's variants 1, 2, …; none if it has no variants. Raises VariantError.

    written: the values in the notebook, whose names each variant has.
    """
    package = importlib.import_module(f"{folder.__name__}.n{notebook}")
    count = getattr(package, "VARIANTS", 0)
    if count and package.KEPT_IN:
        raise VariantError(
            f'n{notebook}: its answers are kept for later notebooks, which cannot have variants; set KEPT_IN = ""'
        )
    seed = hashlib.sha256(f"variants {notebook} {getattr(package, 'SEED', '')}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(seed[:16], "big"))
    found: list[Values] = []
    for _ in range(_MAX_DRAWS * count):
        values = _values(notebook, package.draw(rng), written)
        if values not in found:
            found.append(values)
        if len(found) == count:
            break
    if len(found) < count:
        raise VariantError(
            f"n{notebook}: expected {count} variants with different values, but `draw` returned only {len(found)} "
            "different ones; lower VARIANTS or draw from more values"
        )
    return found


def _values(notebook: str, made: dict, written: Values) -> Values:
    """The result of `draw`, in the order of the notebook's cell; as numbers and texts of Python."""
    if sorted(made) != sorted(dict(written)):
        raise VariantError(
            f"n{notebook}: expected values of {', '.join(dict(written)) or 'no names'} from `draw`, as in the "
            f"notebook's cell {CELL!r}, got {', '.join(made)}"
        )
    values = tuple(
        (name, made[name].item() if isinstance(made[name], np.generic) else made[name]) for name, _ in written
    )
    for name, value in values:
        if not isinstance(value, _PLAIN):
            raise VariantError(f"n{notebook}: expected a number or text for {name}, got {type(value).__name__}")
    return values
