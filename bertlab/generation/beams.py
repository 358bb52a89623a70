"""Beam search: of several continuations side by side, the most likely ones go on. Letters: K beams, V vocabulary."""

from collections.abc import Callable

import numpy as np

from bertlab.generation.choosing import log_softmax
from bertlab.generation.reading import Reader


def beam_search(
    reader: Reader,
    beams: int,
    max_new_tokens: int,
    length_penalty: float = 1.0,
    end_id: int | None = None,
    divisor: Callable[[int], float] | None = None,
) -> tuple[list[int], float]:
    """The best continuation found of one prompt, and its score: the log-probability divided by length^length_penalty.

    reader: of K rows with the same prompt.   end_id: the token that ends a text, which counts as part of it.
    divisor: a length → what to divide by instead; it must not fall as the length grows.
    """
    divisor = divisor or (lambda length: length**length_penalty)
    texts, scores = [[] for _ in range(beams)], np.full(beams, -np.inf)
    scores[0] = 0.0  # the rows are equal at first
    ended: list[tuple[float, list[int]]] = []
    logits = reader.first()
    for length in range(1, max_new_tokens + 1):
        sums = scores[:, None] + log_softmax(logits)  # (K, V)
        rows, ids = [], []
        for place in _largest(sums, 2 * beams):  # a row ends in one way only
            row, number = divmod(int(place), sums.shape[1])
            if not np.isfinite(sums[row, number]):
                break
            if number == end_id:
                ended.append((sums[row, number] / divisor(length), [*texts[row], number]))
            elif len(rows) < beams:
                rows.append(row)
                ids.append(number)
        scores = np.full(beams, -np.inf)
        scores[: len(rows)] = [sums[row, number] for row, number in zip(rows, ids)]
        rows, ids = _filled(rows, beams), _filled(ids, beams)
        texts = [[*texts[row], number] for row, number in zip(rows, ids)]
        if length == max_new_tokens or _is_over(ended, scores, beams, divisor(max_new_tokens)):
            break
        logits = reader.next(np.array(ids), np.array(rows))
    ended += [(score / divisor(length), text) for score, text in zip(scores, texts) if np.isfinite(score)]
    best_score, best = max(ended, key=lambda one: one[0])
    return best, float(best_score)


def _largest(sums: np.ndarray, count: int) -> np.ndarray:
    """The places in the flattened array of the `count` largest numbers, in falling order; of equal ones the first."""
    sums = sums.ravel()
    least = np.partition(sums, -count)[-count] if count < len(sums) else -np.inf
    places = np.flatnonzero(sums >= least)
    return places[np.argsort(-sums[places], kind="stable")][:count]


def _filled(values: list[int], count: int) -> list[int]:
    """Rows that have nothing to go on with repeat the first one, with score −∞."""
    return values + [values[0] if values else 0] * (count - len(values))


def _is_over(ended: list, scores: np.ndarray, beams: int, largest_divisor: float) -> bool:
    """Whether no running text can be better than the worst of the K best that have ended."""
    if len(ended) < beams:
        return not np.isfinite(scores).any()
    worst = sorted((score for score, _ in ended), reverse=True)[beams - 1]
    return scores.max() / largest_divisor <= worst  # a log-probability only falls
