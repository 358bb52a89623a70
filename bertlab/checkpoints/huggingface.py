"""Hugging Face folders: config.json, model.safetensors (whole or in shards), vocab.txt or tokenizer.json.

Their older files call LayerNorm's parameters gamma and beta, newer ones weight and bias; the backbone's names begin
with the family's prefix (`bert.`) or not. All four are read. `pytorch_model.bin` is refused: it is a pickle, which can
run any code.
"""

import json
import re
from pathlib import Path

import numpy as np

from bertlab.checkpoints.kinds import kind_of, options_of, variables_of
from bertlab.checkpoints.stored import (
    StoredCheckpoint,
    StoredTensor,
    by_our_paths,
    check_depth,
    few,
    open_safetensors,
    read_description,
    write_safetensors,
)
from bertlab.common.errors import CheckpointError, asked
from bertlab.common.files import write_text
from bertlab.families import Family, config_from_huggingface, family_of
from bertlab.families.names import Names, WeightName, under_their_names

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
UNREADABLE = ("pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack")

_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")  # constants, stored by older versions
# How transformers' class names end, for each kind of ours. The first one is written.
_PAIRS = "ForPreTraining"  # with next-sentence prediction, where the family has it
_CLASS_ENDS = {
    "encoder": "Model",
    "pretraining": "ForMaskedLM",
    "replaced_token_detection": "ForPreTraining",
    "next_sentence": "ForNextSentencePrediction",
    "sequence_classification": "ForSequenceClassification",
    "token_classification": "ForTokenClassification",
    "multiple_choice": "ForMultipleChoice",
    "question_answering": "ForQuestionAnswering",
}


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder looks like a Hugging Face checkpoint, readable or not."""
    return any((folder / name).exists() for name in (CONFIG, WEIGHTS, INDEX, *UNREADABLE))


def open_checkpoint(folder: Path) -> StoredCheckpoint:
    """Reads the config and the headers of the weights. Raises CheckpointError or ConfigError with the file's name."""
    weights_name, raw = _open_weights(folder)
    values = read_description(folder / CONFIG)
    config = config_from_huggingface(values, where=str(folder / CONFIG))
    its_family = family_of(config)
    check_depth(config, len(raw), folder / weights_name)
    for name in ("is_decoder", "add_cross_attention"):
        if values.get(name):
            raise CheckpointError(f"{folder / CONFIG}: {name} is true; only encoders can be read")
    if values.get("pruned_heads"):
        raise CheckpointError(
            f"{folder / CONFIG}: pruned_heads is {values['pruned_heads']!r:.80}; a model without some of its heads "
            "cannot be read: take the one before pruning"
        )

    named = _under_plain_names(raw, its_family.huggingface, folder)
    tied = values.get("tie_word_embeddings") is not False
    _settle_decoder(named, its_family, tied, folder)
    kind = _kind(named, values, its_family)
    tensors = by_our_paths(named, its_family.huggingface.weight_names(kind, its_family.layer_numbers(config)))
    unexpected = [tensor.name for tensor in named.values()]
    options = _options(kind, tensors, values, its_family, tied)
    labels = values.get("id2label")
    claimed = len(labels) if isinstance(labels, dict) else values.get("num_labels", 2)
    if options.get("num_labels", claimed) != claimed:
        raise CheckpointError(
            f"{folder / CONFIG}: describes {claimed} labels, but the classifier has {options['num_labels']}; "
            "config and weights are not of the same model"
        )
    names = its_family.huggingface
    shown = any(_is_ignored(name.removeprefix(names.prefix), names) for name in raw)  # by weights that no model needs
    implied = names.implied_config if shown else {}
    return StoredCheckpoint(folder, weights_name, config, kind, options, tensors, unexpected, head_config=implied)


def _open_weights(folder: Path) -> tuple[str, dict[str, StoredTensor]]:
    """The tensors under their stored names, of one file or of all shards."""
    if (folder / WEIGHTS).exists():
        return WEIGHTS, _with_aliases(*open_safetensors(folder / WEIGHTS))
    if (folder / INDEX).exists():
        return INDEX, _open_shards(folder)
    for name in UNREADABLE:
        if (folder / name).exists():
            values = read_description(folder / CONFIG) if (folder / CONFIG).exists() else {}
            its_class = _architecture(values) or "AutoModelForPreTraining"
            raise CheckpointError(
                f"{folder / name}: this format is not read (a pickle can run any code), only {WEIGHTS} is; where you "
                "trust it and have transformers and PyTorch, convert it once: "
                f"{its_class}.from_pretrained({str(folder)!r}).save_pretrained('converted')"
            )
    raise CheckpointError(f"{folder}: there is no {WEIGHTS}; the folder was not copied or downloaded completely")


def _open_shards(folder: Path) -> dict[str, StoredTensor]:
    weight_map = read_description(folder / INDEX).get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(name, str) for name in weight_map.values()):
        raise CheckpointError(f"{folder / INDEX}: expected a 'weight_map' from tensor names to file names")
    tensors = {}
    for shard in sorted(set(weight_map.values())):
        if Path(shard).name != shard:
            raise CheckpointError(f"{folder / INDEX}: {shard!r} is not a file of this folder")
        tensors |= _with_aliases(*open_safetensors(folder / shard))
    missing = sorted(set(weight_map) - set(tensors))
    if missing:
        raise CheckpointError(f"{folder / INDEX}: lists {few(missing)}, which the files do not hold")
    return tensors


def _with_aliases(tensors: dict[str, StoredTensor], metadata: dict[str, str]) -> dict[str, StoredTensor]:
    """With the names that the header lists as aliases of a stored one, as `save_model` of safetensors writes them."""
    return tensors | {
        alias: tensors[name] for alias, name in metadata.items() if name in tensors and alias not in tensors
    }


def _under_plain_names(raw: dict[str, StoredTensor], names: Names, folder: Path) -> dict[str, StoredTensor]:
    """Without the prefix, with LayerNorm's weight and bias, without buffers and what no model needs."""
    named = {}
    for name, tensor in raw.items():
        plain = name.removeprefix(names.prefix)
        plain = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", plain)
        plain = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", plain)
        if plain in _BUFFERS or _is_ignored(plain, names):
            continue
        if plain in named:
            raise CheckpointError(f"{folder}: {named[plain].source} and {tensor.source} are the same variable")
        named[plain] = tensor
    return named


def _is_ignored(plain: str, names: Names) -> bool:
    return bool(names.ignored_weights) and re.fullmatch(names.ignored_weights, plain) is not None


def _output_names(its_family: Family) -> tuple[str, str, str | None]:
    """The MLM head's output matrix, the bias beside it, and the bias by the table: the same, another, or none."""
    names = its_family.huggingface
    kind = "sequence_to_sequence" if its_family.decoder else "pretraining"
    matrix = names.name_of("masked_lm_head/unembedding", kind)
    return matrix, matrix.removesuffix("weight") + "bias", names.name_of("masked_lm_head/bias", kind)


def _settle_decoder(named: dict[str, StoredTensor], its_family: Family, tied: bool, folder: Path) -> None:
    """Keeps one tensor for each variable of the MLM head's output, which files may contain twice.

    Tied, the matrix is the token table and the bias is the head's; copies are dropped if they are equal. Untied,
    transformers computes with the decoder's own matrix and bias, and the head's lies idle.
    """
    decoder, decoder_bias, bias = _output_names(its_family)
    if bias is not None and decoder_bias in named and (bias not in named or not tied):
        named[bias] = named.pop(decoder_bias)
    if not tied:
        return
    name_of = its_family.huggingface.name_of
    token_table = name_of("target_embeddings/token/embeddings") or name_of("backbone/embeddings/token/embeddings")
    for copy, original in {decoder: token_table, decoder_bias: bias}.items():
        if copy != original and copy in named and original in named:
            if not np.array_equal(named[copy].read(), named[original].read()):
                raise CheckpointError(
                    f"{folder}: {CONFIG} ties the MLM head to the token table, but {copy} differs from {original}; if "
                    f'they are meant to differ, write "tie_word_embeddings": false into {CONFIG}'
                )
            del named[copy]


def _architecture(values: dict) -> str | None:
    architectures = values.get("architectures")
    return architectures[0] if isinstance(architectures, list) and architectures else None


def _kind(named: dict[str, StoredTensor], values: dict, its_family: Family) -> str | None:
    """The kind that the head's tensors show; without a head, the kind in the config; else an encoder."""
    end = (_architecture(values) or "").removeprefix(its_family.huggingface.class_prefix)
    ends = _CLASS_ENDS | its_family.huggingface.class_ends
    claimed = {end: kind for kind, end in ends.items()}.get(ends["pretraining"] if end == _PAIRS else end)
    possible = its_family.huggingface.kinds_of(named)
    if len(possible) > 1:
        return claimed if claimed in possible else None
    return possible[0] if possible else claimed or "encoder"


def _options(kind: str | None, tensors: dict[str, StoredTensor], values: dict, its_family: Family, tied: bool) -> dict:
    if kind == "encoder":
        return {"pooler": any(path.startswith("backbone/pooler/") for path in tensors)}
    if kind == "pretraining":
        stored = any(path.startswith("next_sentence_head/") for path in tensors)
        claimed = its_family.next_sentence and (_architecture(values) or "").endswith(_PAIRS)
        return {"next_sentence": stored or claimed, "tied": tied}
    if kind in ("next_sentence", "sequence_classification", "token_classification") and "head/dense/kernel" in tensors:
        return {"num_labels": tensors["head/dense/kernel"].shape[-1]}
    return {}


# === Writing ===


def write_folder(model, folder: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes config.json and model.safetensors of a writable model. arrays: the weights by our paths."""
    kind, its_family = kind_of(model), family_of(model.config)
    prefix = "" if kind == "encoder" else its_family.huggingface.prefix
    tensors = under_their_names(arrays, weight_names(model).values(), prefix)
    decoder, decoder_bias, bias = _output_names(its_family)
    if decoder in tensors and bias not in (decoder_bias, None):  # untied: transformers reads the decoder's own bias
        tensors[decoder_bias] = tensors[bias].copy()
    dtype = next(iter(arrays.values())).dtype.name
    write_text(folder / CONFIG, json.dumps(_config_values(model, kind, dtype), indent=2) + "\n", CheckpointError)
    write_safetensors(folder / WEIGHTS, tensors, {"format": "pt"})  # without this entry transformers refuses the file


def check_writable(model) -> None:
    """Raises CheckpointError for a model that transformers does not know or cannot build: its config, kind or parts.

    Models that read left to right need no padding; theirs is left out of the file where it is not in the vocabulary.
    """
    config = model.config
    if not config.causal and not 0 <= config.pad_token_id < config.vocab_size:
        raise CheckpointError(
            f"pad_token_id is {config.pad_token_id}; expected the id of one of the {config.vocab_size} tokens, as "
            "transformers needs it: change the configuration, for example with "
            "config.replace(pad_token_id=tokenizer.vocabulary.pad_id)"
        )
    found = config.huggingface_lacks()
    if found:
        raise CheckpointError(
            f"transformers has no equivalent of {' and '.join(found)} for model_type {config.model_type!r}: save this "
            "model with " + asked("--to bertlab", "format='bertlab'")
        )
    elsewhere = "save this model with " + asked("--to bertlab", "format='bertlab'")
    if kind_of(model) == "encoder" and family_of(config).decoder:
        raise CheckpointError(
            f"transformers has no encoder of model_type {config.model_type!r} without its decoder: {elsewhere}"
        )
    known = weight_names(model)
    lacking = sorted({path.rsplit("/", 2)[0] for path in variables_of(model) if path not in known})
    if lacking:
        raise CheckpointError(
            f"transformers' models of model_type {config.model_type!r} have no {few(lacking)}: {elsewhere}"
        )


def weight_names(model) -> dict[str, WeightName]:
    """A model's variables in the format, by our paths."""
    its_family = family_of(model.config)
    numbers = its_family.layer_numbers(model.config)
    return {weight.ours: weight for weight in its_family.huggingface.weight_names(kind_of(model), numbers)}


def _config_values(model, kind: str, dtype: str) -> dict:
    options, names = options_of(model), family_of(model.config).huggingface
    end = (_CLASS_ENDS | names.class_ends)[kind]
    values = model.config.to_huggingface()
    if model.config.pad_token_id >= model.config.vocab_size:
        values["pad_token_id"] = None
    if kind == "pretraining":
        values["tie_word_embeddings"] = options["tied"]
        end = _PAIRS if options["next_sentence"] else end
    if "num_labels" in options:
        labels = [f"LABEL_{i}" for i in range(options["num_labels"])]
        values["id2label"] = {str(i): name for i, name in enumerate(labels)}
        values["label2id"] = {name: i for i, name in enumerate(labels)}
    return values | {"architectures": [names.class_prefix + end], "dtype": dtype}
