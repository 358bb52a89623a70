"""The shapes that a stub's docstring states, once, for the student. Inputs are drawn from them too.

    x: (..., m, n)    b: (n,)                      float32, unless the words behind the shape say something else
    token_ids: (batch, tokens) integers            int32;  "booleans": bool
    heads: a list of tensors (..., tokens, d)      as many as the axis `heads` has
    tokens: number of tokens                       annotated with `int`, and an axis has this name: the axis's size
    returns (..., tokens, heads * d)

An axis is a name, a number, a product of names, or "..." for any number of axes in front. An argument that
is stated in another way ("any shape", "booleans that broadcast to …") has no shape here: `draws` asks for a function.
"""

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from autograde.common import syntax
from autograde.common.caches import cached
from autograde.exercises import notebooks

FRONT = "..."  # the key of the axes in front in a dict of sizes: a tuple
Sizes = dict[str, int | tuple[int, ...]]  # axis → size

_ITEM = re.compile(r"^(?:(?P<names>\w+(?:, \w+)*):|returns:?) *(?P<stated>.*)$")
_STATED = re.compile(r"^(?P<list>a list of tensors )?\((?P<axes>[^()]*)\)(?P<words>.*)$")
_AXIS = re.compile(r"\.\.\.|\w+(?: \* \w+)*")
_DTYPES = ((r"\bint(egers?|s|32)?\b", "int32"), (r"\bbooleans?\b", "bool"))


@dataclass(frozen=True)
class Shape:
    """One stated shape. axes: as they are written; is_list: of each tensor of a list."""

    axes: tuple[str, ...]
    dtype: str = "float32"
    is_list: bool = False

    def __str__(self):
        return f"({', '.join(self.axes)}{',' if len(self.axes) == 1 else ''})"

    def at(self, sizes: Sizes) -> tuple[int, ...]:
        """The shape as numbers."""
        front, *named = self.axes if FRONT in self.axes else (None, *self.axes)
        return (*(sizes[FRONT] if front else ()), *(_size(axis, sizes) for axis in named))

    def learn(self, actual: tuple[int, ...], sizes: Sizes) -> str:
        """Adds the sizes of an actual shape; returns why it does not fit those known before, or ""."""
        named = [axis for axis in self.axes if axis != FRONT]
        cut = len(actual) - len(named)
        if cut < 0 or (cut and FRONT not in self.axes):
            return f"expected {self}, got {actual}"
        found = dict(zip(named, actual[cut:])) | ({FRONT: actual[:cut]} if FRONT in self.axes else {})
        for axis, size in found.items():
            if axis == FRONT or re.fullmatch(r"[^\W\d]\w*", axis):
                sizes.setdefault(axis, size)
            known = sizes[FRONT] if axis == FRONT else _size(axis, sizes)
            if known not in (size, None):
                return f"expected {self}, got {actual}: {axis} is {known} elsewhere"
        return ""


@dataclass(frozen=True)
class Stub:
    """The shapes that a stub states of its arguments and its result. None: no shape that can be read."""

    arguments: dict[str, Shape | None]
    numbers: tuple[str, ...]  # the arguments that are annotated with `int`
    optional: tuple[str, ...]  # those with a default value
    result: Shape | None

    @property
    def axes(self) -> list[str]:
        """The names of all axes, in the order in which the arguments state them, then the result."""
        names: list[str] = []
        for name, shape in (*self.arguments.items(), ("", self.result)):
            names += [name] if shape and shape.is_list else []
            names += [part for axis in (shape.axes if shape else ()) for part in re.findall(r"[^\W\d]\w*", axis)]
        return list(dict.fromkeys(names))

    def problems(self, arguments: tuple, result) -> Iterator[str]:
        """The arguments of a call, and its result, whose shape or dtype is not the stated one, as sentences."""
        sizes: Sizes = {name: value for name, value in zip(self.arguments, arguments) if name in self.numbers}
        stated = [(name, shape, value) for (name, shape), value in zip(self.arguments.items(), arguments)]
        for name, shape, value in (*stated, ("the result", self.result, result)):
            for array in (value if shape and shape.is_list else [value]) if shape else ():
                if not isinstance(array, np.ndarray):
                    yield f"{name}: expected an array {shape}, got {type(array).__name__}"
                elif array.dtype.kind != np.dtype(shape.dtype).kind:
                    yield f"{name}: expected {shape.dtype}, as the docstring states, got {array.dtype}"
                elif reason := shape.learn(array.shape, sizes):
                    yield f"{name}: {reason}"


def _size(axis: str, sizes: Sizes) -> int | None:
    """The size of an axis, also of a product; None if one of its names is not known."""
    factors = [int(part) if part.isdigit() else sizes.get(part) for part in axis.split(" * ")]
    return None if None in factors else math.prod(factors)


def of_module(module: str) -> Stub:
    """The stub of an exercise's module: "autograde.exercises.n03_attention.scores". Raises SolutionError."""
    package, _, name = module.rpartition(".")
    return of_exercise(package.rpartition(".n")[2], name.replace("_", "-"))


def of_exercise(notebook: str, identity: str) -> Stub:
    """The stub of an exercise. Raises SolutionError if its notebook has no answer with this id."""
    path = notebooks.path_of(notebook)
    return _read(path, path.stat().st_mtime_ns, notebook, identity)


@cached
def _read(path, changed: int, notebook: str, identity: str) -> Stub:
    facts = notebooks.facts_in(path)
    if identity not in facts:
        raise notebooks.SolutionError(f'{path}: expected an answer with "grade_id": "{identity}"')
    [cell] = [cell for cell in notebooks.cells_of(notebook) if cell.graded.get("grade_id") == identity]
    nodes = syntax.parse(cell.source).body
    [node] = [node for node in nodes if getattr(node, "name", "") == facts[identity].name]
    stated = dict(_stated(ast.get_docstring(node) or ""))
    parameters = node.args.args if isinstance(node, ast.FunctionDef) else []  # a layer's are in another form
    names = [parameter.arg for parameter in parameters]
    annotated = {parameter.arg: ast.unparse(parameter.annotation) for parameter in parameters if parameter.annotation}
    return Stub(
        arguments={name: stated.get(name) for name in names},
        numbers=tuple(name for name, annotation in annotated.items() if annotation == "int"),
        optional=tuple(names[len(names) - len(node.args.defaults) :]) if parameters else (),
        result=stated.get("returns"),
    )


def _stated(docstring: str) -> Iterator[tuple[str, Shape]]:
    """Each shape in a docstring with its argument's name, or "returns"."""
    for line in re.split(r"\n *|   +", docstring):
        item = _ITEM.match(line)
        stated = _STATED.match(item["stated"]) if item else None
        axes = tuple(filter(None, (axis.strip() for axis in stated["axes"].split(",")))) if stated else ()
        if axes and all(map(_AXIS.fullmatch, axes)) and FRONT not in axes[1:]:
            dtype = next((dtype for word, dtype in _DTYPES if re.search(word, stated["words"])), "float32")
            for name in (item["names"] or "returns").split(", "):
                yield name, Shape(axes, dtype, bool(stated["list"]))
