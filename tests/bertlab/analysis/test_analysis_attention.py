"""Attention by word, heads against dependency relations, patterns: against loops, on random arrays and a tiny model."""

import math
from collections import Counter

import numpy as np
import pytest
from refusals import refused

from bertlab.analysis.heads import (
    DIRECTIONS,
    TYPES,
    attention_pattern,
    best_offset,
    mean_pattern,
    pattern_type,
    predicted_heads,
    relation_scores,
)
from bertlab.analysis.readings import read_text, read_words, word_attention
from bertlab.common.errors import DataError
from bertlab.data.treebanks import ParsedSentence

RELATIONS = ("det", "nsubj", "obj")


def random_attention(rng, *shape):
    weights = rng.exponential(size=(*shape, shape[-1])) ** 3
    return weights / weights.sum(axis=-1, keepdims=True)


# === From tokens to words ===


def test_attention_to_a_word_is_a_sum_and_from_a_word_a_mean():
    """Clark et al. 2019, 4.1, token by token."""
    rng = np.random.default_rng(1)
    words = [-1, 0, 1, 1, 2, 3, 3, 3, -1]
    attention = random_attention(rng, 2, len(words))  # (2, 9, 9)
    expected = np.zeros((2, 4, 4))
    for i, word in enumerate(words):
        for j, other in enumerate(words):
            if word >= 0 and other >= 0:
                expected[:, word, other] += attention[:, i, j] / words.count(word)
    assert np.allclose(word_attention(attention, words), expected)


def test_rows_still_sum_to_1_if_every_token_has_a_word():
    attention = random_attention(np.random.default_rng(2), 5)
    assert word_attention(attention, [0, 1, 1, 2, 3]).sum(axis=-1) == pytest.approx(1)


def test_a_sentence_in_words_is_read_like_its_text(model, tokenizer):
    """The tokens: [CLS] the bird ##s are . [SEP]; padded to a longer sentence's length, and not."""
    sentences = [["the", "birds", "are", "."], ["the", "bank", "of", "the", "river", "is", "a", "bird", "."]]
    text = read_text(model.backbone, tokenizer, "the birds are.")
    for readings in (list(read_words(model.backbone, tokenizer, sentences)),
                     list(read_words(model.backbone, tokenizer, sentences, batch_size=1))):  # fmt: skip
        assert [reading.attention.shape for reading in readings] == [(2, 2, 4, 4), (2, 2, 9, 9)]
        assert np.allclose(readings[0].states, text.states[:, [1, 2, 4, 5]], atol=1e-4)
        assert np.allclose(readings[0].tokens, text.attention, atol=1e-5)
        assert np.allclose(readings[0].attention, word_attention(text.attention, [-1, 0, 1, 1, 2, 3, -1]), atol=1e-5)


def test_a_word_without_tokens_has_zeros(model, tokenizer):
    reading = next(read_words(model.backbone, tokenizer, [["the", "\x01", "bank", "\x02"]]))
    assert reading.attention.shape == (2, 2, 4, 4)
    for empty in (1, 3):
        assert not reading.attention[..., empty, :].any() and not reading.attention[..., empty].any()
        assert not reading.states[:, empty].any()
    assert reading.attention[..., 0, 2].all()


def test_a_pair_has_two_segments(model, tokenizer):
    reading = read_text(model.backbone, tokenizer, "a [MASK]", "the bank")
    assert reading.pieces == ["[CLS]", "a", "[MASK]", "[SEP]", "the", "bank", "[SEP]"]
    assert reading.segments.tolist() == [0, 0, 0, 0, 1, 1, 1]
    expected = model.backbone({"input_ids": reading.ids[None], "token_type_ids": reading.segments[None]})
    assert np.allclose(reading.states[-1], np.array(expected["sequence_output"])[0], atol=1e-5)


def test_empty_and_long_texts_are_refused(model, tokenizer):
    for text in ("", " \n"):
        refused("expected a text with at least one token", read_text, model.backbone, tokenizer, text)
    with pytest.raises(DataError, match=r"the text: expected at most 12 tokens, with \[CLS\] and \[SEP\], got 13"):
        read_text(model.backbone, tokenizer, "the " * 11)
    refused("^sentence 2: expected at most 12 tokens", read_words, model.backbone, tokenizer, [["the"], ["the"] * 11])
    refused("^line 7: expected at least one token", read_words, model.backbone, tokenizer, [[]], names=["line 7"])


# === Heads against relations ===


def random_treebank(rng, count=20):
    sentences = []
    for length in rng.integers(2, 9, size=count).tolist():
        heads = [int(rng.choice([j for j in range(length) if j != i])) for i in range(length)]
        heads[int(rng.integers(length))] = -1
        relations = tuple("root" if head < 0 else str(rng.choice(RELATIONS)) for head in heads)
        sentences.append(ParsedSentence(("w",) * length, ("X",) * length, tuple(heads), relations))
    return sentences


def published_accuracies(sentences, attentions, transpose):
    """The arithmetic of Clark et al.'s Syntax_Analysis.ipynb: words from 1, 0 for the root, itself set to 0."""
    right, wrong = Counter(), Counter()
    for sentence, attention in zip(sentences, attentions, strict=True):
        scores = np.array(attention.T if transpose else attention)
        np.fill_diagonal(scores, 0)
        for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            (right if scores[word].argmax() + 1 == head + 1 else wrong)[relation] += 1
    return {name: right[name] / (right[name] + wrong[name]) for name in RELATIONS}


def published_offset(sentences, offset):
    """Their baseline. To the left of the sentence it predicts the root, which is never right here."""
    right, all_words = Counter(), Counter()
    for sentence in sentences:
        for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            right[relation] += max(0, min(word + offset + 1, len(sentence.words))) == head + 1
            all_words[relation] += 1
    return {name: right[name] / all_words[name] for name in RELATIONS}


def test_accuracies_equal_those_of_the_published_evaluator():
    rng = np.random.default_rng(5)
    sentences = random_treebank(rng)
    attentions = [random_attention(rng, 3, 2, len(sentence.words)) for sentence in sentences]
    scores = {one.relation: one for one in relation_scores(sentences, attentions)}
    assert set(scores) == set(RELATIONS)
    for direction in range(len(DIRECTIONS)):
        for layer in range(3):
            for head in range(2):
                expected = published_accuracies(sentences, [a[layer, head] for a in attentions], direction == 1)
                for name in RELATIONS:
                    assert scores[name].accuracy[direction, layer, head] == pytest.approx(expected[name])
    for one in scores.values():
        assert one.best_accuracy == one.accuracy[one.best] == one.accuracy.max()
        assert one.gain == pytest.approx(one.best_accuracy - one.offset_accuracy)


def test_the_baseline_equals_the_published_one_to_the_left_and_at_distance_1():
    """Further to the right it predicts the last word where the sentence ends; ours predicts nothing there."""
    rng = np.random.default_rng(6)
    sentences = random_treebank(rng, 60)
    for name in RELATIONS:
        pairs = [
            (word, head) for one in sentences for word, head in enumerate(one.heads) if one.relations[word] == name
        ]
        fractions = {k: published_offset(sentences, k)[name] for k in (-3, -2, -1, 1)}
        words, heads = map(np.array, zip(*pairs))
        for offset, fraction in fractions.items():
            assert np.mean(heads - words == offset) == pytest.approx(fraction)
        best, its_fraction = best_offset(words, heads)
        assert its_fraction >= max(fractions.values()) and its_fraction == np.mean(heads - words == best)


def test_a_word_is_never_its_own_head_word():
    attention = np.eye(4) * 0.9 + 0.025
    assert not (predicted_heads(attention) == np.arange(4)).any()


def test_the_root_and_rare_relations_are_left_out():
    sentence = ParsedSentence(("a",) * 4, ("X",) * 4, (1, -1, 1, 1), ("det", "root", "obj", "obj"))
    attention = np.zeros((1, 1, 4, 4))
    attention[0, 0, :, 1] = 1
    scores = relation_scores([sentence], [attention], least=2)
    assert [(one.relation, one.count, one.best_accuracy) for one in scores] == [("obj", 2, 1.0)]
    assert scores[0].offset == -1 and scores[0].offset_accuracy == 0.5  # -1 and -2 are equally good
    assert scores[0].best == (0, 0, 0)


# === Patterns ===


def test_the_fractions_equal_those_of_a_loop():
    rng = np.random.default_rng(7)
    segments = [0, 0, 0, 0, 1, 1, 1]
    separators = [False, False, False, True, False, False, True]
    attention = random_attention(rng, 2, 3, 7)
    pattern = attention_pattern(attention, separators, segments)
    for layer in range(2):
        for head in range(3):
            a = attention[layer, head].tolist()
            found = {name: float(getattr(pattern, name)[layer, head]) for name in pattern._fields}
            assert found["itself"] == pytest.approx(sum(a[i][i] for i in range(7)) / 7)
            assert found["previous"] == pytest.approx(sum(a[i][i - 1] for i in range(1, 7)) / 6)
            assert found["following"] == pytest.approx(sum(a[i][i + 1] for i in range(6)) / 6)
            assert found["cls"] == pytest.approx(sum(row[0] for row in a) / 7)
            assert found["separator"] == pytest.approx(sum(row[3] + row[6] for row in a) / 7)
            entropy = -sum(weight * math.log(weight) for row in a for weight in row) / 7
            assert found["entropy"] == pytest.approx(entropy)
            own = []
            for i in (1, 2, 4, 5):
                to = {j: a[i][j] for j in (1, 2, 4, 5)}
                own.append(sum(to[j] for j in to if segments[j] == segments[i]) / sum(to.values()))
            assert found["own_segment"] == pytest.approx(sum(own) / 4)


def test_a_first_token_that_is_also_the_separator_counts_once():
    """GPT-2 has one token for both."""
    attention = random_attention(np.random.default_rng(8), 2, 5)
    pattern = attention_pattern(attention, [True, False, False, False, True])
    assert pattern.cls == pytest.approx(attention[..., 0].mean(axis=-1))
    assert pattern.separator == pytest.approx(attention[..., 4].mean(axis=-1))


def test_cls_may_be_the_last_token_or_nowhere():
    """XLNet's rows are a [SEP] b [SEP] [CLS], in segments 0, 1 and 2."""
    attention, is_last = random_attention(np.random.default_rng(9), 2, 6), np.arange(6) == 5
    separators, segments = [False, False, True, False, True, False], [0, 0, 0, 1, 1, 2]
    last = attention_pattern(attention, separators, segments, cls=is_last)
    assert last.cls == pytest.approx(attention[..., 5].mean(axis=-1))
    assert last.separator == pytest.approx((attention[..., 2] + attention[..., 4]).mean(axis=-1))
    of_words = attention[..., [0, 1, 3], :][..., [0, 1, 3]]
    own = [(of_words[:, 0, 0] + of_words[:, 0, 1]) / of_words[:, 0].sum(axis=-1),
           (of_words[:, 1, 0] + of_words[:, 1, 1]) / of_words[:, 1].sum(axis=-1),
           of_words[:, 2, 2] / of_words[:, 2].sum(axis=-1)]  # fmt: skip
    assert last.own_segment == pytest.approx(np.mean(own, axis=0))
    one_text = attention_pattern(attention, np.arange(6) == 4, [0, 0, 0, 0, 0, 2], cls=is_last)
    assert np.isnan(one_text.own_segment).all()
    nowhere = attention_pattern(attention, [False] * 6, cls=[False] * 6)
    assert not nowhere.cls.any() and not nowhere.separator.any()


def test_maps_made_for_a_type_have_it():
    """16 tokens: [CLS], six words, [SEP], seven words, [SEP]."""
    segments, separators = np.repeat([0, 1], 8), np.isin(np.arange(16), (7, 15))
    words = ~separators & (np.arange(16) > 0)
    vertical, diagonal = np.zeros((16, 16)), np.roll(np.eye(16), 1, axis=1)
    vertical[:, 0] = vertical[:, 15] = 0.5
    block = (segments[:, None] == segments) * words
    block = block / block.sum(axis=1, keepdims=True)
    even = np.full((16, 16), 1 / 16)
    maps = np.stack([vertical, diagonal, 0.3 * vertical + 0.3 * diagonal + 0.4 * block[::-1], block, even])
    found = pattern_type(attention_pattern(maps, separators, segments)).tolist()
    assert found == ["vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous"] == list(TYPES)
    assert pattern_type(attention_pattern(block, separators)).tolist() == "heterogeneous"  # one text has no blocks


def test_one_text_has_no_blocks_and_means_leave_it_out():
    rng = np.random.default_rng(8)
    one = attention_pattern(random_attention(rng, 2, 5), [False] * 4 + [True])
    two = attention_pattern(random_attention(rng, 2, 5), [False, False, True, False, True], [0, 0, 0, 1, 1])
    assert np.isnan(one.own_segment).all()
    mean = mean_pattern([one, two])
    assert mean.own_segment == pytest.approx(two.own_segment)
    assert mean.itself == pytest.approx((one.itself + two.itself) / 2)
    assert np.isnan(mean_pattern([one, one]).own_segment).all()


def test_weights_that_are_0_add_nothing_to_the_entropy():
    assert attention_pattern(np.eye(3), [False] * 3).entropy == 0
    assert attention_pattern(np.full((4, 4), 0.25), [False] * 4).entropy == pytest.approx(math.log(4))
