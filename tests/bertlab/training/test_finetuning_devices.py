"""Fine-tuning as pre-training does it: parts of a batch, 16 bits, devices, states within an epoch, logs, callbacks."""

import dataclasses
import json
import sys

import keras
import numpy as np
import pytest
from finetuning_case import RECIPE, finetuned, of_two_lengths, save_checkpoint, task_of
from killing import Killed, killer, killer_after
from other_backends import last_line
from refusals import refused
from safetensors.numpy import load_file

from bertlab.common.errors import ConfigError
from bertlab.training.finetuning import experiment, trainer
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.runs import loop

SHORT = RECIPE.replace(epochs=2)  # 44 rows in batches of 8: 6 steps in an epoch


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("finetuning") / "pretrained", hidden_dropout=0.1)


def weights_in(folder):
    return (folder / "model.safetensors").read_bytes()


def trained(checkpoint, task, folder, recipe):
    """(losses of the epochs, weights) after a fine-tuning."""
    result = finetuned(checkpoint, task, folder, recipe)
    return [row["loss"] for row in result.best.epochs], load_file(folder / "model.safetensors")


# --- parts of a batch ---


@pytest.mark.parametrize(
    "shape", ["sentence", *(pytest.param(one, marks=pytest.mark.exhaustive) for one in ("number", "question"))]
)
def test_a_batch_in_parts_gives_the_same_update(tmp_path, shape):
    checkpoint = save_checkpoint(tmp_path / "pretrained")  # without dropout, whose masks depend on the parts
    task = task_of(shape)
    weighted = {"class_weights": (1.0, 3.0)} if shape == "sentence" else {}
    recipe = RECIPE.replace(epochs=1, learning_rate=1e-3, **weighted)
    whole, expected = trained(checkpoint, task, tmp_path / "whole", recipe)
    parts, found = trained(checkpoint, task, tmp_path / "parts", recipe.replace(accumulation=4))
    assert parts == pytest.approx(whole, rel=1e-4)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=2e-4, err_msg=name)


@pytest.mark.parametrize("shape", ["sentence", "multiple-choice"])
def test_batches_of_several_lengths_in_parts_have_the_loss_of_whole_ones(tmp_path, shape):
    """TensorFlow makes one graph for all of them from the second length on, where the length is then unknown."""
    checkpoint, task = save_checkpoint(tmp_path / "pretrained"), of_two_lengths(task_of(shape))
    recipe = RECIPE.replace(epochs=1, learning_rate=1e-3, max_length=32)
    whole, parts = (trained(checkpoint, task, tmp_path / str(n), recipe.replace(accumulation=n))[0] for n in (1, 4))
    assert parts == pytest.approx(whole, rel=1e-4)


def test_a_batch_that_cannot_be_divided_is_refused():
    refused("batch_size 8 cannot be divided into 3 equal parts", RECIPE.replace, accumulation=3, error=ConfigError)
    refused("batch_size 16", Recipe(batch_size=32, devices=32).grid, {"batch_size": (32, 16)}, error=ConfigError)


# --- 16 bits ---


@pytest.mark.slow
def test_bfloat16_learns_and_its_weights_are_float32(checkpoint, tmp_path):
    result = finetuned(checkpoint, task_of("sentence"), tmp_path, RECIPE.replace(precision="bfloat16"))
    assert result.dev["accuracy"] > 0.9
    assert {value.dtype for value in load_file(tmp_path / "model.safetensors").values()} == {np.dtype("float32")}
    assert json.loads((tmp_path / "settings.json").read_text())["precision"] == "bfloat16"
    exact = finetuned(checkpoint, task_of("sentence"), tmp_path / "exact", RECIPE)
    assert [row["loss"] for row in exact.best.epochs] != [row["loss"] for row in result.best.epochs]


# --- devices ---

ON_TWO = """
import sys
from pathlib import Path
from types import SimpleNamespace
sys.path[:0] = {paths!r}
from finetuning_case import RECIPE, finetuned, task_of
result = finetuned({checkpoint!r}, task_of("sentence"), Path({out!r}), RECIPE.replace(
    epochs=1, learning_rate=1e-3, devices=2, accumulation=2, class_weights=(1.0, 3.0)))
print(result.best.epochs[0]["loss"], result.dev["accuracy"])
"""


@pytest.mark.exhaustive
def test_two_devices_give_the_update_of_one(tmp_path):
    checkpoint = save_checkpoint(tmp_path / "pretrained")
    recipe = RECIPE.replace(epochs=1, learning_rate=1e-3, class_weights=(1.0, 3.0))
    (loss,), expected = trained(checkpoint, task_of("sentence"), tmp_path / "one", recipe)
    code = ON_TWO.format(paths=sys.path, checkpoint=str(checkpoint), out=str(tmp_path / "two"))
    assert float(last_line(code, backend="tensorflow").split()[0]) == pytest.approx(loss, rel=1e-4)
    for name, value in load_file(tmp_path / "two" / "model.safetensors").items():
        np.testing.assert_allclose(value, expected[name], atol=2e-4, err_msg=name)


# --- states within an epoch ---


@pytest.mark.parametrize("patience", [None, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_a_kill_within_an_epoch_loses_no_more_than_the_interval_and_changes_no_byte(
    checkpoint, tmp_path, monkeypatch, patience
):
    recipe = SHORT.replace(interval=4, patience=patience, epochs=3)
    whole = finetuned(checkpoint, task_of("sentence"), tmp_path / "whole", recipe)

    lines = []
    monkeypatch.setattr(
        experiment, "ProgressLines", lambda *given: lines.append(loop.ProgressLines(*given)) or lines[-1]
    )
    out, said = tmp_path / "parts", []
    for step in (3, 11, 6):  # before the first state; in epoch 2; in epoch 3, counted from step 8
        with pytest.raises(Killed):
            die = killer_after(step)
            finetuned(checkpoint, task_of("sentence"), out, recipe, callbacks=[die], say=said.append)
    assert [line for line in said if "resumes from" in line] == ["resumes from step 8 of 18"]
    again = finetuned(checkpoint, task_of("sentence"), out, recipe, say=said.append)
    assert "resumes from step 12 of 18" in said
    assert [line.first_step for line in lines] == [0, 0, 8, 12]  # the time left is that of steps computed now
    assert weights_in(out) == weights_in(tmp_path / "whole")
    assert again.best.epochs == whole.best.epochs and again.dev == whole.dev
    assert not list((out / "runs").glob("*.states"))  # the run is over
    rows = [(tmp_path / name / "logs").glob("*/metrics.csv") for name in ("whole", "parts")]
    steps = [[line.split(",")[0] for line in next(files).read_text().splitlines()] for files in rows]
    assert steps[0] == steps[1] == ["step", "4", "6", "8", "12", "12", "16", "18"]


@pytest.mark.slow
def test_other_settings_do_not_go_on_from_a_state(checkpoint, tmp_path):
    recipe = SHORT.replace(interval=4)
    with pytest.raises(Killed):
        finetuned(checkpoint, task_of("sentence"), tmp_path, recipe, callbacks=[killer("on_epoch_end")])
    with pytest.raises(ConfigError, match="learning_rate was 0.02, is 0.01"):
        finetuned(checkpoint, task_of("sentence"), tmp_path, recipe.replace(learning_rate=0.01))
    assert finetuned(checkpoint, task_of("sentence"), tmp_path, recipe.replace(interval=3)).dev  # changes no result


# --- logs, callbacks and metrics of one's own ---


def test_an_epoch_is_a_line_in_a_pipe_a_row_of_the_logs_and_a_call_of_ones_own_callback(checkpoint, tmp_path):
    seen = []

    class Own(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append((epoch, dict(logs), self.model.task_kind.info.name))
            self.model.stop_training = epoch == 1

    def share_of_negative(rows, predictions):
        return np.mean(np.array(predictions) == 0)

    said, recipe = [], SHORT.replace(epochs=5)
    result = finetuned(
        checkpoint, task_of("sentence"), tmp_path, recipe, say=said.append, callbacks=[Own()],
        metrics={"negative": share_of_negative},
    )  # fmt: skip
    first, second = result.best.epochs  # stopped by the callback
    assert [(epoch, name) for epoch, _, name in seen] == [(0, "tone"), (1, "tone")]
    assert seen[1][1] == {"loss": second["loss"]} | {f"val_{name}": v for name, v in second["figures"].items()}
    assert list(first["figures"])[-1] == "negative" and 0 <= result.dev["negative"] <= 1
    assert said[0] == f"pre-trained, seed 1, epoch 1 of 5: loss {first['loss']:.4f} accuracy " + (
        f"{first['figures']['accuracy']:.4f}"
    )
    (logs,) = (tmp_path / "logs").iterdir()
    assert len((logs / "metrics.csv").read_text().splitlines()) == 3
    assert list((logs / "tensorboard").glob("events.out.tfevents.*"))


def test_a_log_file_shows_how_many_rows_are_evaluated(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_LINES", 0)
    monkeypatch.setattr(trainer, "PREDICTED_BATCH_SIZE", 8)
    said, task = [], task_of("sentence")
    finetuned(checkpoint, task, tmp_path, SHORT, say=said.append)
    rows = len(task.validation)
    batches = [*range(8, rows, 8), rows] * 2  # of two epochs
    lines = [line.partition(": ") for line in said if "evaluating" in line]
    assert [text for _, _, text in lines] == [
        f"pre-trained, seed 1, evaluating, {done} of {rows} rows" for done in batches
    ]
    assert lines[0][0].startswith("step 6 of 12, about ") and lines[-1][0].startswith("step 12 of 12, about ")


@pytest.mark.slow
def test_a_metric_of_ones_own_chooses_the_best_epoch_and_seed(checkpoint, tmp_path):
    values = iter([0.1, 0.9, 0.2, 0.8, 0.3, 0.4] + [0.9] * 9)  # two runs of three epochs, then the kept model

    recipe = SHORT.replace(epochs=3, patience=2, seeds=(1, 2), best="own")
    result = finetuned(
        checkpoint, task_of("sentence"), tmp_path, recipe, metrics={"own": lambda rows, predictions: next(values)}
    )
    assert result.metric == "own" and list(result.dev)[:2] == ["own", "accuracy"]
    assert [(run.kept_epoch, run.main) for run in result.runs] == [(2, 0.9), (1, 0.8)]
    assert result.best.seed == 1 and "  own (development)" in result.summary()
    assert FineTuningResult.from_dict(json.loads((tmp_path / "results.json").read_text())).best == result.best


@pytest.mark.parametrize(
    ("shape", "known"),
    [("sentence", "accuracy, f1:positive"), ("number", "pearson, spearman"), ("multiple-choice", "accuracy"),
     ("tagging", "f1, "), ("question", "f1, exact, ")],
)  # fmt: skip
def test_a_metric_that_the_task_does_not_have_chooses_nothing(checkpoint, tmp_path, shape, known):
    with pytest.raises(ConfigError, match=f"best: expected one of {known}.*; got 'bleu'"):
        finetuned(checkpoint, task_of(shape), tmp_path / "run", SHORT.replace(best="bleu"))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["sentence", "multiple-choice"])
def test_a_batch_beyond_the_memory_is_refused_before_the_folder_is_touched(checkpoint, tmp_path, shape, monkeypatch):
    task, recipe = task_of(shape), SHORT.replace(batch_size=2**24)
    with pytest.raises(ConfigError, match=r"GiB are free: compute each update in parts, with accumulation="):
        finetuned(checkpoint, task, tmp_path / "run", recipe)
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(experiment, "available_memory", lambda devices: 1)
    with pytest.raises(ConfigError, match="memory_check=False starts the run anyway"):
        finetuned(checkpoint, task, tmp_path / "run", SHORT)
    assert finetuned(checkpoint, task, tmp_path / "run", SHORT.replace(epochs=1), memory_check=False).dev
    assert finetuned(checkpoint, task, tmp_path / "run", SHORT.replace(epochs=1)).dev  # finished: nothing to compute


@pytest.mark.slow
def test_an_older_folder_has_the_defaults_of_newer_settings_and_that_of_another_backend_is_refused(
    checkpoint, tmp_path
):
    task, recipe = task_of("sentence"), SHORT.replace(epochs=1)
    result = finetuned(checkpoint, task, tmp_path, recipe)
    settings = json.loads((tmp_path / "settings.json").read_text())
    newer = ("accumulation", "precision", "devices", "backend")
    older = {name: value for name, value in settings.items() if name not in newer}
    (tmp_path / "settings.json").write_text(json.dumps(older))
    assert finetuned(checkpoint, task, tmp_path, dataclasses.replace(recipe, interval=7)) == result
    (tmp_path / "settings.json").write_text(json.dumps(settings | {"backend": "another"}))
    refused("backend was 'another', is '", finetuned, checkpoint, task, tmp_path, recipe, error=ConfigError)
