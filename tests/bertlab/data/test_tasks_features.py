"""From rows to padded int32 arrays, as NumPy and as tf.data, with nothing cut silently."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.common.errors import ConfigError, DataError
from bertlab.data.tasks.features import LENGTH_STEP, encode_rows
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow
from bertlab.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

LETTERS = "abcdefghij"
TOKENIZER = WordPieceTokenizer(Vocabulary((*SPECIAL_TOKENS, *LETTERS)))  # a letter is a word; a is 5, b is 6 …
PAD, UNK, CLS, SEP = 0, 1, 2, 3


def words(count, letter="a"):
    return " ".join([letter] * count)


def test_sentences_are_padded_to_the_length_asked_for_with_their_classes():
    features = encode_rows([SentenceRow("a b", 1), SentenceRow("c", 0)], TOKENIZER, 8)
    inputs, targets = features.arrays(length=6)
    assert inputs["input_ids"].tolist() == [[CLS, 5, 6, SEP, PAD, PAD], [CLS, 7, SEP, PAD, PAD, PAD]]
    assert inputs["attention_mask"].tolist() == [[1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]]
    assert inputs["token_type_ids"].tolist() == [[0] * 6] * 2
    assert targets.tolist() == [1, 0] and {array.dtype for array in (*inputs.values(), targets)} == {np.dtype("int32")}


def test_pairs_have_segments_and_numbers_are_float32():
    inputs, targets = encode_rows([PairRow("a b", "c", 2.5)], TOKENIZER, 8).arrays(length=7)
    assert inputs["input_ids"].tolist() == [[CLS, 5, 6, SEP, 7, SEP, PAD]]
    assert inputs["token_type_ids"].tolist() == [[0, 0, 0, 0, 1, 1, 0]]
    assert targets.dtype == np.float32 and targets.tolist() == [2.5]


def test_multiple_choice_has_an_axis_of_choices_and_each_is_a_pair():
    rows = [MultipleChoiceRow("a", ("b", "c d"), 1), MultipleChoiceRow("e", ("f", "g"), 0)]
    features = encode_rows(rows, TOKENIZER, 16)
    inputs, targets = features.batch([1, 0])
    assert inputs["input_ids"].shape == (2, 2, 16) and targets.tolist() == [0, 1] and len(features) == 2
    assert inputs["input_ids"][1, 1, :6].tolist() == [CLS, 5, SEP, 7, 8, SEP]
    assert inputs["input_ids"][0, 0, :5].tolist() == [CLS, 9, SEP, 10, SEP]
    with pytest.raises(DataError, match="rows have 2, 3 choices"):
        encode_rows([*rows, MultipleChoiceRow("a", ("b", "c", "d"), 0)], TOKENIZER, 16)


def test_rows_that_are_too_long_are_cut_from_the_longer_text_and_counted():
    rows = [PairRow(words(6, "a"), words(2, "b"), 0), PairRow("a", "b", 1)]
    features = encode_rows(rows, TOKENIZER, 8)
    assert features.truncated == 1
    assert features.arrays(length=8)[0]["input_ids"][0].tolist() == [CLS, 5, 5, 5, SEP, 6, 6, SEP]
    assert encode_rows(rows, TOKENIZER, 11).truncated == 0


def test_rows_without_labels_give_no_targets():
    assert encode_rows([SentenceRow("a", 1), SentenceRow("b")], TOKENIZER, 8).arrays()[1] is None


def test_rows_of_several_shapes_questions_and_too_short_lengths_are_refused():
    with pytest.raises(DataError, match="one task type, found PairRow, SentenceRow"):
        encode_rows([SentenceRow("a"), PairRow("a", "b")], TOKENIZER)
    with pytest.raises(DataError, match="one task type, found none"):
        encode_rows([], TOKENIZER)
    with pytest.raises(DataError, match="make_windows"):
        encode_rows([QuestionRow("1", "a", "b")], TOKENIZER)
    with pytest.raises(ConfigError, match="must be greater than the number of special tokens, 3"):
        encode_rows([PairRow("a", "b")], TOKENIZER, 3)
    with pytest.raises(ConfigError, match="4 tokens, more than length=3"):
        encode_rows([SentenceRow("a b")], TOKENIZER).arrays(length=3)


lengths = st.lists(st.integers(1, 60), min_size=1, max_size=60)


@given(lengths, st.integers(1, 9), st.none() | st.integers(0, 5), st.booleans())
def test_batches_hold_every_row_once_for_any_order(sizes, batch_size, seed, bucket):
    features = encode_rows([SentenceRow(words(size), index) for index, size in enumerate(sizes)], TOKENIZER)
    batches = [features.batch(indices) for indices in features.batch_indices(batch_size, seed, bucket)]
    assert sorted(np.concatenate([targets for _, targets in batches]).tolist()) == list(range(len(sizes)))
    for inputs, targets in batches:
        length = inputs["input_ids"].shape[1]
        longest = max(sizes[index] + 2 for index in targets)
        assert length % LENGTH_STEP == 0 and longest <= length < longest + LENGTH_STEP
    if seed is None and not bucket:
        assert np.concatenate([targets for _, targets in batches]).tolist() == list(range(len(sizes)))


def test_the_same_seed_gives_the_same_batches_and_buckets_save_padding():
    random = np.random.default_rng(0)
    rows = [SentenceRow(words(size), 0) for size in random.integers(1, 100, 400)]
    features = encode_rows(rows, TOKENIZER)

    def order(seed, bucket):
        return np.concatenate(features.batch_indices(8, seed, bucket)).tolist()

    def size(bucket):
        return sum(features.batch(indices)[0]["input_ids"].size for indices in features.batch_indices(8, 1, bucket))

    assert order(1, True) == order(1, True) and order(1, False) != order(2, False)
    assert size(True) < 0.75 * size(False)
