"""From rows to what a model takes: dictionaries of int32 arrays, padded batch by batch.

Texts are tokenized once, in bulk, and kept without padding. A batch is padded when it is made.

    features = encode_rows(data.train, tokenizer, max_length=128)
    for indices in features.batch_indices(batch_size=32, seed=1):
        inputs, targets = features.batch(indices, length=128)

Letters: N rows, C choices, T tokens, B rows of a batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import ConfigError, DataError
from bertlab.data.tasks.metrics import label_matrix
from bertlab.data.tasks.rows import PairRow, QuestionRow, Row, SentenceRow, TaggingRow
from bertlab.tokenizers.wordpiece.encoding import (
    Ragged,
    pack_rows,
    range_indices,
    special_count,
    text_column,
    truncated_lengths,
)
from bertlab.tokenizers.wordpiece.vocabulary import Vocabulary

POOL_BATCHES = 64  # rows of so many batches are sorted by length together

Batch = tuple[dict[str, np.ndarray], np.ndarray | dict[str, np.ndarray] | None]


@dataclass(frozen=True)
class Features:
    """Tokenized rows, ready to be padded.

    first, second: ids of segment A and (for pairs) B, already truncated. targets: (N,) int32 classes, (N,) float32
    numbers, (N, C) float32 of 0 and 1 (multi-label), a dict of such arrays (questions), or None without labels.
    choices: C for multiple choice, whose N·C sequences are stored row by row. truncated: the number of truncated ones.
    """

    vocabulary: Vocabulary
    first: Ragged
    second: Ragged | None = None
    targets: np.ndarray | dict[str, np.ndarray] | None = None
    choices: int | None = None
    truncated: int = 0

    def __len__(self) -> int:
        return (len(self.first.row_splits) - 1) // (self.choices or 1)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each row with its special tokens; of the longest choice for multiple choice. (N,)"""
        lengths = np.diff(self.first.row_splits) + special_count(self.vocabulary, self.second is not None)
        if self.second is not None:
            lengths = lengths + np.diff(self.second.row_splits)
        return lengths.reshape(len(self), self.choices or 1).max(axis=1, initial=0)

    def batch(self, indices: Sequence[int], length: int) -> Batch:
        """(inputs, targets) of some rows. inputs: input_ids, token_type_ids, attention_mask, each (B, T) int32, or
        (B, C, T) for multiple choice. length: T, at least that of the longest row.
        """
        indices = np.asarray(indices, np.int64)
        sequences = indices
        if self.choices is not None:
            sequences = (indices[:, None] * self.choices + np.arange(self.choices)).reshape(-1)  # (B · C,)
        second = None if self.second is None else select_rows(self.second, sequences)
        inputs = pack_rows(self.vocabulary, select_rows(self.first, sequences), second, length)
        if self.choices is not None:
            inputs = {name: rows.reshape(len(indices), self.choices, length) for name, rows in inputs.items()}
        return inputs, self._targets(indices, length)

    def _targets(self, indices: np.ndarray, length: int):
        if self.targets is None:
            return None
        if isinstance(self.targets, dict):
            return {name: values[indices] for name, values in self.targets.items()}
        return self.targets[indices]

    def batch_indices(self, batch_size: int, seed: int) -> list[np.ndarray]:
        """The rows of each batch in random order, every row once, rows of similar length together."""
        random = np.random.default_rng(seed)
        order, pool = random.permutation(len(self)), batch_size * POOL_BATCHES
        pools = [order[start : start + pool] for start in range(0, len(order), pool)]
        order = np.concatenate([p[np.argsort(self.lengths[p], kind="stable")] for p in pools] or [order])
        batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        return [batches[index] for index in random.permutation(len(batches))]


@dataclass(frozen=True)
class TaggingFeatures(Features):
    """Rows with a label on every token.

    tags: a label for each token, −100 for tokens that the loss ignores; None without tags. Targets of a batch
    are (B, T) int32, −100 also on [CLS], [SEP] and padding. word_positions: the index of each word's first
    token, −1 for words that were truncated or have no token. lost_words: the number of those.
    """

    tags: Ragged | None = None
    word_positions: Ragged | None = None
    lost_words: int = 0

    def _targets(self, indices: np.ndarray, length: int):
        if self.tags is None:
            return None
        chosen = select_rows(self.tags, indices)
        targets = np.full((len(indices), length), IGNORED, np.int32)  # (B, T)
        column = np.arange(length)[None]
        begin = text_column(self.vocabulary)
        targets[(column >= begin) & (column < begin + np.diff(chosen.row_splits)[:, None])] = chosen.values
        return targets


def encode_rows(rows: Sequence[Row], tokenizer, max_length: int = 128, labels: Sequence[str] = ()) -> Features:
    """Features of sentences, pairs, multiple choice or tagging (for questions: `windows.make_windows`).

    max_length: longest sequence, special tokens included; longer ones are truncated at the end of the longer text and
    counted in `truncated`. labels: for multi-label.
    Targets are int32 where all labels are whole numbers of type int, float32 where they are real, None if one is
    missing. Raises DataError if rows have different task types or different numbers of choices.
    """
    kinds = {type(row) for row in rows}
    if len(kinds) != 1:
        found = ", ".join(sorted(kind.__name__ for kind in kinds)) or "none"
        raise DataError(f"expected rows of one task type, found {found}")
    kind = kinds.pop()
    if kind is TaggingRow:
        return _tagging(rows, tokenizer, max_length)
    if kind is QuestionRow:
        raise DataError("expected rows other than questions; for questions use bertlab.data.tasks.windows.make_windows")
    choices = None
    if kind is SentenceRow:
        first, second = tokenizer.encode_batch(row.text for row in rows), None
    elif kind is PairRow:
        first = tokenizer.encode_batch(row.text_a for row in rows)
        second = tokenizer.encode_batch(row.text_b for row in rows)
    else:
        numbers = sorted({len(row.choices) for row in rows})
        if len(numbers) != 1:
            raise DataError(f"rows have {', '.join(map(str, numbers))} choices; all must have the same number")
        choices = numbers[0]
        first = tokenizer.encode_batch(row.context for row in rows for _ in row.choices)
        second = tokenizer.encode_batch(choice for row in rows for choice in row.choices)
    first, second, truncated = truncate_to_fit(first, second, max_length, tokenizer.vocabulary)
    found, targets = [row.label for row in rows], None
    if isinstance(found[0], tuple) and labels and None not in found:
        targets = label_matrix(found, len(labels)).astype(np.float32)  # (N, C)
    elif not isinstance(found[0], tuple) and None not in found:
        targets = np.array(found, np.float32 if any(isinstance(label, float) for label in found) else np.int32)
    return Features(tokenizer.vocabulary, first, second, targets, choices, truncated)


def truncate_to_fit(
    first: Ragged, second: Ragged | None, max_length: int, vocabulary
) -> tuple[Ragged, Ragged | None, int]:
    """Both segments truncated to fit with their special tokens, and the number of truncated rows."""
    specials = special_count(vocabulary, second is not None)
    if max_length <= specials:
        raise ConfigError(f"max_length {max_length} must be greater than the number of special tokens, {specials}")
    before = np.diff(first.row_splits)
    if second is None:
        after = np.minimum(before, max_length - specials)
        return cut_rows(first.values, first.row_splits[:-1], after), None, int(np.sum(after < before))
    before_second = np.diff(second.row_splits)
    after, after_second = truncated_lengths(before, before_second, max_length - specials)
    truncated = int(np.sum((after < before) | (after_second < before_second)))
    first = cut_rows(first.values, first.row_splits[:-1], after)
    return first, cut_rows(second.values, second.row_splits[:-1], after_second), truncated


def cut_rows(values: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> Ragged:
    """The rows values[starts[i]:starts[i] + lengths[i]]."""
    return Ragged(values[range_indices(starts, lengths)], np.concatenate([[0], np.cumsum(lengths)]))


def select_rows(ragged: Ragged, indices: np.ndarray) -> Ragged:
    """The rows of these indices, in this order."""
    return cut_rows(ragged.values, ragged.row_splits[:-1][indices], np.diff(ragged.row_splits)[indices])


def _tagging(rows: Sequence[TaggingRow], tokenizer, max_length: int) -> TaggingFeatures:
    pieces, counts = encode_words(rows, tokenizer)
    first, _, truncated = truncate_to_fit(pieces, None, max_length, tokenizer.vocabulary)
    kept = np.diff(first.row_splits)  # (N,)
    tags, positions, begin = [], [], text_column(tokenizer.vocabulary)
    for index, row in enumerate(rows):
        row_counts = counts.row(index)  # (words,)
        starts = first_tokens(row_counts)
        positions.append(np.where((starts >= 0) & (starts < kept[index]), starts + begin, -1))
        if row.tags is not None:
            tags.append(align_tags(row_counts, row.tags)[: kept[index]])
    word_positions = Ragged(np.concatenate(positions), counts.row_splits)
    return TaggingFeatures(
        tokenizer.vocabulary,
        first,
        truncated=truncated,
        tags=Ragged(np.concatenate(tags), first.row_splits) if len(tags) == len(rows) else None,
        word_positions=word_positions,
        lost_words=int(np.sum(word_positions.values < 0)),
    )


# === Tags of words, labels of tokens ===

IGNORED = -100  # label of a position that the loss ignores; PyTorch and Hugging Face use the same number


def encode_words(rows: Sequence[TaggingRow], tokenizer) -> tuple[Ragged, Ragged]:
    """The tokens of each row's words, each tokenized on its own, and how many tokens each word has.

    Returns (tokens, token counts): a row of the first has as many values as the tokens of all its words, a row of the
    second as many as the row has words. A word can have no token (a single control character).
    """
    prefix = tokenizer.word_prefix
    words = ((prefix if number else "") + word for row in rows for number, word in enumerate(row.words))
    encoded = tokenizer.encode_batch(words)
    counts = np.diff(encoded.row_splits).astype(np.int32)  # (all words,)
    word_splits = np.concatenate([[0], np.cumsum([len(row.words) for row in rows], dtype=np.int64)])  # (N + 1,)
    return Ragged(encoded.values, encoded.row_splits[word_splits]), Ragged(counts, word_splits)


def align_tags(piece_counts: Sequence[int], tags: Sequence[int]) -> np.ndarray:
    """A label for each token of one row. piece_counts, tags: one number for each word. Returns (tokens,) int32.

        words    Paris       's     Geoguessr
        tags     B-LOC       O      B-PRODUCT
        tokens   paris   '   s      geo     ##gu  ##es  ##sr
        labels   B-LOC   O   −100   B-PROD  −100  −100  −100      (Devlin et al. 2019, section 5.3)

    Raises DataError if there are not as many tags as words.
    """
    piece_counts, tags = np.asarray(piece_counts, np.int64), np.asarray(tags, np.int32)
    if piece_counts.shape != tags.shape:
        raise DataError(f"{len(piece_counts)} words but {len(tags)} tags; expected one tag for each word")
    labels = np.full(piece_counts.sum(), IGNORED, np.int32)  # (tokens,)
    has_pieces = piece_counts > 0
    labels[first_tokens(piece_counts)[has_pieces]] = tags[has_pieces]
    return labels


def first_tokens(piece_counts: Sequence[int]) -> np.ndarray:
    """The index of each word's first token; −1 for a word without tokens. (words,) → (words,) int64."""
    piece_counts = np.asarray(piece_counts, np.int64)
    starts = np.cumsum(piece_counts) - piece_counts
    return np.where(piece_counts > 0, starts, -1)
