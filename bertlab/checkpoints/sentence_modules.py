"""The steps from a text to one vector, as a folder of sentence-transformers lists them.

    modules.json              the steps in their order: Transformer, Pooling and often Normalize
    1_Pooling/config.json     how the tokens' vectors become one

Source: models/Pooling.py and models/Normalize.py of sentence-transformers.
"""

from pathlib import Path
from typing import NamedTuple

from bertlab.checkpoints.stored import read_description
from bertlab.common.errors import CheckpointError

MODULES = "modules.json"
_KNOWN = ("cls", "mean", "max")


class SentenceModules(NamedTuple):
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
            values = read_description(folder / path / "config.json")
            chosen = [name for name, value in values.items() if name.startswith("pooling_mode_") and value is True]
            modes = [name.split("_")[2] for name in chosen] or [values.get("pooling_mode")]  # the second in newer files
            pooling = modes[0] if len(modes) == 1 and modes[0] in _KNOWN else None
            lacking += [] if pooling else [" and ".join(chosen or map(str, modes))]
        elif kind == "Normalize":
            normalise = True
        elif kind != "Transformer":
            lacking.append(kind)
    return SentenceModules(pooling, normalise, tuple(lacking))
