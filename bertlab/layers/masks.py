"""Attention masks: boolean, True where a query may attend to a key.

Letters: B batch, T query tokens, S key tokens, A heads. Every mask here broadcasts to (B, T, S): all heads share it.
"""

from keras import ops


def padding_mask(attention_mask):
    """Hides padded keys. attention_mask: (B, S), 1 for a real token, 0 for padding → bool (B, 1, S).

    Example:
        >>> ops.convert_to_numpy(padding_mask(ops.array([[1, 1, 0]]))).tolist()
        [[[True, True, False]]]
    """
    return ops.cast(attention_mask, "bool")[:, None, :]


def causal_mask(num_tokens: int):
    """Hides the future: query i sees keys j ≤ i, itself included → bool (T, T).

    Example:
        >>> ops.convert_to_numpy(causal_mask(2)).tolist()
        [[True, False], [True, True]]
    """
    positions = ops.arange(num_tokens)
    return positions[None, :] <= positions[:, None]


def window_mask(num_tokens: int, reach: int):
    """Hides what is far away: query i sees keys i − reach … i + reach → bool (T, T).

    Example:
        >>> ops.convert_to_numpy(window_mask(3, reach=1)).tolist()
        [[True, True, False], [True, True, True], [False, True, True]]
    """
    positions = ops.arange(num_tokens)
    return ops.abs(positions[None, :] - positions[:, None]) <= reach


def packed_mask(sequence_ids):
    """Hides the other examples of a packed row.

    sequence_ids: (B, T), 0 for padding, 1, 2, 3 … for the examples that share the row → bool (B, T, T).

    Example:
        >>> ops.convert_to_numpy(packed_mask(ops.array([[1, 2]]))).tolist()
        [[[True, False], [False, True]]]
    """
    same = sequence_ids[:, :, None] == sequence_ids[:, None, :]  # (B, T, T)
    real = (sequence_ids > 0)[:, None, :]  # (B, 1, T)
    return ops.logical_and(same, real)


def order_mask(order_ids):
    """Hides tokens that come later in an order of prediction; each token sees itself.

    order_ids: (B, T), 0 for tokens that all others see, 1, 2, 3 … for those that are predicted → bool (B, T, T).

    Example:
        >>> ops.convert_to_numpy(order_mask(ops.array([[2, 0, 1]]))).tolist()
        [[[True, True, True], [False, True, False], [False, True, True]]]
    """
    return order_ids[:, None, :] <= order_ids[:, :, None]


def combine(*masks):
    """The intersection of the masks; a mask may be None. Returns None if all are None.

    Example:
        >>> ops.convert_to_numpy(combine(padding_mask(ops.array([[1, 0]])), None, causal_mask(2))).tolist()
        [[[True, False], [True, False]]]
    """
    masks = [mask for mask in masks if mask is not None]
    combined = masks[0] if masks else None
    for mask in masks[1:]:
        combined = ops.logical_and(combined, mask)
    return combined


def rows_at(mask, positions):
    """The rows of a mask for the queries at some positions (B, P); a row that all queries share is not changed."""
    if mask is None or mask.shape[-2] == 1:
        return mask
    rows = ops.cast(positions, "int32")[:, None, :, None]  # (B, 1, P, 1)
    return ops.take_along_axis(with_heads(mask), rows, axis=2)  # (B, A or 1, P, S)


def with_heads(mask):
    """The mask with all four axes: (T, S) → (1, 1, T, S), (B, T, S) → (B, 1, T, S); one with heads stays as it is."""
    while len(mask.shape) < 4:
        mask = ops.expand_dims(mask, axis=-3)
    return mask
