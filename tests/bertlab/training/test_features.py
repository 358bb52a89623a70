"""The feature-based approach: which layers are read, that they are read once, what a head computes, what is refused.

Sizes: the tiny model of `finetuning_case` with L 2 layers of H 16; B rows, T tokens, C outputs.
"""

import dataclasses
import itertools
import json
import shutil

import keras
import numpy as np
import pytest
from finetuning_case import RECIPE, TOKENIZER, save_checkpoint, task_of
from keras import ops
from killing import Killed
from layer_case import CHECKS, LayerCase
from refusals import refused

from bertlab import checkpoints, families, models
from bertlab.analysis.vectors import LayerChoice
from bertlab.common.errors import CheckpointError, ConfigError, DataError
from bertlab.data.tasks.features import Features, encode_rows
from bertlab.layers import ScalarMix
from bertlab.predict import Predictor, evaluate
from bertlab.tokenizers.bpe import BytePairTokenizer
from bertlab.tokenizers.bpe.learner import learn
from bertlab.tokenizers.wordpiece.encoding import Ragged
from bertlab.training.baselines.models import save_baseline
from bertlab.training.features import kept_vectors
from bertlab.training.features.kept_vectors import VectorFolder
from bertlab.training.features.models import FeatureHead, VectorReader
from bertlab.training.features.settings import FeatureConfig, FeatureSettings, layers_of
from bertlab.training.finetuning import baseline_recipe, finetune, train_baseline, train_features

SIZES = FeatureSettings(units=8, head_dropout=0.0)
HEADS = RECIPE.replace(learning_rate=3e-2, epochs=20)


def trained(model, task, out, recipe=HEADS, settings=SIZES, **options):
    return train_features(model, task, out, recipe, settings, **options)


# === Layers ===


@pytest.mark.parametrize(("text", "expected"), [
    ("embeddings", ((0,), "sum")), ("last", ((6,), "sum")), ("second-to-last", ((5,), "sum")), ("-3", ((4,), "sum")),
    ("1,2,5", ((1, 2, 5), "sum")), ("-4,-3,-2,-1-concat", ((3, 4, 5, 6), "concat")), ("last4", ((3, 4, 5, 6), "sum")),
    ("last4-mean", ((3, 4, 5, 6), "mean")), ("all-mix", ((1, 2, 3, 4, 5, 6), "mix")), ("0,6-mix", ((0, 6), "mix")),
])  # fmt: skip
def test_layers_are_named_as_in_the_papers_table(text, expected):
    assert layers_of(text, num_layers=6) == expected


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("lost", ConfigError, "expected layers such as last, second-to-last, .*; got 'lost'"),
        ("last4-product", ConfigError, "got 'last4-product'"),
        ("last0-sum", ConfigError, "got 'last0-sum'"),
        ("last9-sum", DataError, "there is no layer -9"),
        ("7", DataError, "there is no layer 7; choose 0"),
    ],
)
def test_layers_that_do_not_exist_are_refused(text, error, message):
    refused(message, layers_of, text, num_layers=6, error=error)


@pytest.mark.parametrize("combine", ["sum", "mean", "concat"])
def test_the_vectors_are_the_models_own_hidden_states(combine, checkpoint):
    backbone = checkpoints.load(checkpoint, "encoder")
    inputs = {"input_ids": np.array([[2, 7, 8, 3]])}
    states = [ops.convert_to_numpy(state) for state in backbone(inputs, return_all=True)["hidden_states"]]
    choice = LayerChoice((0, 2), combine)
    vectors = VectorReader(backbone, choice)(inputs)
    np.testing.assert_allclose(ops.convert_to_numpy(vectors), choice.apply(states), rtol=1e-6)
    assert not backbone.trainable_weights


# === Heads ===

IDS = np.array([[2, 5, 6, 3, 7], [2, 9, 3, 8, 3]], "int32")
ROWS = {
    "vectors": np.random.default_rng(0).normal(size=(2, 5, 12)).astype("float32"),
    "input_ids": IDS,
    "token_type_ids": np.array([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], "int32"),
    "attention_mask": np.ones_like(IDS),
}


def head_of(head, combine, dropout=0.0, dtype="float32", **changes):
    layers = (1, 2, 3) if combine == "mix" else (1,)
    width = 4 if combine == "mix" else 12
    config = FeatureConfig(width, layers, combine, head, special_ids=(0, 2, 3), outputs=3, max_tokens=16, units=5,
                           head_dropout=dropout, **changes)  # fmt: skip
    return FeatureHead(config, dtype=dtype)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_head_is_a_keras_model_like_the_others(check, tmp_path):
    case = LayerCase("linear", lambda dropout, dtype: head_of("linear", "mix", dropout, dtype, pair=True),
                     {"inputs": ROWS}, (2, 3), has_dropout=True)  # fmt: skip
    check(case, tmp_path)


def test_a_linear_head_reads_the_mean_of_each_text():
    head = head_of("linear", "sum", pair=True)
    rng = np.random.default_rng(1)
    for weight in head.weights:
        weight.assign(rng.normal(size=weight.shape))
    kernel, bias = (np.array(weight) for weight in head.head.weights)
    u, v = ROWS["vectors"][0, [1, 2]].mean(axis=0), ROWS["vectors"][0, 4]
    expected = np.concatenate([u, v, abs(u - v), u * v]) @ kernel + bias
    np.testing.assert_allclose(np.array(head(ROWS))[0], expected, rtol=1e-4, atol=1e-5)


def test_a_mix_is_weighed_by_a_softmax_and_scaled():
    x, w = np.random.default_rng(2).normal(size=(2, 5, 3, 4)).astype("float32"), np.array([0.0, np.log(2), 0.0])
    mix = ScalarMix(3)
    mix.weights_of_layers.assign(w)
    mix.gamma.assign(1.5)
    expected = 1.5 * (x[:, :, 0] / 4 + x[:, :, 1] / 2 + x[:, :, 2] / 4)
    np.testing.assert_allclose(np.array(mix(x)), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("head", ["linear", "bilstm"])
@pytest.mark.parametrize("tags", [False, True])
def test_padding_does_not_reach_a_head(head, tags):
    model = head_of(head, "mix", tags=tags)
    padded = {name: np.pad(array, [(0, 0), (0, 3), (0, 0)][: array.ndim]) for name, array in ROWS.items()}
    padded["vectors"][:, 5:] = 7.0
    found = np.array(model(padded))[:, :5] if tags else np.array(model(padded))
    np.testing.assert_allclose(found, np.array(model(ROWS)), rtol=1e-5, atol=1e-6)


# === Training ===


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "head", "layers"),
    [
        ("sentence", "linear", "all-mix"),
        ("tagging", "bilstm", "last2-concat"),
        ("number", "linear", "embeddings"),
        ("multiple-choice", "linear", "last"),
    ],
)
def test_a_head_learns_and_its_folder_predicts_the_same(shape, head, layers, checkpoint, tmp_path):
    task = task_of(shape)
    result = trained(checkpoint, task, tmp_path / "out", settings=SIZES.replace(layers=layers, head=head))
    assert result.dev[result.metric] > 0.9
    assert result.model == f"{checkpoint}, features {layers}, {head}"
    predictor = Predictor.load(tmp_path / "out")
    assert evaluate(predictor, task.validation).metrics == pytest.approx(result.dev | evaluated_alone(predictor, task))
    assert {"results.json", "predictions", "features.json", "encoder", "task.json"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


def evaluated_alone(predictor, task):
    """The metrics that an evaluation has besides those of a training."""
    return {
        name: value
        for name, value in evaluate(predictor, task.validation).metrics.items()
        if name in ("mean_absolute_error", "root_mean_squared_error", "accuracy")
    }


def test_labelled_test_rows_are_judged_and_an_update_can_be_computed_in_parts(checkpoint, tmp_path):
    task = task_of("sentence")
    task = dataclasses.replace(task, test=task.validation)
    recipe = HEADS.replace(epochs=2, accumulation=2, precision="bfloat16", seeds=(1, 2))
    result = trained(checkpoint, task, tmp_path, recipe, SIZES.replace(layers="last2-mix"))
    assert result.test == pytest.approx(result.dev)
    assert {"train.npy", "validation.npy", "test.npy"} <= {path.name for path in (tmp_path / "vectors").iterdir()}
    assert len(result.runs) == 2 and result.parameters == 2 + 1 + 16 * 2 + 2  # mix, factor, kernel, bias


@pytest.mark.slow
def test_a_bilstm_on_a_model_that_reads_from_left_to_right(tmp_path):
    keras.utils.set_random_seed(1)
    task = task_of("tagging")
    tokenizer = BytePairTokenizer(learn([" ".join(row.words) for row in task.train], 280))
    config = families.family("gpt2").config(
        vocab_size=len(tokenizer.vocabulary), hidden_size=16, num_layers=2, num_heads=2, intermediate_size=32,
        max_position_embeddings=64, initializer_range=0.2,
    )  # fmt: skip
    folder = checkpoints.save(models.PreTrainingModel(config), tmp_path / "gpt", tokenizer)
    settings = SIZES.replace(layers="last", head="bilstm")
    result = trained(folder, task, tmp_path / "out", HEADS.replace(max_length=64), settings)
    assert result.dev["f1"] > 0.9
    assert [one.tags for one in Predictor.load(tmp_path / "out")([["it", "paris"]])] == [["O", "B-CITY"]]


@pytest.mark.parametrize("frozen", [True, False])
def test_the_encoder_of_a_translation_model_is_saved(frozen, tmp_path):
    config = families.family("marian").config(
        vocab_size=20, hidden_size=16, num_layers=1, decoder_layers=1, num_heads=2, intermediate_size=32,
        max_position_embeddings=32, pad_token_id=0,
    )  # fmt: skip
    folder = checkpoints.save(models.SequenceToSequenceModel(config), tmp_path / "translation", TOKENIZER)
    recipe = HEADS.replace(epochs=1)
    if frozen:
        trained(folder, task_of("sentence"), tmp_path / "out", recipe)
    else:
        finetune(folder, task_of("sentence"), tmp_path / "out", recipe)
    predictor = Predictor.load(tmp_path / "out")
    assert predictor(["good film"])[0].label in ("negative", "positive")
    encoder = tmp_path / "out" / ("encoder" if frozen else "") / "bertlab.safetensors"
    assert encoder.exists()


# === Once, and kept ===


def killed_at(call, read):
    """The reader, which is killed at its call of this number."""
    numbers = itertools.count(1)

    def killed(inputs):
        if next(numbers) == call:
            raise Killed
        return read(inputs)

    return killed


@pytest.mark.slow
def test_a_second_run_reads_the_kept_vectors_and_another_model_is_refused(checkpoint, tmp_path, monkeypatch):
    task, vectors = task_of("sentence"), tmp_path / "vectors"
    trained(checkpoint, task, tmp_path / "one", vectors=vectors, recipe=HEADS.replace(epochs=1))
    monkeypatch.setattr(kept_vectors.VectorFolder, "_compute", lambda *arguments: pytest.fail("computed again"))
    trained(checkpoint, task, tmp_path / "two", vectors=vectors, settings=SIZES.replace(head="bilstm"),
            recipe=HEADS.replace(epochs=1))  # fmt: skip
    other = save_checkpoint(tmp_path / "other", num_layers=2, initializer_range=0.3)
    with pytest.raises(ConfigError, match=r"vectors: was started with other settings \(weights was"):
        trained(other, task, tmp_path / "three", vectors=vectors)
    with pytest.raises(ConfigError, match=r"vectors: was started with other settings \(rows.train was"):
        trained(checkpoint, task_of("sentence", np.random.default_rng(9)), tmp_path / "three", vectors=vectors)
    with pytest.raises(ConfigError, match=r"other settings \(layers was"):
        trained(checkpoint, task, tmp_path / "three", vectors=vectors, settings=SIZES.replace(layers="1"))
    assert not (tmp_path / "three").exists()


@pytest.mark.slow
def test_vectors_of_a_killed_start_are_gone_on_with(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_vectors, "BATCH_SIZE", 4)
    monkeypatch.setattr(kept_vectors, "_SAVE_EVERY", 2)
    features = encode_rows(task_of("multiple-choice").train, TOKENIZER, 16)
    reader = VectorReader(checkpoints.load(checkpoint, "encoder"), LayerChoice((2,)))

    def folder(name):
        return kept_vectors.VectorFolder(tmp_path / name, {}, {"train": features}, 16, 16)

    whole = folder("whole").filled(reader)["train"].batch([0, 5])[0]["vectors"]
    with pytest.raises(Killed):
        folder("parts").filled(killed_at(6, reader))
    assert json.loads((tmp_path / "parts/train.progress.json").read_text()) == {"batches": 4}
    calls = []
    again = folder("parts").filled(lambda inputs: calls.append(1) or reader(inputs))["train"]
    assert len(calls) == 33 - 4  # 132 sequences are 33 batches
    np.testing.assert_array_equal(again.batch([0, 5])[0]["vectors"], whole)
    assert whole.shape == (2, 3, 16, 16)
    left = sorted(path.name for path in (tmp_path / "parts").iterdir())
    assert left == ["filling.lock", "train.npy", "vectors.json"]


def vectors_of(rows, folder, source=None):
    """A folder for vectors of 4 numbers, of some texts of 4 tokens."""
    texts = Ragged(np.full(4 * rows, 7, "int32"), np.arange(0, 4 * rows + 1, 4))
    return VectorFolder(folder, source or {}, {"train": Features(TOKENIZER.vocabulary, texts)}, 4, 16)


def ones(inputs):
    return np.ones((*inputs["input_ids"].shape, 4), "float32")


def test_one_start_at_a_time_fills_a_folder(tmp_path):
    turned_away = []

    def read(inputs):
        for begin in (vectors_of(100, tmp_path).check, lambda: vectors_of(100, tmp_path).filled(ones)):
            refused("another start is filling this folder: wait for it or use another", begin, error=ConfigError)
            turned_away.append(begin)
        return ones(inputs)

    vectors_of(100, tmp_path).filled(read)
    vectors_of(100, tmp_path).check()
    array = np.load(tmp_path / "train.npy")
    assert len(turned_away) == 8 and array.shape == (600, 4) and (array == 1).all()


@pytest.mark.parametrize("name", ["train.npy", "train.partial.npy"])
def test_vectors_of_an_unknown_model_are_refused(name, tmp_path):
    np.save(tmp_path / name, np.zeros((18, 4), "float32"))
    with pytest.raises(ConfigError, match="holds results but no vectors.json; choose another folder"):
        vectors_of(3, tmp_path).check()


def test_a_part_that_is_there_needs_no_more_disk_space(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_vectors, "_SAVE_EVERY", 1)
    with pytest.raises(Killed):
        vectors_of(2000, tmp_path).filled(killed_at(60, ones))  # 2000 x 6 x 4 numbers: 188 KiB
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("usage", (), {"free": 100_000}))
    vectors_of(2000, tmp_path).check()
    refused("the vectors take", vectors_of(2000, tmp_path / "new").check, error=ConfigError)


def test_a_disk_that_is_too_small_is_one_clear_line(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("usage", (), {"free": 1000}))
    with pytest.raises(ConfigError, match="the vectors take 0.0 GiB, but 0.0 GiB are free; choose fewer layers"):
        trained(checkpoint, task_of("sentence"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


# === What is refused ===


@pytest.mark.parametrize(
    ("shape", "changes", "message"),
    [
        ("question", {}, "expected a task with classes, numbers or tags for features, got questions"),
        ("sentence", {"lora_rank": 4}, "features are those of a model that is not trained; leave out lora_rank"),
        ("sentence", {"from_scratch": True}, "leave out from_scratch"),
    ],
)
def test_what_features_cannot_do_is_one_clear_line(shape, changes, message, checkpoint, tmp_path):
    refused(message, trained, checkpoint, task_of(shape), tmp_path / "out", HEADS.replace(**changes), error=ConfigError)
    assert not (tmp_path / "out").exists()


def test_a_model_in_the_folder_is_not_replaced(checkpoint, tmp_path):
    out, inside = tmp_path / "out", save_checkpoint(tmp_path / "out" / "encoder", num_layers=2)
    before = {file: file.read_bytes() for file in inside.iterdir()}
    for model, what in [(checkpoint, "a model but no ../features.json"), (inside, "the model to start from")]:
        refused(f"out/encoder: holds {what}", trained, model, task_of("sentence"), out, error=ConfigError)
    assert list(out.iterdir()) == [inside] and before == {file: file.read_bytes() for file in inside.iterdir()}
    for name in ("features.json", "baseline.json"):
        save_baseline(head_of("linear", "sum"), tmp_path / name)
        (tmp_path / name / "features.json").rename(tmp_path / name / name)
        with pytest.raises(ConfigError, match="holds a model but no settings.json; choose another folder"):
            trained(checkpoint, task_of("sentence"), tmp_path / name)


@pytest.mark.parametrize("kind", ["head", "baseline"])
def test_a_task_that_the_folder_does_not_have_is_refused(kind, checkpoint, tmp_path):
    task = task_of("sentence")
    if kind == "head":
        trained(checkpoint, task, tmp_path, HEADS.replace(epochs=1))
    else:
        train_baseline("bow", task, tmp_path, baseline_recipe("bow", epochs=1))
    with pytest.raises(CheckpointError, match="was fine-tuned on tone alone, not on other; leave the task out"):
        Predictor.load(tmp_path, task="other")
    assert Predictor.load(tmp_path, task="tone").info.name == "tone"


def test_a_command_that_needs_a_transformer_names_the_frozen_one(tmp_path):
    save_baseline(head_of("linear", "sum"), tmp_path)
    with pytest.raises(CheckpointError, match="got a head on vectors of a frozen one.*the frozen model is .*encoder"):
        checkpoints.load(tmp_path)
