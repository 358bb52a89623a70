"""Fine-tuning: every shape learns, killed and resumed, best of all runs, and what is left in the folder."""

import dataclasses
import json
import math
import shutil
import subprocess
import sys

import click
import keras
import numpy as np
import pytest
from finetuning_case import CONFIG, RECIPE, TOKENIZER, finetuned, of_two_lengths, save_checkpoint, sentences, task_of
from killing import Killed
from refusals import refused

from bertlab import checkpoints
from bertlab.cli.finetune import finetune as command
from bertlab.common.errors import ConfigError
from bertlab.data.tasks.features import encode_rows
from bertlab.data.tasks.load import load_task
from bertlab.data.tasks.rows import SentenceRow, TaskData
from bertlab.models import BertForSequenceClassification
from bertlab.predict import Predictor, evaluate
from bertlab.training.finetuning import experiment, finetune_tasks
from bertlab.training.finetuning.batches import batches_by_length, outputs_of, padded_length
from bertlab.training.finetuning.optimizer import finetuning_optimizer, freeze, steps_below_head
from bertlab.training.finetuning.results import FineTuningResult, RunResult
from bertlab.training.finetuning.settings import PUBLISHED_GRID, STARTS, Recipe
from bertlab.training.finetuning.task_group import TaskGroup, class_weights, mistakes
from bertlab.training.finetuning.task_kinds import Decoded, TaskInfo, class_loss
from bertlab.training.finetuning.trainer import FineTuner, Run, Trainer
from bertlab.training.recipes.optimizer import adamw
from bertlab.training.recipes.schedule import WarmupLinearDecay


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("finetuning") / "pretrained")


# --- settings ---


def test_the_published_grid_has_eighteen_settings_and_each_keeps_the_rest_of_the_recipe():
    grid = Recipe(layer_decay=0.9).grid(PUBLISHED_GRID)
    assert len({(r.batch_size, r.learning_rate, r.epochs) for r in grid}) == 18
    assert {recipe.layer_decay for recipe in grid} == {0.9}


@pytest.mark.parametrize(
    "axes, told",
    [({"layer_decay": (1.0, 0.9)}, "expected axes among batch_size, learning_rate, epochs; got 'layer_decay'"),
     ({"epochs": (2, 3, 2)}, "contains a duplicate"), ({"epochs": ()}, "expected some values"),
     ({"batch_size": 16}, "expected some values"), ({"epochs": "23"}, "expected some values")],
)  # fmt: skip
def test_an_axis_that_would_mix_runs_up_is_refused(axes, told):
    refused(told, Recipe().grid, axes, error=ConfigError)


@pytest.mark.parametrize(
    "wrong", [{"epochs": 0}, {"seeds": ()}, {"seeds": (1, 1)}, {"layer_decay": 0.0}, {"patience": 0},
              {"class_weights": "even"}, {"warmup_share": 1.0}, {"learning_rate": 0.0}],
)  # fmt: skip
def test_a_recipe_that_makes_no_sense_is_refused(wrong):
    refused(next(iter(wrong)), Recipe, **wrong, error=ConfigError)


def test_settings_are_read_without_a_backend():
    code = "import sys, bertlab.training.finetuning.settings; print('keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_the_advantage_is_measured_in_pooled_standard_deviations():
    def runs(start, *values):
        return [RunResult(start, 8, 1e-3, 1, seed, [], 1, {"f1": one}, 1.0, 1.0) for seed, one in enumerate(values)]

    def advantage(first, second):
        return FineTuningResult("task", "f1", tuple(runs(STARTS[0], *first) + runs(STARTS[1], *second)), {}).advantage()

    difference, deviations = advantage((0.8, 0.9, 1.0), (0.4, 0.5, 0.6))
    assert difference == pytest.approx(0.4)
    assert deviations == pytest.approx(4.0)  # each start has a standard deviation of 0.1
    assert advantage((0.5, 0.5), (0.5, 0.5)) == (0.0, 0.0)
    assert advantage((0.6, 0.6), (0.5, 0.5))[1] == math.inf


# --- batches ---


def test_every_row_is_in_one_full_batch_and_what_fills_the_last_one_has_no_target():
    features = encode_rows(task_of("sentence").train[:13], TOKENIZER, 16)
    batches = list(next(batches_by_length({"tone": features}, 8, 16, seed=3)))
    assert {inputs["input_ids"].shape for inputs, _ in batches} == {(8, 16)}
    targets = np.concatenate([targets for _, targets in batches])
    assert (targets == -100).sum() == 3
    assert sorted(targets[targets >= 0]) == sorted(features.targets)


def test_outputs_come_back_in_the_order_of_the_rows():
    rows = [SentenceRow("good " * count) for count in (9, 1, 14, 3, 2)]
    features = encode_rows(rows, TOKENIZER, 32)
    lengths = outputs_of(lambda inputs: inputs["attention_mask"].sum(axis=1), features, 2, 32)
    assert [int(length) for length in lengths] == [11, 3, 16, 5, 4]


@pytest.fixture
def trainer(checkpoint):
    """A trainer of a classifier on two classes, with the recipe of `row_order="fit"`."""
    recipe = RECIPE.replace(row_order="fit")
    group = TaskGroup({"tone": task_of("sentence")}, TOKENIZER, recipe, 16)
    return Trainer(
        lambda policy: BertForSequenceClassification(CONFIG, 2, dtype=policy), group, recipe,
        lambda model: FineTuner(model, group.only),
    )  # fmt: skip


def test_the_pre_trained_start_takes_the_encoder_and_scratch_does_not(trainer):
    keras.utils.set_random_seed(0)
    pretrained = {variable.path: np.array(variable) for variable in trainer.make_model("float32").backbone.weights}
    for weights, same in ((pretrained, True), (None, False)):
        trainer.begin(5, weights)
        table = trainer.model.backbone.embeddings.token.embeddings
        assert np.array_equal(np.array(table), pretrained[table.path]) is same


@pytest.mark.slow
def test_rows_in_the_order_of_fit_are_trained_as_keras_does(trainer):
    recipe, task = trainer.recipe.replace(epochs=3), task_of("sentence")
    train, dev = (trainer.group.only.encode(rows) for rows in (task.train[:40], task.validation))
    trainer.begin(7, None)
    Run(trainer, {"tone": train}, {"tone": dev}, recipe, 7).all_epochs()

    keras.utils.set_random_seed(7)
    plain = BertForSequenceClassification(CONFIG, 2)
    schedule = WarmupLinearDecay(recipe.learning_rate, 15, int(recipe.warmup_share * 15))
    plain.compile(adamw(schedule, plain), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    plain.fit(*train.features.batch(range(len(train.features)), 16), batch_size=8, epochs=3, verbose=0)
    for own, expected in zip(trainer.model.trainable_variables, plain.trainable_variables, strict=True):
        np.testing.assert_allclose(np.array(own), np.array(expected), atol=1e-3, err_msg=own.path)


def test_every_epoch_has_every_row_and_those_by_length_an_order_of_their_own(trainer):
    train = trainer.group.only.encode(task_of("sentence").train[:24])
    features = train.features
    for name in ("length", "fit"):
        seen = []
        for _, batches in zip(range(2), trainer.epochs({"tone": train}, RECIPE.replace(row_order=name), seed=1)):
            rows = np.concatenate([inputs["input_ids"] for inputs, _ in batches])
            assert sorted(map(tuple, rows)) == sorted(map(tuple, features.batch(range(24), 16)[0]["input_ids"])), name
            seen.append(rows)
        assert np.array_equal(*seen) == (name == "fit")


@pytest.mark.parametrize("longest, limit, expected", [(3, 512, 16), (17, 512, 32), (33, 40, 40), (600, 1024, 1024)])
def test_batches_have_few_different_lengths(longest, limit, expected):
    assert padded_length(longest, limit) == expected


# --- losses ---


def test_targets_of_minus_100_take_no_part_in_the_loss_and_weights_make_a_weighted_mean():
    logits = np.array([[[2.0, 0.0], [0.0, 1.0], [5.0, 5.0]]], "float32")
    targets = np.array([[0, 0, -100]])
    first, second = math.log(1 + math.exp(-2)), math.log(1 + math.exp(1))
    assert float(class_loss(targets, logits)) == pytest.approx((first + second) / 2, rel=1e-4)
    weighted = float(class_loss(np.array([[0, 1, -100]]), logits, np.array([3.0, 1.0], "float32")))
    assert weighted == pytest.approx((3 * first + math.log(1 + math.exp(-1))) / 4, rel=1e-4)


def test_balanced_class_weights_give_every_class_the_same_total():
    rows = [SentenceRow("a", 0)] * 9 + [SentenceRow("a", 1)] * 3
    task = TaskData("t", "sentence", ("x", "y"), rows, rows)
    weights = class_weights(task, Recipe(class_weights="balanced"))
    assert weights * [9, 3] == pytest.approx([6, 6])
    with pytest.raises(ConfigError, match="expected 2 class_weights, .* got 3"):
        class_weights(task, Recipe(class_weights=(1, 2, 3)))
    for wrong in ((1.0, math.nan), (1.0, -1.0), (0.0, 0.0)):
        with pytest.raises(ConfigError, match="must be non-negative and not all zero"):
            class_weights(task, Recipe(class_weights=wrong))


# --- optimizer ---


def new_classifier(num_layers=2):
    keras.utils.set_random_seed(2)
    return BertForSequenceClassification(CONFIG.replace(num_layers=num_layers), 2)


def updated(model, optimizer, steps=3):
    """The model's values after some steps along the same made-up gradients."""
    rng = np.random.default_rng(0)
    for _ in range(steps):
        optimizer.apply([rng.normal(size=v.shape).astype("float32") for v in model.trainable_variables],
                        model.trainable_variables)  # fmt: skip
    return {v.path: np.array(v) for v in model.trainable_variables}


def test_without_layer_decay_it_is_the_optimizer_of_pre_training():
    first, second = new_classifier(), new_classifier()
    optimizer = finetuning_optimizer(first, weight_decay=0.1, layer_decay=1.0)
    optimizer.build(first.trainable_variables)
    optimizer.learning_rate.assign(1e-2)
    expected = updated(second, adamw(1e-2, second, weight_decay=0.1))
    for path, value in updated(first, optimizer).items():
        np.testing.assert_allclose(value, expected[path], rtol=1e-5, atol=1e-6, err_msg=path)


def test_the_rate_falls_from_the_head_down_to_the_embeddings():
    model = new_classifier()
    optimizer = finetuning_optimizer(model, weight_decay=0.0, layer_decay=0.5)
    factors = dict(zip([v.path for v in model.trainable_variables], optimizer.factors))
    assert factors["head/dense/kernel"] == factors["backbone/pooler/dense/kernel"] == 1.0
    assert factors["backbone/encoder/layer_1/attention/query/kernel"] == 0.5
    assert factors["backbone/encoder/layer_0/attention/query/kernel"] == 0.25
    assert factors["backbone/embeddings/token/embeddings"] == 0.125
    assert steps_below_head("backbone/encoder/final_norm/gamma", 2) == 0


def test_frozen_layers_stay_as_they_are_and_too_many_are_refused():
    model = new_classifier()
    freeze(model, 1)
    paths = {v.path for v in model.trainable_variables}
    assert not [path for path in paths if "embeddings" in path or "layer_0" in path]
    assert [path for path in paths if "layer_1" in path]
    refused("between 0 and the model's 2, not 3", freeze, model, 3, error=ConfigError)


# --- runs ---


@pytest.mark.parametrize(
    "shape", ["sentence", "tagging",
              *(pytest.param(s, marks=pytest.mark.exhaustive) for s in ("number", "multiple-choice", "question"))],
)  # fmt: skip
def test_every_shape_learns_its_task_and_leaves_a_model_and_its_mistakes(checkpoint, tmp_path, shape):
    task = task_of(shape)
    result = finetuned(checkpoint, task, tmp_path / "out")
    assert result.dev[result.metric] > 0.9, result.runs[0].epochs
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["dev"] == result.dev
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"config.json", "model.safetensors", "vocab.txt", "task.json", "errors.tsv", "curves.png",
            "confusion.png", "predictions", "settings.json"} <= names  # fmt: skip
    assert not [path for path in (tmp_path / "out" / "runs").iterdir() if path.is_dir()]

    predicted = Predictor.load(tmp_path / "out").predict_rows(task.validation)
    assert len(predicted) == 13
    if shape == "sentence":
        config = json.loads((tmp_path / "out" / "config.json").read_text())
        assert config["id2label"] == {"0": "negative", "1": "positive"}
        hits = [p.label == task.labels[row.label] for p, row in zip(predicted, task.validation)]
        assert np.mean(hits) == result.dev["accuracy"]
    if shape == "question":
        lines = json.loads((tmp_path / "out" / "predictions" / "dev.json").read_text())
        assert [answer.text for answer in predicted] == list(lines.values())


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["sentence", "number", "multiple-choice", "tagging", "question"])
def test_batches_of_several_lengths_are_learned_from_in_every_shape(checkpoint, tmp_path, shape):
    """TensorFlow makes one graph for all of them from the second length on, where the length is then unknown."""
    recipe = RECIPE.replace(epochs=1, max_length=32)
    (run,) = finetuned(checkpoint, of_two_lengths(task_of(shape)), tmp_path, recipe).runs
    assert math.isfinite(run.epochs[0]["loss"])


@pytest.mark.slow
def test_a_killed_experiment_keeps_its_finished_runs_and_ends_as_if_nothing_had_happened(checkpoint, tmp_path):
    task, recipe = task_of("sentence"), dataclasses.replace(RECIPE, epochs=1, seeds=(1, 2), from_scratch=True)
    whole = finetuned(checkpoint, task, tmp_path / "whole", recipe)

    def keep_then_die(self, trainer, runs, file, keep=experiment.Experiment._keep):
        keep(self, trainer, runs, file)
        if len(runs) == 3:
            raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(experiment.Experiment, "_keep", keep_then_die)
        finetuned(checkpoint, task, tmp_path / "parts", recipe)
    assert len(list((tmp_path / "parts" / "runs").glob("*.json"))) == 3
    resumed = finetuned(checkpoint, task, tmp_path / "parts", recipe)

    def without_times(result):
        return [dataclasses.replace(run, seconds=0, rows_per_second=0) for run in result.runs]

    assert without_times(resumed) == without_times(whole)
    assert [run.start for run in resumed.runs] == [*STARTS, *STARTS]
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts")]
    assert weights[0] == weights[1]
    assert finetuned(checkpoint, task, tmp_path / "parts", recipe) == resumed  # done: read, not trained again

    with pytest.raises(ConfigError, match="epochs was 1, is 2"):
        finetuned(checkpoint, task, tmp_path / "parts", dataclasses.replace(recipe, epochs=2))


@pytest.mark.exhaustive
def test_a_grid_from_the_shell_keeps_the_best_seed_of_the_setting_with_the_best_mean(checkpoint, tmp_path, capsys):
    rng = np.random.default_rng(7)
    rows = [(row.text, ("negative", "positive")[row.label]) for row in sentences(rng, 60)]
    lines = ["review,tone", *(f"{text},{label}" for text, label in rows)]
    (tmp_path / "reviews.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    arguments = [
        str(tmp_path / "reviews.csv"), "--column", "text=review", "--column", "label=tone", "--validation-share", "0.3",
        "--model", str(checkpoint), "--out", str(out), "--max-length", "16", "--batch-size", "8", "--seeds", "3",
        "--try", "learning-rate=1e-5,2e-2", "--try", "epochs=1,5",
    ]  # fmt: skip
    command.main(arguments, standalone_mode=False)
    table = capsys.readouterr().out
    results = json.loads((out / "results.json").read_text())

    runs = {}
    for run in results["runs"]:
        runs.setdefault((run["learning_rate"], run["planned_epochs"]), []).append(run["figures"]["accuracy"])
    assert {setting: len(figures) for setting, figures in runs.items()} == {
        (1e-5, 1): 3, (1e-5, 5): 3, (2e-2, 1): 3, (2e-2, 5): 3,
    }  # fmt: skip
    for setting in results["settings"]:
        figures = runs[setting["learning_rate"], setting["epochs"]]
        assert setting["mean"]["accuracy"] == pytest.approx(np.mean(figures))
        assert setting["sd"]["accuracy"] == pytest.approx(np.std(figures, ddof=1))
        assert f"{np.mean(figures):.4f} ± {np.std(figures, ddof=1):.4f}" in table
    best = max(runs, key=lambda setting: np.mean(runs[setting]))
    assert best == (2e-2, 5)  # the others hardly move
    assert (results["best"]["learning_rate"], results["best"]["planned_epochs"]) == best
    assert results["best"]["figures"]["accuracy"] == max(runs[best]) == results["dev"]["accuracy"]
    with (out / "predictions" / "dev.tsv").open(encoding="utf-8") as file:
        written = [line.rstrip("\n").split("\t")[1] for line in file][1:]
    task = load_task(tmp_path / "reviews.csv", columns={"text": "review", "label": "tone"}, validation_share=0.3)
    assert [prediction.label for prediction in Predictor.load(out).predict_rows(task.validation)] == written


def test_an_axis_that_is_given_twice_has_the_values_of_both():
    given = "--try learning-rate=1e-3 --try epochs=2,1 --try learning-rate=5e-4,1e-3"
    context = command.make_context("finetune", ["x.csv", "--out", "o", *given.split()])
    assert context.params["axes"] == {"learning_rate": (1e-3, 5e-4), "epochs": (2, 1)}


@pytest.mark.parametrize("wrong", ["dropout=0.1", "epochs=2.5", "learning-rate=", "batch-size"])
def test_an_unknown_axis_is_refused(wrong):
    with pytest.raises(click.BadParameter, match="expected"):
        command.main(["x.csv", "--model", "m", "--out", "o", "--try", wrong], standalone_mode=False)


def test_early_stopping_keeps_the_best_epoch(checkpoint, tmp_path):
    recipe = dataclasses.replace(RECIPE, epochs=30, patience=2, learning_rate=1e-2)
    (run,) = finetuned(checkpoint, task_of("sentence"), tmp_path, recipe).runs
    values = [row["figures"]["accuracy"] for row in run.epochs]
    assert len(values) < 30
    assert run.kept_epoch == 1 + int(np.argmax(values)) == len(values) - 2
    assert run.figures["accuracy"] == max(values)


def test_a_task_without_rows_to_judge_on_is_refused_with_advice(checkpoint, tmp_path):
    task = dataclasses.replace(task_of("sentence"), validation=())
    refused("validation_share", finetuned, checkpoint, task, tmp_path)


def test_the_best_run_is_the_best_seed_of_the_setting_with_the_best_mean():
    def run(batch_size, seed, value, start=STARTS[0]):
        return RunResult(start, batch_size, 1e-3, 1, seed, [], 1, {"accuracy": value}, 1.0, 1.0)

    runs = (run(16, 1, 0.95), run(16, 2, 0.55), run(32, 1, 0.8), run(32, 2, 0.9), run(32, 3, 1.0, STARTS[1]))
    result = FineTuningResult("t", "accuracy", runs, {"accuracy": 0.9})
    assert result.best == runs[3]
    best = result.of(STARTS[0])
    assert best.mean["accuracy"] == pytest.approx(0.85) and best.sd["accuracy"] == pytest.approx(0.0707, abs=1e-4)
    assert "0.8500 ± 0.0707" in result.summary()
    assert FineTuningResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


# --- mistakes ---


def test_the_most_confident_mistakes_come_first():
    rows = [SentenceRow("a\tb", 0), SentenceRow("c", 1), SentenceRow("d", 0)]
    info = TaskInfo("t", "sentence", ("x", "y"), ("accuracy",))
    found = mistakes(info, rows, Decoded([1, 1, 1], [0.6, 0.9, 0.8]))
    assert [(m["row"], m["right"], m["predicted"]) for m in found] == [(2, "x", "y"), (0, "x", "y")]


def test_dropout_of_the_recipe_replaces_that_of_the_checkpoint(checkpoint, tmp_path):
    dropping = checkpoints.load(checkpoint, "pretraining").config.with_dropout(0.4)
    shutil.copytree(checkpoint, tmp_path / "dropping")
    dropping.save(tmp_path / "dropping" / "config.json")
    losses = {}
    for name, start, rate in (
        ("with", "dropping", None),
        ("without", "dropping", 0.0),
        ("as it was", checkpoint, None),
    ):
        out, recipe = tmp_path / name, RECIPE.replace(epochs=2, dropout=rate)
        result = finetuned(tmp_path / start, task_of("sentence"), out, recipe)
        losses[name] = [epoch["loss"] for epoch in result.runs[0].epochs]
    assert losses["without"] == losses["as it was"] != losses["with"]
    rates = [checkpoints.read_config(tmp_path / name).hidden_dropout for name in losses]
    assert rates == [0.4, 0.0, 0.0]


# --- a tagger that finds nothing ---


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
def test_a_tagger_that_gives_every_word_the_tag_o_says_so_in_training_and_in_evaluation(several, checkpoint, tmp_path):
    task, said = task_of("tagging"), []
    nothing = [dataclasses.replace(row, tags=(0,) * len(row.tags)) for row in task.train]
    task = dataclasses.replace(task, train=nothing)
    recipe = dataclasses.replace(RECIPE, epochs=1)
    if several:
        result = finetune_tasks(checkpoint, [task_of("sentence"), task], tmp_path, recipe, say=said.append)
    else:
        result = finetuned(checkpoint, task, tmp_path, recipe, say=said.append)
    expected = "every word of all 13 rows got the tag O: the model found nothing in them"
    told = f"cities: {expected}" if several else expected
    assert told in said and told in result.notes
    predictor = Predictor.load(tmp_path, *(["cities"] if several else []))
    assert evaluate(predictor, task.validation).report().endswith(expected)
    assert evaluate(predictor, nothing).remark == expected.replace("13", "44")
