"""Saving a model: a Hugging Face folder that `transformers` loads, or BertLab's format."""

import json
from pathlib import Path

import numpy as np

from bertlab.checkpoints import huggingface, native
from bertlab.checkpoints.kinds import variables_of
from bertlab.checkpoints.opening import BASELINE, FEATURES, is_checkpoint
from bertlab.checkpoints.stored import read_description
from bertlab.checkpoints.tokenizers import TOKENIZER_CONFIG
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.common.files import write_text

FORMATS = ("huggingface", "bertlab")
DTYPES = ("float32", "float16")


def save(model, folder: str | Path, tokenizer=None, format: str = "huggingface", dtype: str | None = None) -> Path:
    """Writes a model, and the tokenizer if given, into a folder. Returns the folder.

    format: huggingface | bertlab. Only bertlab can store a pre-norm, causal or sinusoidal model, a
        classifier of TinyBERT's own code, or the encoder of an encoder–decoder alone or with another head.
    dtype: float32 (default) | float16, which halves the file and rounds the weights to 11 significant bits.

    Each file is replaced atomically, the weights last. You can save into a folder again in the same format.
    Raises CheckpointError for an unknown format or dtype, a vocabulary larger than the token table, a weight that is
    not finite (in that dtype), or a folder that holds a checkpoint of the other format.

    Example:
        >>> model = load("bertlab-mini")
        >>> folder = save(model, "my-model", load_tokenizer("bertlab-mini"))
        >>> sorted(path.name for path in folder.iterdir())
        ['config.json', 'model.safetensors', 'tokenizer_config.json', 'vocab.txt']
    """
    folder = Path(folder)
    _check_request(model, folder, tokenizer, format, dtype or "float32")
    arrays = _arrays(model, dtype or "float32")
    if format == "huggingface":
        huggingface.check_writable(model)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"{folder}: cannot be made ({error.strerror})") from None
    if tokenizer is not None:
        tokenizer.save(folder)
        path = folder / TOKENIZER_CONFIG
        if path.exists():  # not every tokenizer has one; transformers looks there for the longest row
            values = read_description(path) | {"model_max_length": model.config.max_tokens}
            write_text(path, json.dumps(values, indent=2) + "\n", CheckpointError)
    if format == "huggingface":
        huggingface.write_folder(model, folder, arrays)
    else:
        native.write_folder(model, folder, arrays, None if tokenizer is None else tokenizer.vocabulary.sha256)
    return folder


def format_of(model) -> str:
    """Hugging Face's format, unless that cannot store this model."""
    try:
        huggingface.check_writable(model)
    except CheckpointError:
        return "bertlab"
    return "huggingface"


def check_replaceable(folder: str | Path, start: str | Path, own: str) -> None:
    """Raises ConfigError where a model saved into a folder would replace another model than that of the same work.

    start: the model that the work starts from.   own: the file that the work writes first, from this folder.
    """
    folder = Path(folder)
    if Path(start).exists() and Path(start).resolve() == folder.resolve():
        raise ConfigError(f"{folder}: holds the model to start from, which would be replaced; choose another folder")
    holds_model = is_checkpoint(folder) or any((folder / name).exists() for name in (BASELINE, FEATURES))
    if holds_model and not (folder / own).exists():
        raise ConfigError(f"{folder}: holds a model but no {own}; choose another folder")


def _check_request(model, folder: Path, tokenizer, format: str, dtype: str) -> None:
    if format not in FORMATS:
        raise CheckpointError(f"there is no format {format!r}; choose one of {', '.join(FORMATS)}")
    if dtype not in DTYPES:
        raise CheckpointError(f"weights cannot be saved as {dtype!r}; choose one of {', '.join(DTYPES)}")
    if tokenizer is not None:
        counts = {"vocab_size": len(tokenizer.vocabulary), "target_vocab_size": len(tokenizer.vocabulary.targets)}
        for name, count in counts.items():
            if count > getattr(model.config, name):
                raise CheckpointError(
                    f"the tokenizer has {count} tokens{' of targets' if name == 'target_vocab_size' else ''}, but the "
                    f"model's {name} is {getattr(model.config, name)}: this is not the model's tokenizer"
                )
    others = (native.WEIGHTS,) if format == "huggingface" else (huggingface.WEIGHTS, huggingface.INDEX)
    for name in others:
        if (folder / name).exists():
            raise CheckpointError(f"{folder}: holds {name}, a checkpoint of another format; choose another folder")


def _arrays(model, dtype: str) -> dict[str, np.ndarray]:
    """The weights by our paths. Raises CheckpointError for one that is not finite in this dtype."""
    from keras import ops

    arrays = {}
    for path, variable in variables_of(model).items():
        array = np.asarray(ops.convert_to_numpy(variable))
        with np.errstate(over="ignore"):  # reported below
            array = array.astype(dtype)
        if not np.isfinite(array).all():
            raise CheckpointError(
                f"{path}: has a value that is infinite or not a number as {dtype}; the training has diverged, or "
                "the value is too large for this dtype: nothing was saved"
            )
        arrays[path] = array
    return arrays
