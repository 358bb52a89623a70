"""The results of tokenizing: ids with offsets, ragged batches, and rows packed as BERT's input.

A row of BERT's input is ``[CLS] a [SEP]`` or ``[CLS] a [SEP] b [SEP]`` (Devlin et al. 2019, figure 2). A vocabulary
with `cls_last` has ``a [SEP] [CLS]`` and ``a [SEP] b [SEP] [CLS]``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bertlab.common.errors import ConfigError, DataError


class Encoding(NamedTuple):
    """The n tokens of one text. Offsets count characters of the original text: token i is text[start:end].

    Example:
        >>> tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, "un", "##able", "!"]))
        >>> encoding = tokenizer.encode_with_offsets("Unable!")
        >>> encoding.pieces, encoding.offsets.tolist(), encoding.word_ids.tolist()
        (['un', '##able', '!'], [[0, 2], [2, 6], [6, 7]], [0, 0, 1])
    """

    ids: np.ndarray  # (n,) int32
    pieces: list[str]
    offsets: np.ndarray  # (n, 2) int32
    word_ids: np.ndarray  # (n,) int32: number of the word, counted from 0, that the token is a part of

    @classmethod
    def of(cls, ids, pieces: Sequence[str], offsets, word_ids) -> "Encoding":
        """The encoding of these ids. pieces: of the vocabulary.   offsets, word_ids: an entry for each id."""
        spans = np.array(offsets, np.int32).reshape(-1, 2)
        return cls(np.array(ids, np.int32), [pieces[number] for number in ids], spans, np.array(word_ids, np.int32))


class Ragged(NamedTuple):
    """Rows of different lengths: row i is values[row_splits[i]:row_splits[i + 1]].

    Example:
        >>> Ragged(np.array([7, 8, 9]), np.array([0, 2, 2, 3])).to_list()
        [[7, 8], [], [9]]
    """

    values: np.ndarray  # (N,) int32
    row_splits: np.ndarray  # (rows + 1,) int64

    def row(self, index: int) -> np.ndarray:
        """Row number `index`, counted from 0."""
        return self.values[self.row_splits[index] : self.row_splits[index + 1]]

    def to_list(self) -> list[list[int]]:
        """The rows as lists."""
        return [self.row(index).tolist() for index in range(len(self.row_splits) - 1)]


class RaggedEncoding(NamedTuple):
    """A batch of texts; row i of each array is [row_splits[i]:row_splits[i + 1]].

    Example:
        >>> tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, "un", "##able", "!"]))
        >>> batch = tokenizer.encode_batch_with_offsets(["Unable", "!"])
        >>> batch.values.tolist(), batch.row_splits.tolist(), batch.offsets.tolist()
        ([5, 6, 7], [0, 2, 3], [[0, 2], [2, 6], [0, 1]])
    """

    values: np.ndarray  # (N,) int32 ids
    row_splits: np.ndarray  # (rows + 1,) int64
    offsets: np.ndarray  # (N, 2) int32, into the row's own text
    word_ids: np.ndarray  # (N,) int32, counted from 0 in each row


def truncated_lengths(length_a, length_b, budget: int):
    """The kept lengths of a and b, so that together they have at most `budget` tokens; integers or arrays of them.

    The same as taking tokens one by one off the end of the longer one, and off b when both are equally long.
    """
    kept_b = np.minimum(length_b, np.maximum(budget // 2, budget - length_a))
    return np.minimum(length_a, budget - kept_b), kept_b


def max_text_length(max_length: int, specials: int) -> int:
    """The number of text tokens beside the special ones. Raises ConfigError if max_length is too small for them."""
    if max_length < specials:
        raise ConfigError(f"max_length must be at least {specials}, for the special tokens, not {max_length}")
    return max_length - specials


def special_count(vocabulary, pair: bool) -> int:
    """The number of special tokens of a row: [CLS], the last [SEP] and, in a pair, the one or two between its texts."""
    return 2 + (vocabulary.pair_separators if pair else 0)


def text_column(vocabulary) -> int:
    """The column of a row at which its first text begins: 1, behind [CLS], or 0."""
    return 0 if vocabulary.cls_last else 1


def with_specials(vocabulary, ids: Sequence[int]) -> list[int]:
    """The ids of one text with its special tokens: a row that is not padded."""
    if vocabulary.cls_last:
        return [*ids, vocabulary.sep_id, vocabulary.cls_id]
    return [vocabulary.cls_id, *ids, vocabulary.sep_id]


def padded_rows(rows: Sequence[Sequence[int]], pad_id: int) -> tuple[np.ndarray, np.ndarray]:
    """input_ids and attention_mask, (B, T) int32 each, of rows of different lengths; T is that of the longest."""
    ids = np.full((len(rows), max(map(len, rows))), pad_id, np.int32)  # (B, T)
    real = np.zeros_like(ids)
    for padded, used, row in zip(ids, real, rows):
        padded[: len(row)], used[: len(row)] = row, 1
    return ids, real


def text_inputs(vocabulary, rows: Sequence[Sequence[int]], pad_id: int) -> dict[str, np.ndarray]:
    """The model's inputs for rows of one text each, special tokens included: (B, T) int32 each.

    The segments are 0, and 2 for a [CLS] at the end.
    """
    ids, real = padded_rows(rows, pad_id)
    segments = np.zeros_like(ids)
    if vocabulary.cls_last:
        segments[np.arange(len(rows)), real.sum(axis=1) - 1] = 2
    return {"input_ids": ids, "attention_mask": real, "token_type_ids": segments}


def pack_rows(vocabulary, a: Ragged, b: Ragged | None, max_length: int | None) -> dict[str, np.ndarray]:
    """BERT's input for a batch, padded to max_length; None: nothing is cut, and the longest row decides.

    Returns input_ids, token_type_ids (0 up to the first [SEP], 1 behind it, 2 for a [CLS] at the end) and
    attention_mask, each (B, T) int32.
    Raises DataError if a and b have different numbers of rows, ConfigError if max_length is too small for
    the special tokens.
    """
    lengths_a = np.diff(a.row_splits)  # (B,)
    lengths_b = np.zeros_like(lengths_a) if b is None else np.diff(b.row_splits)  # (B,)
    if len(lengths_a) != len(lengths_b):
        raise DataError(f"{len(lengths_a)} first and {len(lengths_b)} second texts; expected the same number of both")
    specials = special_count(vocabulary, b is not None)
    if max_length is not None:
        lengths_a, lengths_b = truncated_lengths(lengths_a, lengths_b, max_text_length(max_length, specials))
    totals = lengths_a + lengths_b + specials  # (B,)
    width = max_length if max_length is not None else int(totals.max(initial=0))
    column = np.arange(width)[None]  # (1, T)
    input_ids = np.full((len(totals), width), vocabulary.pad_id, np.int32)  # (B, T)
    begin, last = text_column(vocabulary), totals[:, None] - 1  # last: (B, 1)
    first_end = lengths_a[:, None] + begin  # (B, 1): column of the first [SEP]
    second = first_end + (1 if b is None else vocabulary.pair_separators)  # (B, 1): column at which b begins
    last_separator = last - 1 if vocabulary.cls_last else last  # (B, 1)
    _fill(input_ids, (column >= begin) & (column < first_end), a, lengths_a)
    if b is not None:
        _fill(input_ids, (column >= second) & (column < last_separator), b, lengths_b)
    cls_column = last if vocabulary.cls_last else np.zeros_like(last)  # (B, 1)
    input_ids[column == cls_column] = vocabulary.cls_id
    is_separator = (column >= first_end) & (column < second) | (column == last_separator)
    input_ids[is_separator] = vocabulary.sep_id
    attention_mask = column <= last  # (B, T)
    token_type_ids = (attention_mask & (column >= second)).astype(np.int32)  # (B, T)
    if vocabulary.cls_last:
        token_type_ids[column == last] = 2
    return {
        "input_ids": input_ids,
        "token_type_ids": token_type_ids,
        "attention_mask": attention_mask.astype(np.int32),
    }


def _fill(rows: np.ndarray, where: np.ndarray, ragged: Ragged, lengths: np.ndarray) -> None:
    """Writes the first lengths[i] values of each ragged row i to the places marked in row i."""
    rows[where] = ragged.values[range_indices(ragged.row_splits[:-1], lengths)]


def range_indices(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """start, start + 1, … (length numbers) for every pair: [5, 0], [2, 3] → 5 6 0 1 2. Both (n,) → (sum(lengths),)."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)
