"""Cuts tokenised documents into the segments of examples: pairs A, B for next-sentence prediction, or full rows.

A corpus is one long array of tokens. Sentences and documents are places in it, and so are segments: (start, end).
Nothing is copied before the rows are laid out, so the loops here touch sentences, never tokens.

**Pairs** (Devlin et al. 2019, A.2). Sentences are gathered until they reach the length of a row; the chunk is split in
two at a random sentence; half of the time the second part is replaced by sentences from another document, and what
was replaced begins the next chunk. Two things are exact here that are not in the published script (which the
`original` procedure reproduces):

- *Half is half.* The script has no choice but "random" where a chunk has one sentence only, so that short documents
  push the share above 50% and the label can be guessed from the length of A. Here a chunk always has two sentences (it
  takes one more, or the one before it), documents of one sentence supply no pairs, and labels are dealt from shuffled
  decks: of every two pairs one is random.
- *B does not betray itself.* The actual B never begins a document, so a random one does not either.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bertlab.data.settings import ExampleSettings
from bertlab.errors import DataError

IS_NEXT, RANDOM_NEXT = 0, 1


@dataclass(frozen=True, eq=False)
class TokenDocuments:
    """Tokenised documents, end to end.

    values: (N,) int32 piece ids. sentence_splits: (S + 1,) int64, sentence s is values[splits[s]:splits[s + 1]], never
    empty. document_splits: (D + 1,) int64, document d is the sentences from splits[d] to splits[d + 1] − 1.
    """

    values: np.ndarray
    sentence_splits: np.ndarray
    document_splits: np.ndarray

    def __len__(self) -> int:
        return len(self.document_splits) - 1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Segments A and B of M pairs as places in `TokenDocuments.values`; all arrays (M,) int64. label: 0 = IsNext."""

    a_start: np.ndarray
    a_length: np.ndarray
    b_start: np.ndarray
    b_length: np.ndarray
    label: np.ndarray


# --- pairs ---


def make_pairs(tokens: TokenDocuments, settings: ExampleSettings, rng: np.random.Generator) -> Pairs:
    """One pass over the documents: pairs of segments that fit a row with [CLS] and two [SEP].

    Raises DataError if fewer than two documents have two sentences.
    """
    room = settings.sequence_length - 3
    maker = _PairMaker(tokens, settings, rng)
    pairs = [pair for document in rng.permutation(maker.documents) for pair in maker.pairs_of(int(document))]
    a_start, a_end, b_start, b_end, label = np.array(pairs, np.int64).T
    return truncate(Pairs(a_start, a_end - a_start, b_start, b_end - b_start, label), room, rng)


class _PairMaker:
    """Gathers sentences into pairs. Plain lists and numbers: `bisect` on a list is faster than NumPy one by one."""

    def __init__(self, tokens: TokenDocuments, settings: ExampleSettings, rng: np.random.Generator):
        self.sentences = tokens.sentence_splits.tolist()
        self.ends = tokens.document_splits.tolist()
        self.documents = np.flatnonzero(np.diff(tokens.document_splits) >= 2)
        if len(self.documents) < 2:
            raise DataError(
                f"next-sentence pairs need at least two documents of two sentences; here {len(self.documents)} of "
                f"{len(tokens)} documents have two. Use more text or longer documents, or give up "
                "next-sentence prediction (next_sentence=False, on the command line --preset roberta)"
            )
        followers = np.diff(tokens.document_splits)[self.documents] - 1  # sentences that may begin a B
        self.places = np.cumsum(followers)
        self.settings = settings
        self.rng = rng
        self.labels = _deal_labels(settings.random_next_probability, rng)

    def pairs_of(self, document: int) -> Iterator[tuple[int, int, int, int, int]]:
        """(A start, A end, B start, B end, label) of each pair of a document, as places of tokens."""
        sentences, last = self.sentences, self.ends[document + 1]
        at = self.ends[document]
        while at < last:
            target = self._target()
            end = bisect_left(sentences, sentences[at] + target, at + 1, last)  # where the target is reached
            if end - at == 1:  # one sentence: there must be a second one
                end = min(end + 1, last)
                at = end - 2
            middle = at + 1 + int(self.rng.integers(end - at - 1))
            if next(self.labels) == IS_NEXT:
                yield sentences[at], sentences[middle], sentences[middle], sentences[end], IS_NEXT
                at = end
            else:
                wanted = target - (sentences[middle] - sentences[at])
                yield sentences[at], sentences[middle], *self._random_next(document, wanted), RANDOM_NEXT
                at = middle if last - middle > 1 else last  # a lone last sentence was to be B: it is not used as A

    def _target(self) -> int:
        """The length that a pair aims at: the room in a row, or (10%) a random one from 2."""
        room = self.settings.sequence_length - 3
        if self.rng.random() < self.settings.short_sequence_probability:
            return int(self.rng.integers(2, room + 1))
        return room

    def _random_next(self, document: int, wanted: int) -> tuple[int, int]:
        """Sentences of another document, at least `wanted` tokens if it has so many: (start, end)."""
        while True:  # documents of two sentences or more: at least two, so this ends
            place = int(self.rng.integers(self.places[-1]))
            which = int(np.searchsorted(self.places, place, side="right"))
            if self.documents[which] != document:
                break
        last = self.ends[self.documents[which] + 1]
        start = last - int(self.places[which] - place)
        end = bisect_left(self.sentences, self.sentences[start] + wanted, start + 1, last)
        return self.sentences[start], self.sentences[end]


def _deal_labels(random_share: float, rng: np.random.Generator) -> Iterator[int]:
    """Endless labels with exactly `random_share` of RANDOM_NEXT in every deck: decks of two for one half."""
    share = Fraction(random_share).limit_denominator(100)
    deck = [RANDOM_NEXT] * share.numerator + [IS_NEXT] * (share.denominator - share.numerator)
    while True:
        yield from rng.permutation(deck).tolist()


def truncate(pairs: Pairs, room: int, rng: np.random.Generator) -> Pairs:
    """Shortens the longer segment, token by token, until A and B fit into `room`; each token goes from a random end.

    Taking the tokens one by one from the longer one ends with both at half the room, or with the shorter one
    untouched; the number taken from the front is then binomial. So no loop is needed.
    """
    a_most = np.maximum(room - pairs.b_length, room - room // 2)
    b_most = np.maximum(room - pairs.a_length, room // 2)
    a_length = np.minimum(pairs.a_length, a_most)
    b_length = np.minimum(pairs.b_length, b_most)
    a_front = rng.binomial(pairs.a_length - a_length, 0.5)
    b_front = rng.binomial(pairs.b_length - b_length, 0.5)
    return Pairs(pairs.a_start + a_front, a_length, pairs.b_start + b_front, b_length, pairs.label)


# --- full rows, without pairs ---


def make_spans(
    tokens: TokenDocuments, settings: ExampleSettings, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Cuts every document into runs of whole sentences that fit a row with [CLS] and [SEP]: (starts, lengths).

    No token is lost: a sentence longer than a row is cut. Starts and lengths are places in `tokens.values`, (M,) int64.
    """
    room = settings.sequence_length - 2
    sentences, ends = tokens.sentence_splits.tolist(), tokens.document_splits.tolist()
    spans = []
    for first, last in zip(ends, ends[1:]):
        at, stop = sentences[first], sentences[last]
        while at < stop:
            target = room
            if settings.short_sequence_probability and rng.random() < settings.short_sequence_probability:
                target = int(rng.integers(2, room + 1))
            end = _whole_sentences(sentences, at, at + target, at + room, first, last)
            spans.append((at, end - at))
            at = end
    starts, lengths = np.array(spans, np.int64).T
    return starts, lengths


def _whole_sentences(sentences: list[int], at: int, target: int, limit: int, first: int, last: int) -> int:
    """The last sentence end up to `target`; else the next one if it is within `limit`; else `limit` itself."""
    end = bisect_right(sentences, target, first, last + 1) - 1
    if sentences[end] > at:
        return sentences[end]
    return min(sentences[end + 1], limit)


def join_documents(tokens: TokenDocuments, separator: int) -> TokenDocuments:
    """All documents as one, the last sentence of each ending with a separator (RoBERTa's FULL-SENTENCES)."""
    stops = tokens.document_splits[1:]
    shift = np.searchsorted(stops, np.arange(len(tokens.sentence_splits)), side="right")
    return TokenDocuments(
        values=np.insert(tokens.values, tokens.sentence_splits[stops], separator),
        sentence_splits=tokens.sentence_splits + shift,
        document_splits=np.array([0, len(tokens.sentence_splits) - 1], np.int64),
    )


def without_outer_separators(
    values: np.ndarray, starts: np.ndarray, lengths: np.ndarray, separator: int
) -> tuple[np.ndarray, np.ndarray]:
    """Spans less a separator at their beginning or end, where the row has a special token anyway."""
    leads = values[starts] == separator
    starts, lengths = starts + leads, lengths - leads
    lengths = lengths - ((lengths > 0) & (values[starts + np.maximum(lengths, 1) - 1] == separator))
    return starts[lengths > 0], lengths[lengths > 0]
