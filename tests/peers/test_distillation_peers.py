"""Distillation: its losses beside PyTorch's own; on JAX and PyTorch both stages have TensorFlow's losses and resume."""

import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import ops
from other_backends import last_line
from pretraining_case import CONFIG, make_examples

from bertlab import checkpoints
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.data.tasks.rows import TaskData
from bertlab.models import PreTrainingModel, SequenceClassifier
from bertlab.training.distillation import objectives as losses
from bertlab.training.finetuning.task_info import save_finetuned
from bertlab.training.finetuning.task_kinds import TaskInfo

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers
RNG = np.random.default_rng(3)
# Each backend draws its own numbers. So there is no dropout, and what a run draws begins near 0: new heads and
# projections. The cosine of a projection depends on its direction, so that the student for outputs has none.
TEACHER = CONFIG.replace(num_layers=2, hidden_dropout=0.0, attention_dropout=0.0, initializer_range=0.3)
STUDENTS = {"outputs": TEACHER.replace(num_layers=1), "layers": TEACHER.replace(num_layers=1, hidden_size=8)}
SCRIPT = """
import json, sys
from pathlib import Path
import keras
from bertlab.data.tasks.rows import SentenceRow, TaskData
from bertlab.training.distillation.general import distill
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.distillation.task import distill_task
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.presets import PretrainingSettings

folder, out = map(Path, sys.argv[1:])

class Stop(Exception):
    pass

class Killer(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):  # of the general stage: after its first state
        raise Stop

    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:  # of the task stage alone: the step after its first state
            raise Stop

def general(to, losses, place, callbacks=()):
    settings = PretrainingSettings(steps=4, interval=2, batch_size=8, learning_rate=1e-3, xla=False, dropout=0.0)
    history = distill(folder / "teacher", to, folder / "rows", place, settings, DistillationSettings(losses=losses),
                      callbacks=callbacks, say=lambda text: None)
    return [row["loss"] for row in history]

rows = [SentenceRow(f"the {word} cat sees a dog .", int(word == "big")) for word in ("big", "small", "big", "old") * 6]
task = TaskData("size", "sentence", ("other", "big"), rows[:16], rows[16:])

def on_task(to, losses, place, callbacks=()):
    recipe = Recipe(learning_rate=1e-3, batch_size=4, epochs=2, max_length=16, interval=2)
    result = distill_task(folder / "finetuned", to, task, place, recipe, DistillationSettings(losses=losses),
                          callbacks=callbacks)
    return [epoch["loss"] for epoch in result.runs[0].epochs]

def resumed(stage, *arguments):
    try:
        stage(*arguments, [Killer()])
    except Stop:
        return stage(*arguments)
    raise AssertionError("the run was not stopped")

found = {}
for stage in (general, on_task):
    for losses in ("outputs", "layers"):
        name = f"{stage.__name__} {losses}"
        found[name] = stage(folder / losses, losses, out / name)
        if keras.backend.backend() != "tensorflow":
            found[f"{name} again"] = resumed(stage, folder / losses, losses, out / f"{name} again")
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    make_examples(folder / "rows", number=6, dynamic_masking=True, next_sentence=False)
    tokenizer = ExampleFiles(folder / "rows").tokenizer
    keras.utils.set_random_seed(3)
    checkpoints.save(PreTrainingModel(TEACHER, next_sentence=False), folder / "teacher", tokenizer)
    for name, config in STUDENTS.items():
        checkpoints.save(PreTrainingModel(config, next_sentence=False), folder / name, tokenizer)
        file = folder / name / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"initializer_range": 1e-6}))
    info = TaskInfo.of(TaskData("size", "sentence", ("other", "big"), [], []), 16, 8)
    save_finetuned(SequenceClassifier(TEACHER, num_labels=2), folder / "finetuned", tokenizer, info, "huggingface")
    return folder


def runs_on(backend, data, out):
    """The losses of every run, by its name."""
    return json.loads(last_line(SCRIPT, data, out, backend=backend))


@pytest.fixture(scope="module")
def of_tensorflow(data, tmp_path_factory):
    return runs_on("tensorflow", data, tmp_path_factory.mktemp("tensorflow"))


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_student_learns_on_every_backend_as_on_tensorflow_and_a_stopped_run_resumes(
    backend, data, of_tensorflow, tmp_path
):
    found = runs_on(backend, data, tmp_path)
    for name, expected in of_tensorflow.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-3, err_msg=name)
        assert found[f"{name} again"] == found[name], name
        file = "checkpoint/model.safetensors" if name.startswith("general") else "model.safetensors"
        assert (tmp_path / f"{name} again" / file).read_bytes() == (tmp_path / name / file).read_bytes(), name
    assert (tmp_path / "on_task outputs" / "teacher.safetensors").exists()


def test_pytorch_refuses_several_devices_in_one_line_before_anything_is_written(data, tmp_path):
    command = [sys.executable, "-m", "bertlab", "distill", str(data / "teacher"), "--to", "1x8", "--devices", "2"]
    command += ["--data", str(data / "rows"), "--out", str(tmp_path / "out"), "--batch-size", "8"]
    done = subprocess.run(command, env=os.environ | {"KERAS_BACKEND": "torch"}, capture_output=True, text=True)
    assert done.returncode == 2
    assert "expected TensorFlow or JAX for several devices, got torch; choose devices=1" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


# === Losses beside PyTorch's own ===


def numbers(*shape):
    return RNG.normal(0, 2, shape).astype("float32")


@pytest.mark.parametrize("temperature", [1.0, 2.0, 5.0])
def test_soft_targets_equal_the_published_formula(temperature):
    """KLDivLoss with batchmean on softened probabilities, times t squared, as in distiller.py of DistilBERT."""
    student, teacher = numbers(40, 11), numbers(40, 11)
    logs = torch.log_softmax(torch.tensor(student) / temperature, dim=-1)
    probabilities = torch.softmax(torch.tensor(teacher) / temperature, dim=-1)
    expected = torch.nn.KLDivLoss(reduction="batchmean")(logs, probabilities) * temperature**2
    found = ops.convert_to_numpy(losses.soft_target_losses(student, teacher, temperature)).mean()
    assert found == pytest.approx(float(expected), rel=1e-5)


def test_directions_equal_the_cosine_embedding_loss():
    student, teacher = numbers(40, 16), numbers(40, 16)
    expected = torch.nn.CosineEmbeddingLoss()(torch.tensor(student), torch.tensor(teacher), torch.ones(40))
    assert ops.convert_to_numpy(losses.direction_losses(student, teacher)).mean() == pytest.approx(
        float(expected), rel=1e-5
    )


def test_scores_and_states_of_full_rows_equal_the_mean_squared_error():
    student, teacher = numbers(2, 3, 5, 5), numbers(2, 3, 5, 5)
    expected = float(torch.nn.MSELoss()(torch.tensor(student), torch.tensor(teacher)))
    assert ops.convert_to_numpy(losses.score_losses(student, teacher)).mean() == pytest.approx(expected, rel=1e-5)
    assert ops.convert_to_numpy(losses.vector_losses(student, teacher)).mean() == pytest.approx(expected, rel=1e-5)
