"""ELMo: its LSTMs and its character CNN beside the formulas in NumPy, padding, packed rows, sizes, what is refused.

Pre-training: test_elmo_pretraining.py. Sizes: B 2 rows, T 5 tokens, U 6 units, P 4 in each direction, V 17.
"""

import json
import math
import tracemalloc

import keras
import numpy as np
import pytest
from layer_case import randomise
from tiny_model import tiny_tokenizer

from bertlab import checkpoints, families, layers, models
from bertlab.analysis.bias import associations
from bertlab.analysis.diagnostics import blank_probabilities
from bertlab.analysis.fill_mask import fill_mask
from bertlab.analysis.gating import all_open, gated_heads
from bertlab.analysis.lens import logit_lens
from bertlab.analysis.patching import logit_difference
from bertlab.analysis.pseudo_likelihood import pseudo_log_likelihood
from bertlab.analysis.readings import attention_maps, read_words
from bertlab.common.errors import ConfigError
from bertlab.generation.filling import mask_predict
from bertlab.layers.characters import characters_of_vocabulary
from bertlab.models.outline import outline
from bertlab.training.finetuning.adapters import add_adapters

CONFIG = families.family("elmo").config
SMALL = CONFIG(
    vocab_size=17, hidden_size=8, num_layers=2, intermediate_size=6, max_position_embeddings=12, max_characters=8,
    character_size=3, filters=((1, 4), (3, 5)), num_highway=2, cell_clip=0.15, projection_clip=0.05, hidden_dropout=0.0,
)  # fmt: skip
IDS = np.array([[2, 5, 9, 7, 3], [2, 11, 3, 0, 0]], "int32")
REAL = (IDS != 0).astype("int32")


def random_model(its_class=models.Backbone, config=SMALL, **options):
    model = its_class(config, **options)
    randomise(model)
    getattr(model, "backbone", model).read_vocabulary(tiny_tokenizer().vocabulary)
    return model


array = keras.ops.convert_to_numpy


def values(model):
    return {variable.path.split("backbone/")[-1]: array(variable).astype("float64") for variable in model.weights}


# === The formulas, one gate, one token and one row after the other ===


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, kernel, bias, recurrent, projection, cell_clip, projection_clip):
    """x (T, D) → (T, P): Sak et al. 2014 without peepholes, with the clips of ELMo."""
    units = recurrent.shape[1] // 4
    gate = {name: slice(i * units, (i + 1) * units) for i, name in enumerate(("input", "forget", "new", "output"))}

    def into(name, token, h):
        return token @ kernel[:, gate[name]] + h @ recurrent[:, gate[name]] + bias[gate[name]]

    h, c, outputs = np.zeros(recurrent.shape[0]), np.zeros(units), []
    for token in x:
        written = sigmoid(into("input", token, h)) * np.tanh(into("new", token, h))
        c = np.clip(sigmoid(into("forget", token, h)) * c + written, -cell_clip, cell_clip)
        h = np.clip((sigmoid(into("output", token, h)) * np.tanh(c)) @ projection, -projection_clip, projection_clip)
        outputs.append(h)
    return np.array(outputs)


def token_vector(characters, weights, config):
    """characters (C,) → (P,): Kim et al. 2016, filter by filter and place by place."""
    part = "embeddings/characters/"
    x = weights[part + "table"][characters]  # (C, E)
    found = []
    for number, (width, _) in enumerate(config.filters):
        kernel, bias = (weights[f"{part}filters_{number}/{name}"] for name in ("kernel", "bias"))
        places = [np.einsum("we,wef->f", x[i : i + width], kernel) + bias for i in range(len(x) - width + 1)]
        found.append(np.maximum(np.max(places, axis=0), 0))
    y = np.concatenate(found)
    for number in range(config.num_highway):
        transform, gate = (
            y @ weights[f"{part}highway_{number}/{name}/kernel"] + weights[f"{part}highway_{number}/{name}/bias"]
            for name in ("transform", "gate")
        )
        y = sigmoid(gate) * np.maximum(transform, 0) + (1 - sigmoid(gate)) * y
    return y @ weights[part + "projection/kernel"] + weights[part + "projection/bias"]


def hidden_states(ids, weights, config):
    """ids (T,) of one row without padding → (L + 1, T, H)."""
    table = weights["embeddings/character_ids"].astype(int)
    x = np.array([token_vector(table[token], weights, config) for token in ids])  # (T, P)
    directions, found = [x, x], [np.concatenate([x, x], axis=1)]
    for number in range(config.num_layers):
        for which, name in enumerate(("forward", "backward")):
            lstm_weights = [
                weights[f"encoder/layer_{number}/{name}_lstm/{part}"]
                for part in ("kernel", "bias", "cell/recurrent_kernel", "cell/projection")
            ]
            step = -1 if which else 1
            y = lstm(directions[which][::step], *lstm_weights, config.cell_clip, config.projection_clip)[::step]
            directions[which] = y + directions[which] if number else y
        found.append(np.concatenate(directions, axis=1))
    return np.array(found)


# === The model beside them ===


def test_every_layers_vectors_are_those_of_the_formulas():
    model = random_model()
    found = model({"input_ids": IDS, "attention_mask": REAL}, return_all=True)["hidden_states"]
    found = np.array([array(state) for state in found])  # (L + 1, B, T, H)
    weights = values(model)
    for row, length in enumerate(REAL.sum(axis=1)):
        expected = hidden_states(IDS[row, :length], weights, SMALL)
        np.testing.assert_allclose(found[:, row, :length], expected, rtol=1e-5, atol=1e-6)
        assert not found[:, row, length:].any()  # padding
    assert np.abs(found[1]).max() == pytest.approx(SMALL.projection_clip)  # the limit was reached
    without = hidden_states(IDS[0], weights, SMALL.replace(cell_clip=9.0))
    assert np.abs(without - found[:, 0]).max() > 1e-3  # and that of the cell


@pytest.mark.parametrize("go_backwards", [False, True])
def test_without_projection_and_limits_it_is_keras_lstm(go_backwards):
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")
    own = layers.ProjectedLSTM(6, go_backwards=go_backwards)
    theirs = keras.layers.LSTM(6, return_sequences=True, go_backwards=go_backwards)
    own.build(x.shape), theirs.build(x.shape)
    randomise(own)
    theirs.set_weights([array(one) for one in (own.kernel, own.cell.recurrent_kernel, own.bias)])
    mask = REAL.astype(bool)
    expected = array(theirs(x, mask=mask))[:, :: -1 if go_backwards else 1]
    np.testing.assert_allclose(array(own(x, is_real=mask))[mask], expected[mask], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("times", [1, 16])  # 160 places are more than 17 tokens: each is spelled once
def test_the_gradient_is_the_slope_of_the_loss(times):
    tf = pytest.importorskip("tensorflow")
    if keras.backend.backend() != "tensorflow":
        pytest.skip("tensorflow's tape")
    model = random_model(models.PreTrainingModel, SMALL.replace(cell_clip=50.0, projection_clip=50.0))
    inputs = {"input_ids": np.tile(IDS, (times, 1)), "attention_mask": np.tile(REAL, (times, 1))}
    mixture = np.random.default_rng(1).normal(size=(2 * times, 5, 2, 17)).astype("float32") / times**0.5

    @tf.function
    def loss():
        return tf.reduce_sum(model(inputs)["masked_lm_logits"] * mixture)

    with tf.GradientTape() as tape:
        value = loss()
    variables = model.trainable_variables
    assert float(value) != 0
    rng = np.random.default_rng(2)
    for variable, gradient in zip(variables, tape.gradient(value, [v.value for v in variables])):
        direction = rng.normal(size=variable.shape).astype("float32")
        direction /= np.linalg.norm(direction)
        start, slopes, step = np.array(variable), [], 3e-3
        for sign in (1, -1):
            variable.assign(start + sign * step * direction)
            slopes.append(float(loss()))
        variable.assign(start)
        slope = float(np.sum(np.array(tf.convert_to_tensor(gradient)) * direction))
        assert (slopes[0] - slopes[1]) / (2 * step) == pytest.approx(slope, rel=0.03, abs=0.02), variable.path


def test_a_direction_never_sees_what_the_other_one_reads():
    model, other = random_model(), IDS[:1].copy()
    other[0, 2] = 12
    before, after = (array(model({"input_ids": ids})["sequence_output"])[0] for ids in (IDS[:1], other))  # (T, H)
    differs = np.abs(before - after) > 1e-6
    forward, backward = differs[:, :4].any(axis=1), differs[:, 4:].any(axis=1)
    assert forward.tolist() == [False, False, True, True, True]
    assert backward.tolist() == [True, True, True, False, False]


def test_texts_that_share_a_row_are_read_one_by_one():
    model = random_model()
    packed = np.array([[2, 5, 9, 3, 2, 11, 3, 0]], "int32")
    inputs = {"input_ids": packed, "sequence_ids": np.array([[1, 1, 1, 1, 2, 2, 2, 0]], "int32")}
    found = array(model(inputs)["sequence_output"])[0]
    for text in (slice(0, 4), slice(4, 7)):
        alone = array(model({"input_ids": packed[:, text]})["sequence_output"])[0]
        np.testing.assert_allclose(found[text], alone, rtol=1e-5, atol=1e-6)


def test_a_mask_for_each_token_is_refused():
    with pytest.raises(ConfigError, match=r"expected \(batch, tokens\), 0 at padding, got \(batch, tokens, tokens\)"):
        random_model()({"input_ids": IDS, "attention_mask": np.ones((2, 5, 5), "int32")})


def test_a_row_of_padding_alone_is_zeros_and_a_row_of_one_token_is_read():
    model = random_model()
    ids = np.array([[0, 0], [5, 0]], "int32")
    found = array(model({"input_ids": ids, "attention_mask": np.array([[0, 0], [1, 0]])})["sequence_output"])
    assert not found[0].any() and found[1, 0].all() and np.isfinite(found).all()


def test_a_classifier_reads_the_end_of_each_direction():
    model = random_model(models.SequenceClassifier, num_labels=3)
    outputs = model.backbone({"input_ids": IDS, "attention_mask": REAL})
    hidden, pooled = array(outputs["sequence_output"]), array(outputs["pooled_output"])
    np.testing.assert_array_equal(pooled[1], np.concatenate([hidden[1, 2, :4], hidden[1, 0, 4:]]))
    assert model({"input_ids": IDS, "attention_mask": REAL}).shape == (2, 3)


def test_a_table_of_tokens_instead_of_characters():
    model = random_model(config=SMALL.replace(characters=False))
    assert not any("character" in path for path in values(model))
    table = values(model)["embeddings/token/embeddings"]  # (V, P)
    found = array(model({"input_ids": IDS}, return_all=True)["hidden_states"][0])
    np.testing.assert_allclose(found, np.concatenate([table[IDS], table[IDS]], axis=-1), rtol=1e-6)


# === Characters ===


def test_many_rows_have_the_same_vectors_and_spell_each_token_of_the_vocabulary_once(monkeypatch):
    model, shapes = random_model(), []
    characters = model.embeddings.characters
    compute = characters.call
    monkeypatch.setattr(characters, "call", lambda table: shapes.append(tuple(table.shape)) or compute(table))
    alone = array(model({"input_ids": IDS, "attention_mask": REAL})["sequence_output"])
    many = {"input_ids": np.tile(IDS, (16, 1)), "attention_mask": np.tile(REAL, (16, 1))}
    np.testing.assert_allclose(array(model(many)["sequence_output"]), np.tile(alone, (16, 1, 1)), atol=1e-6)
    assert shapes == [(2, 5, 8), (1, 17, 8)]


def test_a_token_is_the_bytes_of_its_text_between_two_signs():
    found = layers.character_ids(["the", "é", "", "longer than that"], 8)
    assert found[0].tolist() == [258, *b"the", 259, 260, 260, 260]
    assert found[1].tolist() == [258, 0xC3, 0xA9, 259, 260, 260, 260, 260]
    assert found[2].tolist() == [258, 259, 260, 260, 260, 260, 260, 260]
    assert found[3].tolist() == [258, *b"longer", 259]  # cut to max_characters
    assert layers.character_ids([], 8).shape == (0, 8)


def test_the_characters_of_many_tokens_need_little_more_memory_than_their_table():
    tracemalloc.start()
    table = layers.character_ids(map(str, range(2000)), 50)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert table.nbytes == 400_000 and peak < 2 * table.nbytes


def test_the_tokens_around_a_text_have_signs_of_their_own():
    vocabulary = tiny_tokenizer().vocabulary
    table = characters_of_vocabulary(vocabulary, 8)
    assert table[vocabulary.cls_id].tolist() == [258, 256, 259, 260, 260, 260, 260, 260]
    assert table[vocabulary.sep_id].tolist() == [258, 257, 259, 260, 260, 260, 260, 260]
    assert table[vocabulary.index("##ed")].tolist() == [258, *b"##ed", 259, 260, 260]


def test_a_vocabulary_that_is_larger_than_the_table_is_refused():
    with pytest.raises(ConfigError, match="expected a vocabulary of at most 9 tokens, got 17"):
        models.Backbone(SMALL.replace(vocab_size=9)).read_vocabulary(tiny_tokenizer().vocabulary)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("characters", [True, False])
def test_a_checkpoint_has_the_characters_of_its_tokens(characters, dtype, tmp_path):
    model = random_model(models.PreTrainingModel, SMALL.replace(characters=characters))
    folder = checkpoints.save(model, tmp_path / "saved", tiny_tokenizer(), format="bertlab", dtype=dtype)
    loaded = checkpoints.load(folder)
    assert not loaded.load_report.missing and loaded.config == model.config
    if characters:
        expected = characters_of_vocabulary(tiny_tokenizer().vocabulary, 8)
        np.testing.assert_array_equal(array(loaded.backbone.embeddings.character_ids), expected)
    if dtype == "float32":
        found, expected = (array(one({"input_ids": IDS})["masked_lm_logits"]) for one in (loaded, model))
        np.testing.assert_array_equal(found, expected)


# === Sizes, and what is refused ===


@pytest.mark.parametrize(
    ("size", "count", "published"),
    [("original", 93_600_848, 93.6), ("medium", 28_027_728, 28.0), ("small", 13_593_296, 13.6),
     ("mini", 1_365_456, 1.4)],
)  # fmt: skip
def test_the_published_sizes_and_a_tenth_of_the_smallest_have_their_number_of_parameters(size, count, published):
    backbone = outline(lambda: models.Backbone(CONFIG.named(size, vocab_size=10)))
    assert sum(math.prod(variable.shape) for variable in backbone.trainable_variables) == count
    assert round(count / 1e6, 1) == published
    assert CONFIG.named("mini").hidden_size == CONFIG.named("small").hidden_size


def test_operations_are_counted_product_by_product():
    backbone = outline(lambda: models.Backbone(SMALL))
    lstm_products = 4 * 6 * 4 + 4 * 4 * 6 + 6 * 4  # x W, h R and the projection, of one token
    assert backbone.encoder.flops(5, 5) == 2 * 5 * 2 * 2 * lstm_products
    filters = (8 * 1 * 4 + 6 * 3 * 5) * 3
    assert backbone.embeddings.flops(5) == 2 * 5 * (filters + 2 * 2 * 9 * 9 + 9 * 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": 9}, "hidden_size 9: expected an even number"),
        ({"filters": ((1, 4), (9, 5))}, "max_characters: expected at least 9 for these filters, got 8"),
        *(({"filters": wrong}, "filters: expected pairs") for wrong in ((), ((1, 2.5),), 3)),
        ({"cell_clip": 0}, "cell_clip must be positive, not 0"),
        ({"projection_clip": "3"}, "projection_clip must be positive, not '3'"),
        ({"num_highway": -1}, "num_highway must be a whole number of at least 0, not -1"),
        ({"characters": "yes"}, "characters must be true or false"),
        ({"max_characters": 2.0}, "max_characters must be a whole number"),
    ],
)
def test_a_config_that_contradicts_itself_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        SMALL.replace(**changes)


def test_the_config_in_a_file_is_the_same_again(tmp_path):
    SMALL.save(tmp_path / "config.json")
    assert families.load_config(tmp_path / "config.json") == SMALL
    assert json.loads((tmp_path / "config.json").read_text())["filters"] == [[1, 4], [3, 5]]
    assert hash(families.load_config(tmp_path / "config.json")) == hash(SMALL)


def test_analyses_of_masks_and_of_attention_say_that_there_are_none():
    model, tokenizer = random_model(models.PreTrainingModel), tiny_tokenizer()
    for of_masks in (
        lambda: fill_mask(model, tokenizer, "the [MASK]"),
        lambda: blank_probabilities(model, tokenizer, ["the [MASK]"]),
        lambda: associations(model, tokenizer, "{target} is a {attribute}", ("the", "a"), ["bird"]),
        lambda: logit_lens(model, tokenizer, "the [MASK]"),
        lambda: logit_difference(model, tokenizer, 1, "is", "are"),
        lambda: pseudo_log_likelihood(model, tokenizer, ["the bird"]),
        lambda: mask_predict(model, [[2, 4, 3]], mask_id=4),
    ):
        with pytest.raises(ConfigError, match="predicts the token after and the token before .* and nothing at"):
            of_masks()
    for of_attention in (
        lambda: attention_maps(model.backbone, tokenizer, "the bird"),
        lambda: gated_heads(model.backbone, all_open(model.backbone)).__enter__(),
        lambda: add_adapters(model, 2),
    ):
        with pytest.raises(ConfigError, match="has LSTMs and no attention: choose a transformer"):
            of_attention()


def test_the_words_of_sentences_are_read_as_with_a_transformer():
    (reading,) = read_words(random_model(), tiny_tokenizer(), [["the", "bird", "is"]])
    assert reading.states.shape == (3, 3, 8) and reading.attention.shape[0] == 0
