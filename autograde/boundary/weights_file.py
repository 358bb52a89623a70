"""Reads a file of trained weights from an untrusted source: safetensors, with every claim checked.

    8 bytes     the header's length, little-endian
    header      JSON: {"__metadata__": {"config": "{…}"}, "mlm/bias": {"dtype": "F32", "shape": [4096],
                "data_offsets": [0, 16384]}, …}
    the rest    the numbers, at these offsets

No library reads it, so that each size is checked before any memory is allocated, with messages that help a student.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autograde.boundary import roles
from autograde.common.errors import AutogradeError

WEIGHTS = "pretraining_weights.safetensors"  # what is handed in, beside the notebook
LARGEST_FILE = 32 << 20  # bytes: eight million numbers
LARGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class Form:
    """The arrays of a kind of model. largest: each size of its config → the largest one that is read; roles, shapes:
    functions of a config."""

    largest: dict[str, int]
    roles: Callable[[dict], roles.Roles]
    shapes: Callable[[dict], dict[str, tuple[int, ...]]]


PRETRAINING = Form(
    dict(zip(roles.CONFIG, (65_536, 1024, 24, 64, 8192, 4096))),
    lambda config: roles.model_roles(config["num_layers"]),
    roles.weight_shapes,
)
TRANSLATION = Form(
    dict(zip(roles.TRANSFORMER_CONFIG, (4096, 256, 6, 16, 1024))),
    lambda config: roles.TRANSFORMER,
    roles.transformer_shapes,
)


class WeightsError(AutogradeError, ValueError):
    """A file of weights that cannot be used; the message explains why, for the student."""


@dataclass(frozen=True)
class Weights:
    """The content of a file. config: sizes of the model (see `roles`); arrays: role → float32 array."""

    config: dict[str, int]
    arrays: dict[str, np.ndarray]

    @property
    def are_untrained(self) -> bool:
        """Whether most numbers of the biases, betas and gammas still have their initial values, 0, 0 and 1: one step
        changes nearly all of them."""
        vectors = {role: array for role, array in self.arrays.items() if array.ndim == 1}
        same = sum(np.sum(array == (1 if role.endswith("gamma") else 0)) for role, array in vectors.items())
        return bool(same > sum(array.size for array in vectors.values()) / 2)


def read_weights(path: str | Path, form: Form = PRETRAINING) -> Weights:
    """Reads and checks a file. Raises WeightsError."""
    path = Path(path)
    if path.is_symlink() or not path.is_file():
        raise WeightsError(f"{path.name} does not exist")
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)  # never more: the size of the file is not trusted
    if len(content) > LARGEST_FILE:
        raise WeightsError(f"{path.name}: expected at most {LARGEST_FILE >> 20} MiB; train a smaller model")
    header, numbers = _split(content, path.name)
    config = _config(header.pop("__metadata__", None), form, path.name)
    shapes = form.shapes(config)
    if set(header) != set(shapes):
        missing, more = sorted(set(shapes) - set(header)), sorted(set(header) - set(shapes))
        what = f"has no {missing[0]}" if missing else f"has an unexpected array {more[0][:60]!a}"
        raise WeightsError(f"{path.name} {what}; write the file with hand_in")
    return Weights(config, _arrays(header, numbers, shapes, path.name))


def _split(content: bytes, name: str) -> tuple[dict, bytes]:
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(LARGEST_HEADER, len(content) - 8):
        raise WeightsError(f"{name} is not a safetensors file; write it with hand_in")
    try:
        header = json.loads(content[8 : 8 + length].decode("utf-8"))
    except (ValueError, RecursionError):  # bad UTF-8, bad JSON, endless nesting
        raise WeightsError(f"{name} is not a safetensors file: its header is not JSON") from None
    if type(header) is not dict:
        raise WeightsError(f"{name} is not a safetensors file: its header is not a JSON object")
    return header, content[8 + length :]


def _config(metadata, form: Form, name: str) -> dict[str, int]:
    text = metadata.get("config") if type(metadata) is dict else None
    try:
        config = json.loads(text) if type(text) is str and len(text) < 1000 else None
    except (ValueError, RecursionError):
        config = None
    if type(config) is not dict or set(config) != set(form.largest):
        raise WeightsError(f"{name} has no config with the sizes of the model; write it with hand_in")
    for key, largest in form.largest.items():
        value = config[key]
        if type(value) is not int:  # its type only: the value is text of the student
            raise WeightsError(f"{name}: expected {key} to be an integer, got a value of type {type(value).__name__}")
        if not 1 <= value <= largest:
            raise WeightsError(f"{name}: expected {key} from 1 to {largest}, got {str(value)[:40]}")
    if config["hidden_size"] % config["num_heads"]:
        raise WeightsError(
            f"{name}: expected hidden_size to be a multiple of num_heads, got {config['hidden_size']} and "
            f"{config['num_heads']}"
        )
    return {key: config[key] for key in form.largest}


def _arrays(header: dict, numbers: bytes, shapes: dict, name: str) -> dict[str, np.ndarray]:
    for role, shape in shapes.items():
        entry = header[role]
        if type(entry) is not dict or entry.get("dtype") != "F32":
            raise WeightsError(f"{name}: expected {role} to be float32")
        if entry.get("shape") != list(shape):
            raise WeightsError(f"{name}: expected {role} to have shape {shape}, as in the config of the file")
    missing = sum(4 * math.prod(shape) for shape in shapes.values()) - len(numbers)
    if missing < 0:
        raise WeightsError(f"{name} has more numbers than the model in its config; write it with hand_in")
    if missing > 0:  # also where arrays share numbers: each would be a copy of them
        raise WeightsError(f"{name} is truncated: the model in its config has more numbers; write it with hand_in")
    return {role: _array(role, header[role], numbers, shape, name) for role, shape in shapes.items()}


def _array(role: str, entry: dict, numbers: bytes, shape: tuple[int, ...], name: str) -> np.ndarray:
    offsets = entry.get("data_offsets")
    if type(offsets) is not list or len(offsets) != 2 or any(type(offset) is not int for offset in offsets):
        raise WeightsError(f"{name}: {role} has no data_offsets of two integers")
    start, end = offsets
    if not 0 <= start <= end <= len(numbers) or end - start != 4 * math.prod(shape):
        raise WeightsError(f"{name} is truncated: numbers of {role} are missing")
    array = np.frombuffer(numbers, "<f4", count=math.prod(shape), offset=start).reshape(shape).copy()
    if not np.isfinite(array).all():
        raise WeightsError(f"{name}: {role} contains NaN or infinity: train again with a smaller learning rate")
    return array
