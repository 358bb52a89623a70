"""Pre-training runs: their recipes, the contents of their folder, and which runs may resume in it."""

import json
import math
import shutil

import numpy as np
import pytest
import tensorflow as tf
from pretraining_case import CONFIG, WORDS, documents, make_examples
from refusals import refused

from bertlab import checkpoints
from bertlab.analysis.fill_mask import fill_mask
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.data.pretraining.make import make_data
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.models import BertForPreTraining
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.training.presets import PRESETS, PretrainingSettings, preset
from bertlab.training.pretraining import PretrainingRun, pretrain
from bertlab.training.runs.curves import read_metrics
from bertlab.training.runs.models import model_config, trained_weights, without_padding
from bertlab.training.runs.state import load_mean, saved_states


def settings(**changes):
    small = dict(steps=12, interval=4, batch_size=8, phase_shares=(0.5, 0.5), learning_rate=5e-3, xla=False)
    return preset("published", **(small | changes))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    make_examples(folder / "short", sequence_length=16, next_sentence=False, packing=False, dynamic_masking=True)
    make_examples(folder / "long")
    make_examples(folder / "held-out", number=10, seed=1)
    return folder


@pytest.fixture(scope="module")
def finished(data):
    """A finished run in two phases: its folder and its history."""
    history = pretrain(CONFIG, [data / "short", data / "long"], data / "run", settings(), validation=data / "held-out")
    return data / "run", history


# --- recipes ---


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_agrees_with_itself(name):
    recipe = preset(name)
    assert sum(recipe.steps_of_phases(2)) == recipe.steps
    assert 0 < recipe.warmup_steps < recipe.steps


def test_phases_are_whole_intervals_and_nine_to_one():
    assert preset("published").steps_of_phases(2) == [900_000, 100_000]
    assert settings(steps=40, interval=10, phase_shares=(0.9, 0.1)).steps_of_phases(2) == [30, 10]
    assert settings(steps=40).steps_of_phases(1) == [40]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(steps=10, interval=4), "choose 8 or 12 steps"),
        (dict(batch_size=10, accumulation=4), "multiple of 4"),
        (dict(steps=100, warmup_share=0.3, stable_share=0.7), "a sum below 1"),
        (dict(optimizer="muon", bias_correction=False), "choose adamw"),
        (dict(schedule="inverse-root", warmup_share=0.0), "inverse-root: expected a warm-up of at least one step"),
        (dict(schedule="inverse-root", warmup_share=0.1, stable_share=0.1), "inverse-root: .* and stable_share 0, got"),
        (dict(phase_shares=(0.9, 0.2)), "add up to 1"),
        (dict(learning_rate=0.0), "learning_rate: expected a number above 0"),
        (dict(precision="float8"), "expected one of auto, float32"),
        (dict(step=3), "no setting step"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(change, message):
    refused(message, settings, **change, error=ConfigError)


def test_one_update_reads_as_many_tokens_of_short_rows_as_of_long_ones():
    assert PretrainingSettings(batch_size=64, same_tokens=True).rows_of_phase(tokens=16, longest=64) == 256
    assert PretrainingSettings(batch_size=64).rows_of_phase(tokens=16, longest=64) == 64


# --- the model that is asked for ---


def test_a_size_is_shaped_by_the_recipe_and_a_config_is_taken_as_it_is():
    mini = model_config("mini", preset("small", padded_vocabulary=64), pieces=1000, longest=64)
    assert (mini.hidden_size, mini.vocab_size, mini.max_position_embeddings) == (256, 1024, 64)
    assert mini.pre_norm and mini.hidden_dropout == 0
    assert mini.initializer_range == pytest.approx(0.02 * math.sqrt(3))
    assert model_config(CONFIG, preset("small"), pieces=10, longest=16) is CONFIG
    refused("huge: expected a size", trained_weights, "huge", error=ConfigError)


def test_a_vocabulary_may_have_its_padding_elsewhere(tmp_path):
    moved = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS[1:], SPECIAL_TOKENS[0], *WORDS]))
    make_data(documents(), moved, tmp_path / "data", ExampleSettings(sequence_length=32))
    for model in (CONFIG, "tiny"):
        run = PretrainingRun(model, tmp_path / "data", tmp_path / "run", preset("small", steps=4))
        assert run.config.pad_token_id == 0  # as always: runs that were started so resume


@pytest.mark.parametrize("tied", [True, False])
def test_the_padding_of_the_token_table_and_of_an_untied_output_matrix_is_not_saved(tied):
    padded = BertForPreTraining(CONFIG.replace(vocab_size=64), tied=tied, next_sentence=tied)
    bert = without_padding(padded, CONFIG.vocab_size)
    assert bert.masked_lm_head.tied == tied and (bert.next_sentence_head is not None) == tied
    for weight, with_padding in zip(bert.weights, padded.weights, strict=True):
        np.testing.assert_array_equal(weight, np.array(with_padding)[tuple(map(slice, weight.shape))], weight.path)
    # Tables of another width are multiplied in another order: equal but for rounding.
    ids = np.array([[2, 7, 9, 3]], "int32")
    logits, logits_with_padding = (np.array(one({"input_ids": ids})["masked_lm_logits"]) for one in (bert, padded))
    np.testing.assert_allclose(logits, logits_with_padding[..., : CONFIG.vocab_size], rtol=1e-5, atol=1e-6)


# --- the run's folder ---


@pytest.mark.slow
def test_a_finished_run_leaves_figures_drawing_logs_and_a_checkpoint_that_fills_in_blanks(finished):
    folder, history = finished
    assert [row["step"] for row in history] == [4, 8, 12]
    assert read_metrics(folder) == history
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in saved_states(folder / "states")] == [f"state-{n:08}.safetensors" for n in (8, 12)]
    assert (folder / "checkpoint/model.safetensors").exists()
    bert = checkpoints.load(folder / "checkpoint", "pretraining")
    tokenizer = checkpoints.load_tokenizer(folder / "checkpoint")
    (guesses,) = fill_mask(bert, tokenizer, "the cat sees a [MASK] near the river .", top_k=3)
    assert len(guesses) == 3


@pytest.mark.slow
def test_figures_are_there_only_where_there_was_something_to_measure(finished):
    _, history = finished
    first, *_, last = history
    assert "next_sentence_loss" not in first and "val_next_sentence_loss" in first  # running text, judged on pairs
    assert 0 < last["next_sentence_accuracy"] <= 1
    assert last["tokens"] > 0 and "bad_step" not in last


@pytest.mark.slow
def test_tensorboard_finds_every_row(finished):
    folder, history = finished
    (events,) = (folder / "tensorboard").glob("events*")
    found = {
        event.step: {value.tag: value.simple_value for value in event.summary.value}
        for event in tf.compat.v1.train.summary_iterator(str(events))
        if event.summary.value
    }
    assert list(found) == [4, 8, 12]
    assert found[12]["masked_lm_loss"] == pytest.approx(history[-1]["masked_lm_loss"])


def test_the_same_call_on_a_finished_run_trains_nothing_and_gives_the_same_history(data, finished):
    folder, history = finished
    again = pretrain(CONFIG, [data / "short", data / "long"], folder, settings(), validation=data / "held-out")
    assert again == history


def test_another_run_is_refused_in_the_same_folder_and_the_difference_is_named(data, finished):
    folder, _ = finished
    sources, held_out = [data / "short", data / "long"], data / "held-out"
    PretrainingRun(CONFIG, sources, folder, settings(keep=5), held_out)  # the number of kept states changes no metric
    for told, model, its_sources, recipe in (
        (r"settings\.learning_rate was 0\.005, is 0\.001", CONFIG, sources, settings(learning_rate=1e-3)),
        (r"model\.num_layers was 1, is 2", CONFIG.replace(num_layers=2), sources, settings()),
        (r"data\.2 was .*, is None", CONFIG, sources[:1], settings()),
    ):
        refused(told, PretrainingRun, model, its_sources, folder, recipe, held_out, error=ConfigError)


def test_the_identity_of_a_run_is_written_down(finished):
    folder, _ = finished
    run = json.loads((folder / "run.json").read_text())
    assert run["settings"]["learning_rate"] == 5e-3
    assert run["settings"]["precision"] == "float32"
    assert run["data"]["1"]["sequence_length"] == 16


@pytest.mark.slow
def test_a_run_that_ended_before_it_kept_anything_does_not_bind_the_next_one(data, tmp_path):
    arguments = CONFIG, [data / "long"], tmp_path, settings(learning_rate=1.0)
    (tmp_path / "run.json").write_text(json.dumps(PretrainingRun(*arguments).identity()))
    assert len(pretrain(CONFIG, [data / "long"], tmp_path, settings(steps=4))) == 1
    refused("was started with other settings", PretrainingRun, *arguments, error=ConfigError)


def test_figures_that_a_kill_left_behind_are_written_by_the_next_call(data, finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished[0], folder)
    whole = (folder / "metrics.csv").read_text()
    (folder / "metrics.csv").write_text("".join(whole.splitlines(keepends=True)[:-1]))
    (folder / "curve.png").unlink()
    pretrain(CONFIG, [data / "short", data / "long"], folder, settings(), validation=data / "held-out")
    assert (folder / "metrics.csv").read_text() == whole
    assert (folder / "curve.png").exists()


def test_the_checkpoint_may_be_the_mean_of_the_last_states(data, finished, tmp_path):
    sources = [data / "short", data / "long"]
    recipe = settings(average_states=2, phase_shares=(0.3, 0.7))  # 4 and 8 steps
    first = PretrainingRun(CONFIG, sources, tmp_path, recipe, data / "held-out")
    (tmp_path / "run.json").write_text(json.dumps(first.identity()))
    shutil.copytree(finished[0] / "states", tmp_path / "states")  # of a run with as many steps
    run = PretrainingRun(CONFIG, sources, tmp_path, recipe, data / "held-out")
    run.train(say=[].append)

    trainer, states = first.trainer(), sorted((tmp_path / "states").iterdir())
    trainer.optimizer.build(trainer.trainable_variables)
    weights = []
    for state in states:
        load_mean([state], trainer)
        weights.append([np.array(variable) for variable in trainer.bert.trainable_variables])
    saved = checkpoints.load(tmp_path / "checkpoint", "pretraining").trainable_variables
    for mean, one, other in zip(saved, *weights, strict=True):
        np.testing.assert_allclose(mean, (one + other) / 2, atol=1e-6)
    assert any(np.any(one != other) for one, other in zip(*weights, strict=True))
    moments = [np.array(variable) for variable in trainer.optimizer.variables]
    load_mean(states, trainer)
    for last, variable in zip(moments, trainer.optimizer.variables, strict=True):
        np.testing.assert_array_equal(last, variable)

    states[0].unlink()
    refused("expected the last 2 states for their mean, got 1", run.train, say=[].append, error=CheckpointError)


def test_a_mean_with_states_from_before_the_last_phase_is_refused(data, tmp_path):
    sources = [data / "short", data / "long"]
    PretrainingRun(CONFIG, sources[:1], tmp_path, settings(average_states=3))
    for its_sources, states, told in (
        (sources, 2, "expected at most 1, the number of states that the last phase of 4 steps"),
        (sources[:1], 4, "expected at most 3, the number of states"),
    ):
        recipe = settings(average_states=states)
        refused(told, PretrainingRun, CONFIG, its_sources, tmp_path, recipe, error=ConfigError)


def test_data_that_does_not_fit_is_refused(data, tmp_path):
    narrow, few = CONFIG.replace(max_position_embeddings=16), CONFIG.replace(vocab_size=10)
    refused("no data", PretrainingRun, CONFIG, [], tmp_path, settings())
    for sources, held_out in (([data / "long"], None), ([data / "short"], data / "held-out")):
        told = "rows of 32 tokens, but the model has 16 positions"
        refused(told, PretrainingRun, narrow, sources, tmp_path, settings(), held_out)
    told = "a vocabulary of .* the model has 10: .* a larger vocab_size"
    refused(told, PretrainingRun, few, [data / "long"], tmp_path, settings())


def test_dynamic_masking_follows_the_recipe_and_shifted_rows_their_seed(data, tmp_path):
    recipe = settings(masked_lm_probability=0.5, shifted_positions=True)
    run = PretrainingRun(CONFIG, [data / "short", data / "long"], tmp_path, recipe)
    first, second = list(run.batches(0).take(2).as_numpy_iterator())
    assert first["masked_lm_ids"].shape == (8, 8)
    assert first["position_ids"].max() > 16
    (again,) = list(run.batches(0, step=1).take(1).as_numpy_iterator())
    for name in second:
        np.testing.assert_array_equal(again[name], second[name], err_msg=name)
    (long,) = list(run.batches(1).take(1).as_numpy_iterator())
    assert "position_ids" not in long


# --- going on from a checkpoint ---


def test_a_run_starts_from_the_weights_of_a_checkpoint(data, finished, tmp_path):
    start = finished[0] / "checkpoint"
    said = []
    run = PretrainingRun(start, [data / "long"], tmp_path / "run", settings())
    ours, theirs = run.trainer(said.append).bert, checkpoints.load(start, "pretraining")
    assert said == [f"starts from {start}"]
    assert run.config == theirs.config
    for mine, other in zip(ours.trainable_variables, theirs.trainable_variables, strict=True):
        np.testing.assert_array_equal(mine, other, err_msg=mine.path)


@pytest.mark.slow
def test_a_run_that_continues_from_a_checkpoint_starts_where_that_one_ended_and_is_repeated_exactly(
    data, finished, tmp_path
):
    recipe = settings(steps=8, learning_rate=1e-6)
    history = [
        pretrain(finished[0] / "checkpoint", [data / "long"], out, recipe, validation=data / "held-out")
        for out in (tmp_path / "one", tmp_path / "two")
    ]
    ended = finished[1][-1]["val_masked_lm_loss"]
    assert history[0][0]["val_masked_lm_loss"] == pytest.approx(ended, abs=1e-3)
    assert history[0][-1]["val_masked_lm_loss"] == history[1][-1]["val_masked_lm_loss"]


def test_a_head_that_the_checkpoint_lacks_starts_with_random_weights_and_is_named(data, tmp_path):
    tokenizer = ExampleFiles(data / "long").tokenizer
    checkpoints.save(BertForPreTraining(CONFIG, next_sentence=False), tmp_path / "mlm only", tokenizer)
    said = []
    PretrainingRun(tmp_path / "mlm only", [data / "long"], tmp_path / "run", settings()).trainer(said.append)
    assert "new: backbone/pooler" in said[0] and "next_sentence_head" in said[0] and "masked_lm" not in said[0]


def test_a_checkpoint_that_cannot_be_gone_on_with_is_refused(data, finished, tmp_path):
    def start(name):
        return PretrainingRun(tmp_path / name, [data / "long"], tmp_path / "run", settings())

    refused("exists or a checkpoint$", start, "nowhere.json", error=ConfigError)
    refused("exists or a checkpoint .*no such folder", start, "nowhere", error=ConfigError)
    (tmp_path / "empty").mkdir()
    refused("no checkpoint here", start, "empty", error=CheckpointError)

    tokenizer = ExampleFiles(data / "long").tokenizer
    other = WordPieceTokenizer(Vocabulary([*tokenizer.vocabulary.pieces[:-1], "other"]))
    model = checkpoints.load(finished[0] / "checkpoint", "pretraining")
    checkpoints.save(model, tmp_path / "other tokens", other)
    refused("expected the vocabulary of .*other tokens, got another", start, "other tokens")
    checkpoints.save(model, tmp_path / "cased", WordPieceTokenizer(tokenizer.vocabulary, lowercase=False))
    refused("make it again with --cased", start, "cased")

    checkpoints.save(model, tmp_path / "first", tokenizer)
    first = start("first")
    (first.folder / "states").mkdir(parents=True)
    (first.folder / "states/state-00000004.safetensors").touch()
    (first.folder / "run.json").write_text(json.dumps(first.identity()))
    model.backbone.embeddings.token.embeddings.assign(model.backbone.embeddings.token.embeddings * 2)
    checkpoints.save(model, tmp_path / "second", tokenizer)
    refused(r"start\.sha256", start, "second", error=ConfigError)
