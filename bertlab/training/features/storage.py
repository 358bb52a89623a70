"""A trained head on a frozen model, in a folder.

features.json and features.safetensors are the head: its configuration, and its weights by path. encoder/ is the frozen
model with its tokenizer, a checkpoint that every command reads.
"""

from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.opening import FEATURES, FROZEN
from bertlab.common.errors import CheckpointError
from bertlab.training.baselines.storage import load_weights, read_config
from bertlab.training.features.models import FeatureHead, FeatureModel


def has_features(folder: str | Path) -> bool:
    """Whether a folder holds a head on a frozen model."""
    return (Path(folder) / FEATURES).exists()


def frozen_in(folder: str | Path) -> Path:
    """The folder of the frozen model and its tokenizer."""
    return Path(folder) / FROZEN


def load_features(folder: str | Path) -> FeatureModel:
    """The frozen model and its head. Raises CheckpointError for files that cannot be used."""
    folder = Path(folder)
    head = FeatureHead(read_config(folder, FeatureHead))
    load_weights(head, folder)
    frozen = checkpoints.load(frozen_in(folder), "encoder", padded_vocabulary=True)
    wanted, found = head.config.hidden_size, frozen.config.hidden_size
    if wanted != found:
        raise CheckpointError(f"{frozen_in(folder)}: expected vectors of {wanted} numbers, got {found}; restore it")
    return FeatureModel(frozen, head)
