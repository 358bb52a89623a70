"""A text as the mean of its words' vectors: the reading of CBOW, with which a classifier is trained.

Source: Mikolov et al. 2013, "Efficient Estimation of Word Representations in Vector Space" (CBOW averages the vectors
of a word's neighbours); Joulin et al. 2017, "Bag of Tricks for Efficient Text Classification" (fastText classifies a
whole text so).

Letters: B batch, T tokens, D dimensions.
"""

from keras import ops


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

    InferSent pools the states of its BiLSTM so (Conneau et al. 2017, section 3.2).

    Example:
        >>> x = ops.array([[[-1.0], [-3.0], [0.0]]])
        >>> ops.convert_to_numpy(max_of_real(x, ops.array([[1, 1, 0]]))).tolist()
        [[-1.0]]
    """
    real = ops.cast(is_real, "bool")[..., None]  # (B, T, 1)
    largest = ops.max(ops.where(real, x, ops.full_like(x, -1e4)), axis=1)
    return ops.where(ops.any(real, axis=1), largest, ops.zeros_like(largest))
