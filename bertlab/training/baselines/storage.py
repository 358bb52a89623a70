"""A trained baseline in a folder: baseline.json, its configuration, and baseline.safetensors, its weights by path.

A head on vectors of a frozen model is stored alike, in features.json and features.safetensors.
"""

import dataclasses
import json
from pathlib import Path

from keras import ops

from bertlab.checkpoints.opening import BASELINE
from bertlab.checkpoints.stored import open_safetensors, write_safetensors
from bertlab.common.errors import CheckpointError
from bertlab.common.files import read_json, write_json
from bertlab.training.baselines.models import Baseline, make_baseline


def save_baseline(model: Baseline, folder: Path) -> None:
    """Writes both files, the weights last. Raises CheckpointError where the system refuses."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / model.file, dataclasses.asdict(model.config), CheckpointError)
    arrays = {variable.path: ops.convert_to_numpy(variable) for variable in model.weights}
    write_safetensors(_weights(model, folder), arrays, {"bertlab": json.dumps({"kind": Path(model.file).stem})})


def load_baseline(folder: Path) -> Baseline:
    """The inverse of `save_baseline`. Raises CheckpointError for files that cannot be used."""
    model = make_baseline(read_config(folder, Baseline))
    load_weights(model, folder)
    return model


def read_config(folder: Path, model_class: type[Baseline]):
    """The configuration of a model in a folder. Raises CheckpointError for a file that cannot be used."""
    file = folder / model_class.file
    values = read_json(file, CheckpointError, "copy the folder again")
    try:
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return model_class.config_class(**values | lists)
    except (TypeError, AttributeError) as error:
        what = "a baseline" if file.name == BASELINE else "a head"
        raise CheckpointError(f"{file}: does not describe {what} ({error})") from None


def load_weights(model: Baseline, folder: Path) -> None:
    """Fills a model with the weights of a folder. Raises CheckpointError where they belong to another model."""
    stored, _ = open_safetensors(_weights(model, folder))
    own = {variable.path: variable for variable in model.weights}
    shapes = {path: tuple(variable.shape) for path, variable in own.items()}
    if shapes != {path: tensor.shape for path, tensor in stored.items()}:
        raise CheckpointError(f"{_weights(model, folder)}: expected the weights of {model.file}; train it again")
    for path, variable in own.items():
        variable.assign(stored[path].read())


def _weights(model: Baseline, folder: Path) -> Path:
    return (folder / model.file).with_suffix(".safetensors")
