"""A published model by its name, through Hugging Face's client and its local cache."""

import re
from pathlib import Path

from bertlab.common.errors import CheckpointError, MissingDependencyError

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_FILES = [
    "config.json",
    "model*.safetensors",
    "model.safetensors.index.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "tokenizer.json",
    "tokenizer_config.json",
    "added_tokens.json",
    "modules.json",
    "1_Pooling/config.json",
    "bertlab.safetensors",
]


def is_name(path_or_name: str) -> bool:
    """Whether a text can be a model's name ("bert-base-uncased", "google/bert_uncased_L-2_H-128_A-2")."""
    return _NAME.fullmatch(path_or_name) is not None


def download(name: str) -> Path:
    """The folder of a model's files, from the cache or the network.

    Raises MissingDependencyError without huggingface_hub, CheckpointError if it is neither cached nor reachable.
    """
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
