"""Finding a checkpoint: on this machine, in the package or on the Hub; and detecting its format."""

from pathlib import Path

from bertlab.checkpoints import google, hub, huggingface, native, options_hdf5
from bertlab.checkpoints.packaged import is_packaged, packaged
from bertlab.checkpoints.stored import StoredCheckpoint
from bertlab.common.errors import CheckpointError

BASELINE = "baseline.json"  # in a folder of `bertlab.training.baselines`, which is no checkpoint of a transformer
FEATURES, FROZEN = "features.json", "encoder"  # in one of `bertlab.training.features`: the head, the frozen model


def find(path_or_name: str | Path) -> Path:
    """The path of a checkpoint on this machine; a name is one of the packaged ones or looked up on the Hub.

    Raises CheckpointError.
    """
    path = Path(path_or_name)
    if path.exists() or google.is_checkpoint(path):
        return path
    if is_packaged(path_or_name):
        return packaged(path_or_name)
    if isinstance(path_or_name, str) and hub.is_name(path_or_name):
        return hub.download(path_or_name)
    raise CheckpointError(f"{path}: there is no such folder or checkpoint")


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
