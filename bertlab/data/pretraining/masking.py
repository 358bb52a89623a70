"""Masked language modelling: which tokens are predicted, and which tokens the model sees instead.

Devlin et al. 2019, section 3.1: 15% of the tokens are predicted; of these 80% become [MASK], 10% a random token, and
10% stay as they are. Everything here works on a whole batch of rows at once:

    input_ids     [CLS]  the   bo  ##at  sank  [SEP]  [PAD]
    may be masked    0     1    1     1     1      0      0
    group            0     1    2     2     3      4      5     (whole words: "bo ##at" is one group)
    random key       –   .71  .18   .18   .54      –      –     (one per group; smallest keys are chosen first)

Letters: N rows, T tokens in a row, P predictions in a row at most.
"""

from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import VocabularyError
from bertlab.data.pretraining.settings import ExampleSettings


@dataclass(frozen=True, eq=False)
class PieceTable:
    """The ids and properties of tokens that masking needs.

    cls, sep, pad, mask: ids of the special tokens. replacements: (R,) int32, the ids that a random replacement is
    drawn from: all except the special and the [unused…] ones. continues: (V,) bool, whether a token continues a word.
    cls_last: whether [CLS] is the last token of a row, in segment 2.
    """

    cls: int
    sep: int
    pad: int
    mask: int
    replacements: np.ndarray
    continues: np.ndarray
    cls_last: bool = False

    @classmethod
    def of(cls, vocabulary) -> "PieceTable":
        """The table of a tokenizer's vocabulary. Raises VocabularyError if there is nothing to predict."""
        pieces = vocabulary.pieces
        regular = np.array([not piece.startswith("[unused") for piece in pieces])
        regular[list(vocabulary.special_ids)] = False
        if not regular.any():
            raise VocabularyError(
                "expected a vocabulary with more than special tokens, got special tokens only; nothing can be masked"
            )
        return cls(
            cls=vocabulary.cls_id,
            sep=vocabulary.sep_id,
            pad=vocabulary.pad_id,
            mask=vocabulary.mask_id,
            replacements=np.flatnonzero(regular).astype(np.int32),
            continues=np.array([vocabulary.continues(piece) for piece in pieces]),
            cls_last=vocabulary.cls_last,
        )


def mask_rows(
    input_ids: np.ndarray, table: PieceTable, settings: ExampleSettings, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Chooses the predictions of each row and replaces their tokens.

    input_ids: (N, T) int32; [CLS], [SEP] and [PAD] are never chosen. Each row predicts
    max(1, round(15% of its tokens)) of them, as far as `max_predictions` and its words allow.
    Returns input_ids (N, T) int32 with the replacements, masked_lm_positions (N, P) int32 in ascending order,
    masked_lm_ids (N, P) int32, the original tokens, and masked_lm_weights (N, P) float32, 0 for unused predictions.
    """
    maskable = (input_ids != table.cls) & (input_ids != table.sep) & (input_ids != table.pad)  # (N, T)
    lengths = (input_ids != table.pad).sum(axis=1)  # (N,)
    wanted = np.clip(np.rint(settings.masked_lm_probability * lengths), 1, settings.max_predictions).astype(np.int64)
    if settings.whole_word_masking or settings.max_ngram > 1:
        chosen = choose_groups(_groups(input_ids, maskable, table, settings, rng), maskable, wanted, rng)
    else:
        chosen = choose_tokens(maskable, wanted, rng)
    return _replace(input_ids, chosen, table, settings, rng)


# --- choosing ---


def choose_tokens(maskable: np.ndarray, wanted: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A uniformly random set of `wanted` (N,) maskable tokens of each row, fewer where there are fewer: (N, T) bool."""
    keys = np.where(maskable, rng.random(maskable.shape, dtype=np.float32), np.float32(2))  # (N, T)
    order = np.argsort(keys, axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(maskable.shape[1])[None], axis=1)
    return maskable & (ranks < wanted[:, None])


def choose_groups(groups: np.ndarray, maskable: np.ndarray, wanted: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Whole groups of tokens in random order, leaving out those that no longer fit into `wanted`: (N, T) bool.

    groups: (N, T) integers that rise from left to right, equal for the tokens of one group. This is the published
    script's rule for whole words. If all groups of a row are larger than `wanted`, the front of one of them is
    chosen; the script would leave the row without a prediction.
    """
    rows, width = groups.shape
    keys = np.take_along_axis(rng.random((rows, width)), groups, axis=1)  # (N, T) one key per group
    keys[~maskable] = 2.0
    order = np.argsort(keys, axis=1, kind="stable")  # the tokens of a group stay together, left to right
    ordered = np.take_along_axis(groups, order, axis=1)
    flat = groups + np.arange(rows)[:, None] * width
    sizes = np.bincount(flat.ravel(), minlength=rows * width).reshape(rows, width)  # by row and number of the group
    sizes = np.take_along_axis(sizes, ordered, axis=1)
    usable = np.take_along_axis(maskable, order, axis=1)
    first = np.diff(ordered, axis=1, prepend=-1) != 0
    taken = np.zeros(rows, np.int64)
    take = np.zeros(rows, bool)
    chosen = np.zeros(groups.shape, bool)  # in the order of `order`
    for column in range(width):  # each column decides on the groups that begin there, for all rows together
        fits = usable[:, column] & (taken + sizes[:, column] <= wanted)
        take = np.where(first[:, column], fits, take)
        taken += np.where(first[:, column] & take, sizes[:, column], 0)
        chosen[:, column] = take
    none = taken == 0
    chosen[none] = (usable & (np.arange(width) < np.minimum(wanted, sizes[:, 0])[:, None]))[none]
    result = np.empty_like(chosen)
    np.put_along_axis(result, order, chosen, axis=1)
    return result


def _groups(
    input_ids: np.ndarray, maskable: np.ndarray, table: PieceTable, settings: ExampleSettings, rng: np.random.Generator
) -> np.ndarray:
    """Numbers the tokens of each row by the group they belong to: words, n-grams of words or of tokens. (N, T)"""
    begins = np.ones(input_ids.shape, bool)
    if settings.whole_word_masking:
        after_maskable = np.pad(maskable[:, :-1], ((0, 0), (1, 0)))
        begins = ~(maskable & after_maskable & table.continues[input_ids])
    if settings.max_ngram > 1:
        begins = _join_ngrams(begins, maskable, settings.max_ngram, rng)
    return np.cumsum(begins, axis=1) - 1


def _join_ngrams(begins: np.ndarray, maskable: np.ndarray, longest: int, rng: np.random.Generator) -> np.ndarray:
    """Cuts each row into runs of n consecutive units, n drawn in proportion to 1/n; a special token ends a run."""
    lengths = np.arange(1, longest + 1)
    drawn = rng.choice(lengths, size=begins.shape, p=(1 / lengths) / (1 / lengths).sum())  # (N, T)
    result = begins.copy()
    left = np.zeros(len(begins), np.int64)  # units that still belong to the run, for each row
    for column in range(begins.shape[1]):
        unit = begins[:, column]
        ends = ~maskable[:, column] | ~maskable[:, max(column - 1, 0)]
        starts = unit & ((left == 0) | ends)
        left = np.where(starts, drawn[:, column], left) - unit
        result[:, column] = starts
    return result


# --- replacing ---


def _replace(
    input_ids: np.ndarray, chosen: np.ndarray, table: PieceTable, settings: ExampleSettings, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    rows, columns = np.nonzero(chosen)  # row by row, left to right
    counts = chosen.sum(axis=1)
    slots = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)  # 0, 1, 2 … within each row
    originals = input_ids[rows, columns]
    choice = rng.random(len(rows))
    drawn = table.replacements[rng.integers(len(table.replacements), size=len(rows))]
    changed = np.where(choice < settings.mask_share + settings.random_share, drawn, originals)
    changed = np.where(choice < settings.mask_share, table.mask, changed)

    masked = input_ids.copy()
    masked[rows, columns] = changed
    shape = (len(input_ids), settings.max_predictions)
    positions, ids, weights = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    positions[rows, slots], ids[rows, slots], weights[rows, slots] = columns, originals, 1
    return {"input_ids": masked, "masked_lm_positions": positions, "masked_lm_ids": ids, "masked_lm_weights": weights}
