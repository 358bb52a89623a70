"""The file of trained weights that is handed in with a notebook: written, checked, downloaded.

The weights are stored under the course's own names (`autograde.boundary.roles`), so that the grader can load them into
the student's model.
"""

import json
from pathlib import Path

import numpy as np

from autograde.boundary.call_answer import variables_at
from autograde.boundary.weights_file import PRETRAINING, WEIGHTS, Form, Weights, WeightsError, read_weights
from autograde.student import home, saving
from autograde.student.training_run import NOTEBOOK, Run, RunError
from bertlab.common.files import write_atomically

UNTRAINED = "these are the weights of an untrained model"


def weights_path(notebook: str = NOTEBOOK, file: str = WEIGHTS) -> Path:
    """The path of a notebook's file."""
    return home.of_notebook(notebook) / file


def hand_in(run: Run, path: str | Path | None = None, form: Form = PRETRAINING) -> str:
    """Writes the weights of a run; returns a sentence: how far they are trained, or why nothing was written.

    Raises RunError for a model without a weight that the notebook asks for.
    """
    from safetensors.numpy import save_file

    path = weights_path() if path is None else Path(path)
    weights = _weights_of(run, form)
    problem = _problem(run, weights)
    if problem:
        older = f"\nThe file of an earlier run is still there: {check_weights(path, form)}" if path.is_file() else ""
        return f"✗ Nothing was written: {problem}.{older}"
    settings, last = run.settings, run.history[-1] if run.history else {}
    unfinished = "" if run.done >= settings.steps else " (not finished)"
    score = f", held-out loss {last['loss']:.2f} after step {last['step']:,}" if "loss" in last else ""
    trained = f"trained for {run.done:,} of {settings.steps:,} steps on {settings.text!r}{unfinished}{score}"
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"config": json.dumps(weights.config), "trained": trained}
    write_atomically(path, lambda partial: save_file(weights.arrays, partial, metadata), RunError)
    numbers = sum(array.size for array in weights.arrays.values())
    return (
        f"{path}: {numbers:,} parameters, {path.stat().st_size / 1e6:.1f} MB, {trained}.\n"
        "Hand it in together with this notebook."
    )


def _weights_of(run: Run, form: Form) -> Weights:
    config = {name: run.settings.model[name] for name in form.largest}
    shapes, arrays = form.shapes(config), {}
    for role, paths in form.roles(config).items():
        variables = variables_at(run.own_model, paths)
        if variables is None:
            raise RunError(f"your model has no weight `{paths[0]}`; the grader expects it there")
        pieces = [np.asarray(variable).reshape(*shapes[role][:-1], -1) for variable in variables]
        arrays[role] = np.ascontiguousarray(np.concatenate(pieces, axis=-1), "float32")
    return Weights(config, arrays)


def _problem(run: Run, weights: Weights) -> str:
    """Why these weights cannot be handed in; "" if they can."""
    if run.done == 0:
        return f"the run has made no step, {UNTRAINED}. Run the cell with the training; if it stops, read its error"
    if weights.are_untrained:
        return f"after {run.done:,} steps {UNTRAINED}. Does `train_step` call the optimizer?"
    if not all(np.isfinite(array).all() for array in weights.arrays.values()):
        return (
            f"after {run.done:,} steps the weights contain NaN or infinity. Try a smaller `peak` of the learning rate"
        )
    return ""


def check_weights(path: str | Path | None = None, form: Form = PRETRAINING) -> str:
    """The grader's first check of the file: whether it can be read and graded, and what was trained."""
    from safetensors import safe_open

    path = weights_path() if path is None else Path(path)
    try:
        weights = read_weights(path, form)
    except WeightsError as reason:
        return f"✗ {reason}"
    if weights.are_untrained:
        return f"✗ {path.name}: {UNTRAINED}"
    sizes = ", ".join(f"{name} {size}" for name, size in weights.config.items())
    with safe_open(path, framework="numpy") as file:
        trained = file.metadata().get("trained", "")
    return f"✓ {path.name} can be graded: {sizes}{f'; {trained}' if trained else ''}"


def download_weights(path: str | Path | None = None) -> str:
    """On Colab, lets the browser download the file; elsewhere returns where it lies."""
    path = weights_path() if path is None else Path(path)
    if not path.is_file():
        return "✗ There is no file of weights yet: run the cells above first."
    if saving.download(path):
        return f"{path.name} is being downloaded."
    return f"The file is {path}."
