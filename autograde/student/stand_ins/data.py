"""The library's version of the names that notebook 06 defines: masking by the library, pairs and batches by NumPy.

Every function that draws takes a NumPy generator as its last argument.
"""

import numpy as np

from bertlab.data.pretraining import masking

__all__ = ["batches", "choose_positions", "make_example", "make_pair", "mask_each", "mask_tokens",
           "number_of_predictions"]  # fmt: skip


def mask_each(token_ids, mask_id: int, p: float, rng) -> tuple[list[int], list[int]]:
    """Each token hidden with probability p: the new ids and the hidden positions."""
    hidden = rng.binomial(1, p, len(token_ids)).astype(bool)
    return np.where(hidden, mask_id, token_ids).tolist(), np.flatnonzero(hidden).tolist()


def number_of_predictions(tokens: int, max_predictions: int = 20, share: float = 0.15) -> int:
    """15% of the tokens, rounded to the nearest number and a tie to the even one, within 1 and `max_predictions`."""
    return int(np.clip(np.rint(share * tokens), 1, max_predictions))


def choose_positions(token_ids, special_ids, count: int, rng) -> list[int]:
    """`count` ascending positions that hold no special token, fewer where there are fewer."""
    maskable = ~np.isin(token_ids, special_ids)[None]  # (1, T)
    return np.flatnonzero(masking.choose_tokens(maskable, np.array([count]), rng)).tolist()


def mask_tokens(token_ids, positions, mask_id: int, replacements, rng) -> list[int]:
    """Masks tokens: of those at `positions` 80% become the mask, 10% one of the replacements, 10% stay."""
    masked, kinds = np.array(token_ids), rng.choice(3, len(positions), p=(0.8, 0.1, 0.1))
    drawn = rng.choice(replacements, len(positions))
    masked[positions] = np.choose(kinds, (np.full_like(drawn, mask_id), drawn, masked[positions]))
    return masked.tolist()


def make_pair(documents, document: int, sentence: int, rng) -> tuple[str, str, int]:
    """A sentence with the next one (label 0) or, half of the time, with one of another document (label 1)."""
    label, shift = int(rng.integers(2)), int(rng.integers(1, len(documents)))
    other = documents[(document + shift) % len(documents)]
    second = other[rng.integers(len(other))] if label else documents[document][sentence + 1]
    return documents[document][sentence], second, label


def make_example(
    original_ids, masked_ids, token_type_ids, positions, label: int, length: int, max_predictions: int
) -> dict:
    """One row as lists of fixed lengths, filled with zeros, by the names that `bertlab.data` uses."""
    sizes = {"input_ids": (masked_ids, length), "token_type_ids": (token_type_ids, length),
             "attention_mask": ([1] * len(masked_ids), length), "masked_lm_positions": (positions, max_predictions),
             "masked_lm_ids": ([original_ids[t] for t in positions], max_predictions)}  # fmt: skip
    example = {name: [*values, *(0 for _ in range(size - len(values)))] for name, (values, size) in sizes.items()}
    return example | {"masked_lm_weights": [float(slot < len(positions)) for slot in range(max_predictions)],
                      "next_sentence_labels": label}  # fmt: skip


def batches(examples, batch_size: int, seed: int):
    """Endless full batches as a `tf.data.Dataset` of dicts, every epoch in an order of its own."""
    import tensorflow as tf

    count = len(examples["input_ids"])
    rows = tf.data.Dataset.from_tensor_slices(examples).shuffle(count, seed=seed).take(count - count % batch_size)
    return rows.repeat().batch(batch_size)
