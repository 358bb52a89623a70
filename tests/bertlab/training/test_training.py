"""Training: the schedule, what decays, the loss, and runs that go on after being killed."""

import math
import shutil
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from killing import Killed, killer
from refusals import refused

from bertlab.common.errors import CheckpointError, DataError
from bertlab.config import BertConfig
from bertlab.data.pretraining.datasets import batches_of
from bertlab.models import BertForPreTraining
from bertlab.training.finetuning.optimizer import LayerwiseAdamW
from bertlab.training.objectives import MaskedLM, NextToken, token_hits, token_losses
from bertlab.training.presets import PretrainingSettings
from bertlab.training.recipes.optimizer import adamw, muon, optimizer_of
from bertlab.training.recipes.schedule import WarmupLinearDecay
from bertlab.training.runs.loop import Phase, run_training
from bertlab.training.runs.pretrainer import PreTrainer
from bertlab.training.runs.state import keep_state, restored_progress, saved_states

CONFIG = BertConfig(
    vocab_size=50, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=32, max_position_embeddings=16
)  # dropout 0.1: a resumed run must draw the same masks


def examples(rows=64, length=12, predictions=3, seed=0):
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.permuted(np.tile(np.arange(length), (rows, 1)), axis=1)[:, :predictions], axis=1)
    weights = np.ones((rows, predictions), "float32")
    weights[::2, -1] = 0.0  # every other row has one prediction fewer
    return {
        "input_ids": rng.integers(5, 50, (rows, length)).astype("int32"),
        "token_type_ids": rng.integers(0, 2, (rows, length)).astype("int32"),
        "attention_mask": np.ones((rows, length), "int32"),
        "masked_lm_positions": positions.astype("int32"),
        "masked_lm_ids": rng.integers(5, 50, (rows, predictions)).astype("int32"),
        "masked_lm_weights": weights,
        "next_sentence_labels": rng.integers(0, 2, rows).astype("int32"),
    }


def new_trainer(total_steps=12, config=CONFIG, next_sentence=True, jit_compile=False):
    keras.utils.set_random_seed(7)
    trainer = PreTrainer(BertForPreTraining(config, next_sentence=next_sentence))
    trainer.compile(adamw(WarmupLinearDecay(1e-2, total_steps, 2), trainer), jit_compile=jit_compile)
    return trainer


def train(trainer, folder, total_steps=12, callbacks=()):
    def phase(steps, **shape):
        data = examples(**shape)
        return Phase(steps, lambda step: batches_of(data, 8, shuffle_seed=1, repeat=True, start_batch=step))

    return run_training(
        trainer,
        [phase(8, length=12), phase(total_steps - 8, length=16)],
        interval=4,
        folder=folder,
        callbacks=callbacks,
    )


def weights_of(trainer):
    return {v.path: np.array(v.value) for v in trainer.bert.trainable_variables}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run: its folder, its history and its weights at the end."""
    folder, trainer = tmp_path_factory.mktemp("whole"), new_trainer()
    history = train(trainer, folder)
    return folder, history, weights_of(trainer)


@pytest.fixture
def finished(whole, tmp_path):
    """A copy of that run's folder."""
    return Path(shutil.copytree(whole[0], tmp_path / "finished"))


@pytest.mark.parametrize(
    ("warmup_steps", "stable_steps", "rates"),
    [
        (4, 0, [0.25, 0.5, 0.75, 1.0, 1.0, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6, 0.0, 0.0]),
        (2, 4, [0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]),
    ],
)
def test_the_learning_rate_rises_linearly_may_stay_at_its_peak_and_falls_to_zero(warmup_steps, stable_steps, rates):
    schedule = WarmupLinearDecay(1.0, 10, warmup_steps, stable_steps)
    found = [float(schedule(step)) for step in range(12)]
    assert found == pytest.approx(rates) and found[10:] == [0.0, 0.0]
    assert schedule.from_config(schedule.get_config()).stable_steps == stable_steps


def test_shares_of_a_recipe_are_steps():
    recipe = PretrainingSettings(steps=100, warmup_share=0.1, stable_share=0.7)
    assert (recipe.warmup_steps, recipe.stable_steps) == (10, 70)


@pytest.mark.parametrize(
    ("warmup_steps", "stable_steps", "named"), [(10, 0, "warmup_steps 10"), (2, 8, "stable_steps 8")]
)
def test_a_schedule_whose_learning_rate_never_falls_is_refused(warmup_steps, stable_steps, named):
    refused(named, WarmupLinearDecay, 1.0, 10, warmup_steps, stable_steps, error=ValueError)


def test_weight_decay_spares_exactly_biases_and_layer_norms():
    trainer = new_trainer()
    optimizer = adamw(0.0, trainer, weight_decay=0.5)  # with a learning rate of 0 nothing but decay could move a weight
    spared = {v.path for v in trainer.trainable_variables if not optimizer._use_weight_decay(v)}
    assert all(path.endswith(("/bias", "/gamma", "/beta")) for path in spared)
    decayed = {v.path for v in trainer.trainable_variables} - spared
    assert all(path.endswith(("/kernel", "/embeddings")) for path in decayed)
    assert {"backbone/embeddings/token/embeddings", "masked_lm_head/dense/kernel"} <= decayed


def test_muon_moves_the_matrices_of_the_encoder_in_all_directions_alike():
    """Its update of a matrix is nearly orthogonal: all singular values alike. Other weights get AdamW's update."""
    updates = []
    for make in (muon, adamw):
        trainer = new_trainer()
        optimizer = make(0.01, trainer, weight_decay=0.0, global_clipnorm=None)
        rng = np.random.default_rng(0)
        before = [v.numpy() for v in trainer.trainable_variables]
        gradients = [
            ops.convert_to_tensor(rng.normal(size=v.shape).astype("float32")) for v in trainer.trainable_variables
        ]
        optimizer.apply(gradients, trainer.trainable_variables)
        updates.append({v.path: v.numpy() - old for v, old in zip(trainer.trainable_variables, before, strict=True)})
        assert {v.path for v in trainer.trainable_variables if not optimizer._use_weight_decay(v)} == {
            path for path in updates[-1] if path.endswith(("/bias", "/gamma", "/beta"))
        }
    ours, adams = updates
    for path, update in ours.items():
        if "encoder/" in path and path.endswith("/kernel"):
            values = np.linalg.svd(update, compute_uv=False)
            assert values.max() < 2.5 * values.min(), path
        else:
            assert update == pytest.approx(adams[path], abs=1e-6), path


@pytest.mark.parametrize("name", ["adamw", "without bias correction", "muon", "layerwise"])
def test_a_row_that_is_read_several_times_has_one_gradient(name):
    """TensorFlow's gradient of a lookup has an entry for each time; Keras clips and squares each for itself."""

    def optimizer_for(trainer):
        if name == "layerwise":
            count = len(trainer.trainable_variables)
            optimizer = LayerwiseAdamW([1.0] * count, [False] * count, epsilon=1e-6, global_clipnorm=1.0)
            optimizer.learning_rate = 0.01
            return optimizer
        return muon(0.01, trainer) if name == "muon" else adamw(0.01, trainer, bias_correction=name == "adamw")

    def rows(table):
        values = np.random.default_rng(0).normal(size=(3, table.shape[1])).astype("float32")
        return tf.IndexedSlices(tf.constant(values), tf.constant([1, 0, 1]), tf.constant(table.shape))

    moved = []
    for dense in (False, True):
        trainer = new_trainer()
        optimizer = optimizer_for(trainer)
        variables = trainer.trainable_variables
        tables = [v for v in variables if v.path.endswith("/embeddings")]
        for _ in range(2):
            gradients = [rows(v) if v.path.endswith("/embeddings") else tf.zeros(v.shape) for v in variables]
            if dense:
                gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
            optimizer.apply(gradients, variables)
        moved.append([table.numpy() for table in tables])
    assert len(moved[0]) >= 2
    for sliced, dense in zip(*moved, strict=True):
        assert np.array_equal(sliced, dense)


def test_muon_is_a_choice_of_the_recipe():
    recipe = PretrainingSettings(optimizer="muon", clip_norm=0.5)
    optimizer = optimizer_of(recipe, new_trainer())
    assert type(optimizer).__name__ == "Muon" and optimizer.global_clipnorm == 0.5


def test_the_state_of_muon_is_saved_and_loaded(tmp_path):
    trainers = [new_trainer(), new_trainer()]
    for trainer in trainers:
        trainer.compile(muon(0.01, trainer))
        trainer.optimizer.build(trainer.trainable_variables)
    gradients = [ops.ones_like(v) for v in trainers[0].trainable_variables]
    trainers[0].optimizer.apply(gradients, trainers[0].trainable_variables)
    keep_state(tmp_path, 1, trainers[0], {"step": 1}, keep=1)
    assert restored_progress(tmp_path, trainers[1]) == {"step": 1}
    for trainer in trainers:
        trainer.optimizer.apply(gradients, trainer.trainable_variables)
    for one, other in zip(*(trainer.variables for trainer in trainers), strict=True):
        assert np.array_equal(one.numpy(), other.numpy()), one.path


def random_case(seed=0, scale=3.0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, scale, (4, 6, 50)).astype("float32"), rng.integers(0, 50, (4, 6)).astype("int32")


def test_the_loss_is_minus_log_softmax_at_the_id():
    logits, ids = random_case()
    exact = logits.astype("float64")
    exact = np.log(np.exp(exact).sum(-1)) - np.take_along_axis(exact, ids[..., None], -1)[..., 0]
    np.testing.assert_allclose(ops.convert_to_numpy(token_losses(logits, ids)), exact, rtol=1e-6)


def test_half_precision_logits_give_a_loss_in_float32():
    logits, ids = random_case()
    losses = token_losses(ops.cast(logits, "bfloat16"), ids)
    assert "float32" in str(losses.dtype)


def test_a_hit_is_a_logit_above_all_others():
    logits, ids = random_case()
    ids[0] = logits[0].argmax(-1)
    np.testing.assert_array_equal(ops.convert_to_numpy(token_hits(logits, ids)), logits.argmax(-1) == ids)


@pytest.mark.parametrize("logit", [0.0, np.nan])
def test_a_model_that_cannot_tell_tokens_apart_hits_none(logit):
    logits = np.full((2, 9), logit, "float32")
    assert not ops.convert_to_numpy(token_hits(logits, np.array([0, 3]))).any()


def test_the_loss_is_a_mean_over_real_predictions_and_pairs():
    trainer = new_trainer()
    batch = examples(rows=8)
    outputs = trainer(batch, training=False)
    loss = float(trainer.compute_loss(x=batch, y_pred=outputs))

    def nll(logits, labels):
        logits = np.array(logits, "float64")
        logits -= logits.max(axis=-1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        return -np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]

    weights = batch["masked_lm_weights"]
    masked = (nll(outputs["masked_lm_logits"], batch["masked_lm_ids"]) * weights).sum() / (weights.sum() + 1e-5)
    pairs = nll(outputs["next_sentence_logits"], batch["next_sentence_labels"]).mean()
    assert loss == pytest.approx(masked + pairs, rel=1e-5)


def test_an_untrained_model_is_as_surprised_as_a_guess_among_all_tokens():
    trainer = new_trainer()
    batch = examples(rows=64)
    trainer.compute_loss(x=batch, y_pred=trainer(batch, training=False))
    figures = {metric.name: float(metric.result()) for metric in trainer.metrics}
    assert figures["masked_lm_loss"] == pytest.approx(math.log(50), abs=0.05)
    assert figures["next_sentence_loss"] == pytest.approx(math.log(2), abs=0.05)
    assert figures["tokens"] == batch["attention_mask"].sum()


@pytest.mark.parametrize("pre_norm", [False, True], ids=["post-LN", "pre-LN"])
def test_computing_the_predicted_places_alone_changes_no_gradient(pre_norm):
    config = CONFIG.replace(hidden_dropout=0.0, attention_dropout=0.0, pre_norm=pre_norm, initializer_range=0.2)
    trainer = new_trainer(config=config)
    batch = {name: tf.constant(values[:8]) for name, values in examples().items()}
    batch["attention_mask"] = tf.sequence_mask([12, 7] * 4, 12, dtype="int32")
    gradients = []
    for return_all in (False, True):  # True computes every position of the last layer
        with tf.GradientTape() as tape:
            outputs = trainer.bert({**batch}, training=True, return_all=return_all)
            loss = trainer.compute_loss(x=batch, y_pred=outputs)
        gradients.append(tape.gradient(loss, trainer.trainable_variables))
    for variable, some, every in zip(trainer.trainable_variables, *map(dense, gradients), strict=True):
        np.testing.assert_allclose(some, every, rtol=1e-3, atol=1e-6, err_msg=variable.path)


def dense(gradients):
    """Gradients as arrays; those of a table that is looked up come as the rows that were."""
    return [tf.convert_to_tensor(gradient).numpy() for gradient in gradients]


@pytest.mark.slow
def test_rows_without_pairs_leave_the_next_sentence_head_as_it_is_and_its_metrics_out(tmp_path):
    data = examples()
    del data["next_sentence_labels"]
    trainer = new_trainer()
    bias = trainer.bert.next_sentence_head.dense.bias
    before = np.array(bias)
    phase = Phase(4, lambda step: batches_of(data, 8, repeat=True, start_batch=step), batches_of(data, 8))
    (row,) = run_training(trainer, [phase], interval=4, folder=tmp_path)
    assert not [name for name in row if "next_sentence" in name]
    assert row["val_masked_lm_loss"] > 0
    np.testing.assert_array_equal(np.array(bias), before)


def test_rows_without_masks_need_a_collator_that_draws_them():
    rows = {name: values for name, values in examples().items() if not name.startswith("masked_lm")}
    with pytest.raises(DataError, match="masked_lm_ids.* pass collators= .*MaskTokens"):
        new_trainer().fit(batches_of(rows, 8), shuffle=False, verbose=0)


def test_a_trainer_trains_the_objectives_that_it_is_given():
    batch = examples(rows=8)
    trainer = PreTrainer(BertForPreTraining(CONFIG), objectives=[MaskedLM()])
    loss = float(trainer.compute_loss(x=batch, y_pred=trainer(batch)))
    assert [metric.name for metric in trainer.metrics] == ["masked_lm_loss", "masked_lm_accuracy", "tokens", "bad_step"]
    assert loss == pytest.approx(float(trainer.metrics[0].result()), rel=1e-4)
    left_to_right = PreTrainer(BertForPreTraining(CONFIG.replace(causal=True)))
    assert [type(objective) for objective in left_to_right.objectives] == [NextToken]


@pytest.mark.slow
def test_a_model_without_next_sentence_head_trains_on_masked_tokens_alone(tmp_path):
    trainer = new_trainer(next_sentence=False)
    history = train(trainer, tmp_path)
    assert "next_sentence_loss" not in history[-1]
    assert history[-1]["loss"] == pytest.approx(history[-1]["masked_lm_loss"], rel=1e-2)


@pytest.mark.parametrize(
    ("intervals", "jit_compile"),
    [
        (1, False),  # stopped in the middle of the first phase
        (2, False),  # and between the two
        pytest.param(1, True, marks=pytest.mark.exhaustive),  # XLA takes a minute to compile its eight graphs
    ],
)
def test_a_resumed_run_ends_bitwise_where_an_uninterrupted_one_does(tmp_path, request, intervals, jit_compile):
    if jit_compile:
        trainer = new_trainer(jit_compile=True)
        history, weights = train(trainer, tmp_path / "whole"), weights_of(trainer)
    else:
        _, history, weights = request.getfixturevalue("whole")
    with pytest.raises(Killed):
        train(
            new_trainer(jit_compile=jit_compile), tmp_path / "parts", callbacks=[killer("on_epoch_end", intervals - 1)]
        )
    resumed = new_trainer(jit_compile=jit_compile)
    resumed_history = train(resumed, tmp_path / "parts")

    assert [row["step"] for row in resumed_history] == [4, 8, 12]
    for name in ("loss", "masked_lm_accuracy"):
        assert [row[name] for row in resumed_history] == [row[name] for row in history]
    for path, value in weights.items():
        np.testing.assert_array_equal(weights_of(resumed)[path], value, err_msg=path)


@pytest.mark.slow
def test_a_truncated_state_is_skipped_with_a_message_and_the_one_before_is_used(finished):
    older, newest = saved_states(finished)
    newest.write_bytes(newest.read_bytes()[:-100])
    said = []
    trainer = new_trainer()
    trainer.optimizer.build(trainer.trainable_variables)
    progress = restored_progress(finished, trainer, say=said.append)
    assert progress["history"][-1]["step"] == 8
    assert newest.name in said[0] and "not a complete training state" in said[0]


def test_the_state_of_another_model_is_refused_and_changes_nothing(finished):
    other = new_trainer(config=CONFIG.replace(hidden_size=32))
    before = weights_of(other)
    refused("another model or optimizer", train, other, finished, error=CheckpointError)
    for path, value in weights_of(other).items():
        np.testing.assert_array_equal(value, before[path])
