"""Inputs longer than the model's maximum length, in overlapping windows, without truncation.

A window has the maximum length and begins half its length after the previous one. A text's logits are the mean over its
windows (a short text has one window); a token's logits are those of the window in which it has the most context.
Questions have their own windows, in `bertlab.data.tasks.windows`.

Letters: N rows, W windows, C classes.
"""

from collections.abc import Sequence

import numpy as np

from bertlab.tokenizers.wordpiece.encoding import Ragged, special_count


def window_starts(length: int, max_tokens: int) -> list[int]:
    """The starts of windows of `max_tokens` tokens that cover `length` tokens: every half window, beginning with 0."""
    step = max(1, max_tokens // 2)
    return [0, *range(step, length - max_tokens + step, step)]


def text_windows(
    first: Ragged, second: Ragged | None, max_length: int, vocabulary
) -> tuple[Ragged, Ragged | None, np.ndarray]:
    """Windows of texts, or of pairs, that fit `max_length` with their special tokens, and the row of each: (W,).

    Of a pair, a text that takes at most half of the row stays whole, and the other one moves; if both are longer, each
    window of one is read with each window of the other.
    """
    max_tokens = max_length - special_count(vocabulary, second is not None)
    rows_a, rows_b, owners = [], [], []
    for row in range(len(first.row_splits) - 1):
        a = first.row(row)
        b = None if second is None else second.row(row)
        for part_a, part_b in _windows_of(a, b, max_tokens):
            rows_a.append(part_a)
            rows_b.append(part_b)
            owners.append(row)
    return _ragged(rows_a), None if second is None else _ragged(rows_b), np.array(owners, np.int64)


def _windows_of(a: np.ndarray, b: np.ndarray | None, max_tokens: int) -> list[tuple]:
    if b is None:
        return [(a[start : start + max_tokens], None) for start in window_starts(len(a), max_tokens)]
    if len(a) + len(b) <= max_tokens:
        return [(a, b)]
    max_a = min(len(a), max(max_tokens // 2, max_tokens - len(b)))
    max_b = max_tokens - max_a
    return [
        (a[start_a : start_a + max_a], b[start_b : start_b + max_b])
        for start_a in window_starts(len(a), max_a)
        for start_b in window_starts(len(b), max_b)
    ]


def mean_of_windows(outputs: Sequence[np.ndarray], owners: np.ndarray, rows: int) -> list[np.ndarray]:
    """The mean logits of each row's windows. outputs: W arrays (C,). Returns N arrays (C,)."""
    sums = np.zeros((rows, len(outputs[0])), np.float64)
    np.add.at(sums, owners, np.stack(outputs))
    return list((sums / np.bincount(owners, minlength=rows)[:, None]).astype(np.float32))


def tokens_of_windows(
    outputs: Sequence[np.ndarray], lengths: Sequence[int], max_tokens: int, column: int = 1
) -> list[np.ndarray]:
    """The logits of every token of each row, from the window in which it has most tokens on both sides.

    outputs: the windows of all rows in order, each (T, C). column: where their text begins. lengths: tokens of each
    row. Returns arrays (tokens, C).
    """
    merged, window = [], 0
    for length in lengths:
        values = np.zeros((length, outputs[window].shape[1]), np.float32)
        best = np.full(length, -1)
        for start in window_starts(length, max_tokens):
            count = min(max_tokens, length - start)
            context = np.minimum(np.arange(count), np.arange(count)[::-1])  # (count,) tokens on the shorter side
            here = np.flatnonzero(context > best[start : start + count])
            values[start + here] = outputs[window][column + here]
            best[start + here] = context[here]
            window += 1
        merged.append(values)
    return merged


def _ragged(rows: Sequence[np.ndarray]) -> Ragged:
    lengths = [len(row) for row in rows]
    values = np.concatenate(rows) if rows else np.zeros(0, np.int32)
    return Ragged(values, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
