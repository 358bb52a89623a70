"""The least time that a compiled program needs on a card.

A kernel takes as long as its products at the card's peak or its bytes at the memory's bandwidth, the longer of both
(Williams et al. 2009, "Roofline"). One starts when the one before has ended; a TPU's transfers between its memories run
beside them, and all bytes together need their time. Nothing is measured: a run is slower.

Part of `benchmarks.accelerators`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.accelerators.cards import Card
from benchmarks.accelerators.hlo import Cost

COSTLIEST = 10


@dataclass(frozen=True)
class Line:
    """Kernels of one name: their number, operations and bytes, and the least seconds of all of them."""

    name: str
    kernels: int
    flops: float
    bytes: float
    seconds: float


def arithmetic_seconds(cost: Cost, card: Card) -> float:
    """The products' time at the card's peak for their operands' type."""
    return sum(flops / (card.flops if bits <= 16 else card.flops_32) for bits, flops in cost.products.items())


def seconds_of(cost: Cost, card: Card) -> float:
    """The least time of one kernel, or of all its turns in a loop."""
    return max(arithmetic_seconds(cost, card), cost.bytes / card.bandwidth)


def least_seconds(kernels: Iterable[tuple[str, Cost]], card: Card) -> float:
    """The least time of all kernels of a step."""
    costs = [cost for _, cost in kernels]
    in_turn = sum(seconds_of(cost, card) for cost in costs if not cost.transfer)
    return max(in_turn, sum(cost.bytes for cost in costs) / card.bandwidth)


def plain_name(op_name: str) -> str:
    """An operation's name as JAX gives it, without the program's and the layer's number.

    Example:
        >>> plain_name("jit(train_step)/transpose(jvp(model))/encoder/layer_3/attention/mul")
        'backward: encoder/layer_*/attention/mul'
    """
    name = re.sub(r"^jit\([^)]*\)/", "", op_name)
    name = re.sub(r"^transpose\(jvp\([^)]*\)\)/?", "backward: ", name)
    name = re.sub(r"^jvp\([^)]*\)/?", "forward: ", name)
    return re.sub(r"\blayer_\d+\b", "layer_*", name)


def lines_of(kernels: Iterable[tuple[str, Cost]], card: Card) -> list[Line]:
    """One line for each plain name, the costliest first."""
    lines: dict[str, Line] = {}
    for op_name, cost in kernels:
        name = f"transfer: {op_name}" if cost.transfer else plain_name(op_name)
        old = lines.get(name, Line(name, 0, 0.0, 0.0, 0.0))
        lines[name] = Line(
            name, old.kernels + cost.kernels, old.flops + cost.flops, old.bytes + cost.bytes,
            old.seconds + seconds_of(cost, card),
        )  # fmt: skip
    return sorted(lines.values(), key=lambda line: -line.seconds)
