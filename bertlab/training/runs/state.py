"""The states of a training run on disk: enough to resume as if it had never stopped.

One safetensors file holds every variable of the trainer (weights, running means, the seeds of dropout) and of its
optimizer (moments, step counter); its metadata holds the progress so far. A file is complete or absent: it is written
under another name and renamed.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
from safetensors import SafetensorError, safe_open

from bertlab.checkpoints.stored import write_safetensors
from bertlab.common.errors import CheckpointError
from bertlab.common.files import remove_files


def _variables(trainer: keras.Model) -> dict[str, keras.Variable]:
    """Every variable of the run, numbered: Keras may rename those of optimizers and seeds, but keeps their order.

    Without the trainer's `fixed_variables`, if it has any: those are loaded from where they come from.
    """
    fixed = {id(variable) for variable in getattr(trainer, "fixed_variables", ())}
    changing = [variable for variable in trainer.variables if id(variable) not in fixed]
    named = {f"model/{i:04d}": variable for i, variable in enumerate(changing)}
    return named | {f"optimizer/{i:04d}": variable for i, variable in enumerate(trainer.optimizer.variables)}


def value_of(variable: keras.Variable) -> np.ndarray:
    """The value; of a variable that lives on several devices, the one that all of them have."""
    return np.array(keras.ops.convert_to_numpy(keras.ops.convert_to_tensor(variable)))


def keep_state(folder: str | Path, step: int, trainer: keras.Model, progress: dict, keep: int) -> None:
    """Saves the state of a compiled trainer after a step and deletes all but the last `keep` states.

    progress: JSON values such as the steps done and the history.
    Raises CheckpointError when it cannot be written, such as on a full disk; no half-written file is left.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"{folder}: cannot create the folder ({error.strerror})") from None
    arrays = {name: value_of(variable) for name, variable in _variables(trainer).items()}
    write_safetensors(Path(folder) / f"state-{step:08d}.safetensors", arrays, {"progress": json.dumps(progress)})
    for old in saved_states(folder)[:-keep]:
        old.unlink()


def saved_states(folder: str | Path) -> list[Path]:
    """The states in a run's folder, oldest first."""
    return sorted(Path(folder).glob("state-*.safetensors"))


def remove_states(folder: str | Path) -> None:
    """Deletes the states in a run's folder, and the folder unless it holds anything else."""
    remove_files(folder, ("state-*.safetensors", ".state-*.partial"))


def restored_progress(folder: str | Path, trainer: keras.Model, say=print) -> dict | None:
    """Loads the newest complete state into the trainer and returns its progress; None when there is none.

    A truncated file is skipped with a message through `say`. Files that a kill left half written are removed.
    Raises CheckpointError, and leaves the trainer as it is, for the state of another model.
    """
    for partial in Path(folder).glob(".state-*.partial"):
        partial.unlink()
    for path in reversed(saved_states(folder)):
        try:
            arrays, progress = _read(path)
        except CheckpointError as error:
            say(f"skipped {error}")
        else:
            _assign(arrays, trainer, path)
            return progress
    return None


def load_mean(paths: Sequence[Path], trainer: keras.Model) -> None:
    """Loads the mean of the weights of several saved states into a compiled trainer, for a checkpoint to be saved.

    The optimizer's variables, and what is not a floating-point number, are those of the last state.
    Raises CheckpointError, and leaves the trainer as it is, for a truncated file and the state of another model.
    """
    arrays, _ = _read(paths[-1])
    floats = [name for name, array in arrays.items() if name.startswith("model/") and array.dtype.kind == "f"]
    sums = {name: arrays[name].astype("float64") for name in floats}
    for path in paths[:-1]:
        for name, array in _read(path)[0].items():
            if name in sums:
                sums[name] += array
    means = {name: (total / len(paths)).astype(arrays[name].dtype) for name, total in sums.items()}
    _assign(arrays | means, trainer, paths[-1])


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays and the progress in a file. Raises CheckpointError for one that is not complete."""
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}
            return arrays, json.loads(file.metadata()["progress"])
    except (OSError, SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise CheckpointError(
            f"{path}: not a complete training state ({error}); the run resumes from the state before it, or from the "
            "beginning"
        ) from None


def _assign(arrays: dict[str, np.ndarray], trainer: keras.Model, path: Path) -> None:
    """Gives the trainer the values. Raises CheckpointError, and changes nothing, if they are not this trainer's."""
    variables = _variables(trainer)
    expected = {name: tuple(variable.shape) for name, variable in variables.items()}
    if expected != {name: array.shape for name, array in arrays.items()}:
        raise CheckpointError(
            f"{path}: the state of another model or optimizer ({len(arrays)} variables in the file, {len(expected)} in "
            "the run, or of other shapes); use another folder for another run"
        )
    for name, variable in variables.items():
        variable.assign(arrays[name])
