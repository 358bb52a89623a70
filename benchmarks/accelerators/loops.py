"""The number of times that the body of a loop in a compiled program runs.

Some loops contain the number. The loops in which a TPU's compiler exchanges parts of a matrix while it multiplies do
not: a counter is compared with a constant, and each turn adds a constant to it.

Part of `benchmarks.accelerators`.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.accelerators.hlo import Instruction

TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
CALLED = re.compile(r"\bcondition=%([\w.\-]+), body=%([\w.\-]+)")
FIRST_NUMBER = re.compile(r"(\d+)")
INDEX = re.compile(r"index=(\d+)")


def turns_of(loop: "Instruction", computations: dict[str, dict[str, "Instruction"]], inside: str) -> int:
    """Turns of a `while` in the computation `inside`. Raises ValueError if the text does not give them."""
    if found := TRIPS.search(loop.rest):
        return int(found[1])
    called = CALLED.search(loop.rest)
    condition, body = (computations[name] for name in called.groups())
    compared = _root(condition)
    if compared.opcode == "compare" and "direction=LT" in compared.rest:
        counter, limit = (condition[name] for name in compared.operands)
        index = INDEX.search(counter.rest)
        state = computations[inside][loop.operands[0]]
        if index and state.opcode == "tuple":
            at = int(index[1])
            first = _constant(computations[inside][state.operands[at]], computations[inside])
            numbers = (first, _constant(limit, condition), _step(body, at))
            if None not in numbers:
                return -(-(numbers[1] - first) // numbers[2])
    raise ValueError(
        f"expected a loop that counts up to a constant, got {loop.name} with {compared.name}; count it here"
    )


def _root(computation):
    return next(instruction for instruction in computation.values() if instruction.root)


def _step(body, at: int) -> int | None:
    """The constant that one turn adds to the counter, which is number `at` of the loop's state."""
    root = _root(body)
    if root.opcode != "tuple":
        return None
    added = body[root.operands[at]]
    constants = [_constant(body[name], body) for name in added.operands]
    return next((number for number in constants if number), None) if added.opcode == "add" else None


def _constant(instruction, around) -> int | None:
    """The number that an instruction gives, or a copy of one."""
    while instruction.opcode in ("copy", "bitcast"):
        instruction = around[instruction.operands[0]]
    found = FIRST_NUMBER.match(instruction.rest)
    return int(found[1]) if instruction.opcode == "constant" and found else None
