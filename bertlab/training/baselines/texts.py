"""The texts of packed rows: each by itself, one vector for each, and the features of two of them.

Sources: Mikolov et al. 2013, "Efficient Estimation of Word Representations in Vector Space" (CBOW averages the vectors
of a word's neighbours); Joulin et al. 2017, "Bag of Tricks for Efficient Text Classification" (fastText classifies a
whole text by such an average); Conneau et al. 2017, "Supervised Learning of Universal Sentence Representations from
Natural Language Inference Data" (InferSent: the largest values, section 3.2; the features of a pair, section 3.1).

Letters: B batch, T tokens, D dimensions.
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
    place = ops.arange(length, dtype="int32") + (1 - is_real) * length
    order = ops.argsort(place, axis=1)  # real ones first, each in its order
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


def mean_of_real(x, is_real):
    """The mean over the real tokens; 0 where there are none. x (B, T, D), is_real (B, T) → (B, D).

    Example:
        >>> x = ops.array([[[1.0], [3.0], [9.0]]])
        >>> ops.convert_to_numpy(mean_of_real(x, ops.array([[1, 1, 0]]))).tolist()
        [[2.0]]
    """
    weights = ops.cast(is_real, x.dtype)[..., None]  # (B, T, 1)
    return ops.sum(x * weights, axis=1) / ops.maximum(ops.sum(weights, axis=1), 1)


def max_of_real(x, is_real):
    """The largest value of each dimension over the real tokens; 0 where there are none. As in `mean_of_real`.

    Example:
        >>> x = ops.array([[[-1.0], [-3.0], [0.0]]])
        >>> ops.convert_to_numpy(max_of_real(x, ops.array([[1, 1, 0]]))).tolist()
        [[-1.0]]
    """
    real = ops.cast(is_real, "bool")[..., None]  # (B, T, 1)
    largest = ops.max(ops.where(real, x, ops.full_like(x, -1e4)), axis=1)
    return ops.where(ops.any(real, axis=1), largest, ops.zeros_like(largest))


def pair_features(u, v):
    """[u; v; |u − v|; u · v], the last one element by element. (…, D) and (…, D) → (…, 4 · D).

    Example:
        >>> ops.convert_to_numpy(pair_features(ops.array([[1.0]]), ops.array([[3.0]]))).tolist()
        [[1.0, 3.0, 2.0, 3.0]]
    """
    return ops.concatenate([u, v, ops.abs(u - v), u * v], axis=-1)
