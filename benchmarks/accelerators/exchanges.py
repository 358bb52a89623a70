"""The bytes that the chips of a pod send each other in one step, read from the text of each chip's program.

Counted are the bytes that one chip sends, in the shortest way for n chips: n − 1 of n parts of what is gathered,
scattered or passed round, and twice that of what is added up (Thakur et al. 2005, "Optimization of Collective
Communication Operations in MPICH", sections 4 and 5). A TPU's compiler writes one exchange into several fusions, which
start, continue and end it: they have one channel, and count once.

Part of `benchmarks.accelerators`.
"""

import re
from collections import Counter
from collections.abc import Iterator

from benchmarks.accelerators.hlo import CALLED, Instruction, Program

# Of n equal parts of the whole, which is the larger one of operand and result: (parts that a chip sends, for n chips).
SENT = {
    "all-gather": lambda n: n - 1,
    "reduce-scatter": lambda n: n - 1,
    "all-to-all": lambda n: n - 1,
    "all-reduce": lambda n: 2 * (n - 1),
    "collective-permute": lambda n: n,  # all of it
}
CHANNEL = re.compile(r"\bchannel_id=(\d+)")
GROUPS = (
    re.compile(r"replica_groups=mesh\[[^\]]*=(\d+)\]"),  # mesh['chips'=16]
    re.compile(r"replica_groups=\[\d+,(\d+)\]"),  # [groups, chips of each]
)
LISTED = re.compile(r"replica_groups=\{\{([\d,]+)\}")


def exchanged(program: Program) -> Counter:
    """Kind of exchange → bytes that one chip sends in a step."""
    found, seen = Counter(), set()
    for instruction, operands, times in _collectives(program, program.entry, 1):
        kind = instruction.opcode.removesuffix("-start")
        channel = CHANNEL.search(instruction.rest)
        if channel is None or channel[1] not in seen:
            found[kind] += bytes_sent(kind, instruction, operands) * times
        if channel:
            seen.add(channel[1])
    return found


def bytes_sent(kind: str, instruction: Instruction, operands: list[Instruction]) -> float:
    """Bytes that one chip sends in one exchange."""
    given = sum(array.size for operand in operands for array in operand.arrays)
    if kind == "collective-permute":
        return given
    n = group_size(instruction)
    whole = given if kind != "all-gather" else given * n
    return whole * SENT[kind](n) / n


def group_size(instruction: Instruction) -> int:
    """The number of chips that share an exchange. Raises ValueError if the text does not give it."""
    for pattern in GROUPS:
        if found := pattern.search(instruction.rest):
            return int(found[1])
    if found := LISTED.search(instruction.rest):
        return len(found[1].split(","))
    raise ValueError(f"expected replica_groups in {instruction.name}, got {instruction.rest[:200]!r}; read them here")


def _collectives(program: Program, name: str, times: int) -> Iterator[tuple[Instruction, list[Instruction], int]]:
    """Every exchange of a computation and of those that it calls: (it, its operands, its turns)."""
    around = program.computations[name]
    for instruction in around.values():
        if instruction.opcode.removesuffix("-start") in SENT:
            yield instruction, [around[operand] for operand in instruction.operands], times
        elif instruction.opcode in ("while", "call", "fusion") and (called := CALLED.search(instruction.rest)):
            yield from _collectives(program, called[1], times * program.turns(instruction, name))
