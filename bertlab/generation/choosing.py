"""The next token, from the logits of all: the most likely one, or one that is drawn. Letters: V vocabulary."""

from collections.abc import Callable, Sequence

import numpy as np

from bertlab.generation.settings import GenerationSettings


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """log softmax over the last axis, in float64. logits: any shape.

    Example:
        >>> np.exp(log_softmax(np.array([0.0, 0.0]))).round(3).tolist()
        [0.5, 0.5]
    """
    logits = logits.astype(np.float64)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def keep_top(logits: np.ndarray, count: int) -> np.ndarray:
    """−∞ for all but the `count` largest logits; of equal ones the first. logits (V,) → (V,).

    Example:
        >>> keep_top(np.array([1.0, 3.0, 2.0]), 2).tolist()
        [-inf, 3.0, 2.0]
    """
    kept = np.full_like(logits, -np.inf)
    best = np.argsort(-logits, kind="stable")[:count]
    kept[best] = logits[best]
    return kept


def keep_nucleus(logits: np.ndarray, share: float) -> np.ndarray:
    """−∞ for all but the fewest tokens whose probabilities, the largest first, add up to `share`. logits (V,) → (V,).

    Example:
        >>> keep_nucleus(np.log([0.5, 0.4, 0.1]), 0.8).round(1).tolist()
        [-0.7, -0.9, -inf]
    """
    order = np.argsort(-logits, kind="stable")
    before = np.cumsum(np.exp(log_softmax(logits[order])))  # up to and with each token
    needed = int(np.searchsorted(before, share - 1e-12)) + 1
    return keep_top(logits, needed)


def choose(logits: np.ndarray, settings: GenerationSettings, rng: np.random.Generator) -> int:
    """The id of the next token. logits (V,) float."""
    if not settings.sampling:
        return int(logits.argmax())
    logits = logits.astype(np.float64) / settings.temperature
    if settings.top_k:
        logits = keep_top(logits, settings.top_k)
    if settings.top_p < 1:
        logits = keep_nucleus(logits, settings.top_p)
    sums = np.cumsum(np.exp(log_softmax(logits)))
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))


def write_one_by_one(
    reader, limits: Sequence[int], end_id: int | None, choose_for: Callable[[np.ndarray, int], int]
) -> list[list[int]]:
    """The tokens of each row, until it has ended or has its number of them, `limits`.

    reader: of `generation.reading`.   choose_for: the logits (V,) behind a row, and its number → the next token's id.
    """
    written: list[list[int]] = [[] for _ in limits]
    running = list(range(len(limits)))
    logits = reader.first()  # (B, V)
    while True:
        ids = np.zeros(len(limits), np.int32)
        for row in running:
            ids[row] = choose_for(logits[row], row)
            written[row].append(int(ids[row]))
        running = [row for row in running if ids[row] != end_id and len(written[row]) < limits[row]]
        if not running:
            return written
        logits = reader.next(ids)
