"""Learns a byte-level BPE: start from 256 bytes, merge the most frequent pair of neighbours, repeat.

Sources: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units", section 3.2, on bytes and
chunks as in Radford et al. 2019, section 2.2. Of equally frequent pairs the one whose tokens are older is merged, as in
Hugging Face's `tokenizers`, so both learn the same vocabulary.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bertlab.common.errors import ConfigError, DataError
from bertlab.common.progress import bar
from bertlab.tokenizers.bpe.chunks import as_utf8, byte_characters, split_chunks, to_characters
from bertlab.tokenizers.bpe.vocabulary import BytePairVocabulary, SpecialTokens

MIN_FREQUENCY = 2


def count_chunks(texts: Iterable[str]) -> Counter:
    """Counts how often each chunk occurs in some texts, read once. Raises DataError for items that are no strings.

    Example:
        >>> count_chunks(["low lower", "low"])
        Counter({'low': 2, ' lower': 1})
    """
    if isinstance(texts, str):
        raise ConfigError("texts must be an iterable of strings, not one string: wrap it in a list")
    counts = Counter()
    with bar("Counting") as running:
        for text in texts:
            if not isinstance(text, str):
                raise DataError(f"expected strings, got {type(text).__name__}")
            counts.update(split_chunks(text))
            running.advance()
    return counts


def learn(texts: Iterable[str], size: int, **settings) -> BytePairVocabulary:
    """Learns a vocabulary of `size` tokens from texts. settings: see `learn_from_counts`."""
    return learn_from_counts(count_chunks(texts), size, **settings)


def learn_from_counts(
    counts: Mapping[str, int],
    size: int,
    min_frequency: int = MIN_FREQUENCY,
    special: SpecialTokens | None = None,
) -> BytePairVocabulary:
    """Learns a vocabulary from chunks and their counts (`count_chunks`).

    size: tokens wanted: 5 special tokens, 256 bytes, and the merges' results. Where the text has too few pairs, there
        are fewer tokens.
    min_frequency: pairs seen fewer times are not merged.
    Returns the vocabulary: `<s> <pad> </s> <unk>` with ids 0 to 3, as RoBERTa has them, bytes, merges, then `<mask>`.
    Raises ConfigError for a size that is too small for the special tokens and bytes.
    """
    special = special or SpecialTokens()
    front = [special.cls, special.pad, special.sep, special.unk]
    smallest = len(front) + 256 + 1
    if size < smallest:
        raise ConfigError(f"expected a size of at least {smallest}, for special tokens and 256 bytes; got {size}")
    if min_frequency < 1:
        raise ConfigError(f"min_frequency must be at least 1, not {min_frequency}")
    learner = _Learner(counts, [*front, *sorted(byte_characters())])
    with bar("Merging", total=size - smallest) as running:
        while len(learner.pieces) < size - 1 and learner.merge_best(min_frequency):
            running.advance()
    return BytePairVocabulary([*learner.pieces, special.mask], learner.merges, special)


@dataclass(frozen=True)
class Fit:
    """The fit of a vocabulary to a text: the text's chunks (words with their space), tokens and bytes of UTF-8."""

    chunks: int
    tokens: int
    bytes: int

    def sentence(self) -> str:
        """One sentence for a terminal."""
        per_chunk, per_token = self.tokens / max(self.chunks, 1), self.bytes / max(self.tokens, 1)
        return f"On {self.chunks:,} chunks of text: {per_chunk:.3f} tokens per chunk, {per_token:.2f} bytes per token"


def measure(tokenizer, counts: Mapping[str, int]) -> Fit:
    """Measures how well a `BytePairTokenizer` fits chunks and their counts (`count_chunks`)."""
    tokens = sum(len(tokenizer.encode(chunk)) * count for chunk, count in counts.items())
    size = sum(len(as_utf8(chunk)) * count for chunk, count in counts.items())
    return Fit(sum(counts.values()), tokens, size)


class _Learner:
    """The chunks as rows of token numbers, how often each pair occurs in them, and a queue of the pairs.

    An entry of the queue may be out of date: it is checked, and put back with the right count, when it is the first.
    """

    def __init__(self, counts: Mapping[str, int], pieces: list[str]):
        self.pieces = pieces
        self.merges: list[tuple[str, str]] = []
        self._number = {piece: number for number, piece in enumerate(pieces)}
        self._words = [[self._number[char] for char in to_characters(chunk)] for chunk in counts]
        self._counts = list(counts.values())
        self._pair_counts: dict[tuple[int, int], int] = defaultdict(int)
        self._words_of: dict[tuple[int, int], set[int]] = defaultdict(set)
        for index, word in enumerate(self._words):
            for pair in zip(word, word[1:]):
                self._pair_counts[pair] += self._counts[index]
                self._words_of[pair].add(index)
        self._queue = [(-count, pair) for pair, count in self._pair_counts.items()]
        heapq.heapify(self._queue)

    def merge_best(self, min_frequency: int) -> bool:
        """Merges the most frequent pair everywhere; False if no pair is frequent enough."""
        while self._queue:
            negative, pair = heapq.heappop(self._queue)
            count = self._pair_counts[pair]
            if -negative != count:
                if count > 0:
                    heapq.heappush(self._queue, (-count, pair))
                continue
            if count < min_frequency:
                return False
            self._merge(pair)
            return True
        return False

    def _merge(self, pair: tuple[int, int]) -> None:
        left, right = (self.pieces[number] for number in pair)
        new = self._number.setdefault(left + right, len(self.pieces))
        if new == len(self.pieces):
            self.pieces.append(left + right)
        self.merges.append((left, right))
        changed = set()
        for index in self._words_of.pop(pair):
            changed |= self._merge_in_word(index, pair, new)
        for one in changed:
            if one != pair and self._pair_counts[one] > 0:
                heapq.heappush(self._queue, (-self._pair_counts[one], one))

    def _merge_in_word(self, index: int, pair: tuple[int, int], new: int) -> set[tuple[int, int]]:
        """Merges a pair in one chunk, from left to right, and returns the pairs that became more frequent."""
        word, count = self._words[index], self._counts[index]
        merged, position = [], 0
        while position < len(word):
            if tuple(word[position : position + 2]) == pair:
                merged.append(new)
                position += 2
            else:
                merged.append(word[position])
                position += 1
        if len(merged) == len(word):
            return set()  # "aaa" no longer has the pair
        before, after = Counter(zip(word, word[1:])), Counter(zip(merged, merged[1:]))
        grown = set()
        for one in before.keys() | after.keys():
            difference = after[one] - before[one]
            if difference:
                self._pair_counts[one] += difference * count
            if difference > 0:
                grown.add(one)
                self._words_of[one].add(index)
        self._words[index] = merged
        return grown
