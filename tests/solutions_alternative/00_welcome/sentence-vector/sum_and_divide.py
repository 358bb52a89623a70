def sentence_vector(vectors):
    return ops.sum(vectors, axis=-2) / vectors.shape[-2]
