"""XLNet: two streams, relative positions and segments, the last token, and its checkpoint folders.

Parity: tests/peers/test_parity.py (encoder), tests/peers/test_xlnet_peers.py (streams).
"""

import json

import numpy as np
import pytest
import tensorflow as tf
from checkpoint_files import edit_config, edit_tensors, same_weights, weights
from keras.ops import convert_to_numpy as array

from bertlab import checkpoints, families, layers, models
from bertlab.analysis.vectors import encode_texts
from bertlab.checkpoints.kinds import variables_of
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.data.tasks.features import encode_rows
from bertlab.data.tasks.rows import TaggingRow
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.training.recipes.optimizer import is_decayed

SMALL = dict(vocab_size=61, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=24, max_position_embeddings=32)
IDS = np.array([[17, 40, 9, 12, 4, 3]], "int32")
ORDER = np.array([[2, 0, 1, 0, 3, 0]], "int32")
PLACES = np.array([[2, 0, 4]], "int32")


class EndsWithCls(Vocabulary):
    cls_last = True


def config(**changes):
    return families.family("xlnet").config(**SMALL, initializer_range=0.3, **changes)


@pytest.fixture(scope="module")
def model():
    return models.PreTrainingModel(config())


def predictions(model, ids):
    return array(model({"input_ids": ids, "order_ids": ORDER, "masked_lm_positions": PLACES})["masked_lm_logits"])


@pytest.mark.parametrize("place", range(6))
def test_a_prediction_depends_on_the_tokens_before_it_in_the_order_and_on_no_others(model, place):
    before = predictions(model, IDS)[0]
    changed = IDS.copy()
    changed[0, place] += 20
    moved = np.abs(predictions(model, changed)[0] - before).max(axis=1) > 1e-4
    assert moved.tolist() == [ORDER[0, place] < ORDER[0, own] for own in PLACES[0]]


def test_without_an_order_no_prediction_sees_another_predicted_token(model):
    inputs = {"input_ids": IDS, "masked_lm_positions": PLACES}
    before = array(model(inputs)["masked_lm_logits"])
    changed = IDS.copy()
    changed[0, PLACES[0]] = 50
    after = array(model(inputs | {"input_ids": changed})["masked_lm_logits"])
    np.testing.assert_allclose(after, before, atol=1e-5)


def test_all_hidden_states_come_with_the_same_predictions(model):
    inputs = {"input_ids": IDS, "order_ids": ORDER, "masked_lm_positions": PLACES}
    everything = model(inputs, return_all=True)
    assert len(everything["hidden_states"]) == 3
    np.testing.assert_allclose(array(everything["masked_lm_logits"])[0], predictions(model, IDS)[0], atol=1e-5)


def test_only_differences_of_segments_count():
    backbone = models.Backbone(config())

    def states(segments):
        return array(backbone({"input_ids": IDS, "token_type_ids": np.array([segments])})["sequence_output"])

    np.testing.assert_array_equal(states([0, 0, 1, 1, 1, 2]), states([7, 7, 5, 5, 5, 0]))
    assert np.abs(states([0, 0, 1, 1, 1, 2]) - states([0] * 6)).max() > 1e-3
    plain = array(backbone({"input_ids": IDS})["sequence_output"])
    np.testing.assert_allclose(states([0] * 6), plain, atol=1e-5)


def test_a_row_is_the_same_with_padding_on_either_side():
    classifier = models.SequenceClassifier(config(), num_labels=3)

    def logits(left, right):
        ids = np.pad(IDS, ((0, 0), (left, right)), constant_values=5)
        return array(classifier({"input_ids": ids, "attention_mask": (ids != 5).astype("int32")}))

    alone = array(classifier({"input_ids": IDS}))
    for left, right in ((3, 0), (0, 3), (2, 1)):
        np.testing.assert_allclose(logits(left, right), alone, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "value"),
    [("attn_type", "uni"), ("bi_data", True), ("clamp_len", 8), ("same_length", True), ("untie_r", False),
     ("summary_type", "first"), ("summary_activation", "relu"), ("d_head", 4)],
)  # fmt: skip
def test_a_folder_with_a_setting_that_is_not_there_is_refused(name, value, tmp_path):
    checkpoints.save(models.SequenceClassifier(config()), tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    assert values["architectures"] == ["XLNetForSequenceClassification"] and "max_position_embeddings" not in values
    edit_config(tmp_path, **{name: value})
    with pytest.raises(ConfigError, match=f"config.json: {name} {value!r} is not supported, only .* is"):
        checkpoints.load(tmp_path)


def test_transformers_one_rate_of_dropout_is_read_as_both():
    values = config().to_huggingface() | {"dropout": 0.25}
    del values["attention_dropout"]
    found = families.config_from_huggingface(values)
    assert (found.hidden_dropout, found.attention_dropout) == (0.25, 0.25)


def test_a_folder_that_lacks_the_vector_of_predictions_is_refused(tmp_path):
    model = models.PreTrainingModel(config())
    folder = checkpoints.save(model, tmp_path)
    assert same_weights(weights(model), weights(checkpoints.load(folder)))
    edit_tensors(folder, lambda arrays: arrays.pop("transformer.mask_emb"))
    with pytest.raises(CheckpointError, match=r"missing: backbone/encoder/prediction \(mask_emb\)"):
        checkpoints.load(folder)


def test_a_vocabulary_can_end_rows_with_cls_in_a_segment_of_its_own():
    vocabulary = EndsWithCls([*SPECIAL_TOKENS, "a", "b"])  # [PAD] 0, [CLS] 2, [SEP] 3, a 5, b 6
    tokenizer = WordPieceTokenizer(vocabulary)
    packed = tokenizer.encode_packed(["a a", "a"], ["b", "b b b"], max_length=8)
    assert packed["input_ids"].tolist() == [[5, 5, 3, 6, 3, 2, 0, 0], [5, 3, 6, 6, 6, 3, 2, 0]]
    assert packed["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 2, 0, 0], [0, 0, 1, 1, 1, 1, 2, 0]]
    assert packed["attention_mask"].sum(axis=1).tolist() == [6, 7]
    single = tokenizer.pack([5, 6])
    assert single["input_ids"].tolist() == [5, 6, 3, 2] and single["token_type_ids"].tolist() == [0, 0, 0, 2]
    features = encode_rows([TaggingRow(("a", "b"), (1, 0))], tokenizer, max_length=8)
    assert features.word_positions.values.tolist() == [0, 1]


def test_a_row_read_in_two_parts_with_a_memory_is_the_whole_row():
    """In one layer nothing is lost: the second part's tokens see the same tokens at the same distances."""
    backbone = models.Backbone(config().replace(num_layers=1))
    ids = np.array([[17, 40, 9, 12, 4, 3, 8], [20, 9, 9, 30, 31, 3, 7]], "int32")
    whole = array(backbone({"input_ids": ids})["sequence_output"])
    first = backbone({"input_ids": ids[:, :4]}, return_all=True)
    memory = layers.next_memory(first["hidden_states"])
    second = array(backbone({"input_ids": ids[:, 4:]}, memory=memory)["sequence_output"])
    np.testing.assert_allclose(second, whole[:, 4:], atol=1e-5)
    without = array(backbone({"input_ids": ids[:, 4:]})["sequence_output"])
    assert np.abs(without - second).max() > 0.01


def test_the_memory_keeps_the_last_tokens_of_each_rows_reused_part():
    states = [np.arange(5.0).reshape(1, 5, 1), np.zeros((1, 5, 1))]
    first = layers.next_memory(states, reused=4)
    second = layers.next_memory(states, first, length=6, reused=3)
    assert array(second)[0, 0, :, 0].tolist() == [1, 2, 3, 0, 1, 2]
    assert layers.next_memory(states, first, length=0).shape == (1, 1, 0, 1)


def test_a_family_without_a_memory_refuses_one():
    bert = models.Backbone(families.family("bert").config(**SMALL))
    with pytest.raises(ConfigError, match="a model of bert has no memory of earlier rows: leave memory out"):
        bert({"input_ids": IDS}, memory=np.zeros((2, 1, 3, 16), "float32"))


def test_the_vectors_of_a_long_text_can_be_read_with_a_memory_in_any_batch():
    tokenizer = WordPieceTokenizer(EndsWithCls([*SPECIAL_TOKENS, *"abcdefgh"]))
    backbone = models.Backbone(config().replace(num_layers=1, vocab_size=13, max_position_embeddings=8))
    texts = ["a b c", "a b c d e f g h a b", "", "b a d c e f h g a c a c a c a", "h g f e d c b a"]
    together = encode_texts(backbone, tokenizer, texts, pooling="none", memory=100)
    alone = [encode_texts(backbone, tokenizer, [text], pooling="none", memory=100)[0] for text in texts]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    plain = encode_texts(backbone, tokenizer, texts, pooling="none")
    np.testing.assert_allclose(together[0], plain[0], atol=1e-5)  # one window
    np.testing.assert_allclose(together[1][:8], plain[1][:8], atol=1e-5)
    assert np.abs(together[1][8:] - plain[1][8:]).max() > 0.01
    limited = encode_texts(backbone, tokenizer, texts, pooling="none", memory=2)
    assert np.abs(together[1][8:] - limited[1][8:]).max() > 0.01
    bert = models.Backbone(families.family("bert").config(**SMALL))
    with pytest.raises(ConfigError, match="has no memory of earlier rows"):
        encode_texts(bert, tokenizer, texts, memory=2)


def test_keys_and_values_of_both_streams_are_counted_once():
    encoder = models.Backbone(config()).encoder  # 2 layers; of the last one there is only the stream that predicts
    tokens, places, width, inner = 10, 3, 16, 24
    keys_and_values = 2 * 2 * tokens * width * width

    def of_queries(number):  # query and output, scores and mixture (8: three products of scores), feed-forward network
        return number * (4 * width * width + 8 * tokens * width + 4 * width * inner)

    assert encoder.flops(tokens, places) == 2 * keys_and_values + of_queries(tokens) + 2 * of_queries(places)


def test_the_biases_of_queries_are_decayed_as_in_the_published_optimizer_and_the_others_are_not():
    found = {v.path.split("/")[-1]: is_decayed(v) for v in models.PreTrainingModel(config()).trainable_variables}
    kept = {"bias", "gamma", "beta"}
    assert {name for name, decayed in found.items() if not decayed} == kept
    assert {"content_bias", "position_bias", "segment_bias", "segment", "prediction"} <= found.keys() - kept


def test_pairs_are_refused():
    with pytest.raises(ConfigError, match="next_sentence is True, but a model of xlnet predicts tokens only"):
        models.PreTrainingModel(config(), next_sentence=True)


def test_a_fine_tuned_model_has_a_gradient_for_every_weight():
    model = models.SequenceClassifier(config())
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model({"input_ids": IDS, "token_type_ids": np.array([[0, 0, 1, 1, 1, 2]])}) ** 2)
    gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
    none = [v.path for v, gradient in zip(model.trainable_variables, gradients) if gradient is None]
    assert not none and "backbone/encoder/prediction" in variables_of(model)


def test_the_vector_with_which_predictions_begin_is_dropped_out_too():
    encoder = layers.TwoStreamEncoder(num_layers=1, num_heads=2, intermediate_size=24, dropout=0.5)
    x = np.random.default_rng(0).normal(size=(1, 6, 16)).astype("float32")
    encoder(x)
    for part in encoder._flatten_layers():
        if isinstance(part, layers.Dropout) and part.name != "query_dropout":
            part.rate = 0.0
    evaluated, *trained = (array(encoder(x, positions=PLACES, training=training)) for training in (False, True, True))
    for one in trained:
        assert np.abs(one - evaluated).max() > 1e-3
    assert np.abs(trained[0] - trained[1]).max() > 1e-3
