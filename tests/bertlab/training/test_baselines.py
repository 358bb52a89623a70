"""Baselines: what each kind computes, that it learns a task as BERT does, and what is refused.

Sizes: B 2 rows, T 5 tokens, V 11 words, C 3 outputs.
"""

import functools

import keras
import numpy as np
import pytest
from finetuning_case import TOKENIZER, task_of, words
from keras import ops
from killing import killer
from layer_case import CHECKS, LayerCase, compiled_training_moves_every_weight, half_precision_is_close
from refusals import refused

from bertlab import checkpoints
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.data.tasks.rows import PairRow, TaggingRow, TaskData
from bertlab.predict import Predictor, evaluate
from bertlab.tokenizers.wordpiece.encoding import Ragged
from bertlab.training.baselines.bags import BagOfWords
from bertlab.training.baselines.models import RecurrentStack, load_baseline, make_baseline, save_baseline
from bertlab.training.baselines.settings import KINDS, RECURRENT, BaselineConfig, BaselineSettings, settings_read
from bertlab.training.baselines.training import inverse_document_frequencies
from bertlab.training.finetuning import train_baseline
from bertlab.training.finetuning.settings import Recipe

SIZES = BaselineSettings(word_size=8, units=8, head_dropout=0.0, min_count=1)
RECIPE = Recipe(learning_rate=5e-2, batch_size=8, epochs=6, max_length=16)
INPUTS = {
    "input_ids": np.array([[2, 5, 6, 3, 7], [2, 9, 3, 8, 3]], "int32"),
    "token_type_ids": np.array([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], "int32"),
    "attention_mask": np.ones((2, 5), "int32"),
}


def config_of(kind, **changes):
    return BaselineConfig(kind, 11, special_ids=(0, 2, 3), **{"outputs": 3, "word_size": 4, "units": 6} | changes)


def trained(kind, task, out, recipe=RECIPE, settings=SIZES, **options):
    return train_baseline(kind, task, out, recipe, settings, **options)


def case(kind, shape, **changes):
    def make(dropout, dtype):
        return make_baseline(config_of(kind, head_dropout=dropout, **changes), dtype=dtype)

    return LayerCase(f"{kind} {changes}", make, {"inputs": INPUTS}, shape, has_dropout=kind not in ("bow", "tfidf"))


# === What is computed ===


def checks():
    for kind, shape, changes in (
        ("tfidf", (2, 3), {"pair": True}), ("bilstm", (2, 3), {"pair": True}), ("gru", (2, 5, 3), {"tags": True}),
    ):  # fmt: skip
        for check in CHECKS:
            if kind == "tfidf" and check is half_precision_is_close:
                continue  # a linear model of counts computes in 32 bits
            slow = check is compiled_training_moves_every_weight and kind == "bilstm"
            marks = [pytest.mark.exhaustive] if slow else []
            yield pytest.param(kind, shape, changes, check, marks=marks, id=f"{kind}-{check.__name__}")


@pytest.mark.parametrize(("kind", "shape", "changes", "check"), list(checks()))
def test_a_baseline_is_a_keras_model_like_the_others(kind, shape, changes, check, tmp_path):
    check(case(kind, shape, **changes), tmp_path)


def test_a_bag_of_words_is_a_linear_model_of_counts():
    bag, rng = BagOfWords(11, 3), np.random.default_rng(1)
    table, bias = rng.normal(size=(11, 1, 3)), rng.normal(size=3)
    bag.table.assign(table)
    bag.bias.assign(bias)
    ids, is_real = np.array([[5, 6, 5, 0], [7, 9, 8, 9]]), np.array([[1, 1, 1, 0], [1, 1, 1, 1]])
    counted = np.stack([np.bincount(row[real == 1], minlength=11) for row, real in zip(ids, is_real)])
    np.testing.assert_allclose(np.array(bag(ids, is_real)), counted @ table[:, 0] + bias, rtol=1e-5)


def test_tfidf_weighs_rare_words_more_and_scales_a_text_to_length_1():
    bag, rng = BagOfWords(11, 3, tfidf=True), np.random.default_rng(1)
    table, idf = rng.normal(size=(11, 1, 3)), rng.uniform(1, 3, 11)
    bag.table.assign(table)
    bag.idf.assign(idf)
    weights = np.bincount([5, 6, 5], minlength=11) * idf
    expected = weights / np.linalg.norm(weights) @ table[:, 0]
    np.testing.assert_allclose(
        np.array(bag(np.array([[5, 6, 5, 0]]), np.array([[1, 1, 1, 0]])))[0], expected, rtol=1e-5
    )


def test_a_bag_of_a_pair_has_four_features_for_each_word():
    bag, table = BagOfWords(11, 3, pair=True), np.random.default_rng(1).normal(size=(11, 4, 3))
    bag.table.assign(table)
    ones = np.ones((1, 3), int)
    u, v = np.bincount([5, 6, 5], minlength=11), np.bincount([5, 7, 8], minlength=11)
    expected = np.einsum("vf,vfc->c", np.stack([u, v, abs(u - v), u * v], axis=1), table)
    logits = bag(np.array([[5, 6, 5]]), ones, np.array([[5, 7, 8]]), ones)
    np.testing.assert_allclose(np.array(logits)[0], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_special_tokens_and_segments_leave_each_text_as_it_is(kind):
    keras.utils.set_random_seed(1)
    model = make_baseline(config_of(kind, pair=True))
    for weight in model.trainable_weights:
        weight.assign(np.random.default_rng(2).normal(size=weight.shape))
    padded = {name: np.pad(array, ((0, 0), (0, 3))) for name, array in INPUTS.items()}
    np.testing.assert_allclose(np.array(model(padded)), np.array(model(INPUTS)), rtol=1e-4, atol=1e-5)
    same = INPUTS["input_ids"][[0, 0]]
    swapped = {name: array[[0, 0]] for name, array in INPUTS.items()} | {"input_ids": same.copy()}
    swapped["input_ids"][1, [1, 2]] = same[1, [2, 1]]  # the order of the first text's words
    one, other = np.array(model(swapped))
    assert np.allclose(one, other, rtol=1e-4) == (kind not in RECURRENT)


def test_a_text_without_words_has_finite_outputs():
    empty = {name: array[:, :3] for name, array in INPUTS.items()} | {"input_ids": np.array([[2, 3, 0], [2, 3, 0]])}
    for kind in KINDS:
        assert np.isfinite(np.array(make_baseline(config_of(kind))(empty))).all()


def test_idf_is_the_logarithm_of_how_few_texts_have_a_word():
    texts = Ragged(np.array([4, 5, 5, 4], "int32"), np.array([0, 3, 4]))
    expected = np.log(3 / np.array([1, 3, 2])) + 1  # in no text, in both, in one
    np.testing.assert_allclose(inverse_document_frequencies([texts], 6)[3:], expected, rtol=1e-6)


# === Training ===


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns_and_its_folder_predicts_the_same(kind, tmp_path):
    task = task_of("sentence")
    result = trained(kind, task, tmp_path)
    assert result.dev["accuracy"] > 0.9
    assert result.model == f"baseline {kind}" and result.parameters > 0
    predictor = Predictor.load(tmp_path)
    assert evaluate(predictor, task.validation).metrics == pytest.approx(result.dev)
    assert len(predictor(["good film " * 40])) == 1  # longer than max_length: read in windows
    assert {"results.json", "predictions", "errors.tsv", "curves.png", "task.json"} <= {
        p.name for p in tmp_path.iterdir()
    }


@pytest.mark.parametrize("kind", ["bow", "bilstm"])
def test_a_pair_is_judged_by_what_its_texts_have_in_common(kind, tmp_path):
    rng = np.random.default_rng(1)
    rows = []
    for first, second in rng.choice(["paris", "rome"], (120, 2)):
        texts = (" ".join([*words(rng, 1), city]) for city in (first, second))
        rows.append(PairRow(*texts, int(first == second)))
    task = TaskData("same", "pair", ("other", "same"), rows[:96], rows[96:])
    assert trained(kind, task, tmp_path, RECIPE.replace(epochs=12)).dev["accuracy"] > 0.9


@pytest.mark.slow
def test_a_tagger_from_both_ends_sees_the_word_behind(tmp_path):
    rng = np.random.default_rng(1)
    rows = []
    for behind in rng.choice(["is", "not"], 120):
        text = (*words(rng, 2), "paris", behind)
        rows.append(TaggingRow(text, tuple(int(word == "paris" and behind == "is") for word in text)))
    task = TaskData("cities", "tagging", ("O", "B-CITY"), rows[:96], rows[96:])
    recipe = RECIPE.replace(learning_rate=2e-2, epochs=8)
    assert trained("bilstm", task, tmp_path / "both", recipe).dev["f1"] > 0.9
    assert trained("lstm", task, tmp_path / "one", recipe).dev["f1"] < 0.9
    tags = Predictor.load(tmp_path / "both")([["paris", "is"], ["paris", "not"]])
    assert [one.tags[0] for one in tags] == ["B-CITY", "O"]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "shape"), [("cbow", "number"), ("tfidf", "multiple-choice")])
def test_numbers_and_choices_are_learned_too(kind, shape, tmp_path):
    result = trained(kind, task_of(shape), tmp_path)
    assert result.dev[result.metric] > 0.9


@pytest.mark.slow
def test_the_tokens_of_a_checkpoint_can_be_read(tmp_path):
    TOKENIZER.save(tmp_path / "tokens")
    trained("cbow", task_of("sentence"), tmp_path / "out", RECIPE.replace(epochs=1), tokenizer=tmp_path / "tokens")
    assert checkpoints.load_tokenizer(tmp_path / "out").vocabulary == TOKENIZER.vocabulary


@pytest.mark.slow
def test_a_killed_run_resumes_with_the_same_bytes(check_restart):
    options = dict(recipe=RECIPE.replace(interval=4, epochs=2), settings=SIZES.replace(head_dropout=0.2))
    train = functools.partial(trained, "gru", task_of("sentence"), **options)
    check_restart(train, killer("on_train_batch_end", 5), "resumes from step 4 of 12", "baseline.safetensors")


# === What is refused ===


@pytest.mark.parametrize(
    ("kind", "shape", "changes", "message"),
    [
        ("lstm", "question", {}, "where: expected a task with classes, numbers or tags for a baseline, got questions"),
        ("cbow", "tagging", {}, "expected a baseline that reads words in their order for tags, got cbow"),
        ("lstm", "sentence", {"lora_rank": 4}, "no pre-trained layers; leave out lora_rank"),
        ("lstm", "sentence", {"frozen_layers": 1}, "leave out frozen_layers"),
        ("lstm", "sentence", {"layer_decay": 0.9}, "leave out layer_decay"),
        ("lstm", "sentence", {"dropout": 0.0}, "no pre-trained layers; leave out dropout"),
        ("lstm", "sentence", {"from_scratch": True}, "leave out from_scratch"),
        ("elman", "sentence", {}, "baseline: expected one of bow, tfidf, .*; got 'elman'"),
    ],
)
def test_what_a_baseline_cannot_do_is_one_clear_line(kind, shape, changes, message, tmp_path):
    refused(message, trained, kind, task_of(shape), tmp_path / "out", RECIPE.replace(**changes), error=ConfigError)
    assert not (tmp_path / "out").exists()


def test_a_command_that_needs_a_transformer_says_that_it_got_a_baseline(tmp_path):
    save_baseline(make_baseline(config_of("cbow")), tmp_path)
    refused("expected a transformer, got a baseline", checkpoints.load, tmp_path, error=CheckpointError)


def test_a_damaged_folder_is_named(tmp_path):
    save_baseline(make_baseline(config_of("cbow")), tmp_path)
    (tmp_path / "baseline.json").write_text('{"kind": "cbow"}', encoding="utf-8")
    refused("baseline.json: does not describe a baseline", load_baseline, tmp_path, error=CheckpointError)
    save_baseline(make_baseline(config_of("cbow")), tmp_path)
    config = (tmp_path / "baseline.json").read_text(encoding="utf-8").replace('"word_size": 4', '"word_size": 5')
    (tmp_path / "baseline.json").write_text(config, encoding="utf-8")
    refused("expected the weights of baseline.json", load_baseline, tmp_path, error=CheckpointError)


def test_a_kind_reads_the_settings_that_change_it():
    everything = set(SIZES.to_dict())
    assert set(settings_read("lstm")) == everything
    assert set(settings_read("bow")) == {"min_count", "most_words", "lowercase"}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("kind", ["rnn", "lstm", "bilstm"])
def test_states_are_those_of_the_published_formulas(kind):
    """Keras's gates are in the order input, forget, candidate, output."""
    keras.utils.set_random_seed(2)
    stack = RecurrentStack(kind, input_size=3, units=4)
    x = np.random.default_rng(3).normal(size=(1, 5, 3)).astype("float32")

    def run(kernel, recurrent, bias, steps):
        h, c, states = np.zeros(4), np.zeros(4), []
        for step in steps:
            z = step @ kernel + h @ recurrent + bias
            if kind == "rnn":
                h = np.tanh(z)
            else:
                i, f, g, o = np.split(z, 4)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = sigmoid(o) * np.tanh(c)
            states.append(h)
        return np.array(states)

    weights = [ops.convert_to_numpy(weight) for weight in stack.weights]
    expected = run(*weights[:3], x[0])
    if kind == "bilstm":
        expected = np.concatenate([expected, run(*weights[3:6], x[0, ::-1])[::-1]], axis=1)
    states = stack(ops.convert_to_tensor(x), ops.ones((1, 5)))
    np.testing.assert_allclose(ops.convert_to_numpy(states)[0], expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["lstm", "bilstm"])
def test_a_row_without_tokens_has_a_vector_of_zeros(kind):
    """Its first position is read, since cuDNN refuses a row without any; nothing of it reaches the vector."""
    stack = RecurrentStack(kind, input_size=3, units=4)
    is_real = np.array([[1, 1, 0], [0, 0, 0]], "float32")
    x = np.random.default_rng(1).normal(size=(2, 3, 3)).astype("float32")
    vectors = ops.convert_to_numpy(stack.pooled(stack(ops.convert_to_tensor(x), is_real), is_real))
    assert vectors[0].all() and not vectors[1].any()
