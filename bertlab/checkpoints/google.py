"""Original TensorFlow 1 checkpoints of google-research/bert: bert_config.json, bert_model.ckpt.*, vocab.txt.

Their "gelu" is read as the exact one, as in other libraries: the first weights were trained with it, and
google-research/bert changed its code to the tanh approximation only later. For a checkpoint trained with that, give
`load` a config with hidden_act="gelu_tanh".
"""

import re
from pathlib import Path

from bertlab.checkpoints.stored import StoredCheckpoint, StoredTensor, by_our_paths, check_depth, few
from bertlab.common.errors import CheckpointError
from bertlab.families import family_of, load_config

CONFIG = "bert_config.json"
_OPTIMIZER = re.compile(r"(.*/)?(adam_[mv]|Adam(_\d+)?|\w*[Oo]ptimizer\w*|global_step|beta[12]_power|learning_rate)")


def is_checkpoint(path: Path) -> bool:
    """Whether a path is a folder with such a checkpoint, or the common prefix of its files' names."""
    if path.is_dir():
        return (path / CONFIG).exists() or any(path.glob("*.ckpt*.index"))
    return path.with_name(path.name + ".index").exists()


def open_checkpoint(path: Path) -> StoredCheckpoint:
    """Reads the config and the list of variables. Raises CheckpointError or ConfigError with the file's name."""
    prefix = _prefix(path)
    config = load_config(prefix.parent / CONFIG)
    names = family_of(config).google
    if names is None:
        raise CheckpointError(f"{prefix}: there are no TensorFlow 1 checkpoints of {config.model_type}")
    named = _open_variables(prefix)
    check_depth(config, len(named), prefix)
    kind = next(iter(names.kinds_of(named)), "encoder")
    tensors = by_our_paths(named, names.weight_names(kind, config.num_layers))
    options = {"next_sentence": True, "tied": True} if kind == "pretraining" else {}
    if kind == "sequence_classification" and "head/dense/bias" in tensors:
        options = {"num_labels": tensors["head/dense/bias"].shape[0]}
    return StoredCheckpoint(prefix.parent, prefix.name, config, kind, options, tensors, sorted(named))


def _prefix(path: Path) -> Path:
    """The path without ".index" and ".data-…"; a folder must contain exactly one checkpoint."""
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.ckpt*.index"))
    if not found:
        raise CheckpointError(f"{path}: has a {CONFIG} but no *.ckpt.index; copy the three bert_model.ckpt.* files")
    if len(found) > 1:
        names = few(index.name.removesuffix(".index") for index in found)
        raise CheckpointError(f"{path}: holds {len(found)} checkpoints ({names}); give the path of one: {path}/NAME")
    return found[0].with_name(found[0].name.removesuffix(".index"))


def _open_variables(prefix: Path) -> dict[str, StoredTensor]:
    """The variables by their names, without those of the optimizer."""
    import tensorflow as tf

    errors = (tf.errors.OpError, IndexError, RuntimeError, ValueError)  # one of these, depending on the defect

    def damaged(what: str, error: Exception) -> CheckpointError:
        first = str(error).splitlines()[0]
        return CheckpointError(
            f"{prefix}: {what} ({first}); its files are truncated or damaged: copy or download them again"
        )

    def read(name):
        try:
            return reader.get_tensor(name)
        except errors as error:
            raise damaged(f"{name} cannot be read", error) from None

    try:
        reader = tf.train.load_checkpoint(str(prefix))
        shapes = reader.get_variable_to_shape_map()
    except errors as error:
        raise damaged("cannot be read as a checkpoint", error) from None
    return {
        name: StoredTensor(prefix.name, name, tuple(shape), lambda name=name: read(name))
        for name, shape in sorted(shapes.items())
        if not _OPTIMIZER.fullmatch(name)
    }
