"""Values that pass between the two processes: what goes in comes out, and nothing else gets through."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from autograde.boundary.values import DTYPES, Limits, ValueTreeError, decode, encode

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_arrays = st.sampled_from([name for name in DTYPES if name != "bfloat16"]).flatmap(
    lambda name: st_numpy.arrays(np.dtype(name), st_numpy.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
_keys = _text | st.lists(_text, min_size=1, max_size=3).map(tuple)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**100), 2**100) | st.floats() | _text | _arrays,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(_keys, inner, max_size=3)
    ),
    max_leaves=12,
)


def _through(value):
    header, buffers = encode(value)
    return decode(json.loads(json.dumps(header)), buffers)


def _equal(left, right):
    assert type(left) is type(right)
    if isinstance(left, np.ndarray):
        assert left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    elif isinstance(left, float):
        assert np.float64(left).tobytes() == np.float64(right).tobytes() or left != left
    elif isinstance(left, dict):
        assert list(left) == list(right)
        for key in left:
            _equal(left[key], right[key])
    elif isinstance(left, (list, tuple)):
        assert len(left) == len(right)
        for a, b in zip(left, right):
            _equal(a, b)
    else:
        assert left == right


@settings(max_examples=150, deadline=None)
@given(_values)
def test_every_plain_value_comes_back_as_it_went_with_every_bit(value):
    _equal(_through(value), value)


def test_text_arrays_and_bfloat16_keep_their_dtype():
    import ml_dtypes

    value = {"words": np.array(["play", "##ing"]), "half": np.array([1.5, -2], ml_dtypes.bfloat16)}
    back = _through(value)
    assert back["words"].tolist() == ["play", "##ing"]
    assert back["half"].dtype.name == "bfloat16" and back["half"].astype("float32").tolist() == [1.5, -2.0]


def test_big_endian_and_strided_arrays_arrive_with_the_same_values():
    value = np.arange(12, dtype=">i4").reshape(3, 4).T[::2]
    assert np.array_equal(_through(value), value)


@pytest.mark.parametrize("value", [[1, 1 - 2**127], [1.5, 2, True], (0.1, float("nan")), [1, 1.0], [False, True]])
def test_a_list_of_numbers_has_the_nodes_of_its_items(value):
    assert encode(value)[0] == [type(value).__name__, [encode(item)[0] for item in value]]


def test_a_list_of_numbers_is_counted_and_no_deeper_than_allowed():
    for value in ([0] * 10, [0.5] * 10, [10**40]):
        with pytest.raises(ValueTreeError, match="too large"):
            encode(value, Limits(nodes=10))
        with pytest.raises(ValueTreeError, match="too (deep|large)"):
            encode([value], Limits(depth=2))
    assert encode([0.5] * 10, Limits(nodes=11, depth=2))[0][0] == "list"


class _Subclass(np.ndarray):
    pass


@pytest.mark.parametrize(
    "value",
    [np.array([object()]), np.array([1 + 2j]), np.zeros(2, [("a", "i4")]), {1: 2}, {3}, b"x", print, float,
     {(): 1}, {("a", 1): 1}, {("a", ("b",)): 1}, {("a",) * 9: 1}, {frozenset("ab"): 1},
     np.zeros(2).view(_Subclass), type("Text", (str,), {})("x"), "\ud800", 10**50,
     np.array(["2020-01-01"], "datetime64[D]")],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'dtype', '')}",
)  # fmt: skip
def test_what_is_not_plain_does_not_leave(value):
    with pytest.raises(ValueTreeError):
        encode([value])


_ARRAY = {"dtype": "float32", "shape": [2], "buffer": 0}


@pytest.mark.parametrize(
    ("header", "buffers"),
    [
        (["array", _ARRAY | {"shape": [3]}], [bytes(8)]),  # fewer bytes than its shape needs
        (["array", _ARRAY | {"shape": [2**40, 2**40]}], [bytes(8)]),
        (["array", _ARRAY | {"shape": [0, *[2**26] * 7]}], [b""]),  # empty, and larger than NumPy can count
        (["array", _ARRAY | {"shape": [-1]}], [bytes(8)]),
        (["array", _ARRAY | {"shape": [True, 2]}], [bytes(8)]),
        (["array", _ARRAY | {"shape": [1] * 40}], [bytes(4)]),
        (["array", _ARRAY | {"dtype": "object"}], [bytes(16)]),
        (["array", _ARRAY | {"dtype": "|O"}], [bytes(16)]),
        (["array", _ARRAY | {"dtype": "V8"}], [bytes(16)]),
        (["array", _ARRAY | {"dtype": "U99999999"}], [bytes(8)]),
        (["array", {"dtype": "U1", "shape": [1], "buffer": 0}], [b"\xff\xff\xff\xff"]),
        (["array", {"dtype": "bool", "shape": [1], "buffer": 0}], [b"\x07"]),
        (["array", _ARRAY | {"buffer": 1}], [bytes(8)]),
        (["array", _ARRAY | {"more": 1}], [bytes(8)]),
        (["list", [["array", _ARRAY], ["array", _ARRAY]]], [bytes(8)]),  # one buffer twice
        (["none"], [bytes(8)]),  # a buffer that nobody uses
        (["none", 1], []),
        (["int", "9" * 5000], []),
        (["int", 3], []),
        (["float", "one"], []),
        (["float", "0x1p999999999"], []),
        (["dict", [["a", ["none"]], ["a", ["none"]]]], []),
        (["dict", [[1, ["none"]]]], []),
        (["dict", [[[], ["none"]]]], []),
        (["dict", [[["a", 1], ["none"]]]], []),
        (["dict", [[[["a"]], ["none"]]]], []),
        (["dict", [[{"a": "b"}, ["none"]]]], []),
        (["dict", [[["a", "b"], ["none"]], [["a", "b"], ["none"]]]], []),
        (["str", "\ud800"], []),
        (["pickle", "gASVAAAA"], []),
        ([], []), ({}, []), (None, []), ("none", []), ([["none"]], []),
    ],
    ids=range(35),
)  # fmt: skip
def test_a_header_that_does_not_hold_together_is_refused(header, buffers):
    with pytest.raises(ValueTreeError):
        decode(header, buffers)


def test_limits_hold_in_both_directions():
    deep = value = []
    for _ in range(40):
        value.append([])
        value = value[0]
    small = Limits(depth=4, nodes=10, bytes=100, text=20)
    for value in (deep, [0] * 11, np.zeros(26), "a" * 21, {"k" * 21: 0}):
        with pytest.raises(ValueTreeError, match="too"):
            encode(value, small)
    for value in ([0] * 11, np.zeros(26), "a" * 21):
        with pytest.raises(ValueTreeError, match="too large"):
            decode(*encode(value), small)


_kinds = st.sampled_from(["array", "list", "dict", "int"])


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=6) | _kinds,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
        max_leaves=15,
    ),
    st.lists(st.binary(max_size=16), max_size=2),
)
def test_any_json_at_all_is_either_a_value_or_refused(header, buffers):
    try:
        value = decode(header, buffers)
    except ValueTreeError as refused:
        assert str(refused)  # with a reason
    else:
        _equal(_through(value), value)
