def sentence_vector(vectors):
    words = vectors.shape[-2]
    return ops.matmul(ops.ones((1, words)) / words, vectors)[..., 0, :]
