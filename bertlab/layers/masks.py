"""Who may look at whom: boolean masks, True where a query may see a key.

Letters: B batch, T query tokens, S key tokens. Every mask here broadcasts to (B, A, T, S), A being the heads.
"""

from keras import ops


def padding_mask(attention_mask):
    """Hides padded keys. attention_mask: (B, S), 1 for a real token, 0 for padding → bool (B, 1, 1, S)."""
    return ops.cast(attention_mask, "bool")[:, None, None, :]


def causal_mask(num_tokens: int):
    """Hides the future: query i sees keys j ≤ i, itself included → bool (1, 1, T, T)."""
    positions = ops.arange(num_tokens)
    return (positions[None, :] <= positions[:, None])[None, None]


def packed_mask(sequence_ids):
    """Hides the other examples of a packed row.

    sequence_ids: (B, T), 0 for padding, 1, 2, 3 … for the examples that share the row → bool (B, 1, T, T).
    """
    same = sequence_ids[:, :, None] == sequence_ids[:, None, :]  # (B, T, T)
    real = (sequence_ids > 0)[:, None, :]  # (B, 1, T)
    return ops.logical_and(same, real)[:, None]


def arbitrary_mask(attention_mask):
    """A mask of one's own. attention_mask: (B, T, S), 1 where query t may see key s → bool (B, 1, T, S)."""
    return ops.cast(attention_mask, "bool")[:, None]


def combine(*masks):
    """What all the given masks allow; a mask may be None. Returns None when all are."""
    masks = [mask for mask in masks if mask is not None]
    combined = masks[0] if masks else None
    for mask in masks[1:]:
        combined = ops.logical_and(combined, mask)
    return combined
