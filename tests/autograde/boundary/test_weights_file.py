"""A file of weights that a student hands in: what is read, and every way in which one is refused."""

import json
import pickle
import tracemalloc

import numpy as np
import pytest

from autograde.boundary.roles import weight_shapes
from autograde.boundary.weights_file import LARGEST_FILE, WeightsError, read_weights

CONFIG = {"vocab_size": 4096, "hidden_size": 4, "num_layers": 1, "num_heads": 2, "intermediate_size": 6,
          "max_positions": 32}  # fmt: skip


def _arrays(config=CONFIG):
    rng = np.random.default_rng(5)
    return {role: rng.normal(size=shape).astype("float32") for role, shape in weight_shapes(config).items()}


def _written(path, arrays=None, config=CONFIG):
    from safetensors.numpy import save_file

    save_file(arrays or _arrays(), path, metadata={"config": json.dumps(config)})
    return path


def test_what_was_written_is_read(tmp_path):
    arrays = _arrays()
    weights = read_weights(_written(tmp_path / "w.safetensors", arrays))
    assert weights.config == CONFIG
    assert all(np.array_equal(weights.arrays[role], array) for role, array in arrays.items())


def _poisoned():
    arrays = _arrays()
    arrays["pooler/kernel"][0, 0] = np.nan
    return arrays


REFUSED = {
    "does not exist": lambda path: None,
    "not a safetensors file": lambda path: path.write_bytes(pickle.dumps({"mlm/bias": [1.0] * 9})),
    "header is not JSON": lambda path: path.write_bytes((5).to_bytes(8, "little") + b"{{{{{" + b"\0" * 40),
    "is not a safetensors file": lambda path: path.write_bytes((1 << 62).to_bytes(8, "little") + b"{}"),
    "at most 32 MiB": lambda path: path.write_bytes(b"\0" * (LARGEST_FILE + 1)),
    "is truncated": lambda path: path.write_bytes(_written(path).read_bytes()[:-400]),
    "more numbers than the model": lambda path: path.write_bytes(_written(path).read_bytes() + b"\0" * 8),
    "contains NaN or infinity": lambda path: _written(path, _poisoned()),
    "to have shape": lambda path: _written(path, _arrays() | {"pooler/kernel": np.zeros((2, 8), "float32")}),
    "to be float32": lambda path: _written(path, _arrays() | {"mlm/bias": np.zeros(4096, "float16")}),
    "has an unexpected array": lambda path: _written(path, _arrays() | {"secret": np.zeros(3, "float32")}),
    "has no config with the sizes of the model": lambda path: _written(path, config={"vocab_size": 9}),
    "from 1 to": lambda path: _written(path, config=CONFIG | {"num_layers": 10**9}),
    "multiple of num_heads": lambda path: _written(path, config=CONFIG | {"num_heads": 3}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_file_that_cannot_be_used_is_refused_and_the_reason_said(reason, tmp_path):
    path = tmp_path / "w.safetensors"
    REFUSED[reason](path)
    with pytest.raises(WeightsError, match=reason):
        read_weights(path)


def test_a_refusal_names_a_value_of_the_student_by_its_type_and_an_array_in_ascii(tmp_path):
    """Half of a surrogate pair cannot be stored in the record of the grading."""
    path = _written(tmp_path / "w.safetensors", config=CONFIG | {"num_layers": "\ud800\x1b[31m"})
    with pytest.raises(WeightsError, match="num_layers to be an integer, got a value of type str$"):
        read_weights(path)
    path = _written(path, config=CONFIG | {"num_layers": 10**800})
    with pytest.raises(WeightsError, match="num_layers from 1 to 24, got 10{39}$"):
        read_weights(path)
    path = _written(path, _arrays() | {"é\u202e": np.zeros(3, "float32")})
    with pytest.raises(WeightsError, match=r"unexpected array '\\xe9\\u202e'"):
        read_weights(path)


def test_arrays_that_share_their_numbers_are_refused_before_memory_is_taken(tmp_path):
    """24 layers in 4 MB: each array would be a copy of the same numbers."""
    config = CONFIG | {"hidden_size": 256, "num_heads": 1, "num_layers": 24, "intermediate_size": 4096}
    shapes = weight_shapes(config)
    header = {
        role: {"dtype": "F32", "shape": list(shape), "data_offsets": [0, 4 * int(np.prod(shape))]}
        for role, shape in shapes.items()
    }
    text = json.dumps(header | {"__metadata__": {"config": json.dumps(config)}}).encode()
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(4 << 20))
    tracemalloc.start()
    with pytest.raises(WeightsError, match="is truncated"):
        read_weights(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # 32 MB to read the file with; the arrays would have 250


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "w.safetensors").symlink_to(_written(tmp_path / "other.safetensors"))
    with pytest.raises(WeightsError, match="does not exist"):
        read_weights(tmp_path / "w.safetensors")
