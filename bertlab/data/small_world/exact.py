"""Exact probabilities of words in the small world, and the smallest loss that any model can reach.

All probabilities are sums over all walks through the grammar. For readers who know the places of the words the sums are
taken step by step, forward and backward (Baum et al. 1970; Rabiner 1989, "A tutorial on hidden Markov models"). For
readers without an order the walk also has to use each word of the bag once.

Letters: N sentences, T words in a row, S states, V words; row V of a table is "", after the end.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.small_world.grammar import automaton
from bertlab.data.small_world.sentences import Sentence, read, word_ids

READERS = ("both-sided", "left-to-right", "order-free", "without context")
BATCH_SIZE = 500  # sentences that are computed at once: 500 · 19 · S numbers of 8 bytes are 30 MB
TINY = np.finfo(float).tiny  # against 0 / 0


def exact(
    sentence: Sentence | str, position: int, visible: Iterable[int] | None = None, length_known: bool = True
) -> dict[str, float]:
    """The probability of each word at a position, given the words at the visible positions; the likeliest first.

    visible: all positions but `position` if left out; `position` itself is never seen. length_known: whether the reader
    sees how many words there are, as BERT does; if not, the word "" means that the sentence has ended before.

    Impossible words are left out. Raises DataError for a position that the sentence does not have, and for what `read`
    raises it.

    Example:
        >>> sentence = read("the dogs near the river follow every cat .")
        >>> list(exact(sentence, 5))  # the river is no reason for a singular verb
        ['follow', 'fear', 'cover', 'face', 'hold', 'like']
        >>> after_the_dogs = exact(sentence, 2, visible=[0, 1], length_known=False)
        >>> {word: round(after_the_dogs[word], 3) for word in ("near", "and", "are", "run", "follow")}
        {'near': 0.1, 'and': 0.1, 'are': 0.1, 'run': 0.013, 'follow': 0.019}
    """
    sentence = read(sentence) if isinstance(sentence, str) else sentence
    seen = set(range(len(sentence)) if visible is None else visible) - {position}
    _check_positions(sentence, position, *seen)
    hidden = np.array([[place not in seen for place in range(len(sentence))]])  # (1, T)
    ids = word_ids([sentence])
    if length_known:  # the end is visible as a "" after it
        ids, hidden = word_ids([sentence], len(sentence) + 1), np.pad(hidden, ((0, 0), (0, 1)))
    return _by_chance(conditionals(ids, hidden, length_known=length_known)[0, position])


def _check_positions(sentence: Sentence, *positions: int) -> None:
    for place in positions:
        if not isinstance(place, int | np.integer) or not 0 <= place < len(sentence):
            raise DataError(f"expected positions from 0 to {len(sentence) - 1}, got {place!r}; count the words from 0")


def _by_chance(chances: np.ndarray) -> dict[str, float]:
    """(V + 1,) as a dict of the words that are possible, the likeliest first."""
    words, order = automaton().words, np.argsort(-chances.round(12), kind="stable")  # equal ones in the table's order
    return {words[number]: float(chances[number]) for number in order if chances[number]}


def conditionals(
    ids: np.ndarray, hidden: np.ndarray, to_the_right: bool = True, length_known: bool = True
) -> np.ndarray:
    """The probability of each word at each position, given all other words that are not hidden.

    ids (N, T) int: as `word_ids` makes them.   hidden (N, T) bool: words that the reader does not see; a position's own
    word is never seen.   to_the_right: whether the words to the right of a position are seen, and the end.
    length_known: whether a hidden position certainly has a word; else the sentence may have ended before.
    Returns (N, T, V + 1) float64. Raises DataError for visible words that no sentence has.
    """
    world = automaton()
    chances = np.empty((*ids.shape, len(world.words)))  # (N, T, V + 1)
    unseen = 1 - world.writes[:, -1] if length_known else np.ones(len(world.states))  # (S,): 0 after the end
    for first in range(0, len(ids), BATCH_SIZE):
        part = slice(first, first + BATCH_SIZE)
        evidence = np.where(hidden[part, :, None], unseen, world.writes.T[ids[part]])  # (N, T, S)
        states = _forward(evidence)
        if to_the_right:
            states *= _backward(evidence)
        states[ids[part] < len(world.words) - 1] *= unseen
        chances[part] = states @ world.writes
    total = chances.sum(axis=-1, keepdims=True)  # (N, T, 1)
    if not total.all():
        row = int(np.argmin(total.all(axis=(1, 2))))
        raise DataError(f"row {row}: expected words of a sentence, got words that no sentence has; see read()")
    return chances / total


def _forward(evidence: np.ndarray) -> np.ndarray:
    """(N, T, S): the chance of each state at a position, given what is seen before it."""
    steps, before = automaton().steps, np.empty_like(evidence)
    state = np.zeros(evidence[:, 0].shape)
    state[:, 0] = 1.0  # all walks begin at the first state
    for place in range(evidence.shape[1]):
        before[:, place] = state @ steps  # (N, S)
        state = before[:, place] * evidence[:, place]
        state /= np.maximum(state.sum(axis=-1, keepdims=True), TINY)  # ratios are enough, and products become small
    return before


def _backward(evidence: np.ndarray) -> np.ndarray:
    """(N, T, S): how likely what is seen after a position is from each state there, up to a factor."""
    steps, after = automaton().steps, np.empty_like(evidence)
    after[:, -1] = 1.0
    for place in reversed(range(evidence.shape[1] - 1)):
        likely = (after[:, place + 1] * evidence[:, place + 1]) @ steps.T  # (N, S)
        after[:, place] = likely / np.maximum(likely.max(axis=-1, keepdims=True), TINY)
    return after


# === Readers without an order ===


def exact_in_bag(sentence: Sentence | str, position: int) -> dict[str, float]:
    """The probability of each word as the missing one, given the other words in no order; the likeliest first.

    The reader knows neither the places of the others nor that of the missing word. Raises what `exact` raises.

    Example:
        >>> list(exact_in_bag("the dogs near the river run .", 5))[:8]  # "run" and "runs" fit as well
        ['runs', 'falls', 'rises', 'moves', 'grows', 'run', 'fall', 'rise']
    """
    sentence = read(sentence) if isinstance(sentence, str) else sentence
    _check_positions(sentence, position)
    return _by_chance(_Bag(sentence).missing(sentence.words[position]))


class _Bag:
    """The words of a sentence without their order, and sums over all walks that use some of them once each.

    A whole number says how many of each word are left: each different word has a digit in it, with a base of its own.
    """

    def __init__(self, sentence: Sentence):
        numbers = {word: number for number, word in enumerate(automaton().words)}
        self.unit, base = {}, 1  # one of a word, as such a number
        uses = []  # word for word: its base, the number of values of its digit, the chance in each state
        for word, count in Counter(sentence.words).items():
            self.unit[word] = base
            uses.append((base, count + 1, automaton().writes[:, numbers[word]].tolist()))
            base *= count + 1
        self.all = base - 1
        self.uses = [
            [(base, size, chances[state]) for base, size, chances in uses if chances[state]]
            for state in range(len(automaton().states))
        ]
        self.closed, self.opened = {}, {}

    def missing(self, word: str) -> np.ndarray:
        """(V + 1,): the chance of each word as the missing one, given the bag without one `word`."""
        chances = self._with_gap(0, self.all - self.unit[word])
        return chances / chances.sum()

    def _without_gap(self, state: int, left: int) -> float:
        """The chance that a walk from a state writes exactly the words that are left, in any order, and ends."""
        if left == 0:
            return float(automaton().states[state].phrase == "stop")
        if (state, left) not in self.closed:
            self.closed[state, left] = sum(
                step * chance * self._without_gap(after, left - base)
                for after, step in _after(state)
                for base, size, chance in self.uses[after]
                if left // base % size
            )
        return self.closed[state, left]

    def _with_gap(self, state: int, left: int) -> np.ndarray:
        """(V + 1,): the same, when the walk also writes one word more: the chance for each word."""
        if (state, left) not in self.opened:
            total = np.zeros(len(automaton().words))
            for after, step in _after(state):
                if ends := self._without_gap(after, left):
                    total += step * ends * automaton().writes[after]
                for base, size, chance in self.uses[after]:
                    if left // base % size:
                        total += step * chance * self._with_gap(after, left - base)
            self.opened[state, left] = total
        return self.opened[state, left]


@cache
def _after(state: int) -> list[tuple[int, float]]:
    row = automaton().steps[state]
    return [(int(after), float(row[after])) for after in np.flatnonzero(row)]


# === Losses ===


def best_losses(sentences: Sequence[Sentence], reader: str = "both-sided") -> np.ndarray:
    """The loss in nats of the best reader of a kind at each word of all sentences, one after the other: (M,) float64.

    reader: "both-sided" sees all other words and where the sentence ends; "left-to-right" the words before;
    "order-free" the others as a bag, in no order; "without context" nothing. Raises DataError for another one.
    """
    if reader not in READERS:
        raise DataError(f"expected a reader of {', '.join(READERS)}; got {reader!r}; take one of them")
    if reader == "order-free":
        bags = ((_Bag(sentence), sentence.words, word_ids([sentence])[0]) for sentence in sentences)
        return -np.log([bag.missing(word)[number] for bag, words, ids in bags for word, number in zip(words, ids)])
    ids = word_ids(sentences)
    ids = np.pad(ids, ((0, 0), (0, 1)), constant_values=len(automaton().words) - 1)  # each row ends with a ""
    real = ids < len(automaton().words) - 1  # (N, T)
    if reader == "without context":
        chances = np.bincount(ids[real], minlength=len(automaton().words)) / real.sum()
        return -np.log(chances[ids[real]])
    chances = conditionals(ids, np.zeros(ids.shape, bool), reader == "both-sided")
    return -np.log(np.take_along_axis(chances, ids[..., None], axis=-1)[..., 0][real])


def floors(sentences: Sequence[Sentence], readers: Sequence[str] = READERS) -> dict[str, float]:
    """The mean loss in nats per word of the best reader of each kind on these sentences.

    Of enough sentences it is a floor: no model that sees only what the reader sees has a smaller mean loss.

    Example:
        >>> from bertlab.data.small_world import sample
        >>> {reader: round(nats, 1) for reader, nats in floors(sample(1, 500), READERS[:2]).items()}
        {'both-sided': 1.4, 'left-to-right': 2.2}
    """
    return {reader: float(best_losses(sentences, reader).mean()) for reader in readers}
