"""A trained head on a frozen model, in a folder.

features.json and features.safetensors are the head: its configuration, and its weights by path. encoder/ is the frozen
model with its tokenizer, a checkpoint that every command reads.
"""

from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.opening import BASELINE, FEATURES, FROZEN
from bertlab.common.errors import CheckpointError
from bertlab.training.baselines.models import Baseline
from bertlab.training.baselines.storage import load_baseline, load_weights, read_config
from bertlab.training.features.models import FeatureHead, FeatureModel


def load_trained(folder: str | Path) -> tuple[Baseline, Path] | None:
    """A baseline, or a frozen model with its head, and the folder of its tokenizer; None for a folder without either.

    Raises CheckpointError for files that cannot be used.
    """
    folder = Path(folder)
    if (folder / BASELINE).exists():
        return load_baseline(folder), folder
    if not (folder / FEATURES).exists():
        return None
    head = FeatureHead(read_config(folder, FeatureHead))
    load_weights(head, folder)
    frozen = checkpoints.load(folder / FROZEN, "encoder", padded_vocabulary=True)
    wanted, found = head.config.hidden_size, frozen.config.hidden_size
    if wanted != found:
        raise CheckpointError(f"{folder / FROZEN}: expected vectors of {wanted} numbers, got {found}; restore it")
    return FeatureModel(frozen, head), folder / FROZEN
