"""Several tasks on one encoder: what a head reads, which batches are drawn, resuming, and using the folder."""

import functools
import json

import numpy as np
import pytest
from bertlab_command import run
from click.testing import CliRunner
from finetuning_case import CONFIG, RECIPE, TOKENIZER, of_two_lengths, save_checkpoint, task_of
from killing import killer_after
from refusals import refused
from safetensors.numpy import load_file

from bertlab import checkpoints
from bertlab.cli import cli
from bertlab.common.errors import CheckpointError, ConfigError, DataError
from bertlab.data.tasks.features import encode_rows
from bertlab.families import family
from bertlab.models import MultiTaskModel, SequenceClassifier, TokenClassifier
from bertlab.predict import Predictor, evaluate
from bertlab.training.finetuning import finetune_tasks
from bertlab.training.finetuning.batches import TASK, batches_by_length, shares
from bertlab.training.finetuning.task_group import TaskGroup
from bertlab.training.runs import loop

FAMILIES = ("bert", "albert", "modernbert", "xlnet")
INPUTS = {"input_ids": np.array([[2, 7, 4, 3], [2, 9, 3, 0]]), "attention_mask": np.array([[1, 1, 1, 1], [1, 1, 1, 0]])}


def trained(checkpoint, out, recipe=RECIPE, shapes=("sentence", "tagging"), layers=None, **options):
    layers = {"cities": 1} if layers is None else layers
    return finetune_tasks(checkpoint, [task_of(shape) for shape in shapes], out, recipe, layers=layers, **options)


@pytest.fixture(scope="module")
def finished(checkpoint, tmp_path_factory):
    """(folder, result) of two tasks, the tagger on the first of two layers."""
    out = tmp_path_factory.mktemp("multi-task") / "out"
    return out, trained(checkpoint, out)


def test_a_log_file_shows_how_many_rows_of_all_tasks_are_evaluated(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_LINES", 0)
    said = []
    trained(checkpoint, tmp_path, RECIPE.replace(epochs=1), say=said.append)
    rows = sum(len(task_of(shape).validation) for shape in ("sentence", "tagging"))
    assert [line for line in said if "evaluating" in line][-1].endswith(f"evaluating, {rows} of {rows} rows")


# --- the model ---


def config_of(name):
    sizes = dict(vocab_size=20, hidden_size=16, num_layers=3, num_heads=2, intermediate_size=32, initializer_range=0.5)
    return family(name).config(**sizes, hidden_dropout=0.0)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_head_at_a_lower_layer_reads_what_a_model_without_the_layers_above_computes(name):
    config, depth = config_of(name), 2
    tasks = {"tone": {"kind": "sequence_classification"}, "tags": {"kind": "token_classification", "depth": depth}}
    model = MultiTaskModel(config, tasks)
    own = {variable.path: variable for variable in model.weights}
    for task, plain in (
        ("tone", SequenceClassifier(config)),
        ("tags", TokenClassifier(config.replace(num_layers=depth))),
    ):
        for variable in plain.weights:
            shared = variable.path.startswith("backbone/")
            variable.assign(own[variable.path if shared else f"{task}/{variable.path}"])
        np.testing.assert_allclose(model(INPUTS, task=task), plain(INPUTS), atol=1e-5)


def test_all_shapes_have_one_backbone_and_a_head_each():
    kinds = ("sequence_classification", "token_classification", "multiple_choice", "question_answering")
    model = MultiTaskModel(CONFIG, {f"task {kind}": {"kind": kind} for kind in kinds})
    paths = [variable.path for variable in model.weights]
    assert len(set(paths)) == len(paths)
    assert sum(path.startswith("backbone/embeddings/token/") for path in paths) == 1
    assert [path for path in paths if path.endswith("head/dense/bias")] == [
        f"task {kind}/head/dense/bias" for kind in kinds
    ]
    assert model(INPUTS, task="task question_answering")["start_logits"].shape == (2, 4)


@pytest.mark.parametrize(("tasks", "told"), [
    ({}, "at least one task"),
    ({"a/b": {"kind": "token_classification"}}, "name without /"),
    ({"backbone": {"kind": "token_classification"}}, "not 'backbone'"),
    ({"tags": {"kind": "nonsense"}}, "expected a kind among"),
    ({"tags": {"kind": "token_classification", "depth": 2}}, "a layer from 1 to 1"),
])  # fmt: skip
def test_a_model_that_cannot_be_is_refused(tasks, told):
    refused(told, MultiTaskModel, CONFIG, tasks, error=ConfigError)


# --- the batches ---


@pytest.mark.parametrize(("exponent", "expected"), [(1, (90, 9, 1)), (0.5, (70, 22, 8)), (0, (34, 33, 33))])
def test_the_shares_of_tasks(exponent, expected):
    found = shares({"large": range(90), "middle": range(9), "small": range(1)}, 1, exponent)
    assert sum(found.values()) == 100
    assert tuple(found.values()) == pytest.approx(expected, abs=1)


def encoded(shape):
    task = task_of(shape)
    return encode_rows(task.train, TOKENIZER, 16, task.labels)


def rows_read(batches, features):
    """Task → the ids of every row in the batches, without the copies that fill a batch up."""
    read = {name: [] for name in features}
    for inputs, targets in batches:
        (name,) = (key.removeprefix(TASK) for key in inputs if key.startswith(TASK))
        known = (targets if targets.ndim == 1 else targets.max(axis=1)) >= 0
        read[name] += [tuple(ids[ids > 0]) for ids in inputs["input_ids"][known]]
    return {name: sorted(rows) for name, rows in read.items()}


def test_in_proportion_every_row_is_read_once_in_each_epoch_and_the_seed_decides_the_order():
    features = {"tone": encoded("sentence"), "cities": encoded("tagging")}
    rows = {name: own.batch(range(len(own)), 16)[0]["input_ids"] for name, own in features.items()}
    whole = {name: sorted(tuple(ids[ids > 0]) for ids in own) for name, own in rows.items()}
    epochs = batches_by_length(features, 8, 16, seed=1, exponent=1.0)
    first, second = (list(next(epochs)) for _ in range(2))
    assert rows_read(first, features) == rows_read(second, features) == whole
    orders = [[[key for key in inputs if ":" in key] for inputs, _ in batches] for batches in (first, second)]
    assert orders[0] != orders[1]
    again = list(next(batches_by_length(features, 8, 16, seed=1, exponent=1.0)))
    for (inputs, targets), (same, same_targets) in zip(first, again, strict=True):
        assert all(np.array_equal(inputs[name], same[name]) for name in inputs)
        assert np.array_equal(targets, same_targets)


def test_a_resumed_run_finds_the_batches_of_a_later_epoch_without_those_before():
    features = {"tone": encoded("sentence"), "cities": encoded("tagging")}
    third = []
    for skips in (False, True):
        epochs = batches_by_length(features, 8, 16, seed=2, exponent=0.0)
        for _ in range(2):
            batches = next(epochs)
            if not skips:
                list(batches)
        third.append([inputs["input_ids"] for inputs, _ in next(epochs)])
    assert all(np.array_equal(one, other) for one, other in zip(*third, strict=True))


# --- training ---


@pytest.mark.slow
def test_both_tasks_are_learned_and_the_folder_has_every_head(finished):
    out, result = finished
    assert result.metric == "mean"
    assert result.dev["mean"] == pytest.approx((result.dev["tone/accuracy"] + result.dev["cities/f1"]) / 2)
    assert result.dev["tone/accuracy"] > 0.9 and result.dev["cities/f1"] > 0.9
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert {"bertlab.safetensors", "task.json", "vocab.txt", "results.json", "curves.png"} <= names
    assert {"tasks/tone/predictions/dev.tsv", "tasks/cities/predictions/dev.conll", "tasks/cities/curves.png"} <= names


@pytest.mark.slow
def test_each_task_of_the_folder_predicts_as_it_did_when_it_was_judged(finished):
    out, result = finished
    for shape, name, metric in (("sentence", "tone", "accuracy"), ("tagging", "cities", "f1")):
        judged = evaluate(Predictor.load(out, task=name), task_of(shape).validation)
        assert judged.metrics[metric] == pytest.approx(result.dev[f"{name}/{metric}"])
    model = checkpoints.load(out)
    assert model.part("cities").depth == 1 and model.part("tone").depth is None
    assert checkpoints.load(out, "encoder").config == model.config  # to fine-tune further, or for vectors


@pytest.mark.parametrize("task", [None, "nonsense"])
def test_a_task_must_be_chosen_of_those_in_the_folder(finished, task):
    with pytest.raises(CheckpointError, match="several tasks: tone, cities; choose one with"):
        Predictor.load(finished[0], task=task)


@pytest.mark.slow
def test_a_killed_run_resumes_and_ends_with_the_same_bytes(tmp_path, check_restart):
    checkpoint = save_checkpoint(tmp_path / "pretrained", num_layers=2, hidden_dropout=0.1)
    train = functools.partial(trained, checkpoint, recipe=RECIPE.replace(interval=5, epochs=2, task_sampling=0.5))
    told = "resumes from step 15 of 24"  # in the second epoch
    whole, again = check_restart(train, killer_after(17), told, "bertlab.safetensors")
    assert again.best.epochs == whole.best.epochs and again.dev == whole.dev
    refused("layers.cities was 1, is 2", train, tmp_path / "parts", layers={"cities": 2}, error=ConfigError)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_batch_in_parts_and_adapters_give_a_model_that_is_read_again(checkpoint, tmp_path):
    recipe = RECIPE.replace(epochs=1, learning_rate=1e-4, class_weights="balanced")
    whole, parts = (
        trained(checkpoint, tmp_path / str(number), recipe.replace(accumulation=number)) for number in (1, 4)
    )
    assert parts.best.epochs[0]["loss"] == pytest.approx(whole.best.epochs[0]["loss"], rel=1e-4)
    expected, found = (load_file(tmp_path / number / "bertlab.safetensors") for number in ("1", "4"))
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=2e-4, err_msg=name)
    trained(checkpoint, tmp_path / "lora", RECIPE.replace(epochs=1, lora_rank=2))
    assert Predictor.load(tmp_path / "lora", task="tone")(["film"])


@pytest.mark.slow
def test_batches_of_several_lengths_are_learned_in_parts(checkpoint, tmp_path):
    tasks = [of_two_lengths(task_of(shape)) for shape in ("sentence", "tagging")]
    recipe = RECIPE.replace(epochs=1, max_length=32, accumulation=2)
    result = finetune_tasks(checkpoint, tasks, tmp_path, recipe)
    assert np.isfinite(result.best.epochs[0]["loss"])


@pytest.mark.exhaustive
def test_all_shapes_are_learned_together(checkpoint, tmp_path):
    shapes = ("sentence", "number", "multiple-choice", "tagging", "question")
    recipe = RECIPE.replace(epochs=12, max_length=24)
    result = trained(checkpoint, tmp_path, recipe, shapes)
    assert result.dev["mean"] > 0.8
    assert {path.name for path in (tmp_path / "tasks").iterdir()} == {"tone", "stars", "which", "cities", "where"}


# --- refused ---


@pytest.mark.parametrize(("changes", "options", "told"), [
    ({}, {"shapes": ("tagging",)}, "at least two tasks"),
    ({}, {"shapes": ("sentence", "sentence"), "layers": {}}, "different names, got tone, tone"),
    ({}, {"layers": {"town": 1}}, "names among tone, cities; got 'town'"),
    ({}, {"layers": {"cities": 3}}, "cities: expected a layer from 1 to 2"),
    ({"best": "accuracy"}, {}, "expected one of mean, tone/accuracy"),
    ({"class_weights": (1.0, 2.0)}, {}, "whose classes differ"),
    ({"class_weights": "balanced"}, {"shapes": ("number", "multiple-choice"), "layers": {}},
     "stars, which: expected a task with one class for each row or word"),
])  # fmt: skip
def test_what_cannot_be_trained_together_is_refused_before_the_folder_is_touched(
    changes, options, told, checkpoint, tmp_path
):
    with pytest.raises((ConfigError, DataError), match=told):
        trained(checkpoint, tmp_path / "out", RECIPE.replace(**changes), **options)
    assert not (tmp_path / "out").exists()


def test_tasks_that_balanced_class_weights_are_not_for_are_named():
    tasks, said = [task_of(shape) for shape in ("sentence", "number", "question")], []
    recipe = RECIPE.replace(class_weights="balanced")
    weights = TaskGroup({task.name: task for task in tasks}, TOKENIZER, recipe, 16).class_weights(said.append)
    assert weights["tone"].shape == (2,) and weights["stars"] is weights["where"] is None
    assert said == ["class_weights are not for stars, where: expected one class for each row or word"]


# --- the commands ---


def conll_of(task):
    rows = (zip(row.words, row.tags) for row in task.train)
    return "\n\n".join("\n".join(f"{word} {task.labels[tag]}" for word, tag in row) for row in rows) + "\n"


def test_the_commands_use_one_task_of_a_folder(finished, tmp_path):
    out, _ = finished
    (tmp_path / "cities.conll").write_text(conll_of(task_of("tagging")), encoding="utf-8")
    judged = run("evaluate", out, tmp_path / "cities.conll", "--task", "cities", "--json")
    assert json.loads(judged)["metrics"]["f1"] > 0.9
    (tmp_path / "lines.txt").write_text("film was in paris\n", encoding="utf-8")
    assert run("predict", out, tmp_path / "lines.txt", "--task", "cities") == "film was in paris/B-CITY\n"
    refused("choose one with --task NAME", run, "predict", out, tmp_path / "lines.txt", error=CheckpointError)


@pytest.mark.exhaustive
def test_the_command_trains_on_files_and_its_settings_repeat_it(checkpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cities.conll").write_text(conll_of(task_of("tagging")), encoding="utf-8")
    lines = [f"{row.text},{('bad', 'good')[row.label]}" for row in task_of("sentence").train]
    (tmp_path / "tone.csv").write_text("\n".join(["review,tone", *lines]) + "\n", encoding="utf-8")
    done = run(
        "finetune-tasks", "tone.csv", "cities.conll", "--column", "text=review", "--column", "label=tone",
        "--validation-share", "0.2", "--task-layer", "cities=1", "--model", checkpoint, "--out", "out",
        "--max-length", "16", "--batch-size", "8", "--epochs", "2", "--learning-rate", "2e-2",
    )  # fmt: skip
    assert "in tasks/ each task's predictions/" in done
    run("finetune-tasks", "--config", "out/command.toml", "--out", "again")
    weights = [(tmp_path / folder / "bertlab.safetensors").read_bytes() for folder in ("out", "again")]
    assert weights[0] == weights[1]


def test_a_data_dir_is_for_the_published_tasks_among_several(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "sentence\tlabel\nbad \t0\ngood \t1\n"
    (tmp_path / "SST-2").mkdir()
    for name in ("train", "dev"):
        (tmp_path / "SST-2" / f"{name}.tsv").write_text(rows, encoding="utf-8")
    (tmp_path / "cities.conll").write_text(conll_of(task_of("tagging")), encoding="utf-8")
    common = ("--data-dir", ".", "--validation-share", "0.2", "--model", "none", "--out", "out")
    for first, other in (("cities.conll", "sst2"), ("sst2", "cities.conll")):
        read = CliRunner().invoke(cli, ["finetune-tasks", first, other, *common])
        assert "sst2: sentence" in read.output and "cities: tagging" in read.output  # the model is asked for afterwards
    told = "no published task 'cities.conll'; --data-dir is for"
    refused(told, run, "finetune-tasks", "cities.conll", "pairs", *common)


@pytest.mark.parametrize(("options", "told"), [
    (("--task-sampling", "0.5"), "expected two tasks or more; for one use `bertlab finetune TASK`"),
    (("pairs", "--task-layer", "cities"), "expected TASK=LAYER, such as"),
])  # fmt: skip
def test_options_of_several_tasks_that_do_not_fit_are_refused(tmp_path, options, told):
    assert told in run("finetune-tasks", "package", "--out", tmp_path / "out", *options, code=2)
