"""Learns a WordPiece vocabulary: start from single characters, merge the best pair of neighbours, repeat.

The algorithm is that of Schuster and Nakajima 2012, "Japanese and Korean Voice Search", section 3, in the count form
in which it is usually taught: every word is spelled in characters ("hug" → h ##u ##g), then the neighbouring pair
with the highest score

    wordpiece   count(ab) / (count(a) · count(b))      how much more often a meets b than chance would have it
    frequency   count(ab)                              byte-pair encoding's choice (Sennrich et al. 2016)

becomes one token, everywhere, until the vocabulary is full. The learner that made BERT's own vocabularies was never
published.

**Why the plain ratio needs `min_frequency`.** Two characters that occur once in the whole corpus, side by side, score 1
/ (1 · 1) = 1, the highest score there is; "t" + "##h", seen a million times among many other t's and h's, scores about
one in a million. Left alone, the ratio spends the vocabulary on the rarest words: on 43 MB of novels its first merges
are the digits of years, and 8,000 tokens need 2.9 tokens per word where the frequency needs 1.13
(`benchmarks/tokenizers/vocabulary.py`). `min_frequency` leaves out all pairs seen less often. Too low, and rare pairs
win; too high, and no pair is left before the vocabulary is full. So by default it falls: it starts at the count of the
most frequent pair and is halved whenever no pair reaches it. Pairs of about the same frequency are then ranked by the
ratio, and the vocabulary fits within 1% as well as the frequency's (1.14 tokens per word).
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import ConfigError, DataError
from bertlab.common.progress import bar
from bertlab.tokenizers.wordpiece.learner_counting import count_words, read_texts
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

MIN_FREQUENCY = 2  # where a falling min_frequency ends
OUTSIDE = 0  # the slot before the first and after the last symbol of each word
NONE = -1  # no symbol, or no pair
JOINER = "##"
SCORES = ("wordpiece", "frequency")

__all__ = ["LearnedPieces", "count_words", "learn_from_counts", "learn_pieces", "learn_vocabulary", "read_texts"]


@dataclass(frozen=True)
class LearnedPieces:
    """The result of one run of the learner. A smaller vocabulary is a shorter part of the same run."""

    fixed: tuple[str, ...]  # special tokens, then [unused0] …
    alphabet: tuple[str, ...]  # characters, then characters with ##; each by code point
    merges: tuple[tuple[str, str], ...]  # the two tokens that became one, in the order of merging
    pieces: tuple[str, ...]  # fixed + alphabet + every merge's result, each once: a vocabulary's ids

    @property
    def smallest(self) -> int:
        """The size of the smallest vocabulary, which has no merges."""
        return len(self.fixed) + len(self.alphabet)

    def vocabulary(self, size: int | None = None) -> Vocabulary:
        """The vocabulary that learning would have given for `size` tokens, or for all.

        Raises ConfigError if that is fewer than special tokens and alphabet need.
        """
        size = len(self.pieces) if size is None else size
        _check_size(size, self.smallest)
        return Vocabulary(self.pieces[:size])


def learn_vocabulary(
    texts: Iterable[str],
    size: int,
    *,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    workers: int = 1,
    max_words: int | None = None,
    progress: bool = True,
    **settings,
) -> Vocabulary:
    """Learns a vocabulary of `size` tokens from text.

    texts: any iterable of strings, read once; for files ``learn_vocabulary(read_texts(paths), 8000)``.
    lowercase, strip_accents, workers, max_words: see `count_words`.
    settings: see `learn_pieces`.
    Returns a Vocabulary: special tokens, reserved tokens, alphabet, then the merges' results in order, intermediate
    ones included ("th" stays when "the" is made of it). Where the corpus has too few pairs it is smaller than `size`.
    """
    counts = count_words(
        texts, lowercase=lowercase, strip_accents=strip_accents, workers=workers, max_words=max_words, progress=progress
    )
    return learn_from_counts(counts, size, progress=progress, **settings)


def learn_from_counts(word_counts: Mapping[str, int], size: int, **settings) -> Vocabulary:
    """Learns a vocabulary from words and their counts, as `count_words` gives them. settings: see `learn_pieces`."""
    return learn_pieces(word_counts, size, **settings).vocabulary()


def learn_pieces(
    word_counts: Mapping[str, int],
    size: int,
    *,
    score: str = "wordpiece",
    min_frequency: int | None = None,
    alphabet_limit: int = 1000,
    reserved: int = 0,
    max_chars_per_word: int = 200,
    progress: bool = True,
) -> LearnedPieces:
    """Learns the tokens of a vocabulary and keeps the merges, so that smaller vocabularies can be cut from it.

    word_counts: word → count, words as the basic tokenizer gives them (no "#" together with other characters).
    size: tokens wanted, special and reserved tokens included.
    score: "wordpiece" or "frequency"; see this module's first lines. Scores are float64 (two ratios that agree to
        16 digits count as equal). Of equal scores the pair seen more often wins, then the one that comes first when
        (left, right) are compared code point by code point.
    min_frequency: pairs seen fewer times are never merged. None: it falls, as described at the top of this module, down
        to 2; with score "frequency" that is the same as 2.
    alphabet_limit: characters kept, the most frequent ones (of equal ones the lower code point). A word with any
        other character takes no part, as the tokenizer will turn it into [UNK] as a whole.
    reserved: number of [unused0], [unused1] … after the special tokens, places to fill later.
    max_chars_per_word: longer words take no part; they are [UNK] for the tokenizer as well.
    Raises ConfigError for settings that contradict one another, DataError for a word that holds "#" and more.
    """
    if score not in SCORES:
        raise ConfigError(f"unknown score {score!r}; choose one of {', '.join(SCORES)}")
    least = MIN_FREQUENCY if min_frequency is None else min_frequency
    limits = (("min_frequency", least, 1), ("alphabet_limit", alphabet_limit, 1), ("reserved", reserved, 0))
    for name, value, lowest in limits:
        if value < lowest:
            raise ConfigError(f"{name} must be at least {lowest}, not {value}")
    fixed = (*SPECIAL_TOKENS, *(f"[unused{number}]" for number in range(reserved)))
    words = {word: count for word, count in word_counts.items() if 0 < len(word) <= max_chars_per_word and count > 0}
    alphabet, words = _limit_alphabet(words, alphabet_limit)
    pieces = dict.fromkeys((*fixed, *alphabet))
    _check_size(size, len(pieces))
    merges = []
    merger = Merger(words, alphabet, score)
    best_pairs = _best_pairs(merger, least, falls=min_frequency is None)
    with bar("Merging pairs", total=size, start=len(pieces)) if progress else nullcontext() as running:
        while len(pieces) < size and (pair := next(best_pairs, None)) is not None:
            merges.append(merger.pieces_of(pair))
            before, piece = len(pieces), merger.merge(pair)
            pieces.setdefault(piece)
            if running:
                running.advance(len(pieces) - before, note=piece)
    return LearnedPieces(fixed, tuple(alphabet), tuple(merges), tuple(pieces))


def _best_pairs(merger: "Merger", least: int, falls: bool) -> Iterator[int]:
    """Yields the pair to merge now, as long as there is one; the caller merges it before asking for the next."""
    threshold = max(merger.highest_count(), least) if falls else least
    while True:
        if (pair := merger.best_pair(threshold)) is not None:
            yield pair
        elif threshold > least:
            threshold = max(threshold // 2, least)
        else:
            return


def _limit_alphabet(words: dict[str, int], limit: int) -> tuple[list[str], dict[str, int]]:
    """The tokens of one character, and the words that can be spelled in them. Raises DataError for "#" in a word.

    A character gets its form with ## if it was ever seen in a word of two or more characters; one that always is
    alone (punctuation, a Chinese character) does not need it. Every kept character gets its bare form.
    """
    counts, in_company = Counter(), set()
    for word, count in words.items():
        for character in word:
            counts[character] += count
        if len(word) > 1:
            in_company.update(word)
            if JOINER[0] in word:
                raise DataError(
                    f"word {word!r}: expected words without #: the basic tokenizer splits at #, because ## marks "
                    "tokens that continue a word; count words with count_words"
                )
    kept = set(sorted(counts, key=lambda character: (-counts[character], character))[:limit])
    alphabet = sorted(kept) + [JOINER + character for character in sorted(kept & in_company)]
    return alphabet, {word: count for word, count in words.items() if kept.issuperset(word)}


def _check_size(size: int, smallest: int) -> None:
    if size < smallest:
        raise ConfigError(
            f"size must be at least {smallest} (the special tokens and the alphabet), not {size}: "
            "choose a larger size or a smaller alphabet_limit"
        )


# === Merging: which two neighbouring tokens become one, 8,000 times in a row, in seconds ===


def join(left: str, right: str) -> str:
    """The token that two neighbouring tokens make: ("h", "##u") → "hu", ("##u", "##g") → "##ug"."""
    return left + right.removeprefix(JOINER)


class Merger:
    """The words of a corpus as chains of symbols, with exact counts of symbols and of neighbouring pairs.

    All distinct words lie one after another in flat arrays, one *slot* per symbol:

        slot      0     1    2    3     4    5
        symbol    -     h   ##u  ##g    p   ##u      (slot 0 stands for "outside of every word")
        next      0     2    3    0     5    0
        weight    0     9    9    9     4    4       (how often the word was seen)
        pair      -    hu   ug    -    pu    -       (the pair that starts in this slot)

    A merge of (a, b) touches the slots that hold the pair and their neighbours to the left, nothing else, so its work
    grows with the number of words that contain the pair, not with the corpus. Scores are not kept: a merge changes
    that of every pair with an a or a b in it, and those of the pairs that are frequent enough are soon computed.

    words: word → how often it was seen. Every character of every word must be spelled in `alphabet`: the first one
    bare, the others with "##". score: "wordpiece" or "frequency".
    """

    def __init__(self, words: dict[str, int], alphabet: list[str], score: str):
        self.pieces = list(alphabet)  # symbol → its text
        self._symbol_of = {piece: symbol for symbol, piece in enumerate(alphabet)}
        self._by_ratio = score == "wordpiece"
        self._fill_slots(words)
        # --- pairs: one row per pair ever seen ---
        self._pair_ids: dict[int, int] = {}  # left symbol · 2³² + right symbol → pair
        self._left, self._right, self._count = array("q"), array("q"), array("q")
        self._slots: list[list[np.ndarray]] = []  # pair → slots where it starts; some may have ceased to hold it
        self._pair = np.full(len(self._symbol), NONE, np.int32)  # slot → pair that starts there
        self._add_pairs(np.flatnonzero(self._next != OUTSIDE))

    def _fill_slots(self, words: dict[str, int]) -> None:
        """Fills the arrays over slots; see the picture above."""
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        counts = np.fromiter(words.values(), np.int64, len(words))
        ends = np.cumsum(lengths)  # slot of each word's last symbol, as slot 0 comes before the first word
        starts = ends - lengths + 1
        codes = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32)  # (slots - 1,) code points
        distinct, which = np.unique(codes, return_inverse=True)
        bare = np.array([self._symbol_of.get(chr(code), NONE) for code in distinct], np.int32)
        joined = np.array([self._symbol_of.get(JOINER + chr(code), NONE) for code in distinct], np.int32)
        slots = np.arange(len(codes) + 1, dtype=np.int32)
        self._symbol = np.full(len(slots), NONE, np.int32)
        self._symbol[1:] = joined[which]
        self._symbol[starts] = bare[which[starts - 1]]
        self._weight = np.concatenate([[0], np.repeat(counts, lengths)])
        self._next = slots + 1
        self._next[ends] = OUTSIDE
        self._previous = slots - 1
        self._previous[starts] = OUTSIDE
        self._next[OUTSIDE] = self._previous[OUTSIDE] = OUTSIDE
        self._symbol_count = np.zeros(len(self.pieces), np.int64)
        np.add.at(self._symbol_count, self._symbol[1:], self._weight[1:])

    # --- choosing ---

    def highest_count(self) -> int:
        """The count of the most frequent pair; 0 if there is none."""
        return max(self._count, default=0)

    def best_pair(self, min_frequency: int) -> int | None:
        """The pair with the highest score among those seen often enough, or None if there is none.

        Of pairs with equal scores the one seen more often wins, then the one whose tokens (left, right) come first
        in the order of code points.
        """
        counts = _view(self._count)
        pairs = np.flatnonzero(counts >= min_frequency)
        if not len(pairs):
            return None
        counts = counts[pairs]
        scores = counts.astype(np.float64)
        if self._by_ratio:
            left, right = (self._symbol_count[_view(side)[pairs]] for side in (self._left, self._right))
            scores /= left.astype(np.float64) * right
        highest = scores == scores.max()
        pairs, counts = pairs[highest], counts[highest]
        return int(min(pairs[counts == counts.max()], key=self.pieces_of))

    def pieces_of(self, pair: int) -> tuple[str, str]:
        return self.pieces[self._left[pair]], self.pieces[self._right[pair]]

    # --- merging ---

    def merge(self, pair: int) -> str:
        """Makes one symbol of every occurrence of a pair, left to right, and returns its text."""
        left, right, piece = self._left[pair], self._right[pair], join(*self.pieces_of(pair))
        first = self._occurrences(pair, overlapping=left == right)  # slots that will hold the new symbol
        second = self._next[first]  # slots that will be empty
        # Two routes to one text ("ab" + "##c", "a" + "##bc") give one symbol.
        merged = self._symbol_of.setdefault(piece, len(self.pieces))
        if merged == len(self.pieces):
            self.pieces.append(piece)
            self._symbol_count = np.append(self._symbol_count, 0)
        before, after = self._previous[first], self._next[second]
        self._symbol[first] = merged
        self._symbol[second] = NONE
        self._next[first] = after
        self._previous[after] = first  # writes to OUTSIDE, too, whose neighbours nobody reads
        # Slots whose right neighbour is the new symbol; in "a b a b" not the slot that the first merge emptied.
        before = before[self._symbol[before] != NONE]

        merges = self._weight[first].sum()
        self._symbol_count[merged] += merges
        self._symbol_count[left] -= merges
        self._symbol_count[right] -= merges

        changed = np.concatenate([first, second, before])  # whose pairs are gone
        changed = changed[self._pair[changed] != NONE]
        np.subtract.at(_view(self._count), self._pair[changed], self._weight[changed])
        self._pair[changed] = NONE
        self._add_pairs(np.concatenate([first[self._next[first] != OUTSIDE], before]))
        return piece

    def _occurrences(self, pair: int, overlapping: bool) -> np.ndarray:
        """Slots where a pair starts. Of "##a ##a ##a" the first two are taken, not the last two as well."""
        slots = np.concatenate(self._slots[pair])
        self._slots[pair] = []
        slots = slots[self._pair[slots] == pair]
        if not overlapping:
            return slots
        taken, last_second = [], NONE
        for slot in np.sort(slots):
            if slot != last_second:
                taken.append(slot)
                last_second = self._next[slot]
        return np.array(taken, np.int32)

    def _add_pairs(self, slots: np.ndarray) -> None:
        """Writes down the pairs that start in `slots`, and adds their counts."""
        keys = (self._symbol[slots].astype(np.int64) << 32) | self._symbol[self._next[slots]]
        order = np.argsort(keys, kind="stable")
        slots = slots[order]
        keys, starts, sizes = np.unique(keys[order], return_index=True, return_counts=True)
        pairs = np.array([self._pair_for(key) for key in keys.tolist()], np.int32)
        _view(self._count)[pairs] += np.add.reduceat(self._weight[slots], starts)
        self._pair[slots] = np.repeat(pairs, sizes)
        for pair, where in zip(pairs.tolist(), np.split(slots, starts[1:])):
            self._slots[pair].append(where)

    def _pair_for(self, key: int) -> int:
        pair = self._pair_ids.setdefault(key, len(self._slots))
        if pair == len(self._slots):
            self._left.append(key >> 32)
            self._right.append(key & 0xFFFFFFFF)
            self._count.append(0)
            self._slots.append([])
        return pair


def _view(numbers: array) -> np.ndarray:
    """The numbers as an array that shares their memory: they cannot grow while it is there."""
    return np.frombuffer(numbers, np.int64)
