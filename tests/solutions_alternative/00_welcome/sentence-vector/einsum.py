def sentence_vector(vectors):
    return ops.einsum("...td->...d", vectors) / ops.cast(ops.shape(vectors)[-2], vectors.dtype)
