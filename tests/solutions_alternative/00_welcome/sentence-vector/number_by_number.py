def sentence_vector(vectors):
    return ops.stack([ops.mean(vectors[..., j], axis=-1) for j in range(vectors.shape[-1])], axis=-1)
