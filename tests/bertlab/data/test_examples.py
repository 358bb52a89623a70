"""Segments, rows and labels of pre-training examples. Each statistical check states how often it fails by chance."""

import numpy as np
import pytest
from example_text import PIECES, SMALL, make_documents, make_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from published_procedure import create

from bertlab.common.errors import DataError
from bertlab.data.documents import Document
from bertlab.data.pretraining.examples import (
    examples_from_tokens,
    make_examples,
    pack,
    sequence_numbers,
    tokenize_documents,
)
from bertlab.data.pretraining.segments import Pairs, make_pairs, truncate, without_outer_separators
from bertlab.data.pretraining.settings import ExampleSettings

TOKENIZER = make_tokenizer()
CLS, SEP, PAD, MASK = (TOKENIZER.vocabulary.index(piece) for piece in ("[CLS]", "[SEP]", "[PAD]", "[MASK]"))
DOCUMENTS = make_documents(60)
UNMASKED = SMALL.replace(dynamic_masking=True)


def sentences_of(documents) -> list[list[tuple[int, ...]]]:
    return [[tuple(TOKENIZER.encode(text)) for part in each.paragraphs for text in part] for each in documents]


def segments_of(rows: dict, row: int) -> tuple[list[int], list[int]]:
    """A and B of a row, without [CLS] and [SEP]."""
    ids, types = rows["input_ids"][row], rows["token_type_ids"][row]
    real = rows["attention_mask"][row] == 1
    a, b = ids[real & (types == 0)].tolist(), ids[real & (types == 1)].tolist()
    assert a[0] == CLS and a[-1] == SEP and b[-1] == SEP
    return a[1:-1], b[:-1]


def contains(text: list[int], part: list[int]) -> bool:
    return any(text[start : start + len(part)] == part for start in range(len(text) - len(part) + 1))


def test_rows_are_cls_a_sep_b_sep_and_padding():
    rows = make_examples(DOCUMENTS, TOKENIZER, SMALL)
    ids, types, mask = rows["input_ids"], rows["token_type_ids"], rows["attention_mask"]
    assert ids.shape == types.shape == mask.shape and ids.shape[1] == 48
    assert (ids[:, 0] == CLS).all() and ((ids == SEP).sum(axis=1) == 2).all() and ((ids == CLS).sum(axis=1) == 1).all()
    assert ((ids == PAD) == (mask == 0)).all() and (types[mask == 0] == 0).all()
    assert (np.diff(mask, axis=1) <= 0).all()  # padding at the end only
    first_sep = np.argmax(ids == SEP, axis=1)
    assert (np.argmax(types, axis=1) == first_sep + 1).all()
    assert {name: array.dtype.name for name, array in rows.items()} == {
        "input_ids": "int32", "token_type_ids": "int32", "attention_mask": "int32", "next_sentence_labels": "int32",
        "masked_lm_positions": "int32", "masked_lm_ids": "int32", "masked_lm_weights": "float32",
    }  # fmt: skip


def test_is_next_follows_in_its_document_and_random_next_comes_from_another():
    rows = make_examples(DOCUMENTS, TOKENIZER, UNMASKED)
    texts = [[token for sentence in document for token in sentence] for document in sentences_of(DOCUMENTS)]
    for row, label in enumerate(rows["next_sentence_labels"]):
        a, b = segments_of(rows, row)
        homes_of_a = {number for number, text in enumerate(texts) if contains(text, a)}
        homes_of_b = {number for number, text in enumerate(texts) if contains(text, b)}
        assert homes_of_a and homes_of_b
        if label == 0:
            assert homes_of_a & homes_of_b
        elif len(a) > 4 and len(b) > 4:  # very short ones may occur in several documents by chance
            assert not homes_of_a & homes_of_b


@pytest.mark.parametrize("sentences", [(1, 3), (2, 3), (1, 30)])
@pytest.mark.parametrize("share", [0.5, 0.25])
def test_the_fraction_of_random_next_is_exact_for_any_documents(sentences, share):
    documents = make_documents(80, seed=5, sentences=sentences)
    labels = make_examples(documents, TOKENIZER, SMALL.replace(random_next_probability=share))["next_sentence_labels"]
    assert abs(labels.sum() - share * len(labels)) <= 2 * 0.5  # two passes, each rounded


def test_a_label_cannot_be_guessed_from_the_shape_of_its_row():
    """Means of |A|, |B| and |A| + |B| differ by less than 5 standard errors between labels: false alarm 2·10⁻⁶."""
    documents = make_documents(1500, seed=8, sentences=(1, 6))
    rows = make_examples(
        documents, TOKENIZER, ExampleSettings(sequence_length=64, dynamic_masking=True, duplicate_factor=2)
    )
    b = rows["token_type_ids"].sum(axis=1)
    a = rows["attention_mask"].sum(axis=1) - b
    label = rows["next_sentence_labels"] == 1
    for size in (a, b, a + b):
        random, actual = size[label], size[~label]
        error = np.sqrt(random.var() / len(random) + actual.var() / len(actual))
        assert abs(random.mean() - actual.mean()) < 5 * error
    assert min(label.sum(), (~label).sum()) > 1000


def test_no_b_begins_a_document_and_no_pair_comes_from_a_lone_sentence():
    rows = make_examples(DOCUMENTS, TOKENIZER, UNMASKED.replace(sequence_length=512))  # nothing is truncated
    documents = sentences_of(DOCUMENTS)
    first = {document[0] for document in documents}
    lone = {document[0] for document in documents if len(document) == 1}
    assert lone
    for row in range(len(rows["input_ids"])):
        a, b = segments_of(rows, row)
        assert not any(tuple(b[: len(sentence)]) == sentence for sentence in first if len(sentence) > 2)
        assert tuple(a) not in lone


@given(
    lengths=st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=30),
    room=st.integers(2, 50),
    seed=st.integers(0, 2**32),
)
@settings(deadline=None)
def test_truncation_takes_from_the_longer_segment_until_both_fit(lengths, room, seed):
    a, b = np.array(lengths).T
    start = np.zeros(len(a), np.int64)
    cut = truncate(Pairs(start, a, start, b, start), room, np.random.default_rng(seed))
    for row in range(len(a)):
        long_a, long_b = a[row], b[row]
        while long_a + long_b > room:  # token by token, as published
            if long_a > long_b:
                long_a -= 1
            else:
                long_b -= 1
        assert (cut.a_length[row], cut.b_length[row]) == (long_a, long_b)
        assert 0 <= cut.a_start[row] <= a[row] - long_a and 0 <= cut.b_start[row] <= b[row] - long_b


def test_truncation_takes_from_both_ends():
    start, length = np.zeros(10_000, np.int64), np.full(10_000, 30)
    cut = truncate(Pairs(start, length, start, length, start), 40, np.random.default_rng(0))
    # 10 tokens go from each segment; the number from the front is binomial(10, ½): mean 5, standard error 0.016
    assert abs(cut.a_start.mean() - 5) < 0.08 and abs(cut.b_start.mean() - 5) < 0.08
    assert set(cut.a_start) == set(range(11))


def test_ten_percent_of_the_pairs_aim_at_a_shorter_length():
    """One long document, so that only short targets give short rows; 5 standard deviations: false alarm 6·10⁻⁷."""
    long = make_documents(2, sentences=(2000, 2001))
    tokens = tokenize_documents(long, TOKENIZER)
    pairs = make_pairs(tokens, ExampleSettings(), np.random.default_rng(0))
    total = pairs.a_length + pairs.b_length
    # a uniform target from 2 to 125 leaves a row below 70 tokens in about 43 of 124 short cases or more
    short = (total < 70).mean()
    assert 0.02 < short < 0.08
    assert (total == 125).mean() > 0.8
    none = make_pairs(tokens, ExampleSettings(short_sequence_probability=0.0), np.random.default_rng(0))
    assert (none.a_length + none.b_length < 70).mean() < 0.005  # the ends of documents


@pytest.mark.parametrize(
    "documents, message",
    [
        (make_documents(5, sentences=(1, 2)), "0 of 5 documents have two.*roberta"),
        ([], "examples need text"),
        ([Document("a", ((" \u200b ", "\x00"),))], "examples need text"),
    ],
)
def test_text_that_gives_no_pairs_gives_a_clear_error(documents, message):
    with pytest.raises(DataError, match=message):
        make_examples(documents, TOKENIZER, SMALL)


def test_the_same_seed_gives_the_same_examples_and_another_unit_others():
    tokens = tokenize_documents(DOCUMENTS, TOKENIZER)
    first, again, other = (examples_from_tokens(tokens, TOKENIZER.vocabulary, SMALL, unit) for unit in (0, 0, 1))
    assert all((first[name] == again[name]).all() for name in first)
    assert first["input_ids"].shape != other["input_ids"].shape or (first["input_ids"] != other["input_ids"]).any()


# --- without pairs ---


@pytest.mark.parametrize("packing", [True, False])
def test_rows_without_pairs_hold_every_token_once(packing):
    chosen = UNMASKED.replace(next_sentence=False, packing=packing, duplicate_factor=1)
    rows = make_examples(DOCUMENTS, TOKENIZER, chosen)
    ids = rows["input_ids"]
    kept = np.sort(ids[(ids != CLS) & (ids != SEP) & (ids != PAD)])
    assert (kept == np.sort(tokenize_documents(DOCUMENTS, TOKENIZER).values)).all()
    assert "next_sentence_labels" not in rows
    assert ("sequence_ids" in rows) == packing and ("attention_mask" in rows) != packing


def test_roberta_rows_run_on_into_the_next_document_after_a_separator():
    chosen = ExampleSettings.preset("roberta", sequence_length=48)
    rows = make_examples(DOCUMENTS, TOKENIZER, chosen)
    assert chosen.dynamic_masking and "masked_lm_ids" not in rows
    assert (rows["sequence_ids"] > 0).mean() > 0.75  # sentences of 20 tokens stay whole in rows of 48
    inner = (rows["input_ids"][:, 1:-1] == SEP) & (rows["sequence_ids"][:, 2:] == rows["sequence_ids"][:, 1:-1])
    assert 10 < inner.sum() < len(DOCUMENTS)  # one at the end of a document, unless the row ends there too
    ids = rows["input_ids"]
    assert not ((ids[:, :-1] == CLS) & (ids[:, 1:] == SEP)).any()


def test_whole_sentences_stay_whole_where_they_fit():
    chosen = UNMASKED.replace(next_sentence=False, packing=False, sequence_length=128, short_sequence_probability=0.0)
    rows = make_examples(DOCUMENTS, TOKENIZER, chosen)
    stop = TOKENIZER.vocabulary.index(".")
    last = rows["attention_mask"].sum(axis=1) - 2
    assert (rows["input_ids"][np.arange(len(last)), last] == stop).all()


def test_a_span_that_is_a_separator_and_nothing_else_is_left_out():
    values = np.array([7, 8, 3, 3], np.int32)  # 3 is [SEP]; the last span begins and ends with the last one
    starts, lengths = without_outer_separators(values, np.array([0, 3]), np.array([3, 1]), separator=3)
    assert (starts.tolist(), lengths.tolist()) == ([0], [2])


# === Packing ===


@given(width=st.integers(1, 60), data=st.data())
@settings(deadline=None)
def test_packed_examples_never_overlap_and_fill_rows_from_the_left(width, data):
    lengths = np.array(data.draw(st.lists(st.integers(1, width), max_size=60)), np.int64)
    rows, offsets, count = pack(lengths, width)
    filled = np.zeros((count, width), int)
    for row, offset, length in zip(rows, offsets, lengths):
        assert offset + length <= width
        filled[row, offset : offset + length] += 1
    assert filled.max(initial=0) <= 1
    assert (np.diff(filled, axis=1) <= 0).all()
    assert (filled.sum(axis=1) > 0).all()
    numbers = sequence_numbers(rows, offsets)
    for row in range(count):
        here = rows == row
        assert sorted(numbers[here]) == list(range(1, here.sum() + 1))
        assert (np.argsort(numbers[here]) == np.argsort(offsets[here])).all()


def test_best_fit_leaves_little_padding():
    lengths = np.random.default_rng(0).integers(5, 100, 2000)
    _, _, count = pack(lengths, 128)
    assert count * 128 < 1.03 * lengths.sum()


def test_a_packed_row_gives_the_logits_of_its_parts_alone():
    from bertlab.config import BertConfig
    from bertlab.models import BertForPreTraining

    packed = SMALL.replace(sequence_length=96, next_sentence=False, dynamic_masking=True, duplicate_factor=1)
    rows = make_examples(make_documents(8, sentences=(1, 3)), make_tokenizer(), packed)
    row = int(rows["sequence_ids"].max(axis=1).argmax())
    assert rows["sequence_ids"][row].max() >= 3
    config = BertConfig(vocab_size=len(PIECES), hidden_size=32, num_layers=2, num_heads=2, intermediate_size=64,
                        max_position_embeddings=96)  # fmt: skip
    model = BertForPreTraining(config)
    together = np.asarray(model({name: values[row : row + 1] for name, values in rows.items()})["masked_lm_logits"])
    for number in range(1, rows["sequence_ids"][row].max() + 1):
        here = rows["sequence_ids"][row] == number
        assert rows["position_ids"][row][here].tolist() == list(range(here.sum()))
        alone = np.asarray(model({"input_ids": rows["input_ids"][row : row + 1, here]})["masked_lm_logits"])
        np.testing.assert_allclose(together[:, here], alone, atol=2e-5)


# === The published script's procedure ===


def as_pieces(documents) -> list[list[list[str]]]:
    return [[TOKENIZER.tokenize(sentence) for part in each.paragraphs for sentence in part] for each in documents]


@pytest.mark.parametrize("whole_words", [False, True])
@pytest.mark.parametrize("length, sentences", [(48, (1, 12)), (128, (1, 2)), (16, (1, 5))])
def test_the_original_preset_gives_the_published_examples_in_their_order(length, sentences, whole_words):
    documents = make_documents(25, seed=length, sentences=sentences)
    chosen = ExampleSettings.preset(
        "original", sequence_length=length, duplicate_factor=3, whole_word_masking=whole_words, seed=7
    )
    made = make_examples(documents, TOKENIZER, chosen)
    most = chosen.max_predictions
    published = create(as_pieces(documents), PIECES, length, most, passes=3, whole_words=whole_words, seed=7)
    assert len(made["input_ids"]) == len(published) > 50
    for row, (tokens, segments, positions, labels, is_random) in enumerate(published):
        count, used = len(tokens), len(positions)
        assert [PIECES[token] for token in made["input_ids"][row]] == tokens + ["[PAD]"] * (length - count)
        assert made["token_type_ids"][row].tolist() == segments + [0] * (length - count)
        assert made["attention_mask"][row].tolist() == [1] * count + [0] * (length - count)
        assert made["masked_lm_positions"][row].tolist() == positions + [0] * (most - used)
        assert [PIECES[token] for token in made["masked_lm_ids"][row][:used]] == labels
        assert made["masked_lm_weights"][row].tolist() == [1.0] * used + [0.0] * (most - used)
        assert made["next_sentence_labels"][row] == is_random


def test_the_original_skews_the_labels_and_ours_does_not():
    """Documents of two sentences that fill a row each: without a second sentence the script labels a row "random"."""
    documents = make_documents(400, seed=3, sentences=(2, 3))
    chosen = ExampleSettings(sequence_length=24, duplicate_factor=1)
    original = make_examples(documents, TOKENIZER, chosen.replace(procedure="original"))["next_sentence_labels"]
    ours = make_examples(documents, TOKENIZER, chosen)["next_sentence_labels"]
    assert original.mean() > 0.6
    assert abs(ours.sum() - len(ours) / 2) <= 0.5


def test_the_original_replaces_from_the_whole_vocabulary():
    """Six of 507 tokens are special or unused: 1,500 random ones miss all six with a chance of 2·10⁻⁸."""
    made = make_examples(make_documents(300), TOKENIZER, ExampleSettings.preset("original", duplicate_factor=3))
    used = made["masked_lm_weights"] > 0
    shown = np.take_along_axis(made["input_ids"], made["masked_lm_positions"], axis=1)[used]
    replaced = shown[(shown != made["masked_lm_ids"][used]) & (shown != PIECES.index("[MASK]"))]
    assert len(replaced) > 1500
    assert (replaced < 6).any()
