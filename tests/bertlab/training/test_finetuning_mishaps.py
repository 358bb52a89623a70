"""Fine-tuning where something goes wrong: what is refused, what diverges, and what a second start finds."""

import dataclasses
import json

import numpy as np
import pytest
from finetuning_case import RECIPE, finetuned, save_checkpoint, task_of

from bertlab import checkpoints
from bertlab.checkpoints.kinds import variables_of
from bertlab.common.errors import CheckpointError, ConfigError, DataError, TrainingError
from bertlab.data.tasks.rows import SentenceRow
from bertlab.plots import confusion_matrix
from bertlab.training.finetuning import task_group
from bertlab.training.finetuning.results import FineTuningResult, RunResult, best_run
from bertlab.training.finetuning.settings import STARTS
from bertlab.training.runs.curves import save_figure

SHORT = dataclasses.replace(RECIPE, epochs=1)
TOO_HIGH = 1e38  # a learning rate with which weights overflow


def strict_json(path):
    """Read as other languages read it: NaN and Infinity are errors."""

    def refused(name):
        raise ValueError(name)

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refused)


# --- refused ---


def test_what_is_refused_leaves_the_folder_to_the_corrected_command(checkpoint, tmp_path):
    task, out = task_of("sentence"), tmp_path / "out"
    for changes, told in (
        ({"frozen_layers": 99}, "frozen_layers"),
        ({"class_weights": (1, 2, 3)}, "expected 2 class_weights"),
    ):
        with pytest.raises(ConfigError, match=told):
            finetuned(checkpoint, task, out, dataclasses.replace(SHORT, **changes))
    with pytest.raises(ConfigError, match="expected axes"):
        finetuned(checkpoint, task, out, SHORT, grid={"layer_decay": (1.0, 0.9)})
    with pytest.raises(DataError, match="train rows have no label"):
        unlabelled = dataclasses.replace(task, train=[SentenceRow("film")])
        finetuned(checkpoint, unlabelled, out, dataclasses.replace(SHORT, class_weights="balanced"))
    assert not out.exists()


def test_weights_of_another_family_than_the_configuration_names_are_refused_in_one_line(tmp_path):
    start = save_checkpoint(tmp_path / "start")
    values = json.loads((start / "config.json").read_text())
    (start / "config.json").write_text(json.dumps(values | {"model_type": "electra", "embedding_size": 16}))
    with pytest.raises(
        CheckpointError, match="the names are those of bert; correct .model_type. in config.json"
    ) as caught:
        finetuned(start, task_of("sentence"), tmp_path / "out")
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()


def test_test_rows_with_another_number_of_choices_are_refused_before_training(checkpoint, tmp_path):
    task = task_of("multiple-choice")
    two = [dataclasses.replace(row, choices=row.choices[:2], label=None) for row in task.validation]
    with pytest.raises(DataError, match=r"3 \(train\), 3 \(validation\), 2 \(test\) choices"):
        finetuned(checkpoint, dataclasses.replace(task, test=two), tmp_path / "out", SHORT)
    assert not (tmp_path / "out").exists()


# --- diverged ---


@pytest.mark.slow
def test_a_setting_that_diverges_is_shown_and_passed_over_and_only_nothing_else_is_an_error(checkpoint, tmp_path):
    task, out = task_of("sentence"), tmp_path / "out"
    with pytest.raises(TrainingError, match="choose a lower learning rate"):
        finetuned(checkpoint, task, out, dataclasses.replace(SHORT, learning_rate=TOO_HIGH))
    with pytest.raises(TrainingError, match="all 2 settings diverged.*choose a lower learning rate"):
        finetuned(checkpoint, task, out, SHORT, grid={"learning_rate": (TOO_HIGH, 2 * TOO_HIGH)})
    result = finetuned(checkpoint, task, out, SHORT, grid={"learning_rate": (TOO_HIGH, 2e-2)})  # nothing was lost
    assert result.best.learning_rate == 2e-2
    assert [run.diverged is None for run in result.runs] == [False, True]
    assert result.summary().splitlines()[2].endswith("diverged")
    assert any("choose a lower learning rate" in note for note in result.notes)
    assert strict_json(out / "results.json")["best"]["learning_rate"] == 2e-2
    assert {"predictions", "curves.png", "model.safetensors"} <= {path.name for path in out.iterdir()}


def run_of(batch_size, seed, value, **changes):
    figures = {} if "diverged" in changes else {"accuracy": value}
    return RunResult(STARTS[0], batch_size, 2.5e-5, 1, seed, [], 1, figures, 1.0, 1.0, **changes)


def test_a_setting_of_which_one_seed_diverged_is_not_chosen():
    runs = (run_of(16, 1, 0.9), run_of(16, 2, 0, diverged="at step 1"), run_of(32, 1, 0.5), run_of(32, 2, 0.6))
    assert best_run(runs) == runs[3]
    assert best_run(runs[1::-1]) == runs[0]  # where there is nothing else, the seed that did not
    lines = FineTuningResult("t", "accuracy", runs, {"accuracy": 0.6}).summary().splitlines()
    assert "0.5500 ± 0.0707" in lines[1] and lines[2].endswith("diverged (1 of 2)")
    assert "2.5e-05" in lines[1]  # not 3e-05


def test_an_undefined_figure_is_null_in_the_files_and_no_number_when_read_again(tmp_path):
    epochs = [{"epoch": 1, "loss": 0.5, "figures": {"pearson": float("nan")}}]
    run = dataclasses.replace(run_of(16, 1, 0), epochs=epochs, figures={"pearson": float("nan")})
    run.save(tmp_path / "run.json")
    assert strict_json(tmp_path / "run.json")["figures"] == {"pearson": None}
    again = RunResult.load(tmp_path / "run.json")
    assert np.isnan(again.figures["pearson"]) and np.isnan(again.epochs[0]["figures"]["pearson"])
    result = FineTuningResult("t", "pearson", (run,), {"pearson": float("nan")})
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert np.isnan(FineTuningResult.from_dict(json.loads(text)).dev["pearson"])


def test_the_metric_of_a_class_is_printed_and_those_of_many_types_are_left_to_the_file():
    runs = (run_of(16, 1, 0.9),)
    binary = FineTuningResult("t", "accuracy", runs, {"accuracy": 0.9, "f1:spam": 0.8}).summary()
    assert binary.endswith("accuracy 0.9000, f1:spam 0.8000")
    entities = FineTuningResult("t", "accuracy", runs, {"accuracy": 0.9, "f1": 0.7, "f1:PER": 0.8}).summary()
    assert entities.endswith("accuracy 0.9000, f1 0.7000")


# --- the end ---


@pytest.mark.slow
def test_results_are_there_before_pictures_and_what_is_missing_is_made_by_a_second_start(checkpoint, tmp_path):
    task, out = task_of("sentence"), tmp_path / "out"

    def full(*arguments):
        raise OSError("disk full")

    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError):
        patch.setattr(task_group, "write_outputs", full)
        finetuned(checkpoint, task, out, SHORT)
    results = strict_json(out / "results.json")
    assert not (out / "errors.tsv").exists()
    assert finetuned(checkpoint, task, out, SHORT).to_dict() == results
    assert {"errors.tsv", "confusion.png", "predictions"} <= {path.name for path in out.iterdir()}


@pytest.mark.parametrize("classes", [40, 1000])
def test_the_picture_of_any_number_of_classes_can_be_written_and_shows_the_most_confused(tmp_path, classes):
    counts = np.diag(np.full(classes, 9))
    counts[classes - 1, 3] = 5
    figure = confusion_matrix(counts, [f"$_{number}$" for number in range(classes)])  # no formulas
    assert max(figure.get_size_inches()) < 30
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert len(names) == 40 and names[3] == "$_3$" and names[-1] == f"$_{classes - 1}$"
    assert axes.get_title() == ("" if classes == 40 else "the 40 of 1000 classes with the most mistakes")
    if classes == 40:
        save_figure(tmp_path / "confusion.png", figure)
        assert (tmp_path / "confusion.png").stat().st_size > 1000


# --- what is held back ---


@pytest.mark.slow
def test_frozen_weights_stay_others_move_and_from_scratch_every_layer_learns(checkpoint, tmp_path):
    plain = dataclasses.replace(SHORT, from_scratch=True, class_weights="balanced")
    held = dataclasses.replace(plain, frozen_layers=1, layer_decay=0.5)
    task = task_of("sentence")
    result = finetuned(checkpoint, task, tmp_path / "held", held)
    before = variables_of(checkpoints.load(checkpoint, "pretraining"))
    after = variables_of(checkpoints.load(tmp_path / "held", "sequence_classification"))
    moved = {path for path in after if path in before and np.any(np.array(after[path]) != np.array(before[path]))}
    assert not [path for path in moved if "embeddings" in path or "layer_0" in path]
    assert {"backbone/pooler/dense/kernel", "backbone/encoder/layer_1/attention/query/kernel"} <= moved

    scratch, freely = (
        next(run.epochs for run in one.runs if run.start == STARTS[1])
        for one in (result, finetuned(checkpoint, task, tmp_path / "plain", plain))
    )
    assert scratch == freely
    assert any("every layer is trained" in note for note in result.notes)
