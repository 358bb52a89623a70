"""Finding a checkpoint: on this machine, in the package or on the Hub; and detecting its format."""

import re
from pathlib import Path

from bertlab.checkpoints import google, huggingface, native, options_hdf5
from bertlab.checkpoints.packaged import is_packaged, packaged
from bertlab.checkpoints.stored import StoredCheckpoint
from bertlab.common.errors import CheckpointError, MissingDependencyError

BASELINE = "baseline.json"  # in a folder of `bertlab.training.baselines`, which is no checkpoint of a transformer
FEATURES, FROZEN = "features.json", "encoder"  # in one of `bertlab.training.features`: the head, the frozen model

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")  # "bert-base-uncased", "google/electra-small-generator"
_FILES = [
    "config.json", "model*.safetensors", "model.safetensors.index.json", "vocab.txt", "vocab.json", "merges.txt",
    "spiece.model", "tokenizer.json", "tokenizer_config.json", "added_tokens.json", "modules.json",
    "1_Pooling/config.json", "bertlab.safetensors",
]  # fmt: skip


def find(path_or_name: str | Path) -> Path:
    """The path of a checkpoint on this machine; a name is one of the packaged ones or looked up on the Hub.

    Raises CheckpointError where there is none, MissingDependencyError for a name of the Hub without huggingface_hub.
    """
    path = Path(path_or_name)
    if path.exists() or google.is_checkpoint(path):
        return path
    if is_packaged(path_or_name):
        return packaged(path_or_name)
    if isinstance(path_or_name, str) and _NAME.fullmatch(path_or_name):
        return _download(path_or_name)
    raise CheckpointError(f"{path}: there is no such folder or checkpoint")


def _download(name: str) -> Path:
    """The folder of a published model's files, through Hugging Face's client: from its cache or the network."""
    try:
        import huggingface_hub
    except ImportError:
        raise MissingDependencyError(
            f"{name!r} is not a folder; downloading it from the Hugging Face Hub needs "
            "huggingface_hub: pip install 'bertlab[hub]', or give the path of a folder"
        ) from None
    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=_FILES))
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CheckpointError(
            f"{name!r} is not a folder and cannot be downloaded from the Hugging Face Hub ({reason}); check the name "
            "and the network, or give the path of a folder"
        ) from None


def is_checkpoint(path: str | Path) -> bool:
    """Whether a path is that of a checkpoint on this machine, in any format."""
    path = Path(path)
    return google.is_checkpoint(path) or (
        path.is_dir() and any(one.is_checkpoint(path) for one in (native, huggingface, options_hdf5))
    )


def open_checkpoint(path_or_name: str | Path) -> StoredCheckpoint:
    path = find(path_or_name)
    for one in (native, google, huggingface, options_hdf5):
        if (path.is_dir() or one is google) and one.is_checkpoint(path):
            return one.open_checkpoint(path)
    if path.is_dir() and (path / BASELINE).exists():
        raise CheckpointError(
            f"{path}: expected a transformer, got a baseline, which only `bertlab predict` and `bertlab evaluate` "
            "read; give a checkpoint"
        )
    if path.is_dir() and (path / FEATURES).exists():
        raise CheckpointError(
            f"{path}: expected a transformer, got a head on vectors of a frozen one, which only `bertlab predict` and "
            f"`bertlab evaluate` read; the frozen model is {path / FROZEN}"
        )
    raise CheckpointError(
        f"{path}: no checkpoint here; expected a folder with {huggingface.CONFIG} and {huggingface.WEIGHTS} "
        f"(Hugging Face), with {google.CONFIG} and *.ckpt.index (Google), with {options_hdf5.OPTIONS} "
        f"and {options_hdf5.WEIGHTS} (AllenNLP) "
        f"or with {native.WEIGHTS} (BertLab)"
    )
