"""Converts the results of a student's code to plain values (see `values`), and names their types.

Runs in the student's process. Types are compared exactly (`type(x) is …`), so an object that only pretends to be an
array, or a subclass with its own `__eq__` or `__array__`, gets its real name and is never trusted to convert itself.
"""

import sys
import types
from collections import Counter, OrderedDict, defaultdict

import numpy as np

from autograde.common.errors import AutogradeError

_PLAIN = (bool, int, float, str)
_UNCHANGED = frozenset((*_PLAIN, type(None)))  # the types of items that are plain and no arrays
_DICTS = (dict, Counter, defaultdict, OrderedDict)


class NotPlainError(AutogradeError, TypeError):
    """A returned object that has no plain form; the message names its type."""


def is_tensor(value) -> bool:
    """Whether this is a tensor of the backend in use. Never loads a backend: without one there are no tensors."""
    return "keras" in sys.modules and sys.modules["keras"].ops.is_tensor(value)


def describe(value) -> str:
    """A word or two for the kind of thing a student returned: "tensor", "NumPy array", "nothing", "list" …"""
    keras = sys.modules.get("keras")
    if value is None:
        return "nothing"
    if value is Ellipsis:
        return "..."
    if type(value) is np.ndarray:
        return "NumPy array"
    if isinstance(value, np.generic):
        return "NumPy scalar"
    if isinstance(value, types.GeneratorType):
        return "generator"
    if keras is not None and isinstance(value, keras.KerasTensor):
        return "symbolic Keras tensor"
    if keras is not None and isinstance(value, keras.Variable):
        return "variable"
    if is_tensor(value):
        return "tensor"
    if type(value) in _DICTS:
        return "dict"
    return type(value).__name__


def nested(value, convert, dicts=(dict,)):
    """The same lists, tuples and dicts, with what they hold converted.

    Lists of numbers are copied whole: random functions get and return thousands of them.
    """
    if type(value) in (list, tuple):
        if _UNCHANGED.issuperset(map(type, value)):
            return type(value)(value)
        return type(value)(nested(item, convert, dicts) for item in value)
    if type(value) in dicts:
        return {key: nested(item, convert, dicts) for key, item in value.items()}
    return convert(value)


def to_plain(value):
    """The plain value of what a student returned; tensors become NumPy arrays. Raises NotPlainError."""
    return nested(value, _plain, _DICTS)


def _plain(value):
    if value is None or type(value) in _PLAIN:
        return value
    if type(value) is np.ndarray:
        return value.copy()
    if isinstance(value, np.generic):
        return np.array(value)
    if describe(value) in ("tensor", "variable"):
        array = np.array(sys.modules["keras"].ops.convert_to_numpy(value))
        if type(array) is not np.ndarray:
            raise NotPlainError(f"expected a tensor with values, got a {type(value).__name__} without an array")
        return array
    raise NotPlainError(f"expected tensors, arrays or plain Python values, got a {describe(value)}")


def to_tensors(value):
    """A plain value whose NumPy arrays of numbers have become tensors of the backend, nested as before."""
    return nested(value, _tensor)


def _tensor(value):
    if type(value) is not np.ndarray or value.dtype.kind == "U":
        return value
    from keras import ops

    return ops.convert_to_tensor(value)


def whole_numbers(value) -> list[int] | None:
    """The items of a list, a tuple or an array with one axis, if all are whole numbers; else None."""
    if type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind in "iu":
        return value.tolist()
    if type(value) not in (list, tuple):
        return None
    if {int}.issuperset(map(type, value)):
        return list(value)
    numbers = [item.item() if is_whole_number(item) else item for item in value]
    return numbers if all(type(number) is int for number in numbers) else None


def is_whole_number(item) -> bool:
    """Whether this is an array that is one whole number."""
    return type(item) is np.ndarray and item.ndim == 0 and item.dtype.kind in "iu"
