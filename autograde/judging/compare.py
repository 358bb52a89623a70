"""Compares two results: where they first differ, by how much, and whether the difference has a simple form.

The inputs are plain values (see `values`), so nothing here can run a student's code. Arrays of numbers are compared
with a tolerance, |got − expected| ≤ atol + rtol·|expected|; everything else exactly. The expected
array's dtype is the one a student must return: references are computed in float64 and then cast to the dtype of the
exercise.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from autograde.common.texts import around, article, first_difference, row, short, visible

SAME_FACTOR = 1e-3  # a ratio counts as the same everywhere if it varies by less than this
LONGEST_TEXT = 60  # characters of a string that are shown; of a longer one those around the first difference
_ONE = ("1", "1.0")  # a factor that explains nothing
SLICE = 6  # rows and columns of the small slice that is shown


@dataclass(frozen=True)
class Tolerance:
    """The difference that a float32 result may have from the float64 reference."""

    rtol: float = 1e-4
    atol: float = 1e-5

    def allows(self, expected: np.ndarray, got: np.ndarray) -> np.ndarray:
        """Element by element: close enough? A NaN is equal to nothing; an infinity to itself."""
        expected, got = expected.astype("float64"), got.astype("float64")
        with np.errstate(invalid="ignore"):
            near = np.abs(got - expected) <= self.atol + self.rtol * np.abs(expected)
        return near | (got == expected)


EXACT = Tolerance(0.0, 0.0)


@dataclass(frozen=True)
class Difference:
    """The first fault of a result. kind: "type", "length", "shape", "dtype", "nan" or "values"."""

    kind: str
    message: str  # one line for a reader
    index: tuple | None = None  # of the first element that differs
    yours: object = None  # a small slice of the student's array, or the value
    expected: object = None


def compare(expected, got, tolerance: Tolerance = Tolerance()) -> Difference | None:
    """The first fault of `got`, or None."""
    if isinstance(expected, np.ndarray):
        return _compare_arrays(expected, got, tolerance)
    if isinstance(expected, (list, tuple)):
        return _compare_sequences(expected, got, tolerance)
    if isinstance(expected, dict):
        return _compare_dicts(expected, got, tolerance)
    if type(expected) is int and is_scalar(got) and got.dtype.kind in "iu":
        got = int(got)
    if isinstance(expected, float) and (type(got) in (int, float) or is_scalar(got)):
        array = np.array(got, "float64")
        return _compare_arrays(np.array(expected), array, tolerance)
    if type(got) is type(expected) and got == expected:
        return None
    message = f"yours {short(got)}   expected {short(expected)}"
    if type(got) is str and type(expected) is str and (_is_long(got) or _is_long(expected)):
        index = first_difference(got, expected)
        message = f"yours {around(got, index)}   expected {around(expected, index)}   from character {index}"
    return Difference("values", message, (), got, expected)


def is_scalar(value) -> bool:
    """Whether this is a number of NumPy or a backend: an array without axes."""
    return type(value) is np.ndarray and value.shape == () and value.dtype.kind in "iuf"


def _is_long(text: str) -> bool:
    return len(visible(text[: LONGEST_TEXT + 1])) > LONGEST_TEXT


def _compare_sequences(expected, got, tolerance):
    if type(got) not in (list, tuple):
        return Difference("type", f"yours is {article(kind_of(got))}; expected {article(type(expected).__name__)}")
    for index, (wanted, item) in enumerate(zip(expected, got)):
        found = compare(wanted, item, tolerance)
        if found:
            return _inside(f"[{index}]", found, (index, *(found.index or ())))
    if len(got) != len(expected):
        items = "1 item" if len(got) == 1 else f"{len(got)} items"
        return Difference("length", f"yours has {items}; expected {len(expected)}", (), got, expected)
    return None


def _compare_dicts(expected, got, tolerance):
    if type(got) is not dict:
        return Difference("type", f"yours is {article(kind_of(got))}; expected a dict")
    missing = [key for key in expected if key not in got]
    extra = [key for key in got if key not in expected]
    if missing or extra:
        lists = (("missing keys", missing), ("unexpected keys", extra))
        return Difference("type", "\n".join(f"{words}: {row(keys)[1:-1]}" for words, keys in lists if keys))
    for key, wanted in expected.items():
        found = compare(wanted, got[key], tolerance)
        if found:
            return _inside(f"[{visible(key)}]", found, found.index)
    return None


def _inside(where: str, found: Difference, index) -> Difference:
    """A difference inside a list or dict, seen from outside: "at ['ids'][3]: yours 0   expected 1"."""
    message = found.message.replace("first difference yours", "yours")
    deeper = message.removeprefix("at ") if message.startswith("at [") else f": {message}"
    return Difference(found.kind, f"at {where}{deeper}", index, found.yours, found.expected)


def exactly_same(one, other) -> bool:
    """Whether two plain values are equal to the last bit, apart from the dtype; NaN equals NaN."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        numbers = not {one.dtype.kind, other.dtype.kind} & set("U")
        return one.shape == other.shape and bool(np.array_equal(one, other, equal_nan=numbers))
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(exactly_same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(exactly_same(one[key], other[key]) for key in one)
    return one == other or (one != one and other != other)


def kind_of(value) -> str:
    """A word for a plain value: "array", "list", "nothing" …"""
    return {type(None): "nothing", np.ndarray: "array", str: "string"}.get(type(value), type(value).__name__)


def _compare_arrays(expected, got, tolerance):
    if type(got) in (bool, int, float):
        got = np.array(got)
    if type(got) is not np.ndarray:
        return Difference("type", f"yours is {article(kind_of(got))}; expected a tensor of shape {expected.shape}")
    if got.shape != expected.shape:
        return Difference("shape", _shape_message(expected, got), None, got, expected)
    families = {"i": "number", "u": "number", "f": "number", "V": "number", "b": "bool", "U": "text"}
    if families[expected.dtype.kind] != families.get(got.dtype.kind):
        return Difference("dtype", f"yours {got.dtype.name}   expected {expected.dtype.name}", None, got, expected)
    if expected.dtype.kind == "U":
        wrong = expected != got
    else:
        wrong = ~(tolerance if expected.dtype.kind == "f" else EXACT).allows(expected, got)
    if wrong.any():
        return _first_difference(expected, got, wrong, tolerance)
    if got.dtype != expected.dtype:
        return Difference("dtype", f"yours {got.dtype.name}   expected {expected.dtype.name}", None, got, expected)
    return None


def _shape_message(expected, got):
    message = f"yours {got.shape}   expected {expected.shape}"
    if got.ndim == expected.ndim and sorted(got.shape) == sorted(expected.shape):
        for axes in permutations(range(got.ndim)):
            if tuple(got.shape[axis] for axis in axes) == expected.shape:
                swapped = [axis for axis, target in enumerate(axes) if axis != target]
                return f"{message}: the axes {' and '.join(map(str, swapped))} are in a different order (transposed?)"
    return message


def _first_difference(expected, got, wrong, tolerance):
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    kind = "values"
    if got.dtype.kind == "f" and expected.dtype.kind == "f" and np.isnan(got).any() and not np.isnan(expected).any():
        kind, index = "nan", tuple(int(i) for i in np.argwhere(np.isnan(got))[0])
    where = f"at {list(index)}:   " if index else ""
    yours, wanted = distinct_texts(got[index], expected[index])
    message = f"first difference {where}yours {yours}   expected {wanted}"
    if kind == "values":
        message += _simple_form(expected, got, tolerance)
    else:
        message += f"\n{int(np.isnan(got).sum())} of {got.size} values are NaN"
    return Difference(kind, message, index, got, expected)


def distinct_texts(got, expected) -> tuple[str, str]:
    """Two different numbers as text, with enough digits to differ."""
    texts = number(got), number(expected)
    for digits in range(5, 18):
        if _differ(*texts):
            break
        texts = f"{float(got):.{digits}g}", f"{float(expected):.{digits}g}"
    return texts


def _differ(one: str, other: str) -> bool:
    """Whether two texts are of different numbers: 1.0000 and 1 are not. Other texts differ by themselves."""
    try:
        return float(one) != float(other)
    except ValueError:
        return one != other


def number(value) -> str:
    """A number as text, with as many digits as are useful."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (str, np.str_)):
        return repr(str(value))
    value = float(value)  # in float16 the limits below would be ∞
    if value.is_integer() and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e6 else f"{value:.4g}"


def _simple_form(expected, got, tolerance):
    """A sentence if `got` is everywhere a multiple, a shift, the transpose or the negation of the expected, or ""."""
    if expected.dtype.kind == "b":
        if (got == ~expected).all():
            return "\nyours is the opposite of the expected value everywhere"
        return _count(expected, got, tolerance)
    if expected.dtype.kind != "f" or not (np.isfinite(got).all() and np.isfinite(expected).all()) or got.size < 2:
        return ""
    exact, got, scale = got, got.astype("float64"), np.abs(expected).max()
    solid = np.abs(expected) > 1e-3 * scale
    if solid.sum() > 1:
        factor = (got[solid] / expected[solid]).mean()
        near = np.abs(got - factor * expected).max() <= SAME_FACTOR * abs(factor) * scale
        if near and np.ptp(got[solid] / expected[solid]) <= SAME_FACTOR * abs(factor) and _tidy(factor) not in _ONE:
            return f"\nyours is {f'{_tidy(factor)} × the expected value' if factor else '0'} everywhere"
    shifts = got - expected
    if np.ptp(shifts) <= SAME_FACTOR * max(abs(shifts.mean()), 1e-9):
        return (
            f"\nyours is the expected value {'+' if shifts.mean() > 0 else '−'} {_tidy(abs(shifts.mean()))} everywhere"
        )
    square = got.ndim >= 2 and got.shape[-1] == got.shape[-2]
    if square and tolerance.allows(expected, np.swapaxes(exact, -1, -2)).all():
        return "\nyours is the transpose of the expected matrix"
    return _count(expected, got, tolerance)


def _tidy(value):
    return f"{value:.1f}" if abs(value * 10 - round(value * 10)) < 5e-3 and abs(value) >= 0.1 else f"{value:.4g}"


def _count(expected, got, tolerance):
    wrong = int((~tolerance.allows(expected, got)).sum())
    return f"\n{wrong} of {got.size} values differ"


def slice_around(shape: tuple[int, int], index: tuple[int, int]) -> tuple[slice, slice]:
    """At most SLICE rows and columns of a matrix that include an index; the first ones where possible."""
    firsts = (0 if at < SLICE else min(at - SLICE // 2, size - SLICE) for size, at in zip(shape, index))
    return tuple(slice(first, first + SLICE) for first in firsts)
