"""From rows to padded int32 arrays, as NumPy and as tf.data, with nothing cut silently."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from bertlab.common.errors import ConfigError
from bertlab.data.tasks.features import IGNORED, align_tags, encode_rows, encode_words, first_tokens
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow
from bertlab.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary
from bertlab.training.finetuning.task_kinds import Decoded, Encoded, Tagging, TaskInfo

LETTERS = "abcdefghij"
TOKENIZER = WordPieceTokenizer(Vocabulary((*SPECIAL_TOKENS, *LETTERS)))  # a letter is a word; a is 5, b is 6 …
PAD, UNK, CLS, SEP = 0, 1, 2, 3


def arrays(features, length):
    return features.batch(range(len(features)), length)


def words(count, letter="a"):
    return " ".join([letter] * count)


def test_sentences_are_padded_to_the_length_asked_for_with_their_classes():
    features = encode_rows([SentenceRow("a b", 1), SentenceRow("c", 0)], TOKENIZER, 8)
    inputs, targets = arrays(features, 6)
    assert inputs["input_ids"].tolist() == [[CLS, 5, 6, SEP, PAD, PAD], [CLS, 7, SEP, PAD, PAD, PAD]]
    assert inputs["attention_mask"].tolist() == [[1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]]
    assert inputs["token_type_ids"].tolist() == [[0] * 6] * 2
    assert targets.tolist() == [1, 0] and {array.dtype for array in (*inputs.values(), targets)} == {np.dtype("int32")}


def test_pairs_have_segments_and_numbers_are_float32():
    inputs, targets = arrays(encode_rows([PairRow("a b", "c", 2.5)], TOKENIZER, 8), 7)
    assert inputs["input_ids"].tolist() == [[CLS, 5, 6, SEP, 7, SEP, PAD]]
    assert inputs["token_type_ids"].tolist() == [[0, 0, 0, 0, 1, 1, 0]]
    assert targets.dtype == np.float32 and targets.tolist() == [2.5]


def test_multiple_choice_has_an_axis_of_choices_and_each_is_a_pair():
    rows = [MultipleChoiceRow("a", ("b", "c d"), 1), MultipleChoiceRow("e", ("f", "g"), 0)]
    features = encode_rows(rows, TOKENIZER, 16)
    inputs, targets = features.batch([1, 0], 16)
    assert inputs["input_ids"].shape == (2, 2, 16) and targets.tolist() == [0, 1] and len(features) == 2
    assert inputs["input_ids"][1, 1, :6].tolist() == [CLS, 5, SEP, 7, 8, SEP]
    assert inputs["input_ids"][0, 0, :5].tolist() == [CLS, 9, SEP, 10, SEP]
    refused("rows have 2, 3 choices", encode_rows, [*rows, MultipleChoiceRow("a", ("b", "c", "d"), 0)], TOKENIZER, 16)


def test_rows_that_are_too_long_are_cut_from_the_longer_text_and_counted():
    rows = [PairRow(words(6, "a"), words(2, "b"), 0), PairRow("a", "b", 1)]
    features = encode_rows(rows, TOKENIZER, 8)
    assert features.truncated == 1
    assert arrays(features, 8)[0]["input_ids"][0].tolist() == [CLS, 5, 5, 5, SEP, 6, 6, SEP]
    assert encode_rows(rows, TOKENIZER, 11).truncated == 0


def test_rows_without_labels_give_no_targets():
    assert arrays(encode_rows([SentenceRow("a", 1), SentenceRow("b")], TOKENIZER, 8), 8)[1] is None


def test_rows_of_several_shapes_questions_and_too_short_lengths_are_refused():
    refused("one task type, found PairRow, SentenceRow", encode_rows, [SentenceRow("a"), PairRow("a", "b")], TOKENIZER)
    refused("one task type, found none", encode_rows, [], TOKENIZER)
    refused("make_windows", encode_rows, [QuestionRow("1", "a", "b")], TOKENIZER)
    with pytest.raises(ConfigError, match="must be greater than the number of special tokens, 3"):
        encode_rows([PairRow("a", "b")], TOKENIZER, 3)


lengths = st.lists(st.integers(1, 60), min_size=1, max_size=60)


@given(lengths, st.integers(1, 9), st.integers(0, 5))
def test_batches_hold_every_row_once(sizes, batch_size, seed):
    features = encode_rows([SentenceRow(words(size), index) for index, size in enumerate(sizes)], TOKENIZER)
    batches = [features.batch(indices, 62) for indices in features.batch_indices(batch_size, seed)]
    assert sorted(np.concatenate([targets for _, targets in batches]).tolist()) == list(range(len(sizes)))


def test_the_same_seed_gives_the_same_batches_of_rows_with_similar_lengths():
    random = np.random.default_rng(0)
    rows = [SentenceRow(words(size), 0) for size in random.integers(1, 100, 400)]
    features = encode_rows(rows, TOKENIZER)
    one, again, other = (features.batch_indices(8, seed) for seed in (1, 1, 2))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    assert sum(features.lengths[indices].max() for indices in one) * 8 < 1.05 * features.lengths.sum()


# === Tags of words ===

LABELS = ("O", "B-LOC", "I-LOC", "B-PER")
PIECES = (*SPECIAL_TOKENS, "in", "new", "york", "geo", "##gu", "##es", "'", "s", ".")


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer(Vocabulary(PIECES))


def test_the_first_token_of_a_word_has_its_label_and_a_word_without_tokens_none():
    assert align_tags([1, 3, 0, 2], [0, 1, 2, 3]).tolist() == [0, 1, IGNORED, IGNORED, 3, IGNORED]
    assert first_tokens([2, 0, 1]).tolist() == [0, -1, 2]
    refused("2 words but 1 tags", align_tags, [1, 1], [0])


def test_words_are_tokenized_on_their_own(tokenizer):
    rows = [TaggingRow(("in", "Geogues's", "\x07"), (0, 1, 0)), TaggingRow(("york",), (1,))]
    pieces, counts = encode_words(rows, tokenizer)
    assert counts.to_list() == [[1, 5, 0], [1]]
    assert [PIECES[i] for i in pieces.row(0)] == ["in", "geo", "##gu", "##es", "'", "s"]
    assert [PIECES[i] for i in pieces.row(1)] == ["york"]


def decoded(rows, features, targets) -> Decoded:
    """The tags of words, from a model that is surest of each token's own target."""
    task_kind = Tagging(TaskInfo("made-up", "tagging", LABELS, ()), None)
    return task_kind.decode(Encoded(rows, features), list(np.eye(len(LABELS))[np.maximum(targets, 0)]))


rows_of_words = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["in", "new", "geogues", "york's", "\x07", "."]), st.integers(0, 3)),
        min_size=1, max_size=9,
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@given(rows_of_words, st.integers(3, 16))
def test_tags_go_to_tokens_and_come_back_except_for_words_that_are_counted_as_lost(rows, max_length):
    tokenizer = WordPieceTokenizer(Vocabulary(PIECES))
    rows = [TaggingRow(tuple(word for word, _ in row), tuple(tag for _, tag in row)) for row in rows]
    features = encode_rows(rows, tokenizer, max_length)
    inputs, targets = arrays(features, 16)
    assert targets.shape == inputs["input_ids"].shape and np.all(targets[:, 0] == IGNORED)
    back = decoded(rows, features, targets)
    words = [word for each in zip(rows, back.predictions, back.confidences) for word in zip(each[0].tags, *each[1:])]
    lost = sum(sure == 0 for _, _, sure in words)
    assert lost == features.lost_words
    assert all(found == (0 if sure == 0 else tag) for tag, found, sure in words)
    assert np.sum(targets != IGNORED) == sum(len(row.words) for row in rows) - lost


def test_cut_words_are_counted_and_predicted_as_the_default(tokenizer):
    rows = [TaggingRow(("in", "new", "york", "."), (0, 1, 2, 0)), TaggingRow(("york",), (1,))]
    features = encode_rows(rows, tokenizer, max_length=4)
    assert (features.truncated, features.lost_words) == (1, 2)
    inputs, targets = arrays(features, 4)
    assert inputs["input_ids"].tolist() == [[2, 5, 6, 3], [2, 7, 3, 0]]
    assert targets.tolist() == [[-100, 0, 1, -100], [-100, 1, -100, -100]]
    assert decoded(rows, features, targets).predictions == [[0, 1, 0, 0], [1]]


def test_rows_without_tags_have_no_targets_but_positions(tokenizer):
    features = encode_rows([TaggingRow(("in", "york"))], tokenizer, 8)
    assert arrays(features, 16)[1] is None and features.word_positions.values.tolist() == [1, 2]
