"""The steps from a text to one vector, as a folder of sentence-transformers lists them.

    modules.json              the steps in their order: Transformer, Pooling and often Normalize
    1_Pooling/config.json     how the tokens' vectors become one

Source: models/Pooling.py and models/Normalize.py of sentence-transformers.
"""

from dataclasses import dataclass
from pathlib import Path

from bertlab.checkpoints.stored import read_description
from bertlab.common.errors import CheckpointError

MODULES = "modules.json"
_KNOWN = ("cls", "mean", "max")


@dataclass(frozen=True)
class SentenceModules:
    """pooling, normalise: as in `encode_texts`; pooling is None for one that this library lacks.

    lacking: the steps that this library lacks, in the words of the files.
    """

    pooling: str | None
    normalise: bool
    lacking: tuple[str, ...] = ()


def read_modules(folder: Path) -> SentenceModules | None:
    """The steps of a folder; None if it is not one of sentence-transformers.

    Raises CheckpointError for a damaged file.
    """
    if not (folder / MODULES).exists():
        return None
    pooling, normalise, lacking = None, False, []
    steps = read_description(folder / MODULES, list)
    if not all(isinstance(step, dict) for step in steps):
        raise CheckpointError(f"{folder / MODULES}: expected a list of steps")
    for step in steps:
        kind, path = str(step.get("type")).rsplit(".", 1)[-1], str(step.get("path"))
        if kind == "Pooling":
            pooling, name = _pooling_in(folder / path / "config.json")
            lacking += [] if pooling else [name]
        elif kind == "Normalize":
            normalise = True
        elif kind != "Transformer":
            lacking.append(kind)
    return SentenceModules(pooling, normalise, tuple(lacking))


def _pooling_in(path: Path) -> tuple[str | None, str]:
    """Our name of the pooling, None for one that we lack, and its name there."""
    values = read_description(path)
    chosen = [name for name, value in values.items() if name.startswith("pooling_mode_") and value is True]
    modes = [name.split("_")[2] for name in chosen] or [values.get("pooling_mode")]  # the second in newer files
    pooling = modes[0] if len(modes) == 1 and modes[0] in _KNOWN else None
    return pooling, " and ".join(chosen or map(str, modes))
