"""A trained baseline in a folder: baseline.json, its configuration, and baseline.safetensors, its weights by path."""

import dataclasses
import json
from pathlib import Path

from bertlab.baselines.models import Baseline, make_baseline
from bertlab.baselines.settings import BaselineConfig
from bertlab.checkpoints.opening import BASELINE
from bertlab.checkpoints.stored import open_safetensors, write_safetensors
from bertlab.errors import CheckpointError
from bertlab.work_folder import read_json, write_json

CONFIG, WEIGHTS = BASELINE, "baseline.safetensors"


def is_baseline(folder: str | Path) -> bool:
    """Whether a folder holds a trained baseline."""
    return (Path(folder) / CONFIG).exists()


def save_baseline(model: Baseline, folder: Path) -> None:
    """Writes both files, the weights last. Raises CheckpointError where the system refuses."""
    from keras import ops

    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / CONFIG, dataclasses.asdict(model.config), CheckpointError)
    arrays = {variable.path: ops.convert_to_numpy(variable) for variable in model.weights}
    write_safetensors(folder / WEIGHTS, arrays, {"bertlab": json.dumps({"kind": model.config.kind})})


def load_baseline(folder: str | Path) -> Baseline:
    """The inverse of `save_baseline`. Raises CheckpointError for files that cannot be used."""
    folder = Path(folder)
    values = read_json(folder / CONFIG, CheckpointError)
    try:
        model = make_baseline(BaselineConfig(**values | {"special_ids": tuple(values["special_ids"])}))
    except (TypeError, KeyError) as error:
        raise CheckpointError(f"{folder / CONFIG}: does not describe a baseline ({error})") from None
    load_weights(model, folder)
    return model


def load_weights(model: Baseline, folder: Path) -> None:
    """Fills a baseline with the weights of a folder. Raises CheckpointError where they belong to another model."""
    stored, _ = open_safetensors(folder / WEIGHTS)
    own = {variable.path: variable for variable in model.weights}
    shapes = {path: tuple(variable.shape) for path, variable in own.items()}
    if shapes != {name: tensor.shape for name, tensor in stored.items()}:
        raise CheckpointError(f"{folder / WEIGHTS}: expected the weights of {CONFIG}; train the baseline again")
    for path, variable in own.items():
        variable.assign(stored[path].read())
