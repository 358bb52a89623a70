"""Blanks filled in, vectors, attention maps and parameter counts, on a tiny model with a vocabulary of its own."""

import numpy as np
import pytest

from bertlab.config import BertConfig
from bertlab.errors import DataError
from bertlab.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

WORDS = ["the", "bank", "of", "a", "river", "robin", "is", "bird", "."]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *WORDS]))


@pytest.fixture(scope="module")
def model(tokenizer):
    import keras

    from bertlab.models import BertForPreTraining

    keras.utils.set_random_seed(3)
    return BertForPreTraining(
        BertConfig(
            vocab_size=len(tokenizer.vocabulary),
            hidden_size=16,
            num_layers=2,
            num_heads=2,
            intermediate_size=32,
            max_position_embeddings=12,
            initializer_range=0.5,
        )
    )


def test_guesses_are_the_likeliest_pieces_with_their_probabilities(model, tokenizer):
    from bertlab.analysis.fill_mask import fill_mask

    guesses = fill_mask(model, tokenizer, "the [MASK] of a river.", top_k=14)[0]
    ids = [2, 5, 4, 7, 8, 9, 13, 3]  # [CLS] the [MASK] of a river . [SEP]
    logits = np.array(model({"input_ids": np.array([ids])})["masked_lm_logits"])[0, 2]
    expected = np.exp(logits) / np.exp(logits).sum()
    assert sum(g.probability for g in guesses) == pytest.approx(1, abs=1e-5)
    for guess in guesses:
        assert guess.probability == pytest.approx(expected[tokenizer.vocabulary.index(guess.piece)], abs=1e-5)
    assert [g.probability for g in guesses] == sorted((g.probability for g in guesses), reverse=True)


def test_every_blank_gets_its_guesses_in_reading_order(model, tokenizer):
    from bertlab.analysis.fill_mask import fill_mask

    both = fill_mask(model, tokenizer, "[MASK] bank [MASK]", top_k=3)
    assert [len(guesses) for guesses in both] == [3, 3]
    assert both[0] != both[1]


def test_a_text_without_a_blank_is_refused(model, tokenizer):
    from bertlab.analysis.fill_mask import fill_mask

    with pytest.raises(DataError, match=r"no \[MASK\]"):
        fill_mask(model, tokenizer, "the bank")


def test_a_text_longer_than_the_positions_is_refused(model, tokenizer):
    from bertlab.analysis.fill_mask import fill_mask

    with pytest.raises(DataError, match="13 pieces, the model only 12"):
        fill_mask(model, tokenizer, "[MASK] " + "the " * 10)


@pytest.mark.parametrize("pooling", ["mean", "cls", "max", "pooler"])
def test_a_text_has_the_same_vector_alone_and_among_longer_ones(model, tokenizer, pooling):
    from bertlab.analysis.vectors import encode_texts

    texts = ["a robin", "the bank of a river is a bird .", "a"]
    together = encode_texts(model.bert, tokenizer, texts, pooling=pooling)
    assert together.shape == (3, 16) and together.dtype == np.float32
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(encode_texts(model.bert, tokenizer, [text], pooling=pooling)[0], vector, atol=1e-5)


def test_vectors_can_be_taken_from_any_layer_and_left_unpooled(model, tokenizer):
    from bertlab.analysis.vectors import encode_texts

    outputs = model.bert({"input_ids": np.array([[2, 8, 10, 3]])}, return_all=True)  # [CLS] a robin [SEP]
    for layer in (0, 1, 2, -1):
        (states,) = encode_texts(model.bert, tokenizer, ["a robin"], layer=layer, pooling="none")
        np.testing.assert_allclose(states, np.array(outputs["hidden_states"][layer])[0], atol=1e-5)


def test_normalised_vectors_have_length_one(model, tokenizer):
    from bertlab.analysis.vectors import encode_texts

    vectors = encode_texts(model.bert, tokenizer, ["a robin", "the bank"], normalise=True)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_text_that_does_not_fit_is_named_and_cut_only_when_asked(model, tokenizer):
    from bertlab.analysis.vectors import encode_texts

    texts = ["a", "the " * 20]
    with pytest.raises(DataError, match="text 2 has 20 pieces"):
        encode_texts(model.bert, tokenizer, texts)
    cut = encode_texts(model.bert, tokenizer, texts, truncate=True)
    np.testing.assert_allclose(cut[1], encode_texts(model.bert, tokenizer, ["the " * 10])[0], atol=1e-5)


@pytest.mark.parametrize("options", [{"layer": 3}, {"layer": -4}, {"pooling": "median"}])
def test_a_layer_or_pooling_that_does_not_exist_is_refused(model, tokenizer, options):
    from bertlab.analysis.vectors import encode_texts

    with pytest.raises(DataError, match="there is no"):
        encode_texts(model.bert, tokenizer, ["a"], **options)


def test_attention_maps_carry_their_pieces_and_sum_to_one(model, tokenizer):
    from bertlab.analysis.attention import attention_maps

    pieces, maps = attention_maps(model.bert, tokenizer, "the [MASK] river")
    assert pieces == ["[CLS]", "the", "[MASK]", "river", "[SEP]"]
    assert maps.shape == (2, 2, 5, 5)
    np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-5)


def test_component_counts_add_up_to_the_published_base():
    from bertlab.analysis.summary import component_counts

    with_heads = component_counts(BertConfig.named("base"))
    without = component_counts(BertConfig.named("base"), heads=False)
    assert sum(count for _, count in without) == 109_482_240
    assert sum(count for _, count in with_heads) == 110_106_428
    assert dict(with_heads)["token embedding"] == 30_522 * 768
    assert dict(with_heads)["12 × attention"] == 12 * 4 * (768 * 768 + 768)
