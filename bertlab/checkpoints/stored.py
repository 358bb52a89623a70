"""An open checkpoint whose weights are not read yet, and the safetensors files of two of the formats."""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from bertlab.common.errors import CheckpointError
from bertlab.common.files import read_json, write_atomically
from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.families.names import WeightName

_DTYPES = ("F64", "F32", "F16", "BF16", "I64", "I32", "U8")  # the last three for buffers, which are ignored


@dataclass(frozen=True)
class StoredTensor:
    """One tensor of a checkpoint with BertLab's path and orientation.

    file, name: where it is stored.   shape: as our variable has it.   read: gives the array.
    """

    file: str
    name: str
    shape: tuple[int, ...]
    read: Callable[[], np.ndarray]

    @property
    def source(self) -> str:
        """File and name, for reports and messages."""
        return f"{self.file}: {self.name}"

    def transposed(self) -> "StoredTensor":
        """The same matrix, (in, out) instead of (out, in)."""
        return dataclasses.replace(self, shape=self.shape[::-1], read=lambda: self.read().T)

    def part(self, number: int, count: int) -> "StoredTensor":
        """Part `number` of the `count` equal parts of the last axis. Raises CheckpointError if it has none."""
        if count == 1:
            return self
        if not self.shape or self.shape[-1] % count:
            raise CheckpointError(f"{self.source}: has shape {self.shape}; expected {count} equal parts in its outputs")
        width = self.shape[-1] // count
        shape, start = (*self.shape[:-1], width), number * width
        return dataclasses.replace(self, shape=shape, read=lambda: self.read()[..., start : start + width])


@dataclass
class StoredCheckpoint:
    """The result of a format's reader: everything needed to fill a model.

    kind: a key of `KINDS`; None for a classifier that might be any of three.
    options: arguments of the model's class beside its config.
    tensors: by our paths.   unexpected: names that no model of this config has.
    weights_name: the name of the weights in messages.
    head_config: by kind of model, the fields of the config that differ where the stored head is used.
    """

    folder: Path
    weights_name: str
    config: ModelConfig
    kind: str | None
    options: dict
    tensors: dict[str, StoredTensor]
    unexpected: list[str] = field(default_factory=list)
    vocabulary_sha256: str | None = None  # of the vocab.txt it was saved with, if the format records it
    head_config: dict[str, dict] = field(default_factory=dict)


def open_safetensors(path: Path) -> tuple[dict[str, StoredTensor], dict[str, str]]:
    """The tensors of a .safetensors file by their names in it, and the file's metadata. Reads only its header.

    Raises CheckpointError for a file that is missing, truncated or of another kind.
    """
    import ml_dtypes  # noqa: F401 (teaches NumPy the type bfloat16)
    from safetensors import SafetensorError, safe_open

    try:
        file = safe_open(str(path), framework="numpy")
        slices = {name: file.get_slice(name) for name in file.keys()}
    except FileNotFoundError:
        raise CheckpointError(f"{path}: there is no such file") from None
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"{path}: cannot be read as safetensors ({error}); it is truncated, damaged or not a safetensors file: "
            "copy or download it again"
        ) from None
    for name, part in slices.items():
        if part.get_dtype() not in _DTYPES:
            raise CheckpointError(
                f"{path}: {name} is of type {part.get_dtype()}; only {', '.join(_DTYPES)} can be read: convert it first"
            )
    tensors = {
        name: StoredTensor(path.name, name, tuple(part.get_shape()), lambda name=name: file.get_tensor(name))
        for name, part in slices.items()
    }
    return tensors, file.metadata() or {}


def write_safetensors(path: Path, arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    """Writes a .safetensors file whole or not at all. metadata: one entry (several would be written in any order)."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    def write(partial: Path) -> None:
        try:
            save_file(arrays, str(partial), metadata=metadata)
        except SafetensorError as error:  # a full disk, for example
            raise OSError(str(error)) from None

    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}  # a scalar stays one
    write_atomically(path, write, CheckpointError)


def read_description(path: Path, of: type = dict):
    """The content of a JSON file beside weights. Raises CheckpointError with the file's name."""
    return read_json(path, CheckpointError, "copy or download it again", of)


def by_our_paths(named: dict[str, StoredTensor], weight_names: Iterable[WeightName]) -> dict[str, StoredTensor]:
    """Takes the tensors that the table names out of `named`, and returns them under our paths, in our orientation."""
    tensors, taken = {}, set()
    for weight in weight_names:
        if weight.theirs in named:
            tensor = named[weight.theirs]
            tensors[weight.ours] = (tensor.transposed() if weight.transposed else tensor).part(*weight.part)
            taken.add(weight.theirs)
    for name in taken:
        del named[name]
    return tensors


def check_depth(config: ModelConfig, num_tensors: int, where: Path) -> None:
    """Raises CheckpointError for a config of more layers than there are tensors, before a model is built."""
    own_layers = sum(1 for _ in islice(family_of(config).layer_numbers(config), num_tensors + 1))
    if own_layers > num_tensors:
        raise CheckpointError(
            f"{where}: the config has {config.num_layers} layers, the file only {num_tensors} tensors; one is damaged"
        )


def few(names: Iterable[str]) -> str:
    """Names for a message, shortened: "a, b, c, d and 12 more"."""
    names = list(names)
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
