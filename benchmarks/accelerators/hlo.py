"""Reads the text of an optimised HLO program: what each of its kernels multiplies and moves.

Counted are the products (dot, convolution, calls of cuBLAS and of cuDNN's attention; 2 operations per multiplication
and addition) and the bytes of the card's main memory that are read and written, with their layout's padding. An array
in a TPU's fast memory (`S(1)` in its layout) costs none; bringing it there does. Of an operand that is only looked up
or sliced, what is taken counts.

A loop counts as often as it runs (`loops`). A custom call has no operations unless it is a product: a program with
another one that multiplies seems to do less than the model. cuDNN's attention multiplies twice forward, and five times
backward: it computes the scores again, which it never writes. Its workspace is not in the text.

How a convolution's operations are counted follows XLA's HloCostAnalysis: a TPU's compiler writes products of a batch of
matrices as convolutions most of whose window lies in padding.

Part of `benchmarks.accelerators`.
"""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.accelerators.loops import turns_of

INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%(?P<name>\S+) = (?P<shape>.+?) (?P<opcode>[a-z][\w\-]*)\(")
COMPUTATION = re.compile(r"^(?:ENTRY )?%(?P<name>\S+) \(.*\{$")
ARRAY = re.compile(r"\b(?P<type>[a-z]+\d*\w*)\[(?P<sizes>[\d,]*)\](?:\{(?P<layout>[^}]*)\})?")
LABELS = re.compile(r"dim_labels=(\w+)_(\w+)->(\w+)")
CALLED = re.compile(r"\b(?:calls|body|to_apply)=%([\w.\-]+)")
OP_NAME = re.compile(r'op_name="([^"]*)"')
PRODUCT_CALLS = ("__cublas$gemm", "__cublas$lt$matmul")
ATTENTION_CALL = re.compile(r'custom_call_target="__cudnn\$fmha\w*?(?P<backward>Backward)?"')

FREE = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "partition-id", "replica-id",
    "opt-barrier", "add-dependency", "iota",
}  # fmt: skip
TAKES_A_PART = ("slice", "dynamic-slice", "gather")
UPDATES = ("dynamic-update-slice", "scatter")  # in place
UNKNOWN = ("conditional", "async-start")  # neither compiler writes one for a training step
TRANSFERS = ("copy-start", "slice-start", "dynamic-slice-start", "dynamic-update-slice-start")


@dataclass(frozen=True)
class Array:
    """One array of a shape, as it lies in memory."""

    type: str
    sizes: tuple[int, ...]
    layout: str = ""

    @property
    def elsewhere(self) -> bool:
        """Whether it lies in another memory than the card's main one."""
        return "S(" in self.layout

    @property
    def size(self) -> float:
        """Bytes with padding, wherever it lies."""
        return math.prod(_padded(self.sizes, self.layout)) * bits_of(self.type) / 8

    @property
    def bytes(self) -> float:
        """Bytes in the card's main memory."""
        return 0.0 if self.elsewhere else self.size


def bits_of(type: str) -> int:
    """Bits of an element of an HLO type: f32 → 32, pred → 8, token and the like → 0."""
    if type == "pred":
        return 8
    found = re.match(r"[a-z]+(\d+)", type)
    return int(found[1]) if found else 0


def _padded(sizes, layout):
    """The sizes in memory: {1,0:T(8,128)} pads the last two dimensions to multiples of 8 and 128."""
    tile = re.search(r"T\(([\d,]+)\)", layout)
    if not tile or not sizes:
        return sizes
    minor_first = [int(i) for i in layout.split(":")[0].split(",")]
    padded = list(sizes)
    for axis, multiple in zip(minor_first, reversed([int(n) for n in tile[1].split(",")])):
        padded[axis] = -(-padded[axis] // multiple) * multiple
    return padded


def arrays_of(shape: str) -> list[Array]:
    """The arrays of a shape as HLO writes it: one, or those of a tuple."""
    return [
        Array(found["type"], tuple(int(n) for n in found["sizes"].split(",") if n), found["layout"] or "")
        for found in ARRAY.finditer(shape)
    ]


@dataclass
class Instruction:
    """A line of a computation. operands: names; rest: the text after them."""

    name: str
    opcode: str
    arrays: list[Array]
    operands: list[str]
    rest: str
    root: bool = False


@dataclass
class Cost:
    """products: bits of the operands → operations; bytes of the main memory; kernels: turns of one in a loop;
    transfer: a copy between memories that runs beside other kernels."""

    products: Counter = field(default_factory=Counter)
    bytes: float = 0.0
    kernels: int = 1
    transfer: bool = False

    @property
    def flops(self) -> float:
        return sum(self.products.values())


def parse(text: str) -> tuple[dict[str, dict[str, Instruction]], str]:
    """Every computation of a program, name → (name → instruction), and the entry's name.

    Raises ValueError for a text without an entry computation.
    """
    computations, entry, current = {}, "", {}
    for line in text.splitlines():
        if start := COMPUTATION.match(line):
            current = computations[start["name"]] = {}
            entry = start["name"] if line.startswith("ENTRY") else entry
        elif found := INSTRUCTION.match(line):
            inside, rest = _split(line[found.end() :])
            operands = re.findall(r"%([\w.\-]+)", inside)
            arrays, root = arrays_of(found["shape"]), line.lstrip().startswith("ROOT")
            rest = inside + rest if found["opcode"] in ("parameter", "constant") else rest
            current[found["name"]] = Instruction(found["name"], found["opcode"], arrays, operands, rest, root)
    if not entry:
        raise ValueError("expected an optimised HLO program, got a text without ENTRY; pass compiled.as_text()")
    return computations, entry


def _split(text):
    """The text up to the parenthesis that closes, and what follows it."""
    depth = 1
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[:i], text[i + 1 :]
    return text, ""


class Program:
    """The costs of a program's kernels, one after the other."""

    def __init__(self, text: str):
        self.computations, self.entry = parse(text)

    def kernels(self) -> list[tuple[str, Cost]]:
        """(operation's name as JAX gives it, cost) of every kernel of one step; one in a loop has all its turns."""
        return self._kernels(self.entry, 1)

    def turns(self, instruction: Instruction, inside: str) -> int:
        """The number of times that what an instruction calls runs, each time that the computation `inside` does."""
        return turns_of(instruction, self.computations, inside) if instruction.opcode == "while" else 1

    def _kernels(self, name, times):
        found = []
        for instruction in self.computations[name].values():
            called = CALLED.search(instruction.rest)
            if instruction.opcode in UNKNOWN:
                raise ValueError(
                    f"expected no {instruction.opcode} in the program, got {instruction.name}; count it here"
                )
            if instruction.opcode in ("while", "call"):
                found += self._kernels(called[1], times * self.turns(instruction, name))
            elif not _is_free(instruction):
                label = OP_NAME.search(instruction.rest)
                found.append((label[1] if label else instruction.opcode, self._cost(instruction, name, called, times)))
        return found

    def _cost(self, instruction, inside, called, times) -> Cost:
        products = self._products(instruction, inside, called)
        return Cost(
            Counter({bits: flops * times for bits, flops in products.items()}),
            self._bytes(instruction, self.computations[inside], called) * times,
            times,
            instruction.opcode in TRANSFERS,
        )

    def _products(self, instruction, inside, called) -> Counter:
        """Operations of an instruction and of what it calls, by the bits of the operands."""
        around = self.computations[inside]
        if instruction.opcode == "fusion":
            total = Counter()
            for part in self.computations[called[1]].values():
                total += self._products(part, called[1], CALLED.search(part.rest))
            return total
        flops = flops_of(instruction, around)
        if not flops:
            return Counter()
        return Counter({min(bits_of(around[name].arrays[0].type) for name in instruction.operands[:2]): flops})

    def _bytes(self, instruction, around, called) -> float:
        if instruction.opcode in TRANSFERS:
            return _bytes_of_transfer(instruction)
        if instruction.opcode != "fusion":
            return _bytes_of_one(instruction, around)
        fused = self.computations[called[1]]
        read = {}
        for index, name in enumerate(instruction.operands):
            read[name] = max(read.get(name, 0.0), _bytes_read(around[name], index, fused))
        written = [_bytes_written(part, fused) for part in _roots(fused)]
        return sum(read.values()) + sum(some for array, some in zip(instruction.arrays, written) if not array.elsewhere)


def _is_free(instruction) -> bool:
    """No kernel: a name for something, or waiting for a transfer."""
    free = instruction.opcode in FREE or instruction.opcode.endswith("-done")
    return free or '"ConcatBitcast"' in instruction.rest


def _bytes_of_transfer(instruction) -> float:
    """Source and result, in either order, are the first two arrays; what is moved is as large as the smaller one."""
    ends = instruction.arrays[:2]
    return min(end.size for end in ends) * sum(not end.elsewhere for end in ends)


def _bytes_of_one(instruction, around) -> float:
    workspace = "s8" if instruction.opcode == "custom-call" else None
    whole = sum(array.bytes for array in instruction.arrays if array.type != workspace)
    operands = [around[name] for name in dict.fromkeys(instruction.operands)]
    if instruction.opcode in TAKES_A_PART:
        return 2 * whole + sum(array.bytes for operand in operands[1:] for array in operand.arrays)
    if instruction.opcode in UPDATES:
        return 2 * sum(array.bytes for operand in operands[1:] for array in operand.arrays)
    return whole + sum(array.bytes for operand in operands for array in operand.arrays)


def _bytes_read(operand, index, fused) -> float:
    """Bytes that a fusion reads of the operand that is its parameter `index`."""
    whole = sum(array.bytes for array in operand.arrays)
    name = next(part.name for part in fused.values() if part.opcode == "parameter" and _number(part) == index)
    users = [user for user in fused.values() if name in user.operands]
    if users and all(user.opcode in TAKES_A_PART and user.operands[0] == name for user in users):
        return min(whole, sum(array.bytes for user in users for array in user.arrays))
    if users and all(_updates_in_place(user, name) for user in users):
        return min(whole, sum(_bytes_written(user, fused) for user in users))
    return whole


def _number(parameter) -> int:
    return int(parameter.rest.split(",")[0])


def _updates_in_place(user, name) -> bool:
    return user.opcode in UPDATES and user.operands[0] == name and name not in user.operands[1:]


def _roots(fused):
    root = next(part for part in fused.values() if part.root)
    return [fused[name] for name in root.operands] if root.opcode == "tuple" else [root]


def _bytes_written(part, fused) -> float:
    """Bytes that a fusion writes of one result."""
    if part.opcode == "bitcast" and fused[part.operands[0]].opcode in UPDATES:
        part = fused[part.operands[0]]
    if part.opcode in UPDATES and fused[part.operands[0]].opcode in ("parameter", "bitcast"):
        update = part.operands[1 if part.opcode == "dynamic-update-slice" else -1]
        return sum(array.bytes for array in fused[update].arrays)
    return sum(array.bytes for array in part.arrays)


# === Operations of a product ===


def flops_of(instruction: Instruction, around: dict[str, Instruction]) -> float:
    """Operations of one product; 0 for anything else. around: the instructions that its operands name."""
    result = instruction.arrays[0].sizes if instruction.arrays else ()
    if instruction.opcode == "dot":
        axes = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", instruction.rest)[1]
        return _dot(result, around[instruction.operands[0]].arrays[0].sizes, [int(i) for i in axes.split(",") if i])
    if instruction.opcode == "custom-call" and any(f'"{name}"' in instruction.rest for name in PRODUCT_CALLS):
        numbers = json.loads(re.search(r'"lhs_contracting_dimensions":(\[[^\]]*\])', instruction.rest)[1])
        return _dot(result, around[instruction.operands[0]].arrays[0].sizes, [int(i) for i in numbers])
    if instruction.opcode == "custom-call" and (attention := ATTENTION_CALL.search(instruction.rest)):
        (B, T, A, d), (_, S, _, _) = (around[name].arrays[0].sizes for name in instruction.operands[:2])
        return 2.0 * (5 if attention["backward"] else 2) * B * A * T * S * d
    if instruction.opcode == "convolution":
        return _convolution(instruction, *(around[name].arrays[0].sizes for name in instruction.operands[:2]))
    return 0.0


def _dot(result, left, axes) -> float:
    return 2.0 * math.prod(result) * math.prod(left[axis] for axis in axes)


def _convolution(instruction, left, right) -> float:
    left_labels, right_labels, result_labels = LABELS.search(instruction.rest).groups()
    groups = re.search(r"batch_group_count=(\d+)", instruction.rest)
    pairs = left[left_labels.index("b")] // (int(groups[1]) if groups else 1)
    pairs *= right[right_labels.index("i")] * right[right_labels.index("o")]
    for axis in filter(str.isdigit, result_labels):
        size = left[left_labels.index(axis)], right[right_labels.index(axis)]
        pairs *= _met(instruction, int(axis), *size, instruction.arrays[0].sizes[result_labels.index(axis)])
    return 2.0 * pairs


def _met(instruction, axis, left, right, result) -> int:
    """Pairs of result and window positions along an axis at which the window lies on the input, not on padding."""

    def window(key, default):
        found = re.search(rf"window=\{{[^}}]*\b{key}=([\dx_\-]+)", instruction.rest)
        return found[1].split("x")[axis] if found else default

    stride, low = int(window("stride", "1")), int(window("pad", "0_0").split("_")[0])
    spread, apart = int(window("lhs_dilate", "1")), int(window("rhs_dilate", "1"))
    positions = (i * stride - low + j * apart for i in range(result) for j in range(right))
    return sum(position % spread == 0 and 0 <= position // spread < left for position in positions)
