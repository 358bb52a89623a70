"""The parts of pre-training: accumulation, left-to-right targets, memory, arithmetic, Adam without correction."""

import functools
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest
from pretraining_case import CONFIG, make_examples
from refusals import refused
from test_training import CONFIG as DROPOUT_CONFIG
from test_training import examples, weights_of

from bertlab import checkpoints
from bertlab.analysis.summary import component_counts
from bertlab.checkpoints.kinds import variables_of
from bertlab.common.errors import ConfigError
from bertlab.config import SIZES, BertConfig
from bertlab.data.pretraining import datasets
from bertlab.data.pretraining.collators import NextTokens
from bertlab.data.pretraining.datasets import batches_of
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.families import GptConfig
from bertlab.models import BertForPreTraining
from bertlab.models.outline import parameter_count
from bertlab.training.devices import utilisation
from bertlab.training.devices.memory import GIB, available_memory, check_memory, memory_needs
from bertlab.training.devices.utilisation import Peak, training_flops
from bertlab.training.objectives import MaskedLM, NextSentence, NextToken
from bertlab.training.presets import preset
from bertlab.training.pretraining import PretrainingRun, pretrain
from bertlab.training.recipes.optimizer import UncorrectedAdamW, adamw
from bertlab.training.runs import loop
from bertlab.training.runs.curves import draw, objectives_in
from bertlab.training.runs.pretrainer import PreTrainer

PLAIN = DROPOUT_CONFIG.replace(num_layers=1, hidden_dropout=0.0, attention_dropout=0.0)


# --- accumulation ---


@functools.cache
def trained(accumulation, dtype="float32", jit_compile=False):
    """Weights and loss after two updates from batches of eight rows."""
    keras.utils.set_random_seed(3)
    arrays = examples(rows=16)
    arrays["masked_lm_weights"][:4] = 0.0  # the first parts of the first batch have nothing to predict
    trainer = PreTrainer(BertForPreTraining(PLAIN, dtype=dtype), accumulation)
    trainer.compile(adamw(1e-2, trainer, epsilon=1e-3), jit_compile=jit_compile)
    logs = trainer.fit(batches_of(arrays, 8), shuffle=False, verbose=0).history
    return weights_of(trainer), {name: values[0] for name, values in logs.items()}


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 4])
def test_an_update_in_parts_is_the_update_of_the_whole_batch(parts):
    weights, figures = trained(1)
    weights_in_parts, figures_in_parts = trained(parts)
    for path, value in weights.items():
        np.testing.assert_allclose(weights_in_parts[path], value, atol=2e-5, err_msg=path)
    assert figures_in_parts == pytest.approx(figures, rel=1e-4)


@pytest.mark.exhaustive
def test_parts_add_up_when_compiled_too():
    weights, _ = trained(1, jit_compile=True)
    for path, value in trained(4, jit_compile=True)[0].items():
        np.testing.assert_allclose(value, weights[path], atol=2e-5, err_msg=path)


def test_the_loss_is_the_sum_of_the_objectives_each_times_its_factor():
    pairs = NextSentence()
    pairs.factor = 50.0
    trainer = PreTrainer(BertForPreTraining(PLAIN), objectives=(MaskedLM(), pairs))
    trainer.compile()
    measured = trainer.evaluate(x=examples(rows=8), batch_size=8, verbose=0, return_dict=True)
    expected = measured["masked_lm_loss"] + 50 * measured["next_sentence_loss"]
    assert measured["loss"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
def test_float16_scales_the_loss_and_reports_it_unscaled():
    weights, figures = trained(1)
    half, half_figures = trained(2, dtype="mixed_float16")
    assert half_figures["loss"] == pytest.approx(figures["loss"], rel=0.02)
    moved = max(np.abs(half[path] - weights[path]).max() for path in weights)
    assert moved < 0.02  # two Adam updates at 1e-2 move a weight by 0.02 at most: scaled gradients were unscaled again


# --- left to right ---


def test_left_to_right_every_token_asks_for_the_next_one_of_its_own_example():
    batch = {
        "input_ids": np.array([[2, 4, 9, 3, 2, 7, 3, 0]], "int32"),  # [CLS] [MASK] 9 [SEP] [CLS] 7 [SEP] [PAD]
        "sequence_ids": np.array([[1, 1, 1, 1, 2, 2, 2, 0]], "int32"),
        "masked_lm_positions": np.array([[1, 5, 0]], "int32"),
        "masked_lm_ids": np.array([[8, 7, 0]], "int32"),
        "masked_lm_weights": np.array([[1, 1, 0]], "float32"),
    }
    result = NextTokens()(batch, 0)
    assert result["input_ids"].tolist() == [[2, 8, 9, 3, 2, 7, 3, 0]]
    assert result["next_token_weights"].tolist() == [[1, 1, 1, 0, 1, 1, 0, 0]]
    asked = result["next_token_ids"][result["next_token_weights"] > 0]
    assert asked.tolist() == [8, 9, 3, 7, 3]
    assert "masked_lm_positions" not in result
    assert batch["input_ids"][0, 1] == 4  # the stored row stays as it was


def test_rows_without_masks_are_read_from_left_to_right_as_they_are(tmp_path):
    masked = ExampleFiles(make_examples(tmp_path / "static"))
    plain = ExampleFiles(make_examples(tmp_path / "dynamic", dynamic_masking=True))
    ours, others = (NextTokens()(files.take(np.arange(len(files))), 0) for files in (masked, plain))
    assert ours.keys() == others.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, others[name], err_msg=name)


@pytest.mark.slow
def test_a_causal_model_is_trained_left_to_right(tmp_path):
    data = make_examples(tmp_path / "data")
    recipe = preset("small", steps=4, interval=2, batch_size=8, xla=False)
    (_, last) = pretrain(CONFIG.replace(causal=True), [data], tmp_path / "run", recipe)
    assert last["next_token_loss"] == pytest.approx(last["loss"], rel=1e-3)
    assert not [name for name in last if "masked_lm" in name or "next_sentence" in name]
    assert checkpoints.load(tmp_path / "run/checkpoint", "pretraining").config.causal


def test_a_run_reads_left_to_right_first_and_the_next_one_continues_in_both_directions(tmp_path):
    data = make_examples(tmp_path / "data")
    recipe = preset("small", steps=2, interval=2, batch_size=8, xla=False)
    (last,) = pretrain(CONFIG, [data], tmp_path / "first", recipe.replace(direction="left-to-right"))
    assert "next_token_loss" in last and "masked_lm_loss" not in last
    first = tmp_path / "first/checkpoint"
    trained = checkpoints.load(first, "pretraining")
    assert trained.config.causal
    refused("model.causal was True, is False", pretrain, CONFIG, [data], tmp_path / "first", recipe, error=ConfigError)
    run = PretrainingRun(first, [data], tmp_path / "run", recipe.replace(direction="both"))
    start, ended = variables_of(run.trainer(str).bert), variables_of(trained)
    assert {path.split("/")[1] for path in start.keys() - ended.keys()} == {"pooler", "dense"}  # of the next sentence
    for path in ended.keys() - {path for path in ended if "seed" in path}:
        np.testing.assert_array_equal(start[path], ended[path], err_msg=path)
    (last,) = run.train(say=str)
    assert "masked_lm_loss" in last and "next_token_loss" not in last
    assert not checkpoints.load(tmp_path / "run/checkpoint", "pretraining").config.causal
    (last,) = pretrain(first, [data], tmp_path / "as_it_is", recipe)
    assert "next_token_loss" in last


@pytest.mark.parametrize("model, direction", [("electra-small", "left-to-right"), ("gpt", "both")])
def test_a_direction_that_a_family_does_not_have_is_refused(tmp_path, model, direction):
    data = make_examples(tmp_path / "data", next_sentence=False, dynamic_masking=True)
    config = GptConfig(vocab_size=2_000, num_layers=1) if model == "gpt" else model
    with pytest.raises(ConfigError, match=f"direction {direction}: expected a model of the family bert, .* got one of"):
        PretrainingRun(config, [data], tmp_path / "run", preset("small", direction=direction))
    PretrainingRun(config, [data], tmp_path / "run", preset("small"))


# --- memory ---


@pytest.mark.parametrize("size", SIZES)
def test_the_number_of_weights_follows_from_the_shape(size):
    config = BertConfig.named(size)
    assert parameter_count(config) == sum(count for _, count in component_counts(config))


def test_a_batch_that_does_not_fit_is_refused_with_the_accumulation_that_would():
    config = BertConfig.named("base")
    available = 16 * GIB
    with pytest.raises(ConfigError, match=r"GiB are free: .* accumulation=(\d+)") as caught:
        check_memory(config, 256, 512, 77, "float32", 1, available)
    parts = int(re.search(r"accumulation=(\d+)", str(caught.value))[1])
    assert memory_needs(config, 256 // parts, 512, 77, "float32").total <= available
    check_memory(config, 256, 512, 77, "float32", parts, available)
    refused("a smaller model", check_memory, config, 1, 512, 77, "float32", 1, GIB, error=ConfigError)


def test_the_last_layer_needs_memory_for_the_places_that_it_computes():
    def activations(layers, predictions):
        return memory_needs(BertConfig.named("base", num_layers=layers), 8, 512, predictions, "float32").activations

    whole_layer = activations(3, 20) - activations(2, 20)
    last_of_few = activations(1, 20) - activations(1, 0)  # of it and of the head
    left_to_right = activations(2, 512) - activations(1, 512)
    assert left_to_right == whole_layer
    assert activations(1, 0) + last_of_few < 0.5 * whole_layer


MEASURE = """
from pretraining_case import CONFIG, make_examples

from bertlab.config import BertConfig
from bertlab.training.devices.memory import memory_needs
from bertlab.training.presets import preset
from bertlab.training.pretraining import pretrain

def status(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) * 1024

config = BertConfig.named("tiny", vocab_size=CONFIG.vocab_size)
recipe = preset("published", steps=2, interval=1, batch_size={rows}, accumulation={accumulation})
pretrain(config, [make_examples("data", sequence_length=128)], "run", recipe)
needs = memory_needs(config, {rows} // {accumulation}, 128, 20, recipe.precision)
print(needs.total, status("VmHWM") - status("RssFile"))  # the libraries' files are no memory that a run needs
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system tells no peak of memory")
@pytest.mark.parametrize(("rows", "accumulation"), [(256, 1), (1024, 1), (1024, 4)])
def test_the_estimate_of_the_memory_is_near_what_a_run_takes_and_seldom_below(rows, accumulation, tmp_path):
    script = MEASURE.format(rows=rows, accumulation=accumulation)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    estimate, peak = map(int, done.stdout.split()[-2:])
    assert -0.15 * peak < estimate - peak < 0.15 * peak + 0.8 * GIB  # the program of two layers is a small one


def test_what_is_free_on_this_machine_is_known():
    assert 0.1 < available_memory() / GIB < 1e5


# --- arithmetic ---


def test_the_arithmetic_of_bert_base_is_six_operations_per_weight_and_token_and_the_attention():
    config = BertConfig.named("base")
    kernels = 12 * 12 * 768**2  # twelve layers of twelve H × H matrices, those of the feed-forward network counted as 8
    attention = 12 * 12 * 768 * 128  # L · 12 · H · T for each token: Chowdhery et al. 2022, appendix B
    head = 6 * 768 * (768 + 30522)  # for each prediction
    assert training_flops(config, 1, 128, 128) / 128 == pytest.approx(6 * kernels + attention + head)


def test_of_the_last_layer_only_keys_and_values_are_computed_where_nothing_is_predicted():
    config = BertConfig.named("base")
    all_but_keys_and_values = 6 * (12 - 2) * 768**2 + 12 * 768 * 128
    head = 6 * 768 * (768 + 30522)
    saved = training_flops(config, 1, 128, 128) - training_flops(config, 1, 128, 20)
    assert saved == 107 * all_but_keys_and_values + 108 * head  # [CLS] is computed with the 20


def test_the_measured_peak_is_no_less_than_what_a_small_product_reaches():
    peak = Peak()
    before = peak.best
    assert peak.measure(wait=600.0) == before
    assert peak.measure() >= before
    matrix = np.ones((64, 64), "float32")
    start = time.perf_counter()
    for _ in range(20):
        matrix @ matrix
    assert peak.best > 0.5 * 20 * 2 * 64**3 / (time.perf_counter() - start)


@pytest.mark.parametrize("devices", [1, 4])
def test_speed_is_counted_from_the_end_of_the_first_bundle_and_held_against_what_all_devices_can_do(
    devices, monkeypatch
):
    clock, waited = iter([10.0, 12.0]), iter([3.0, 3.5])
    monkeypatch.setattr(utilisation.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(datasets, "seconds_waited", lambda: next(waited))
    peak = SimpleNamespace(measure=lambda wait: 1000.0)
    callback = utilisation.Throughput(100.0, peak, devices)
    callback.on_epoch_begin(0)
    first, second, end = {"tokens": 500.0}, {"tokens": 1500.0}, {}
    callback.on_train_batch_end(9, first)
    callback.on_train_batch_end(19, second)
    callback.on_epoch_end(0, end)
    assert "tokens_per_second" not in first
    assert second["tokens_per_second"] == end["tokens_per_second"] == 1000 / 2
    assert end["peak_share"] == pytest.approx(10 * 100 / 2 / (devices * 1000))
    assert end["data_wait_share"] == pytest.approx(0.5 / 2)


# --- the optimizer ---


def test_without_correction_the_first_update_is_longer_by_the_published_factor():
    def first_move(optimizer):
        variable = keras.Variable(np.array([1.0, -2.0], "float32"))
        optimizer.build([variable])
        optimizer.apply([np.array([0.5, 3.0], "float32")], [variable])
        return np.array(variable) - [1.0, -2.0]

    options = dict(weight_decay=0.0, epsilon=1e-6)
    corrected = first_move(keras.optimizers.AdamW(1e-3, **options))
    uncorrected = first_move(UncorrectedAdamW(1e-3, **options))
    np.testing.assert_allclose(corrected, -1e-3, rtol=1e-3)
    np.testing.assert_allclose(uncorrected / corrected, 0.1 / math.sqrt(0.001), rtol=1e-3)


# --- the messages of a run without a progress bar ---


def test_a_run_in_a_log_file_prints_now_and_then_how_far_it_is(monkeypatch):
    """The time left is estimated from the steps that were computed, without the first ones, which are also compiled."""
    clock = 0.0
    monkeypatch.setattr(loop, "bars_are_shown", lambda: False)
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: clock))
    said = []
    lines = loop.ProgressLines(1000, said.append, first_step=61)
    lines.skip(39)
    for clock, steps in ((600.0, 1), (660.0, 10), (661.0, 0), (780.0, 20)):  # 10 minutes of compiling, then 6 s a step
        lines.advance(steps, f"loss {clock / 1000}")
    assert said == [
        "step 101 of 1,000: loss 0.6",
        "step 111 of 1,000, about 89 min left: loss 0.66",  # a moment later there is no line
        "step 131 of 1,000, about 87 min left: loss 0.78",
    ]


def test_the_progress_names_what_each_objective_measured():
    def line(objectives, **metrics):
        row = {"step": 200, "seconds": 9.0, "loss": 2.5, "tokens_per_second": 6400.0, **metrics}
        return loop.loss_note(row, objectives)

    pairs = dict(masked_lm_loss=2.0, masked_lm_accuracy=0.41, next_sentence_loss=0.5, next_sentence_accuracy=0.7)
    assert line([MaskedLM(), NextSentence()], **pairs) == (
        "loss 2.50 perplexity 7.4 masked 41.0% pairs 70.0% 6,400 tokens/s"
    )
    left_to_right = dict(next_token_loss=3.0, next_token_accuracy=0.2)
    assert line([NextToken()], **left_to_right) == "loss 2.50 perplexity 20.1 next token 20.0% 6,400 tokens/s"


def test_the_columns_of_a_history_name_its_objectives():
    rows = [
        {"step": 1, "loss": 3.0, "masked_lm_accuracy": 0.1, "masked_lm_loss": 2.0, "val_other_loss": 1.0},
        {"step": 2, "loss": 3.0, "masked_lm_loss": 2.0, "next_sentence_loss": 0.7},
    ]
    assert objectives_in(rows) == ["masked_lm", "next_sentence"]
    assert objectives_in([{"step": 1, "loss": 3.0}]) == []


def test_every_objective_of_a_run_is_drawn_in_a_row_of_its_own(tmp_path):
    one = [{"step": step, "masked_lm_loss": 9.0 / step, "masked_lm_accuracy": 0.1 * step} for step in (1, 2)]
    two = [row | {"replaced_token_loss": 0.5, "replaced_token_accuracy": 0.9} for row in one]
    draw({"one": one}, tmp_path / "one.svg")
    draw({"one": one, "two": two}, tmp_path / "two.svg")
    drawn = {name: (tmp_path / f"{name}.svg").read_text(encoding="utf-8") for name in ("one", "two")}
    assert all("Loss of the guesses" in text for text in drawn.values())
    assert ["replaced token" in text for text in drawn.values()] == [False, True]
    draw({"without measurements": [{"step": 1, "loss": 3.0}]}, tmp_path / "empty.png")
