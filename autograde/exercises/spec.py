"""The definition of an exercise, with all facts about it in one object. The instructor's side only.

An exercise defines how to call the student's code (its *probe*), how to draw inputs from a seed, the right results (its
*reference*: NumPy, float64, independent of the library), how its points are divided (its *parts*) and the known
mistakes (its *misconceptions*). `autograde.exercises.planning.planner` turns it, with a seed, into a plan: plain data
that can be graded anywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from autograde.boundary.calls import REPEATED, RESULT
from autograde.judging.claims import *  # noqa: F403 (exercises import them from here)
from autograde.judging.claims import Reference
from autograde.judging.compare import Tolerance

__all__ = [  # what modules of exercises use, besides the claims
    "Case", "Exercise", "Forbidden", "Part", "Trial", "cases", "composed", "filling", "layer", "mistake",
    "plain_function", "random_function", "repeated", "result_of", "stream", "taking", "training_step", "values",
    "with_model",
]  # fmt: skip

Draw = Callable[[np.random.Generator], list["Case"]]


@dataclass(frozen=True)
class Case:
    """One call: arguments in order, keywords, and for a layer its weights by role."""

    arguments: tuple
    keywords: dict = field(default_factory=dict)
    weights: dict = field(default_factory=dict)
    config: dict = field(default_factory=dict)  # for a layer: the arguments of its constructor
    note: str = ""  # "the lecture's example"
    seed: int | None = None  # for what uses chance: set before the call, so that the same code answers the same
    first: tuple = ()  # the arguments of an earlier call, of which nothing may be remembered; a layer is built in it
    seeds: tuple[int, ...] = ()  # for a random function: one call with a generator of each; the last repeats the first
    calls: tuple[tuple[str, "Case"], ...] = ()  # of a composition, in order: (exercise, call); nothing else is set then


def composed(*calls: tuple[str, Case]) -> Case:
    """Several calls as one question, for hidden inputs: of the exercise's own thing, and of earlier exercises' things.

    calls: (exercise, its call); an argument may be `result_of` a call before it. All results must be right at the end,
    and each layer has weights of its own. The others are the student's answers; if the exercise loses points so, it is
    asked again on the course's, like every exercise (`grader/carry_forward.py`).

    Example:
        composed(("tokenize", Case((text, vocabulary))), ("pack", Case((result_of(0), None, vocabulary, 8))))
    """
    return Case((), calls=calls)


def result_of(call: int, item: int | None = None) -> dict:
    """An argument of a composition's call: the result of call 0, 1, …, or one item of it if it is a tuple or list."""
    return {RESULT: call} if item is None else {RESULT: call, "item": item}


def repeated(row: list, times: int) -> dict:
    """An argument of a composition's call: a list that is so often repeated that a question cannot hold it."""
    return {REPEATED: row, "times": times}


@dataclass(frozen=True)
class Trial:
    """Some calls and the claims about their results."""

    cases: tuple[Case, ...]
    claims: tuple = (Reference(),)


@dataclass(frozen=True)
class Part:
    """A part of the points, earned as a whole. The later parts of an exercise count only if the first is earned.

    trials: rng → list of Trial; failure: the message if it does not hold. Every edge that the text names is in the
    trials of every draw: chance decides numbers, never whether a case occurs. hidden: rng → further trials for hidden
    inputs, with other sizes, numbers of axes and combinations of this part's edges. An edge of another part belongs
    there: who misses it loses that part, as `check` shows, and not this one too.
    """

    name: str
    points: float
    trials: Callable[[np.random.Generator], list[Trial]]
    failure: str = ""
    hidden: Callable[[np.random.Generator], list[Trial]] = lambda rng: []


def values(points: float, draw: Draw | list[Case], name: str = "values", hidden: Draw | None = None) -> Part:
    """The reference's values on drawn cases, or on these. hidden: further cases for hidden inputs."""
    return cases(name, points, draw, "", hidden)


def cases(name: str, points: float, draw: Draw | list[Case], failure: str, hidden: Draw | None = None) -> Part:
    """The reference's values on special cases, with a failure message of their own.

    hidden: further cases for hidden inputs; by default those of the declaration, if the cases are declared (`draws`).
    """
    visible = draw if callable(draw) else lambda rng: draw
    more = hidden or getattr(draw, "hidden", lambda rng: [])
    return Part(
        name, points, lambda rng: [Trial((case,)) for case in visible(rng)], failure,
        hidden=lambda rng: [Trial((case,)) for case in more(rng)],
    )  # fmt: skip


@dataclass(frozen=True)
class Misconception:
    """A known mistake that can be named.

    patch: (old, new) pairs for the solution's cell, each old text there exactly once; or cell: the whole cell.
    hint: the explanation a student gets; may use the exercise's facts in braces.
    """

    id: str
    hint: str
    patch: tuple[tuple[str, str], ...] = ()
    cell: str | None = None


def mistake(id: str, *patch: str, hint: str, cell: str | None = None) -> Misconception:
    """A misconception in one line: `mistake("no-scale", "products / d**0.5", "products", hint="Divide by √d.")`.

    patch: old text, new text, and more pairs if one is not enough; or cell: the whole answer as such a student has it.
    """
    if len(patch) % 2 or bool(patch) == bool(cell):
        raise TypeError(f"mistake {id!r}: expected pairs of old and new text, or a cell, got {len(patch)} texts")
    return Misconception(id, hint, tuple(zip(patch[::2], patch[1::2])), cell)


@dataclass(frozen=True)
class Forbidden:
    """Dotted names of functions that would do the exercise for the student, and the sentence why they are forbidden."""

    because: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exercise:
    """One exercise. A module states the first group of fields; the catalogue reads the second from the notebook."""

    parts: tuple[Part, ...]
    hints: tuple[str, ...] = ()  # from general to specific
    misconceptions: tuple[Misconception, ...] = ()
    # The same arguments as the student's thing, NumPy float64 (a layer: also weights, config). None where there is
    # nothing to compare with: a function that draws at random is judged by rules and rates.
    reference: Callable | None = None
    probe: dict = field(default_factory=lambda: function())
    tolerance: Tolerance = Tolerance()
    dtype: str = "float32"  # of the result
    returns: str = "tensor"  # the kind of thing that must come back (see `plain.describe`), or "anything"
    in_graph: bool = False  # ask one question inside of `tf.function`, as later notebooks call it
    unknown_batch: bool = True  # and there, of a layer, with a batch size that is not known in advance
    forbidden: Forbidden = Forbidden()
    facts: Callable[[Case], dict] = lambda case: {}  # for the braces in hints
    slow_draws: bool = False  # answers to a draw take seconds: quick proofs use the visible inputs and fewer draws
    few_inputs: bool = False  # it has so few different inputs that two draws may agree

    id: str = ""
    notebook: str = ""  # "03_attention"
    number: str = ""  # "3.4"
    title: str = ""
    minutes: int = 0
    lines: str = ""  # which lines of the lecture's algorithm
    names: tuple[str, ...] = ()  # what the student defines; check(thing) finds the exercise by them
    arguments: tuple[str, ...] = ()  # the names of its parameters, for the report
    kept_in: str = ""  # the module of the student's own package that a passed answer goes to: "attention"
    variant: tuple[tuple[str, object], ...] = ()  # the values of the question's variant, if not the written ones

    @property
    def points(self) -> float:
        return sum(part.points for part in self.parts)


# --- probes: how the student's thing is called. Its name comes from the notebook. ---


def function() -> dict:
    """Calls a function."""
    return {"kind": "function"}


def taking(name: str) -> dict:
    """Calls a function whose first argument is the notebook's function `name`, which is in a cell tagged "setup".

    A case's first argument, and the reference's, is the list of arrays that come behind that function's own arguments.
    """
    return function() | {"takes": name}


def plain_function() -> dict:
    """Calls a function whose arrays stay NumPy arrays."""
    return function() | {"tensors": False}


def random_function() -> dict:
    """Calls a function many times, each time with a NumPy generator of another seed as last argument."""
    return {"kind": "seeded", "tensors": False}


def stream(max_items: int) -> dict:
    """Calls a function and takes the first `max_items` items of its result, for example of a data set."""
    return {"kind": "items", "most": max_items, "tensors": False}


def filling() -> dict:
    """Calls a function that assigns variables, and reads these afterwards."""
    return {"kind": "fill"}


def training_step(model: str, roles: dict[str, list[str]]) -> dict:
    """Lets a function train a model of the notebook's and reads the model's weights afterwards.

    The function takes (model, optimizer, batch). A case's keywords are `steps`, how often, and `rate`, the step size.
    """
    return {"kind": "step", "model": model, "roles": roles}


def with_model(model: str, roles: dict[str, list[str]]) -> dict:
    """Calls a function whose first argument is a model of the notebook's, made here, with the case's weights in it.

    model: the name of its class, which makes its weights in its constructor. The case's arguments are the others, as
    NumPy arrays and plain values; the reference gets them and, by name, `weights` and `config`.
    """
    return {"kind": "with model", "model": model, "roles": roles, "tensors": False}


def layer(roles: dict[str, list[str]]) -> dict:
    """Constructs a layer, sets its weights by role and calls it."""
    return {"kind": "layer", "roles": roles}


def named(probe: dict, name: str) -> dict:
    """A probe with the name of the function or class that it calls."""
    kind, *others = probe.items()
    return dict([kind, ("name", name), *others])
