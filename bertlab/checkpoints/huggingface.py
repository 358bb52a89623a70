"""Hugging Face folders: config.json, model.safetensors (whole or in shards), vocab.txt or tokenizer.json.

Their older files call LayerNorm's parameters gamma and beta, newer ones weight and bias; the encoder's names begin with
`bert.` or not. All four are read. `pytorch_model.bin` is a pickle, which can run any code: it is refused.
"""

import json
import re
from pathlib import Path

import numpy as np

from bertlab.checkpoints.mapping import KINDS, kind_of, options_of, places
from bertlab.checkpoints.stored import (
    StoredCheckpoint,
    StoredTensor,
    check_depth,
    few,
    open_safetensors,
    read_json,
    write_safetensors,
)
from bertlab.config import BertConfig
from bertlab.errors import CheckpointError
from bertlab.files import write_text

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
UNREADABLE = ("pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack")

_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")  # constants, stored by older versions
_TOKEN_TABLE = "embeddings.word_embeddings.weight"
_DECODER, _DECODER_BIAS = "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"
_BIAS = "cls.predictions.bias"
_CLASSIFIERS = {KINDS[kind]: kind for kind in ("sequence_classification", "token_classification", "multiple_choice")}
# Their architectures → our kinds, for a checkpoint whose tensors do not show it.
_ARCHITECTURES = {name: kind for kind, name in KINDS.items() if kind != "encoder"} | {"BertForMaskedLM": "pretraining"}


def is_one(folder: Path) -> bool:
    """Whether a folder looks like a Hugging Face checkpoint, readable or not."""
    return any((folder / name).exists() for name in (CONFIG, WEIGHTS, INDEX, *UNREADABLE))


def open_folder(folder: Path) -> StoredCheckpoint:
    """Reads the config and the headers of the weights. Raises CheckpointError or ConfigError with the file's name."""
    weights_name, raw = _open_weights(folder)
    values = read_json(folder / CONFIG)
    config = BertConfig.from_huggingface(values, where=str(folder / CONFIG))
    check_depth(config, len(raw), folder / weights_name)
    for name in ("is_decoder", "add_cross_attention"):
        if values.get(name):
            raise CheckpointError(f"{folder / CONFIG}: {name} is true; only encoders can be read")

    named = _under_plain_names(raw, folder)
    tied = values.get("tie_word_embeddings") is not False
    _settle_decoder(named, tied, folder)
    kind = _kind(named, values)
    tensors = {}
    for place in places(kind, config.num_layers):
        tensor = named.pop(place.huggingface, None)
        if tensor is not None:
            tensors[place.ours] = tensor.transposed() if place.huggingface_transposed else tensor
    unexpected = [tensor.name for tensor in named.values()]
    options = _options(kind, tensors, values, tied)
    _check_labels(kind, options, values, folder)
    return StoredCheckpoint(folder, weights_name, config, kind, options, tensors, unexpected)


def _open_weights(folder: Path) -> tuple[str, dict[str, StoredTensor]]:
    """The tensors under their stored names, of one file or of all shards."""
    if (folder / WEIGHTS).exists():
        return WEIGHTS, open_safetensors(folder / WEIGHTS)[0]
    if (folder / INDEX).exists():
        return INDEX, _open_shards(folder)
    for name in UNREADABLE:
        if (folder / name).exists():
            raise CheckpointError(
                f"{folder / name}: this format is not read (a pickle can run any code), only {WEIGHTS} is; where you "
                "trust it and have transformers and PyTorch, convert it once: "
                f"{_architecture_on_disk(folder)}.from_pretrained({str(folder)!r}).save_pretrained('converted')"
            )
    raise CheckpointError(f"{folder}: there is no {WEIGHTS}; the folder was not copied or downloaded completely")


def _open_shards(folder: Path) -> dict[str, StoredTensor]:
    weight_map = read_json(folder / INDEX).get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(name, str) for name in weight_map.values()):
        raise CheckpointError(f"{folder / INDEX}: expected a 'weight_map' from tensor names to file names")
    tensors = {}
    for shard in sorted(set(weight_map.values())):
        if Path(shard).name != shard:
            raise CheckpointError(f"{folder / INDEX}: {shard!r} is not a file of this folder")
        tensors |= open_safetensors(folder / shard)[0]
    missing = sorted(set(weight_map) - set(tensors))
    if missing:
        raise CheckpointError(f"{folder / INDEX}: lists {few(missing)}, which the files do not hold")
    return tensors


def _under_plain_names(raw: dict[str, StoredTensor], folder: Path) -> dict[str, StoredTensor]:
    """Without `bert.`, with LayerNorm's weight and bias, without buffers."""
    named = {}
    for name, tensor in raw.items():
        plain = name.removeprefix("bert.")
        plain = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", plain)
        plain = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", plain)
        if plain in _BUFFERS:
            continue
        if plain in named:
            raise CheckpointError(f"{folder}: {named[plain].source} and {tensor.source} are the same variable")
        named[plain] = tensor
    return named


def _settle_decoder(named: dict[str, StoredTensor], tied: bool, folder: Path) -> None:
    """Keeps one tensor for each variable of the MLM head's output, which files may contain twice.

    Tied, the matrix is the token table and the bias is `cls.predictions.bias`; copies are dropped if they are equal.
    Untied, transformers computes with the decoder's own matrix and bias, and `cls.predictions.bias` is unused.
    """
    if _DECODER_BIAS in named and (_BIAS not in named or not tied):
        named[_BIAS] = named.pop(_DECODER_BIAS)
    if not tied:
        return
    for copy, original in ((_DECODER, _TOKEN_TABLE), (_DECODER_BIAS, _BIAS)):
        if copy in named and original in named:
            if not np.array_equal(named[copy].read(), named[original].read()):
                raise CheckpointError(
                    f"{folder}: {CONFIG} ties the MLM head to the token table, but {copy} differs from {original}; if "
                    f'they are meant to differ, write "tie_word_embeddings": false into {CONFIG}'
                )
            del named[copy]


def _architecture(values: dict) -> str | None:
    architectures = values.get("architectures")
    return architectures[0] if isinstance(architectures, list) and architectures else None


def _architecture_on_disk(folder: Path) -> str:
    values = read_json(folder / CONFIG) if (folder / CONFIG).exists() else {}
    return _architecture(values) or "BertForPreTraining"


def _kind(named: dict[str, StoredTensor], values: dict) -> str | None:
    """The kind that the head's tensors show; without a head, the kind in the config; else an encoder."""
    architecture = _architecture(values)
    heads = {name.split(".")[0] for name in named}
    if any(name.startswith("cls.predictions.") for name in named):
        return "pretraining"
    if "qa_outputs" in heads:
        return "question_answering"
    if "classifier" in heads:
        return _CLASSIFIERS.get(architecture)
    return _ARCHITECTURES.get(architecture, "encoder")


def _options(kind: str | None, tensors: dict[str, StoredTensor], values: dict, tied: bool) -> dict:
    if kind == "encoder":
        return {"pooler": "bert/pooler/dense/kernel" in tensors or "bert/pooler/dense/bias" in tensors}
    if kind == "pretraining":
        stored = any(path.startswith("next_sentence_head/") for path in tensors)
        return {"next_sentence": stored or _architecture(values) == "BertForPreTraining", "tied": tied}
    if kind in ("sequence_classification", "token_classification") and "head/dense/bias" in tensors:
        return {"num_labels": tensors["head/dense/bias"].shape[0]}
    return {}


def _check_labels(kind: str | None, options: dict, values: dict, folder: Path) -> None:
    labels = values.get("id2label")
    claimed = len(labels) if isinstance(labels, dict) else values.get("num_labels", 2)
    if "num_labels" in options and options["num_labels"] != claimed:
        raise CheckpointError(
            f"{folder / CONFIG}: describes {claimed} labels, but classifier.bias has {options['num_labels']}; "
            "config and weights are not of the same model"
        )


# === Writing ===


def write_folder(model, folder: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes config.json and model.safetensors. arrays: the weights by our paths.

    Raises CheckpointError for a model that transformers cannot represent.
    """
    check_representable(model.config)
    kind = kind_of(model)
    prefix = "" if kind == "encoder" else "bert."
    by_path = {place.ours: place for place in places(kind, model.config.num_layers)}
    tensors = {}
    for path, array in arrays.items():
        place = by_path[path]
        name = prefix + place.huggingface if path.startswith("bert/") else place.huggingface
        tensors[name] = array.T if place.huggingface_transposed else array
    if _DECODER in tensors:  # untied: transformers computes with the decoder's own bias
        tensors[_DECODER_BIAS] = tensors[_BIAS].copy()
    dtype = next(iter(arrays.values())).dtype.name
    write_text(folder / CONFIG, json.dumps(_config_values(model, kind, dtype), indent=2) + "\n", CheckpointError)
    write_safetensors(folder / WEIGHTS, tensors, {"format": "pt"})  # without this entry transformers refuses the file


def check_representable(config: BertConfig) -> None:
    """Raises CheckpointError for a configuration that transformers' BERT does not know."""
    ours_alone = {
        "pre_norm": config.pre_norm,
        "causal": config.causal,
        "sinusoidal positions": config.position_embedding == "sinusoidal",
    }
    found = [name for name, is_set in ours_alone.items() if is_set]
    if found:
        raise CheckpointError(
            f"transformers' BERT has no equivalent of {' and '.join(found)}: save this model with format='bertlab'"
        )


def _config_values(model, kind: str, dtype: str) -> dict:
    options = options_of(model)
    architecture = "BertModel" if kind == "encoder" else KINDS[kind]
    values = model.config.to_huggingface()
    if kind == "pretraining":
        values["tie_word_embeddings"] = options["tied"]
        architecture = architecture if options["next_sentence"] else "BertForMaskedLM"
    if "num_labels" in options:
        names = [f"LABEL_{i}" for i in range(options["num_labels"])]
        values["id2label"] = {str(i): name for i, name in enumerate(names)}
        values["label2id"] = {name: i for i, name in enumerate(names)}
    return values | {"architectures": [architecture], "dtype": dtype}
