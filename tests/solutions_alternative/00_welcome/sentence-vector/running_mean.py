def sentence_vector(vectors):
    mean = ops.zeros_like(vectors[..., 0, :])
    for seen in range(vectors.shape[-2]):
        mean = mean + (vectors[..., seen, :] - mean) / (seen + 1)
    return mean
