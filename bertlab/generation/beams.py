"""Beam search: of several continuations side by side, the most likely ones go on. Letters: K beams, V vocabulary."""

from collections.abc import Callable, Sequence

import numpy as np

from bertlab.generation.choosing import log_softmax


def beam_searches(
    reader,
    beams: int,
    max_lengths: Sequence[int],
    divisor: Callable[[int], float],
    end_id: int | None = None,
) -> list[tuple[list[int], float]]:
    """The best continuation found of each prompt, and its score: the log-probability divided by divisor(length).

    reader: of K rows with each prompt, in their order; a class of `generation.reading`.
    max_lengths: the largest number of new tokens of each prompt.   divisor: must not fall as the length grows.
    end_id: the token that ends a text, which counts as part of it.

    Example:
        >>> from bertlab.generation.reading import WholeReader
        >>> config = BertConfig(vocab_size=9, hidden_size=8, num_layers=1, num_heads=1, causal=True)
        >>> reader = WholeReader(PreTrainingModel(config, next_sentence=False), [[2, 7]] * 3, length=6)
        >>> ids, score = beam_searches(reader, 3, [4], divisor=lambda length: length)[0]
        >>> len(ids), score < 0
        (4, True)
    """
    searches = [BeamSearch(beams, max_length, end_id, divisor) for max_length in max_lengths]
    logits = reader.first()
    while True:
        ids, rows = [], []
        for first, search in zip(range(0, len(logits), beams), searches):
            search.step(logits[first : first + beams])
            ids += search.ids
            rows += [first + row for row in search.rows]
        if all(search.is_over for search in searches):
            return [search.best() for search in searches]
        logits = reader.next(np.array(ids), np.array(rows))


class BeamSearch:
    """The K texts of one prompt, and those that have ended. Arguments as in `beam_searches`.

    After a `step`, `ids` and `rows` are the tokens to read next and the row that each continues; of a search that is
    over they mean nothing.
    """

    def __init__(self, beams: int, max_new_tokens: int, end_id: int | None, divisor: Callable[[int], float]):
        self.beams, self.end_id, self.divisor = beams, end_id, divisor
        self.is_over, self.ids, self.rows = False, [0] * beams, list(range(beams))
        self._max_new_tokens, self._length = max_new_tokens, 0
        self._texts: list[list[int]] = [[] for _ in range(beams)]
        self._scores = np.full(beams, -np.inf)
        self._scores[0] = 0.0  # the rows are equal at first
        self._ended: list[tuple[float, list[int]]] = []

    def step(self, logits: np.ndarray) -> None:
        """One more token for each text, unless the search is over. logits (K, V), behind the texts."""
        if self.is_over:
            return
        self._length += 1
        sums = self._scores[:, None] + log_softmax(logits)  # (K, V)
        rows, ids = [], []
        for index in _largest(sums, 2 * self.beams):  # a row ends in one way only
            row, number = divmod(int(index), sums.shape[1])
            if not np.isfinite(sums[row, number]):
                break
            if number == self.end_id:
                self._ended.append((sums[row, number] / self.divisor(self._length), [*self._texts[row], number]))
            elif len(rows) < self.beams:
                rows.append(row)
                ids.append(number)
        self._scores = np.full(self.beams, -np.inf)
        self._scores[: len(rows)] = [sums[row, number] for row, number in zip(rows, ids)]
        lacking = self.beams - len(rows)  # rows that have nothing to go on with repeat the first one, with score −∞
        self.rows, self.ids = rows + (rows[:1] or [0]) * lacking, ids + (ids[:1] or [0]) * lacking
        self._texts = [[*self._texts[row], number] for row, number in zip(self.rows, self.ids)]
        self.is_over = self._length == self._max_new_tokens or self._has_best()

    def _has_best(self) -> bool:
        """Whether no running text can be better than the worst of the K best that have ended."""
        if len(self._ended) < self.beams:
            return not np.isfinite(self._scores).any()
        worst = sorted((score for score, _ in self._ended), reverse=True)[self.beams - 1]
        return self._scores.max() / self.divisor(self._max_new_tokens) <= worst  # a log-probability only falls

    def best(self) -> tuple[list[int], float]:
        running = zip(self._scores, self._texts)
        unended = [(score / self.divisor(self._length), text) for score, text in running if np.isfinite(score)]
        score, text = max([*self._ended, *unended], key=lambda one: one[0])
        return text, float(score)


def _largest(sums: np.ndarray, count: int) -> np.ndarray:
    """The indices of the `count` largest numbers in the flattened array, largest first; equal ones in their order."""
    sums = sums.ravel()
    least = np.partition(sums, -count)[-count] if count < len(sums) else -np.inf
    indices = np.flatnonzero(sums >= least)
    return indices[np.argsort(-sums[indices], kind="stable")][:count]
