"""Aligns the tags of words with the tokens that BERT reads, in both directions.

    words        Paris       's     Geoguessr
    tags         B-LOC       O      B-PRODUCT
    tokens       paris   '   s      geo     ##gu  ##es  ##sr
    first token  B-LOC   O   −100   B-PROD  −100  −100  −100      (Devlin et al. 2019, section 5.3)
    all tokens   B-LOC   O   O      B-PROD  I-P.  I-P.  I-P.

The loss ignores a token with label −100. Each word is tokenized separately, so that tokens never cross words.
"""

from collections.abc import Sequence

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.tasks.rows import TaggingRow
from bertlab.tokenizers.wordpiece.encoding import Ragged

IGNORED = -100  # label of a position that the loss ignores; PyTorch and Hugging Face use the same number


def encode_words(rows: Sequence[TaggingRow], tokenizer) -> tuple[Ragged, Ragged]:
    """The tokens of each row's words, and how many tokens each word has.

    Returns (tokens, token counts): a row of the first has as many values as the tokens of all its words, a row of the
    second as many as the row has words. A word can have no token (a single control character).
    """
    prefix = tokenizer.word_prefix
    words = ((prefix if number else "") + word for row in rows for number, word in enumerate(row.words))
    encoded = tokenizer.encode_batch(words)
    counts = np.diff(encoded.row_splits).astype(np.int32)  # (all words,)
    word_splits = np.concatenate([[0], np.cumsum([len(row.words) for row in rows], dtype=np.int64)])  # (N + 1,)
    return Ragged(encoded.values, encoded.row_splits[word_splits]), Ragged(counts, word_splits)


def align_tags(
    piece_counts: Sequence[int], tags: Sequence[int], continuation: Sequence[int] | None = None
) -> np.ndarray:
    """A label for each token of one row. piece_counts, tags: one number for each word. Returns (tokens,) int32.

    The first token of a word carries its tag and the others −100; with `continuation` (tag → tag, see
    `continuation_tags`) the others carry continuation[tag]. Raises DataError if there are not as many tags as words.
    """
    piece_counts, tags = np.asarray(piece_counts, np.int64), np.asarray(tags, np.int32)
    if piece_counts.shape != tags.shape:
        raise DataError(f"{len(piece_counts)} words but {len(tags)} tags; expected one tag for each word")
    others = np.full_like(tags, IGNORED) if continuation is None else np.asarray(continuation, np.int32)[tags]
    labels = np.repeat(others, piece_counts)  # (tokens,)
    has_pieces = piece_counts > 0
    labels[first_tokens(piece_counts)[has_pieces]] = tags[has_pieces]
    return labels


def first_tokens(piece_counts: Sequence[int]) -> np.ndarray:
    """The index of each word's first token; −1 for a word without tokens. (words,) → (words,) int64."""
    piece_counts = np.asarray(piece_counts, np.int64)
    starts = np.cumsum(piece_counts) - piece_counts
    return np.where(piece_counts > 0, starts, -1)


def continuation_tags(labels: Sequence[str]) -> np.ndarray:
    """The tag that continues each tag: B-LOC → I-LOC where there is one, every other tag → itself. (C,)"""
    index = {label: number for number, label in enumerate(labels)}
    return np.array(
        [index.get("I-" + label[2:], n) if label.startswith("B-") else n for n, label in enumerate(labels)], np.int32
    )
