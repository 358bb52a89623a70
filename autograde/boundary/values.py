"""Plain values ⇄ a JSON header and raw buffers: the only format in which data passes between the two processes.

A *value* can be None, bool, int, float, str, a list, a tuple, a dict whose keys are strings or tuples of strings, or a
NumPy array, nested: no objects, no object arrays, no pickle. `decode` trusts nothing: every size, type and count is
checked against `Limits` before any memory is allocated.

    header, buffers = encode({"scores": np.zeros((2, 3), "float32"), "note": "three keys"})
    value = decode(header, buffers)          # the same dict; arrays are fresh copies

Header: `[kind]` or `[kind, content]`, by kind:

    ["none"]   ["bool", true]   ["int", "-12"]   ["float", "0x1.8p+0"]   ["str", "text"]
    ["list", [node, …]]   ["tuple", [node, …]]   ["dict", [[key, node], …]]
    ["array", {"dtype": "float32", "shape": [2, 3], "buffer": 0}]

The key of a dict is its text, or the list of its texts: ["play", "##ing"] for the tuple ("play", "##ing"). Hexadecimal
floats keep NaN, infinities and the last bit in JSON. Arrays are C-ordered and little-endian; `dtype` is one of
`DTYPES`, or "U" and a length for text. Every buffer is used exactly once, in order.
"""

import functools
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from autograde.common.errors import AutogradeError

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "bfloat16", "float32", "float64")  # fmt: skip
_TEXT_DTYPE = re.compile(r"U([1-9][0-9]{0,4})", re.ASCII)
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,40}", re.ASCII)
_LARGEST_CODE_POINT = 0x10FFFF
_SMALL_NODES, _SMALL_TEXT = 40, 1000  # of the value that comes in place of one too large
_LONGEST_KEY = 8  # strings in a tuple that is a dict's key


class ValueTreeError(AutogradeError, ValueError):
    """A value that is refused: not of a plain type, too large, or with an inconsistent header."""


@dataclass(frozen=True)
class Limits:
    """Caps on one value."""

    depth: int = 16
    nodes: int = 20_000
    bytes: int = 64 << 20  # all buffers together
    text: int = 1 << 20  # characters, all strings and keys together
    axes: int = 8


DEFAULT_LIMITS = Limits()
ANSWERS = Limits(nodes=60_000, text=4 << 20)  # of all answers of an exercise, with the arguments after each call


class _Budget:
    """The rest of the limits while a tree is read."""

    def __init__(self, limits: Limits):
        self.limits, self.nodes, self.bytes, self.text = limits, limits.nodes, limits.bytes, limits.text

    def spend(self, what: str, amount: int) -> None:
        left = getattr(self, what) - amount
        if left < 0:
            raise ValueTreeError(f"value too large: more than {getattr(self.limits, what)} {what}")
        setattr(self, what, left)

    def check_depth(self, depth: int) -> None:
        if depth > self.limits.depth:
            raise ValueTreeError(f"value too deep: more than {self.limits.depth} levels")


# --- out ---


def encode(value, limits: Limits = DEFAULT_LIMITS) -> tuple[list, list[bytes]]:
    """Splits a value into its header and the bytes of its arrays, in order. Raises ValueTreeError."""
    buffers: list[bytes] = []
    return _encode(value, buffers, _Budget(limits), depth=1), buffers


def encode_items(
    items: list, instead: Callable[[ValueTreeError], object], limits: Limits, characters: int, arrays: int
) -> tuple[list, list[bytes]]:
    """As `encode` of a list; in place of an item that does not fit any more comes `instead(reason)`, a small value.

    characters: of the header as JSON, and arrays: the number of them, that fit into one message.
    """
    kept = len(items) * _SMALL_NODES, len(items) * _SMALL_TEXT  # for what may come instead
    budget = _Budget(replace(limits, nodes=limits.nodes - kept[0], text=limits.text - kept[1]))
    nodes, buffers, left = [], [], characters - kept[1]
    for item in items:
        before, count = (budget.nodes, budget.bytes, budget.text), len(buffers)
        try:
            node = _encode(item, buffers, budget, depth=2)
            size = len(json.dumps(node))
            if size > left or len(buffers) > arrays:
                raise ValueTreeError("value too large: the answers together are too long for one message")
        except ValueTreeError as reason:
            del buffers[count:]
            budget.nodes, budget.bytes, budget.text = before
            node, size = _encode(instead(reason), [], _Budget(limits), depth=2), 0
        left -= size
        nodes.append(node)
    return ["list", nodes], buffers


def _encode(value, buffers, budget, depth):
    budget.check_depth(depth)
    budget.spend("nodes", 1)
    kind = type(value)  # exactly: a subclass may lie about what it holds
    if value is None:
        return ["none"]
    if kind is bool:
        return ["bool", value]
    if kind is int:
        text = str(value) if value.bit_length() < 128 else ""
        if not _WHOLE_NUMBER.fullmatch(text):
            raise ValueTreeError("value too large: a whole number of more than 40 digits")
        return ["int", text]
    if kind is float:
        return ["float", value.hex()]
    if kind is str:
        return ["str", _checked_text(value, budget)]
    if kind in (list, tuple):
        nodes = _encode_numbers(value, budget, depth + 1)
        if nodes is None:
            nodes = [_encode(item, buffers, budget, depth + 1) for item in value]
        return [kind.__name__, nodes]
    if kind is dict:
        return ["dict", [[_key(key, budget), _encode(item, buffers, budget, depth + 1)] for key, item in value.items()]]
    if kind is np.ndarray:
        return ["array", _encode_array(value, buffers, budget)]
    raise ValueTreeError(f"expected plain Python values and NumPy arrays, got a value of type {kind.__name__}")


def _encode_numbers(value, budget, depth) -> list | None:
    """The nodes of a list or tuple that holds whole numbers only, or floats only; None for another one.

    Random functions return thousands of them, and `_encode` takes a microsecond for each of its steps.
    """
    kinds = set(map(type, value))
    if kinds != {float} and (kinds != {int} or max(map(int.bit_length, value)) > 127):
        return None
    budget.check_depth(depth)
    budget.spend("nodes", len(value))
    return [["int", str(item)] for item in value] if kinds == {int} else [["float", item.hex()] for item in value]


def _key(key, budget):
    """A key in the header: its text, or the list of its texts."""
    if type(key) is str:
        return _checked_text(key, budget)
    if type(key) is not tuple or not 0 < len(key) <= _LONGEST_KEY or any(type(part) is not str for part in key):
        raise ValueTreeError(
            f"expected dict keys that are strings or tuples of a few strings, got a key of type {type(key).__name__}"
        )
    budget.spend("nodes", len(key))
    return [_checked_text(part, budget) for part in key]


def _checked_text(text, budget):
    budget.spend("text", len(text))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueTreeError("expected valid Unicode, got text with a lone surrogate") from None
    return text


@functools.lru_cache(maxsize=256)
def dtype_name(dtype: np.dtype) -> str | None:
    """The name under which arrays of this type travel; None if they may not."""
    if dtype.kind == "U":
        return f"U{max(dtype.itemsize // 4, 1)}"
    return dtype.name if dtype.name in DTYPES else None


def _encode_array(array, buffers, budget):
    name = dtype_name(array.dtype)
    if name is None:
        raise ValueTreeError(f"expected an array of numbers, booleans or text, got one of {array.dtype}")
    if array.ndim > budget.limits.axes:
        raise ValueTreeError(f"value too large: an array of {array.ndim} axes, more than {budget.limits.axes}")
    budget.spend("bytes", array.size * max(array.dtype.itemsize, 4 if name[0] == "U" else 1))
    array = array.astype(_little_endian(name), order="C", copy=False)
    if name[0] == "U":
        _check_code_points(array)
    buffers.append(array.tobytes())
    return {"dtype": name, "shape": [int(size) for size in array.shape], "buffer": len(buffers) - 1}


# --- in ---


def decode(header, buffers: list[bytes], limits: Limits = DEFAULT_LIMITS):
    """Rebuilds a value; arrays are copies. Raises ValueTreeError for invalid data."""
    budget, used = _Budget(limits), []
    value = _decode(header, buffers, used, budget, depth=1)
    if len(used) != len(buffers):
        raise ValueTreeError(f"malformed value: {len(buffers)} buffers came, {len(used)} are used")
    return value


def _decode(node, buffers, used, budget, depth):
    budget.check_depth(depth)
    budget.spend("nodes", 1)
    if type(node) is not list or not node or type(node[0]) is not str or len(node) != (1 if node[0] == "none" else 2):
        raise ValueTreeError("malformed value: a node is [kind] or [kind, content]")
    if node[0] == "none":
        return None
    kind, content = node
    if kind == "bool" and type(content) is bool:
        return content
    if kind == "int" and type(content) is str and _WHOLE_NUMBER.fullmatch(content):
        return int(content)
    if kind == "float" and type(content) is str and len(content) <= 40:
        try:
            return float.fromhex(content)
        except (ValueError, OverflowError):
            raise ValueTreeError("malformed value: not a hexadecimal float") from None
    if kind == "str" and type(content) is str:
        return _checked_text(content, budget)
    if kind in ("list", "tuple") and type(content) is list:
        items = [_decode(item, buffers, used, budget, depth + 1) for item in content]
        return items if kind == "list" else tuple(items)
    if kind == "dict" and type(content) is list:
        return _decode_dict(content, buffers, used, budget, depth)
    if kind == "array" and type(content) is dict:
        return _decode_array(content, buffers, used, budget)
    raise ValueTreeError(
        f"malformed value: unexpected node of kind {kind[:20]!r} with content of type {type(content).__name__}"
    )


def _decode_dict(pairs, buffers, used, budget, depth):
    result = {}
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2:
            raise ValueTreeError("malformed value: a dict holds pairs of key and node")
        key = pair[0] if type(pair[0]) is not list else tuple(pair[0])
        _key(key, budget)
        if key in result:
            raise ValueTreeError("malformed value: a dict names the same key twice")
        result[key] = _decode(pair[1], buffers, used, budget, depth + 1)
    return result


def _decode_array(description, buffers, used, budget):
    if set(description) != {"dtype", "shape", "buffer"} or type(description["dtype"]) is not str:
        raise ValueTreeError("malformed value: an array names its dtype, shape and buffer")
    shape, index = description["shape"], description["buffer"]
    if type(shape) is not list or len(shape) > budget.limits.axes:
        raise ValueTreeError(f"malformed value: a shape is a list of at most {budget.limits.axes} sizes")
    if any(type(size) is not int or not 0 <= size <= budget.limits.bytes for size in shape):
        raise ValueTreeError("malformed value: a shape holds whole numbers within the limits")
    if type(index) is not int or index != len(used) or index >= len(buffers):
        raise ValueTreeError("malformed value: buffers are used once each, in order")
    used.append(index)
    dtype = _little_endian(description["dtype"])
    size = math.prod(shape) * dtype.itemsize
    budget.spend("bytes", math.prod(axis or 1 for axis in shape) * dtype.itemsize)  # of huge empty arrays, too
    if len(buffers[index]) != size:
        raise ValueTreeError(f"malformed value: {len(buffers[index])} bytes for an array of {size}")
    array = np.frombuffer(buffers[index], dtype="uint8").copy().view(dtype).reshape(shape)
    if dtype.kind == "U":
        _check_code_points(array)
    if description["dtype"] == "bool" and array.size and array.view("uint8").max() > 1:
        raise ValueTreeError("malformed value: a boolean that is neither 0 nor 1")
    return array


@functools.lru_cache(maxsize=256)  # the name may come from a stranger
def _little_endian(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes  # comes with Keras

        return np.dtype(ml_dtypes.bfloat16)
    if name in DTYPES:
        return np.dtype(name).newbyteorder("<")
    if _TEXT_DTYPE.fullmatch(name):
        return np.dtype(f"<{name}")
    raise ValueTreeError(f"expected an array of numbers, booleans or text, got one of {name[:20]!r}")


def _check_code_points(array):
    points = np.frombuffer(array.tobytes(), "<u4")
    if points.size and (points.max() > _LARGEST_CODE_POINT or ((points >= 0xD800) & (points <= 0xDFFF)).any()):
        raise ValueTreeError("expected an array of Unicode text, got an invalid code point")
