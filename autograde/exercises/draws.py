"""Random inputs, and inputs that are declared: literal cases, and cases drawn from the shapes that a stub states.

    INPUTS = draws(__name__, Case(([[1, 2], [3, 4]], [10, 20]), note="by hand"), sized(m=70))
    values(2, INPUTS)

The cases of every draw are, in this order: the literal ones (lists become arrays of the stated dtype), the `sized`
ones, then *the usual ones*: every axis of another size, with 0 to 3 axes in front where the stub has "..."; all axes of
one size; and each axis in turn of size 1. Hidden draws have further cases of drawn sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, repeat

import numpy as np

from autograde.exercises.spec import Case, Draw, Trial
from autograde.exercises.stub_shapes import FRONT, Shape, Sizes, Stub, of_module
from autograde.judging.claims import Slopes

__all__ = [
    "Draws", "Random", "at_drawn_sizes", "attention_weights", "draws", "normal", "sized", "some_seen", "whole_numbers",
    "with_zeros",
]  # fmt: skip

Random = np.random.Generator
Argument = Callable[[Random, Sizes], object] | int | str  # see `draws`
Scale = dict[str, float]  # argument → the standard deviation of its floats

FRONTS = ((), (2,), (2, 3), (1, 2, 2))  # axes in front of the visible cases
HIDDEN_FRONTS = ((), (1,), (2, 2), (2, 1, 3))
LARGEST = 11  # of a drawn size


def normal(rng: Random, *shape: int, size: float = 1.0) -> np.ndarray:
    """Standard normal float32 times `size`."""
    return np.asarray(rng.normal(size=shape) * size, dtype="float32")


def with_zeros(x: np.ndarray, row: int = 0) -> np.ndarray:
    """The same with one row of zeros in each matrix: a vector like any other."""
    x[..., row, :] = 0
    return x


def whole_numbers(rng: Random, high: int, *shape: int) -> np.ndarray:
    """int32 below `high`."""
    return rng.integers(0, high, size=shape).astype("int32")


def some_seen(rng: Random, *shape: int) -> np.ndarray:
    """A mask in which every query sees a key and misses one."""
    mask = rng.random(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    return rng.permuted(mask, axis=-1)


def turned(arguments: tuple) -> list:
    """Other arguments of the same types and sizes: the numbers of each array or list are moved on, by other distances.

    Single numbers and texts stay.
    """
    return [_turned(value, number) for number, value in enumerate(arguments, start=1)]


def _turned(value, steps: int):
    if isinstance(value, np.ndarray):
        return np.roll(value, steps)
    if isinstance(value, dict):
        return dict(zip(value, _turned(list(value.values()), steps)))
    if isinstance(value, (list, tuple)):
        holds_more = any(isinstance(item, (np.ndarray, list, tuple, dict)) for item in value)
        moved = (steps + index for index in range(len(value)))
        items = map(_turned, value, moved) if holds_more else np.roll(np.array(value, object), steps)
        return type(value)(items)
    return value


def attention_weights(rng: Random, hidden: int) -> dict[str, np.ndarray]:
    """The weights of multi-head attention, by role."""
    weights = {}
    for name in ("query", "key", "value", "out"):
        weights[f"{name}/kernel"] = normal(rng, hidden, hidden, size=1.5 * hidden**-0.5)
        weights[f"{name}/bias"] = normal(rng, hidden, size=0.5)
    return weights


# --- declared inputs ---


class DrawError(ValueError):
    """A declaration from which no inputs can be drawn."""


@dataclass(frozen=True)
class Sized:
    """A case of given sizes; see `sized`."""

    sizes: Sizes
    scale: Scale
    zeros: str
    note: str


def sized(
    *, front: tuple[int, ...] = (), scale: Scale | None = None, zeros: str = "", note: str = "", **sizes: int
) -> Sized:
    """A case whose axes have these sizes; all others have the usual ones.

    front: the axes in front; scale: argument → the standard deviation of its floats; zeros: the argument whose first
    row is zeros.
    """
    return Sized(sizes | {FRONT: front}, scale or {}, zeros, note)


@dataclass(frozen=True)
class Draws:
    """Declared inputs; see `draws`. Called with a generator it returns the cases of every draw."""

    module: str
    stated: tuple[Case | Sized, ...]
    in_front: bool | None
    least: dict[str, int]
    scale: Scale
    arguments: dict[str, Argument]

    @property
    def stub(self) -> Stub:
        return of_module(self.module)

    def __call__(self, rng: Random) -> list[Case]:
        literal = [case for case in self.stated if isinstance(case, Case)]  # lists become arrays of the stated dtype
        for place, case in enumerate(literal):
            shapes = chain(self.stub.arguments.values(), repeat(None))
            literal[place] = replace(case, arguments=tuple(map(_as_stated, case.arguments, shapes)))
        of_sizes = [self._stated(rng, case) for case in self.stated if isinstance(case, Sized)]
        return [*literal, *of_sizes, *(self._drawn(rng, sizes) for sizes in self._all_usual())]

    def hidden(self, rng: Random) -> list[Case]:
        """Further cases for hidden inputs, of drawn sizes and with other axes in front."""
        drawn = []
        for front in self._fronts(HIDDEN_FRONTS):
            sizes = {axis: int(rng.integers(self.least.get(axis, 1), LARGEST + 1)) for axis in self.stub.axes}
            drawn.append(self._drawn(rng, sizes | {FRONT: front}))
        return drawn

    def case(self, rng: Random, *, front: tuple[int, ...] = (), **sizes: int) -> Case:
        """One drawn case of these sizes, for relations between calls; all other axes have the usual sizes."""
        return self._drawn(rng, self._usual(0) | {FRONT: front} | sizes)

    def gradients(self, rng: Random) -> list[Trial]:
        """The gradients of the result with respect to each argument of floats."""
        sizes = self._usual(0)
        case, result = self._drawn(rng, sizes), self.stub.result
        floats = [index for index, value in enumerate(case.arguments) if getattr(value, "dtype", "") == "float32"]
        directions = {index: normal(rng, *case.arguments[index].shape) for index in floats}
        cotangent = normal(rng, *(result.at(sizes) if result else ()))  # without a stated shape the result is a scalar
        return [Trial((case,), (Slopes(cotangent, directions),))]

    def with_gradients(self, rng: Random) -> list[Trial]:
        """The cases of every draw as trials, and the gradients."""
        return [*(Trial((case,)) for case in self(rng)), *self.gradients(rng)]

    # --- sizes ---

    def _usual(self, turn: int) -> Sizes:
        """Another size for each axis, from 2 on; with each turn every axis has the size of the next."""
        axes, sizes = self.stub.axes, {}
        for place, axis in enumerate(axes):
            size = max(2 + (place + turn) % (len(axes) + 1), self.least.get(axis, 1))
            while size in sizes.values():
                size += 1
            sizes[axis] = size
        return sizes | {FRONT: ()}

    def _all_usual(self) -> list[Sizes]:
        axes, fronts = self.stub.axes, self._fronts(FRONTS)
        different = [self._usual(turn) | {FRONT: front} for turn, front in enumerate(fronts, start=1)]
        size = max(4, *self.least.values(), 0)
        square = dict.fromkeys(axes, size) | {FRONT: (size,) if any(fronts) else ()}
        ones = [different[0] | {axis: 1} for axis in axes if self.least.get(axis, 1) == 1]
        return [*different, square, *ones]

    def _fronts(self, fronts: tuple[tuple[int, ...], ...]) -> list[tuple[int, ...]]:
        """Those of these axes in front that the stub and the declaration allow."""
        has_front = any(shape is not None and FRONT in shape.axes for shape in self.stub.arguments.values())
        if not has_front or self.in_front is False:
            return [(), ()]
        return [front for front in fronts if front or self.in_front is None]

    # --- arguments ---

    def _stated(self, rng: Random, stated: Sized) -> Case:
        case = self._drawn(rng, self._usual(0) | stated.sizes, stated.scale)
        if stated.zeros:
            with_zeros(case.arguments[list(self.stub.arguments).index(stated.zeros)])
        return replace(case, note=stated.note)

    def _drawn(self, rng: Random, sizes: Sizes, scale: Scale | None = None) -> Case:
        stub, scale = self.stub, self.scale | (scale or {})
        unknown = (self.arguments.keys() | scale.keys()) - stub.arguments.keys()
        if unknown:
            raise DrawError(f"{self.module}: expected arguments of the stub, got {', '.join(sorted(unknown))}")
        values = {
            name: self._value(rng, stub, name, sizes, scale.get(name, 1.0))
            for name in stub.arguments
            if name in self.arguments or name not in stub.optional
        }
        positional = tuple(value for name, value in values.items() if name not in stub.optional)
        return Case(positional, {name: value for name, value in values.items() if name in stub.optional})

    def _value(self, rng: Random, stub: Stub, name: str, sizes: Sizes, scale: float):
        drawn, shape = self.arguments.get(name), stub.arguments[name]
        if callable(drawn):
            return drawn(rng, sizes)
        if shape is None and name in stub.numbers and name in sizes:
            return sizes[name]
        if shape is None or (shape.dtype == "int32") == (drawn is None):
            stated = f"{shape} {shape.dtype}" if shape else "no shape that can be read"
            raise DrawError(f"{self.module}: the docstring states {stated} for {name}; give draws(…, {name}=function)")
        if shape.dtype == "int32":
            return whole_numbers(rng, sizes[drawn] if isinstance(drawn, str) else drawn, *shape.at(sizes))
        arrays = []
        for _ in range(sizes[name] if shape.is_list else 1):
            size = shape.at(sizes)
            arrays.append(rng.random(size) < 0.5 if shape.dtype == "bool" else normal(rng, *size, size=scale))
        return arrays if shape.is_list else arrays[0]


def _as_stated(value, shape: Shape | None):
    if shape is None:
        return value
    return [np.asarray(item, shape.dtype) for item in value] if shape.is_list else np.asarray(value, shape.dtype)


def draws(
    module: str,
    *cases: Case | Sized,
    in_front: bool | None = None,
    least: dict[str, int] | None = None,
    scale: Scale | None = None,
    **arguments: Argument,
) -> Draws:
    """Inputs for `values` and `cases`: these cases, then cases drawn from the stub's shapes.

    module: `__name__`, by which the stub is found; cases: literal ones, and `sized` ones
    in_front: True or False: the drawn cases always or never have axes in front; None: some of them
    least: axis → its smallest size, where 1 makes no sense
    scale: argument → the standard deviation of its floats, if not 1
    arguments: how to draw what a shape does not say. A number or the name of an axis: whole numbers below it. A
    function (generator, sizes) → the argument: masks, lists of weights; `sizes` has the size of each axis by its name,
    and the axes in front as a tuple under "...". An argument with a default value that is not named here is left out.

    Example:
        draws(__name__, sized(tokens=600), token_ids="vocabulary", mask=lambda rng, sizes: np.ones(sizes["tokens"]))
    """
    return Draws(module, cases, in_front, least or {}, scale or {}, arguments)


def at_drawn_sizes(case_of: Callable[..., Case], *smallest: int, number: int = 2, largest: int = 6) -> Draw:
    """Cases of drawn sizes, for the hidden inputs of a layer: `case_of(rng, size, …)` makes one.

    smallest: the smallest value of each size, in the order in which `case_of` takes them.

    Example:
        hidden=at_drawn_sizes(layer_case, 1, 1, 2)
    """

    def cases(rng: Random) -> list[Case]:
        sizes = rng.integers(smallest, largest + 1, size=(number, len(smallest)))
        return [case_of(rng, *map(int, of_case)) for of_case in sizes]

    return cases
