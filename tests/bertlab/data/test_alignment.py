"""The labels of words on their tokens, and back from tokens to words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.common.errors import DataError
from bertlab.data.tasks.features import IGNORED, align_tags, continuation_tags, encode_rows, encode_words, first_tokens
from bertlab.data.tasks.rows import TaggingRow
from bertlab.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary
from bertlab.training.finetuning.task_kinds import Decoded, Encoded, Tagging, TaskInfo

LABELS = ("O", "B-LOC", "I-LOC", "B-PER")
PIECES = (*SPECIAL_TOKENS, "in", "new", "york", "geo", "##gu", "##es", "'", "s", ".")


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer(Vocabulary(PIECES))


def test_the_first_token_has_the_label_and_the_others_are_ignored_or_on_request_continue_an_entity():
    assert align_tags([1, 3, 0, 2], [0, 1, 2, 3]).tolist() == [0, 1, IGNORED, IGNORED, 3, IGNORED]
    continuation = continuation_tags(LABELS)
    assert continuation.tolist() == [0, 2, 2, 3]  # B-LOC → I-LOC; there is no I-PER, so B-PER stays
    assert align_tags([1, 3, 2], [0, 1, 3], continuation).tolist() == [0, 1, 2, 2, 3, 3]


def test_words_without_tokens_have_no_label_and_wrong_numbers_of_tags_are_errors():
    assert first_tokens([2, 0, 1]).tolist() == [0, -1, 2]
    with pytest.raises(DataError, match="2 words but 1 tags"):
        align_tags([1, 1], [0])


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
    inputs, targets = features.arrays()
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
    inputs, targets = features.arrays(length=4)
    assert inputs["input_ids"].tolist() == [[2, 5, 6, 3], [2, 7, 3, 0]]
    assert targets.tolist() == [[-100, 0, 1, -100], [-100, 1, -100, -100]]
    assert decoded(rows, features, targets).predictions == [[0, 1, 0, 0], [1]]


def test_rows_without_tags_have_no_targets_but_positions(tokenizer):
    features = encode_rows([TaggingRow(("in", "york"))], tokenizer, 8)
    assert features.arrays()[1] is None and features.word_positions.values.tolist() == [1, 2]
