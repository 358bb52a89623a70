"""The packaged checkpoints by name: a BERT to start from without a network.

    checkpoints.load("bertlab-mini")        like any folder
    checkpoints.packaged("bertlab-mini")    the folder itself, in Hugging Face's format; its README.md is the model card

`bertlab-mini` is a small BERT: 4 layers of 256, 12,288 lower-case tokens, trained by this code
(`scripts/make_mini.py`).
"""

from pathlib import Path

from bertlab.common.errors import CheckpointError

_FOLDER = Path(__file__).parents[1] / "pretrained"
MINI = "bertlab-mini"
NAMES = (MINI,)


def is_packaged(path_or_name: str | Path) -> bool:
    """Whether this is the name of a packaged checkpoint."""
    return str(path_or_name) in NAMES


def packaged(name: str) -> Path:
    """The folder of a packaged checkpoint. Raises CheckpointError for a name that is not in `NAMES`.

    Example:
        >>> packaged("bertlab-mini").name
        'bertlab-mini'
    """
    if not is_packaged(name):
        raise CheckpointError(f"{name!r} is not among the packaged checkpoints: {', '.join(NAMES)}")
    return _FOLDER / name
