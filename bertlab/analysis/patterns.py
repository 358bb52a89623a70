"""The types of attention maps: how much goes to the token itself, its neighbours, [CLS] and [SEP], and how evenly.

Kovaleva et al. 2019 ("Revealing the Dark Secrets of BERT", section 4.1) name five types of maps: vertical ([CLS] and
[SEP]), diagonal (the token itself and its neighbours), vertical + diagonal, block (within each of two texts) and
heterogeneous. They trained a classifier on maps labelled by hand. Here a head's type follows from the fractions of its
attention, with `ENOUGH` as threshold.

Letters: A heads, L layers, T tokens.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

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
