"""Cuts tokenised documents into the segments of examples: pairs A, B for next-sentence prediction, or full rows.

A corpus is one long array of tokens. Sentences, documents and segments are index ranges in it: (start, end).
Nothing is copied before the rows are laid out, so the loops here touch sentences, never tokens.

**Pairs** (Devlin et al. 2019, A.2). Sentences are gathered until they reach the length of a row; the chunk is split in
two at a random sentence; half of the time the second part is replaced by sentences from another document, and what
was replaced begins the next chunk. Two things are exact here that are not in the published script (which the
`original` procedure reproduces):

- *Half is half.* Where a chunk has only one sentence, the script can only choose "random": short documents push the
  fraction above 50%, and the label can be guessed from the length of A. Here a chunk always has two sentences (it
  takes one more, or the one before it), documents of one sentence supply no pairs, and where chance leaves the labels
  uneven, a few pairs get the other B.
- *B alone does not reveal the label.* The actual B never begins a document, so a random one does not either. And the
  random one is as long as the actual one would have been; the script fills the row with it even where the actual one
  would have ended with its document.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.pretraining.settings import ExampleSettings

IS_NEXT, RANDOM_NEXT = 0, 1
IN_ORDER = 0  # and 1: swapped
_TRIES = 10  # random positions that are tried for a B of the right length
_NEAR = 1  # a B whose length differs by at most this many tokens ends the search


@dataclass(frozen=True, eq=False)
class TokenDocuments:
    """Tokenised documents, end to end.

    values: (N,) int32 token ids. sentence_splits: (S + 1,) int64, sentence s is values[splits[s]:splits[s + 1]], never
    empty. document_splits: (D + 1,) int64, document d is the sentences from splits[d] to splits[d + 1] − 1.
    """

    values: np.ndarray
    sentence_splits: np.ndarray
    document_splits: np.ndarray

    def __len__(self) -> int:
        return len(self.document_splits) - 1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Segments A and B of M pairs as index ranges of `TokenDocuments.values`; arrays (M,) int64. label: 0 = IsNext."""

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
    space = settings.sequence_length - 3
    maker = _PairMaker(tokens, settings, rng)
    if settings.sentence_order:
        return truncate(_ordered_pairs(maker, rng), space, rng)
    pairs = [pair for document in rng.permutation(maker.documents) for pair in maker.pairs_of(int(document))]
    label, a_start, a_end, *b_ranges = np.array(pairs, np.int64).T
    label = _balanced(label, settings.random_next_probability, rng)
    b_start, b_end = np.where(label == IS_NEXT, b_ranges[:2], b_ranges[2:])
    return truncate(Pairs(a_start, a_end - a_start, b_start, b_end - b_start, label), space, rng)


def _ordered_pairs(maker: "_PairMaker", rng: np.random.Generator) -> Pairs:
    """Two consecutive segments as A and B, in half of the pairs in the wrong order (Lan et al. 2020, section 3.1)."""
    cuts = [cut for document in rng.permutation(maker.documents) for cut in maker.cuts_of(int(document))]
    start, middle, end = np.array(cuts, np.int64).T
    label = _balanced(rng.integers(2, size=len(cuts)), 0.5, rng)
    in_order, lengths = label == IN_ORDER, (middle - start, end - middle)
    a_start, b_start = np.where(in_order, (start, middle), (middle, start))
    a_length, b_length = np.where(in_order, lengths, lengths[::-1])
    return Pairs(a_start, a_length, b_start, b_length, label)


class _PairMaker:
    """Gathers sentences into pairs. Plain lists: `bisect` on a list is faster than single searches in NumPy."""

    def __init__(self, tokens: TokenDocuments, settings: ExampleSettings, rng: np.random.Generator):
        self.sentences = tokens.sentence_splits.tolist()
        self.ends = tokens.document_splits.tolist()
        self.documents = np.flatnonzero(np.diff(tokens.document_splits) >= 2)
        if len(self.documents) < (1 if settings.sentence_order else 2):
            raise DataError(
                f"next-sentence pairs need at least two documents of two sentences; here {len(self.documents)} of "
                f"{len(tokens)} documents have two. Use more text or longer documents, or turn off "
                "next-sentence prediction (next_sentence=False, on the command line --preset roberta)"
            )
        self.settings = settings
        self.rng = rng
        self.draws = self._random_sentences(tokens.document_splits)

    def pairs_of(self, document: int) -> Iterator[tuple[int, ...]]:
        """(label, A start, A end, actual B start, end, random B start, end) of each pair, as indices of tokens."""
        sentences, last = self.sentences, self.ends[document + 1]
        at = self.ends[document]
        while at < last:
            at, middle, end = self._chunk(at, last)
            label = RANDOM_NEXT if self.rng.random() < self.settings.random_next_probability else IS_NEXT
            random_b = self._random_next(document, sentences[end] - sentences[middle])
            yield label, sentences[at], sentences[middle], sentences[middle], sentences[end], *random_b
            if label == IS_NEXT:
                at = end
            else:  # the actual B begins the next pair, unless it is a single last sentence, which cannot be an A
                at = middle if last - middle > 1 else last

    def cuts_of(self, document: int) -> Iterator[tuple[int, int, int]]:
        """(start, middle, end) of each chunk of a document, as indices of tokens; each follows the one before it."""
        at, last = self.ends[document], self.ends[document + 1]
        while at < last:
            at, middle, end = self._chunk(at, last)
            yield self.sentences[at], self.sentences[middle], self.sentences[end]
            at = end

    def _chunk(self, at: int, last: int) -> tuple[int, int, int]:
        """(start, middle, end) of a chunk, indices of sentences: as long as a row or (10%) a random length from 2."""
        target = self.settings.sequence_length - 3
        if self.rng.random() < self.settings.short_sequence_probability:
            target = int(self.rng.integers(2, target + 1))
        end = bisect_left(self.sentences, self.sentences[at] + target, at + 1, last)  # where the target is reached
        if end - at == 1:  # one sentence: there must be a second one
            end = min(end + 1, last)
            at = end - 2
        return at, at + 1 + int(self.rng.integers(end - at - 1)), end

    def _random_next(self, document: int, wanted: int) -> tuple[int, int]:
        """Whole sentences of another document, of about `wanted` tokens: (start, end). The best of some draws."""
        sentences = self.sentences
        best, tries = None, 0
        while tries < _TRIES or best is None:  # at least two documents have sentences to draw, so this ends
            other, start, last = next(self.draws)
            tries += 1
            if other == document:
                continue
            end = bisect_left(sentences, sentences[start] + wanted, start + 1, last)
            for stop in (end, max(end - 1, start + 1)):
                miss = abs(sentences[stop] - sentences[start] - wanted)
                if best is None or miss < best[0]:
                    best = miss, sentences[start], sentences[stop]
            if best[0] <= _NEAR:
                break
        return best[1:]

    def _random_sentences(self, document_splits: np.ndarray) -> Iterator[tuple[int, int, int]]:
        """Endless random sentences that do not begin a document: (document, sentence, end of the document)."""
        first, last = document_splits[self.documents], document_splits[self.documents + 1]
        followers = np.cumsum(last - first - 1)  # sentences that do not begin a document, up to each document
        while True:  # thousands at a time: one by one they would take most of the time of a pair
            drawn = self.rng.integers(followers[-1], size=4096)
            which = np.searchsorted(followers, drawn, side="right")
            starts = last[which] - (followers[which] - drawn)
            yield from zip(self.documents[which].tolist(), starts.tolist(), last[which].tolist())


def _balanced(labels: np.ndarray, random_share: float, rng: np.random.Generator) -> np.ndarray:
    """The labels, of which as few as possible are flipped at random so that the fraction of RANDOM_NEXT is exact.

    Alternating labels (random, actual, random …) would depend on the label before, and so on the shape of the pair:
    the rest of a document after a random pair is shorter.
    """
    surplus = int((labels == RANDOM_NEXT).sum()) - round(random_share * len(labels))
    too_many = RANDOM_NEXT if surplus > 0 else IS_NEXT
    turned = rng.choice(np.flatnonzero(labels == too_many), abs(surplus), replace=False)
    labels = labels.copy()
    labels[turned] = RANDOM_NEXT + IS_NEXT - too_many
    return labels


def truncate(pairs: Pairs, space: int, rng: np.random.Generator) -> Pairs:
    """Shortens the longer segment, token by token, until A and B fit into `space`; each token goes from a random end.

    Taking the tokens one by one from the longer one ends with both at half the space, or with the shorter one
    untouched; the number taken from the front is then binomial. So no loop is needed.
    """
    a_max = np.maximum(space - pairs.b_length, space - space // 2)
    b_max = np.maximum(space - pairs.a_length, space // 2)
    a_length = np.minimum(pairs.a_length, a_max)
    b_length = np.minimum(pairs.b_length, b_max)
    a_front = rng.binomial(pairs.a_length - a_length, 0.5)
    b_front = rng.binomial(pairs.b_length - b_length, 0.5)
    return Pairs(pairs.a_start + a_front, a_length, pairs.b_start + b_front, b_length, pairs.label)


# --- full rows, without pairs ---


def make_spans(
    tokens: TokenDocuments, settings: ExampleSettings, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Cuts every document into runs of whole sentences that fit a row with [CLS] and [SEP]: (starts, lengths).

    No token is lost: a sentence longer than a row is cut. Both are indices in `tokens.values`, (M,) int64.
    """
    space = settings.sequence_length - 2
    sentences, ends = tokens.sentence_splits.tolist(), tokens.document_splits.tolist()
    spans = []
    for first, last in zip(ends, ends[1:]):
        at, stop = sentences[first], sentences[last]
        while at < stop:
            target = space
            if settings.short_sequence_probability and rng.random() < settings.short_sequence_probability:
                target = int(rng.integers(2, space + 1))
            # The last sentence end up to the target; else the next one if it fits; else what fits.
            number = bisect_right(sentences, at + target, first, last + 1) - 1
            end = sentences[number] if sentences[number] > at else min(sentences[number + 1], at + space)
            spans.append((at, end - at))
            at = end
    starts, lengths = np.array(spans, np.int64).T
    return starts, lengths


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
    """Spans without a separator at their beginning or end: the row has a special token there."""
    leads = values[starts] == separator
    starts, lengths = starts + leads, lengths - leads
    starts, lengths = starts[lengths > 0], lengths[lengths > 0]  # a span may have been only a separator
    lengths = lengths - (values[starts + lengths - 1] == separator)
    return starts[lengths > 0], lengths[lengths > 0]
