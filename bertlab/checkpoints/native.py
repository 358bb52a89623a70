"""Our own format: one file, `bertlab.safetensors`: the weights under our own paths, everything else in its header.

The header's one metadata entry, "bertlab", is JSON: format_version, model_type (the family), kind, options, config,
vocabulary_sha256. Version 1 knew one family, and had other names for some parts; it is still read.
One file can be replaced in one step, so a checkpoint is always whole: weights and config cannot come from two saves.
vocab.txt and tokenizer_config.json may be next to it.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bertlab.checkpoints.kinds import KINDS, kind_of, options_of, variables_of
from bertlab.checkpoints.stored import StoredCheckpoint, check_depth, open_safetensors, write_safetensors
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.families import DEFAULT, family

WEIGHTS = "bertlab.safetensors"
FORMAT_VERSION = 2
_READABLE = (1, FORMAT_VERSION)

# A part of a path in version 1 → its name today.
_PATHS_OF_VERSION_1 = {
    "bert/": "backbone/",
    "/table": "/embeddings",
    "/attention/output/": "/attention/out/",
    "/feed_forward/expand/": "/feed_forward/inner/",
    "/feed_forward/contract/": "/feed_forward/outer/",
    "/feed_forward_norm/": "/output_norm/",
    "masked_lm_head/transform/": "masked_lm_head/dense/",
}


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder holds a checkpoint of ours."""
    return (folder / WEIGHTS).exists()


def open_checkpoint(folder: Path) -> StoredCheckpoint:
    """Reads the header. Raises CheckpointError, naming the file."""
    path = folder / WEIGHTS
    tensors, metadata = open_safetensors(path)
    header = _header(path, metadata)
    try:
        config = family(header["model_type"]).config.from_dict(header["config"])
    except (ConfigError, TypeError) as error:
        raise CheckpointError(f"{path}: the config in its header cannot be used ({error})") from None
    check_depth(config, len(tensors), path)
    if header["format_version"] == 1:
        for old, new in _PATHS_OF_VERSION_1.items():
            tensors = {name.replace(old, new): tensor for name, tensor in tensors.items()}
    vocabulary = header["vocabulary_sha256"]
    return StoredCheckpoint(
        folder, WEIGHTS, config, header["kind"], header["options"], tensors, vocabulary_sha256=vocabulary
    )


def path_of_version_1(path: str) -> str:
    """The name that version 1 gave to a weight; other formats' names stay as they are."""
    if path.endswith("/embeddings"):  # also the name of a part, which stays
        path = path.removesuffix("/embeddings") + "/table"
    for old, new in _PATHS_OF_VERSION_1.items():
        path = path if new == "/embeddings" else path.replace(new, old)
    return path


def _header(path: Path, metadata: dict[str, str]) -> dict:
    if "bertlab" not in metadata:
        raise CheckpointError(f"{path}: was not written by BertLab (its header has no entry 'bertlab')")
    try:
        header = json.loads(metadata["bertlab"])
        version = header["format_version"]
        if version == 1:
            from bertlab import models

            name = header.get("model_class")
            kind = kind_of(getattr(models, name)) if name in models.__all__ else None
            header |= {"model_type": DEFAULT, "kind": kind}
        complete = {"model_type", "kind", "options", "config", "vocabulary_sha256"} <= set(header)
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path}: the entry 'bertlab' of its header is damaged ({error!r})") from None
    if version not in _READABLE:
        raise CheckpointError(
            f"{path}: format version {version}; this BertLab reads versions up to {FORMAT_VERSION}: install a newer one"
        )
    if not complete or header["kind"] not in KINDS:
        raise CheckpointError(f"{path}: the entry 'bertlab' of its header lacks a known kind, options or config")
    return header


def write_folder(model, folder: Path, arrays: dict[str, np.ndarray], vocabulary_sha256: str | None) -> None:
    """Writes bertlab.safetensors. arrays: the weights by our paths."""
    header = {
        "format_version": FORMAT_VERSION,
        "model_type": model.config.model_type,
        "kind": kind_of(model),
        "options": options_of(model),
        "config": model.config.to_dict(),
        "vocabulary_sha256": vocabulary_sha256,
    }
    write_safetensors(folder / WEIGHTS, arrays, {"bertlab": json.dumps(header)})


# === Digests that show whether a model is still the one that a folder was started with ===


def weights_digest(weights: Mapping[str, np.ndarray]) -> str:
    """The digest of weights by their paths, in any order.

    The paths of version 1 are hashed, so that work which was started with it resumes.
    """
    renamed = {path_of_version_1(path): values for path, values in weights.items()}
    digest = hashlib.sha256()
    for path, values in sorted(renamed.items(), key=lambda item: item[0]):
        digest.update(path.encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


def model_digests(model, tokenizer) -> dict[str, str]:
    """The digests of a model's weights and of its vocabulary, by these names."""
    from keras import ops

    weights = {path: ops.convert_to_numpy(variable) for path, variable in variables_of(model).items()}
    pieces = "\n".join(tokenizer.vocabulary.pieces)
    return {"weights": weights_digest(weights), "vocabulary": hashlib.sha256(pieces.encode()).hexdigest()[:16]}
