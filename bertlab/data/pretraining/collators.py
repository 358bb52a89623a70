"""Collators: they turn stored rows, ids and segments, into the inputs and targets of an objective.

Each is a pure function of the rows, the number of the batch and its own settings: a run that resumes at step k sees the
same batches as a run that never stopped.

Letters: B batch, T tokens, P predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bertlab.data.pretraining.masking import PieceTable, mask_rows
from bertlab.data.pretraining.settings import ExampleSettings

_ORDER = 8  # begins the seeds of orders, so that they do not repeat the draws of the masks
Rows = dict[str, np.ndarray]  # arrays whose first axis is the row, by the names of docs/architecture.md
Collator = Callable[[Rows, int], Rows]  # from the rows and the number of a batch to other rows


@dataclass(frozen=True, eq=False)
class MaskTokens:
    """Masks rows that were stored without masks: dynamic masking (Liu et al. 2019, section 4.1).

    Rows that were stored with masks (static masking) stay as they are. Adds masked_lm_positions, masked_lm_ids (B, P)
    int32 and masked_lm_weights (B, P) float32.

    Example:
        batches_of(rows, 32, collators=[MaskTokens(PieceTable.of(vocabulary), settings)])
    """

    table: PieceTable
    settings: ExampleSettings
    seed: int = 0

    def __call__(self, rows: Rows, number: int) -> Rows:
        if "masked_lm_ids" in rows:
            return rows
        rng = np.random.default_rng([self.settings.seed, self.seed, number])
        return rows | mask_rows(rows["input_ids"], self.table, self.settings, rng)


@dataclass(frozen=True)
class DrawOrder:
    """Shows the predicted tokens, and draws the order in which they are predicted (Yang et al. 2019, "XLNet").

    All other tokens come before them. So predictions and order together are the last part of a random order of all
    tokens (section 2.3). Masks are undone: a model with two streams does not see a token that it predicts. Adds
    order_ids (B, T) int32: 0 for tokens that are not predicted, 1, 2, 3 … for the others in their order.
    """

    seed: int = 0

    def __call__(self, rows: Rows, number: int) -> Rows:
        used = rows["masked_lm_weights"] > 0  # (B, P)
        rng = np.random.default_rng([_ORDER, self.seed, number])
        keys = np.where(used, rng.random(used.shape), 2.0)  # (B, P)
        ranks = np.argsort(np.argsort(keys, axis=1), axis=1) + 1
        order = np.zeros_like(rows["input_ids"])  # (B, T)
        row, _ = np.nonzero(used)
        order[row, rows["masked_lm_positions"][used]] = ranks[used]
        kept = {name: values for name, values in rows.items() if name != "next_sentence_labels"}
        return kept | {"input_ids": unmasked(rows), "order_ids": order}


class NextTokens:
    """Makes the next token the target at every token (left-to-right; Devlin et al. 2019, section 5.1, "LTR").

    Stored masks are undone. Adds next_token_ids (B, T) int32 and next_token_weights (B, T) float32, which is
    1 where there is a next token: not at the last token, not at padding, not at the end of an example in a packed row.
    """

    def __call__(self, rows: Rows, number: int) -> Rows:
        ids = unmasked(rows)  # (B, T)
        examples = rows["sequence_ids"] if "sequence_ids" in rows else rows["attention_mask"]  # (B, T), 0 for padding
        has_next = (examples[:, 1:] == examples[:, :-1]) & (examples[:, :-1] > 0)  # (B, T − 1)
        one_behind = ((0, 0), (0, 1))
        kept = {name: values for name, values in rows.items() if not name.startswith(("masked_lm_", "next_sentence_"))}
        return kept | {
            "input_ids": ids,
            "next_token_ids": np.pad(ids[:, 1:], one_behind),
            "next_token_weights": np.pad(has_next, one_behind).astype(np.float32),
        }


class NextAndPreviousTokens:
    """Makes both neighbours of every token its targets, for a language model in each direction.

    Stored masks are undone. Adds neighbour_ids (B, T, 2) int32, the next token and the one before, and
    neighbour_weights (B, T, 2) float32, 1 where there is such a token in the same example.

    Example:
        >>> rows = {"input_ids": np.array([[2, 7, 3, 0]]), "attention_mask": np.array([[1, 1, 1, 0]])}
        >>> NextAndPreviousTokens()(rows, 0)["neighbour_ids"].tolist()
        [[[7, 0], [3, 2], [0, 7], [0, 0]]]
    """

    def __call__(self, rows: Rows, number: int) -> Rows:
        rows = NextTokens()(rows, number)
        has_next = rows.pop("next_token_weights")  # (B, T)
        one_before = ((0, 0), (1, 0))
        has_previous = np.pad(has_next[:, :-1], one_before)
        previous = np.pad(rows["input_ids"][:, :-1], one_before)
        ids = np.stack([rows.pop("next_token_ids"), previous], axis=-1)  # (B, T, 2)
        weights = np.stack([has_next, has_previous], axis=-1)
        return rows | {"neighbour_ids": np.where(weights > 0, ids, 0), "neighbour_weights": weights}


@dataclass(frozen=True)
class ShiftRight:
    """Makes the decoder's input of a target, one token later than its labels: [CLS] a b of a b [SEP] (teacher forcing).

    start: the id of the token that begins a target. Adds decoder_input_ids and next_token_ids (B, U) int32, and
    next_token_weights (B, U) float32, 0 for padding.

    Example:
        >>> rows = {"target_ids": np.array([[7, 8, 3, 0]]), "target_mask": np.array([[1, 1, 1, 0]])}
        >>> ShiftRight(start=2)(rows, 0)["decoder_input_ids"].tolist()
        [[2, 7, 8, 3]]
    """

    start: int

    def __call__(self, rows: Rows, number: int) -> Rows:
        ids = rows["target_ids"]  # (B, U)
        first = np.full_like(ids[:, :1], self.start)
        kept = {name: values for name, values in rows.items() if not name.startswith("target_")}
        return kept | {
            "decoder_input_ids": np.concatenate([first, ids[:, :-1]], axis=1),
            "next_token_ids": ids,
            "next_token_weights": rows["target_mask"].astype(np.float32),
        }


def unmasked(rows: Rows) -> np.ndarray:
    """input_ids (B, T) with every masked token restored. Unused predictions, of weight 0, change nothing."""
    if "masked_lm_ids" not in rows:
        return rows["input_ids"]
    ids, used = rows["input_ids"].copy(), rows["masked_lm_weights"] > 0  # (B, T), (B, P)
    row, _ = np.nonzero(used)
    ids[row, rows["masked_lm_positions"][used]] = rows["masked_lm_ids"][used]
    return ids


@dataclass(frozen=True)
class ShiftPositions:
    """Puts short rows at random positions, so that every position of the model is trained even if all rows are shorter.

    A model with learned positions that has seen only rows of 16 tokens knows nothing of positions 16 … 63. A random
    offset for each row trains them all, and what a head learns about neighbours holds anywhere (Kiyono et al. 2021,
    "SHAPE: Shifted Absolute Position Embedding for Transformers").

    num_positions: the model's number of positions, at least T. Adds position_ids (B, T) int32: 0 … T − 1 plus the row's
    offset.
    """

    num_positions: int
    seed: int = 0

    def __call__(self, rows: Rows, number: int) -> Rows:
        import tensorflow as tf  # the processes that make rows import this module and never load TensorFlow

        count, tokens = rows["input_ids"].shape
        with tf.device("CPU"):  # the same generator on every machine
            seed = tf.constant([self.seed, number], tf.int64)
            largest = self.num_positions - tokens
            offsets = tf.random.stateless_uniform((count, 1), seed, maxval=largest + 1, dtype=tf.int64).numpy()
        return rows | {"position_ids": (offsets + np.arange(tokens)).astype(np.int32)}
