"""The two texts of a packed row, each by itself and without special tokens.

Letters: B batch, T tokens.
"""

from keras import ops


def segment(inputs: dict, number: int, special_ids) -> tuple:
    """The tokens of text `number` (0 or 1) of each row, moved to its beginning, and 1 for each of them.

    inputs: input_ids, token_type_ids, attention_mask (B, T). Returns ids (B, T) and is_real (B, T) int32; the order of
    what is not real means nothing.

    Example:
        >>> inputs = {"input_ids": [[2, 7, 8, 3, 9, 3]], "token_type_ids": [[0, 0, 0, 0, 1, 1]],
        ...           "attention_mask": [[1, 1, 1, 1, 1, 1]]}
        >>> ids, is_real = segment({name: ops.array(rows) for name, rows in inputs.items()}, 1, (2, 3))
        >>> ops.convert_to_numpy(ids[:, :2]).tolist(), ops.convert_to_numpy(is_real).tolist()
        ([[9, 2]], [[1, 0, 0, 0, 0, 0]])
    """
    ids = ops.cast(inputs["input_ids"], "int32")
    is_real = words_only(inputs, special_ids) * ops.cast(ops.equal(inputs["token_type_ids"], number), "int32")
    length = ops.shape(ids)[1]
    order = ops.argsort(
        ops.arange(length, dtype="int32") + (1 - is_real) * length, axis=1
    )  # real ones first, each in its order
    return ops.take_along_axis(ids, order, axis=1), ops.take_along_axis(is_real, order, axis=1)


def words_only(inputs: dict, special_ids):
    """1 for a token of a text, 0 for padding and special tokens. (B, T) int32.

    Example:
        >>> inputs = {"input_ids": ops.array([[2, 7, 3, 0]]), "attention_mask": ops.array([[1, 1, 1, 0]])}
        >>> ops.convert_to_numpy(words_only(inputs, (0, 2, 3))).tolist()
        [[0, 1, 0, 0]]
    """
    ids = inputs["input_ids"]
    is_word = ops.cast(inputs["attention_mask"], "int32")
    for special in special_ids:
        is_word = is_word * ops.cast(ops.not_equal(ids, special), "int32")
    return is_word
