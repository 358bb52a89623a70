def sentence_vector(vectors):
    words = vectors.shape[-2]
    total = vectors[..., 0, :]
    for t in range(1, words):
        total = total + vectors[..., t, :]
    return total / words
