"""The words and tokens that attention heads look at: dependency relations, and types of attention maps.

Relations (Clark et al. 2019, "What Does BERT Look At?", section 4.2): a head predicts one word for each word: the other
word with the largest attention. Its accuracy for a relation is the fraction of that relation's words for which this is
the head word in the treebank. There are two directions, since a dependent may attend to its head word, or the head word
to its dependent. The baseline predicts the word at a fixed distance: a head that does not do better has learnt a
distance, not the relation.

Types: Kovaleva et al. 2019 ("Revealing the Dark Secrets of BERT", section 4.1) name five types of maps: vertical ([CLS]
and [SEP]), diagonal (the token itself and its neighbours), vertical + diagonal, block (within each of two texts) and
heterogeneous. They trained a classifier on maps labelled by hand. Here a head's type follows from the fractions of its
attention, with `ENOUGH` as threshold.

Letters: L layers, A heads, W words, T tokens.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bertlab.data.treebanks import ParsedSentence

DIRECTIONS = ("dependent to head word", "head word to dependent")
ROOT = -1
MAX_OFFSET = 5


@dataclass(frozen=True)
class RelationScores:
    """The accuracy of every head, and of the best fixed distance, in finding the head words of one relation.

    count: words with this relation.   accuracy: (2, L, A), fractions by direction, layer and head.
    offset: the distance, head word − dependent, that is right most often.   offset_accuracy: its fraction.
    """

    relation: str
    count: int
    accuracy: np.ndarray
    offset: int
    offset_accuracy: float

    @property
    def best(self) -> tuple[int, int, int]:
        """Direction (0 or 1), layer and head, counted from 0, with the largest accuracy."""
        return tuple(int(i) for i in np.unravel_index(np.argmax(self.accuracy), self.accuracy.shape))

    @property
    def best_accuracy(self) -> float:
        """The largest accuracy of a head."""
        return float(self.accuracy.max())

    @property
    def gain(self) -> float:
        """The best head's accuracy minus that of the best distance."""
        return self.best_accuracy - self.offset_accuracy


def predicted_heads(attention: np.ndarray, direction: int = 0) -> np.ndarray:
    """The head word that each head of the model predicts for each word: never the word itself.

    attention: (…, W, W) between words.   direction: 0, the word that this word attends to most; 1, the word that
    attends most to this word.   Returns (…, W) int64.

    Example:
        >>> attention = np.array([[0.6, 0.1, 0.3], [0.2, 0.5, 0.3], [0.9, 0.1, 0.0]])
        >>> predicted_heads(attention).tolist(), predicted_heads(attention, 1).tolist()
        ([2, 2, 0], [2, 0, 0])
    """
    weights = np.array(attention if direction == 0 else np.swapaxes(attention, -1, -2))
    itself = np.arange(weights.shape[-1])
    weights[..., itself, itself] = -1.0
    return weights.argmax(axis=-1)


def best_offset(dependents: Sequence[int], heads: Sequence[int], max_offset: int = MAX_OFFSET) -> tuple[int, float]:
    """The distance that is right most often, and the fraction of words for which it is right.

    dependents, heads: the indices of words and of their head words. The distance is head − dependent, between
    −max_offset and max_offset; of equally good ones the shortest.

    Example:
        >>> best_offset([0, 3, 5], [1, 4, 3])  # twice the next word, once two words before
        (1, 0.6666666666666666)
    """
    distances = np.asarray(heads) - np.asarray(dependents)
    offsets = sorted((k for k in range(-max_offset, max_offset + 1) if k), key=lambda k: (abs(k), k < 0))
    fractions = [float(np.mean(distances == k)) for k in offsets]
    best = int(np.argmax(fractions))
    return offsets[best], fractions[best]


def relation_scores(
    sentences: Sequence[ParsedSentence], attentions: Iterable[np.ndarray], least: int = 1
) -> list[RelationScores]:
    """The accuracy of every head for every relation of a treebank, most frequent relation first.

    Args:
        sentences: of a treebank.   attentions: for each an array (L, A, W, W) between its words.
        least: leave out relations with fewer words. The root has no head word and is left out always.

    Example:
        from bertlab import checkpoints
        from bertlab.analysis.heads import relation_scores
        from bertlab.analysis.readings import read_words
        from bertlab.data.treebanks import read_conllu

        encoder = checkpoints.load("bertlab-mini", "encoder")
        tokenizer = checkpoints.load_tokenizer("bertlab-mini")
        sentences = read_conllu("treebank.conllu")
        readings = read_words(encoder, tokenizer, [sentence.words for sentence in sentences])
        for scores in relation_scores(sentences, (reading.attention for reading in readings)):
            print(scores.relation, scores.best_accuracy, scores.offset_accuracy)
    """
    hits: dict[str, np.ndarray] = {}  # relation → (2, L, A)
    pairs: dict[str, list[tuple[int, int]]] = {}
    for sentence, attention in zip(sentences, attentions, strict=True):
        predicted = np.stack([predicted_heads(attention, direction) for direction in (0, 1)])  # (2, L, A, W)
        for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if head == ROOT:
                continue
            hits[relation] = hits.get(relation, 0) + (predicted[..., word] == head)
            pairs.setdefault(relation, []).append((word, head))
    scores = []
    for relation in sorted(pairs, key=lambda name: (-len(pairs[name]), name)):
        count = len(pairs[relation])
        if count >= least:
            scores.append(RelationScores(relation, count, hits[relation] / count, *best_offset(*zip(*pairs[relation]))))
    return scores


ENOUGH = 0.5  # of the attention
TYPES = ("vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous")


class AttentionPattern(NamedTuple):
    """Mean fractions of the attention of some heads; each array has the shape of the heads, (…).

    previous: over the tokens that have a token before them; following: over those that have one after them.
    own_segment: that within a token's own text, without [CLS] and [SEP]; NaN for a row with one text.
    entropy: of the weights, in nats: 0 for one token alone, ln T for all tokens evenly.
    """

    itself: np.ndarray
    previous: np.ndarray
    following: np.ndarray
    cls: np.ndarray
    separator: np.ndarray
    own_segment: np.ndarray
    entropy: np.ndarray


def attention_pattern(
    attention: np.ndarray,
    separators: Sequence[bool],
    segments: Sequence[int] | None = None,
    cls: Sequence[bool] | None = None,
) -> AttentionPattern:
    """The fractions of attention of each head, averaged over the tokens of one row.

    attention: (…, T, T), rows that sum to 1.   separators: (T,) whether a token is [SEP].
    segments: (T,) the text that each token belongs to.
    cls: (T,) whether a token is [CLS], nowhere in a row without it; default: the first token.

    Example:
        >>> pattern = attention_pattern(np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]), [0, 0, 1])
        >>> float(pattern.previous), float(pattern.following), round(float(pattern.entropy), 3)
        (0.75, 0.75, 0.231)
    """
    cls = np.arange(attention.shape[-1]) == 0 if cls is None else np.asarray(cls, bool)
    separators = np.asarray(separators, bool) & ~cls  # a token that is both is counted as [CLS]
    diagonals = (np.diagonal(attention, offset, -2, -1).mean(axis=-1) for offset in (0, -1, 1))
    return AttentionPattern(
        *diagonals,
        cls=attention[..., cls].sum(axis=-1).mean(axis=-1),
        separator=attention[..., separators].sum(axis=-1).mean(axis=-1),
        own_segment=_own_segment(attention, ~separators & ~cls, segments),
        entropy=attention_entropy(attention).mean(axis=-1),
    )


def attention_entropy(attention: np.ndarray) -> np.ndarray:
    """The entropy of each token's attention weights in nats, (…, T, T) → (…, T); 0 · ln 0 counts as 0."""
    weights = np.asarray(attention, "float64")
    return -(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis=-1)


def mean_pattern(patterns: Iterable[AttentionPattern]) -> AttentionPattern:
    """The mean of several rows' patterns. NaN where every row has NaN."""
    stacked = (np.stack(values) for values in zip(*patterns, strict=True))
    known = ((np.isfinite(values).sum(axis=0), np.nansum(values, axis=0)) for values in stacked)
    return AttentionPattern(*(np.where(count > 0, total / np.maximum(count, 1), np.nan) for count, total in known))


def pattern_type(pattern: AttentionPattern, enough: float = ENOUGH) -> np.ndarray:
    """The type of each head, one of `TYPES`; an array of strings (…).

    The first that holds: [CLS] and [SEP] get `enough` of the attention, so do the token and its neighbours, so do all
    of these together, or the own text does by so much more than half that `enough` of the rest would be in the other.
    """
    vertical = pattern.cls + pattern.separator
    diagonal = pattern.itself + pattern.previous + pattern.following
    within = np.nan_to_num(pattern.own_segment)
    return np.select(
        [vertical >= enough, diagonal >= enough, vertical + diagonal >= enough, within >= (1 + enough) / 2],
        TYPES[:4],
        TYPES[4],
    )


def _own_segment(attention, inside, segments) -> np.ndarray:
    """The fraction that stays in the own text, of the attention to tokens of either text. inside: (T,) those tokens."""
    if segments is None or len(np.unique(np.asarray(segments)[inside])) < 2:
        return np.full(attention.shape[:-2], np.nan)
    segments = np.asarray(segments)
    weights = attention[..., inside, :][..., inside]  # (…, N, N)
    same = segments[inside][:, None] == segments[inside]  # (N, N)
    total = np.maximum(weights.sum(axis=-1), np.finfo("float32").tiny)
    return ((weights * same).sum(axis=-1) / total).mean(axis=-1)
