"""A trained baseline in a folder: baseline.json, its configuration, and baseline.safetensors, its weights by path."""

import dataclasses
import json
from pathlib import Path

from keras import ops

from bertlab.checkpoints.opening import BASELINE
from bertlab.checkpoints.stored import open_safetensors, write_safetensors
from bertlab.common.errors import CheckpointError
from bertlab.common.files import read_json, write_json
from bertlab.training.baselines.models import Baseline, make_baseline
from bertlab.training.baselines.settings import BaselineConfig


def is_baseline(folder: str | Path) -> bool:
    """Whether a folder holds a trained baseline."""
    return (Path(folder) / BASELINE).exists()


def save_baseline(model: Baseline, folder: Path, name: str = BASELINE) -> None:
    """Writes both files, the weights last. Raises CheckpointError where the system refuses.

    name: of the file with the configuration; that of the weights ends in .safetensors instead.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / name, dataclasses.asdict(model.config), CheckpointError)
    arrays = {variable.path: ops.convert_to_numpy(variable) for variable in model.weights}
    write_safetensors(_weights(folder, name), arrays, {"bertlab": json.dumps({"kind": Path(name).stem})})


def load_baseline(folder: str | Path) -> Baseline:
    """The inverse of `save_baseline`. Raises CheckpointError for files that cannot be used."""
    model = make_baseline(read_config(Path(folder), BASELINE, BaselineConfig))
    load_weights(model, Path(folder))
    return model


def read_config(folder: Path, name: str, config_class: type):
    """The configuration in the file `name`. Raises CheckpointError for a file that cannot be used."""
    values = read_json(folder / name, CheckpointError, "copy the folder again")
    try:
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return config_class(**values | lists)
    except (TypeError, AttributeError) as error:
        what = {BASELINE: "a baseline"}.get(name, "a head")
        raise CheckpointError(f"{folder / name}: does not describe {what} ({error})") from None


def load_weights(model: Baseline, folder: Path, name: str = BASELINE) -> None:
    """Fills a model with the weights of a folder. Raises CheckpointError where they belong to another model."""
    stored, _ = open_safetensors(_weights(folder, name))
    own = {variable.path: variable for variable in model.weights}
    shapes = {path: tuple(variable.shape) for path, variable in own.items()}
    if shapes != {path: tensor.shape for path, tensor in stored.items()}:
        raise CheckpointError(f"{_weights(folder, name)}: expected the weights of {name}; train it again")
    for path, variable in own.items():
        variable.assign(stored[path].read())


def _weights(folder: Path, name: str) -> Path:
    return folder / Path(name).with_suffix(".safetensors")
