"""Our own format: one file, `bertlab.safetensors`: the weights under our own paths, everything else in its header.

The header's one metadata entry, "bertlab", is JSON: format_version, model_class, options, config, vocabulary_sha256.
Version 1 had other names for some parts (`_SINCE_VERSION_1`); it is still read.
One file can be replaced in one step, so a checkpoint is always whole: weights and config cannot come from two saves.
Beside it may stand vocab.txt and tokenizer_config.json.
"""

import json
from pathlib import Path

import numpy as np

from bertlab.checkpoints.mapping import KINDS, kind_of, options_of
from bertlab.checkpoints.stored import StoredCheckpoint, check_depth, open_safetensors, write_safetensors
from bertlab.config import BertConfig
from bertlab.errors import CheckpointError, ConfigError

WEIGHTS = "bertlab.safetensors"
FORMAT_VERSION = 2
_READABLE = (1, FORMAT_VERSION)

# What version 1 called a part of a path → its name today.
_SINCE_VERSION_1 = {
    "/table": "/embeddings",
    "/attention/output/": "/attention/out/",
    "/feed_forward/expand/": "/feed_forward/inner/",
    "/feed_forward/contract/": "/feed_forward/outer/",
    "/feed_forward_norm/": "/output_norm/",
    "masked_lm_head/transform/": "masked_lm_head/dense/",
}


def is_one(folder: Path) -> bool:
    """Whether a folder holds a checkpoint of ours."""
    return (folder / WEIGHTS).exists()


def open_folder(folder: Path) -> StoredCheckpoint:
    """Reads the header. Raises CheckpointError, naming the file."""
    path = folder / WEIGHTS
    tensors, metadata = open_safetensors(path)
    header = _header(path, metadata)
    try:
        config = BertConfig.from_dict(header["config"])
    except (ConfigError, TypeError) as error:
        raise CheckpointError(f"{path}: the config in its header cannot be used ({error})") from None
    check_depth(config, len(tensors), path)
    if header["format_version"] == 1:
        tensors = {_todays_path(name): tensor for name, tensor in tensors.items()}
    kind = {name: kind for kind, name in KINDS.items()}[header["model_class"]]
    return StoredCheckpoint(
        folder, WEIGHTS, config, kind, header["options"], tensors, vocabulary_sha256=header["vocabulary_sha256"]
    )


def _todays_path(path: str) -> str:
    for old, new in _SINCE_VERSION_1.items():
        path = path.replace(old, new)
    return path


def _header(path: Path, metadata: dict[str, str]) -> dict:
    if "bertlab" not in metadata:
        raise CheckpointError(f"{path}: was not written by BertLab (its header has no entry 'bertlab')")
    try:
        header = json.loads(metadata["bertlab"])
        version = header["format_version"]
        complete = {"model_class", "options", "config", "vocabulary_sha256"} <= set(header)
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path}: the entry 'bertlab' of its header is damaged ({error!r})") from None
    if version not in _READABLE:
        raise CheckpointError(
            f"{path}: format version {version}; this BertLab reads versions up to {FORMAT_VERSION}: install a newer one"
        )
    if not complete or header["model_class"] not in KINDS.values():
        raise CheckpointError(f"{path}: the entry 'bertlab' of its header lacks a known model_class, options or config")
    return header


def write_folder(model, folder: Path, arrays: dict[str, np.ndarray], vocabulary_sha256: str | None) -> None:
    """Writes bertlab.safetensors. arrays: the weights by our paths."""
    header = {
        "format_version": FORMAT_VERSION,
        "model_class": KINDS[kind_of(model)],
        "options": options_of(model),
        "config": model.config.to_dict(),
        "vocabulary_sha256": vocabulary_sha256,
    }
    write_safetensors(folder / WEIGHTS, arrays, {"bertlab": json.dumps(header)})
