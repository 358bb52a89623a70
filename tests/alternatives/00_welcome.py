# Other right answers to the exercises of notebook 00, each of another structure.
# A cell has the set-up and the answers before it in the notebook, and must pass its check whole.

# %% sentence-vector: einsum
def sentence_vector(vectors):
    return ops.einsum("...td->...d", vectors) / ops.cast(ops.shape(vectors)[-2], vectors.dtype)

# %% sentence-vector: keras pooling
def sentence_vector(vectors):
    one_batch = ops.reshape(vectors, (-1, *vectors.shape[-2:]))
    pooled = keras.layers.GlobalAveragePooling1D()(one_batch)
    return ops.reshape(pooled, (*vectors.shape[:-2], vectors.shape[-1]))

# %% sentence-vector: number by number
def sentence_vector(vectors):
    return ops.stack([ops.mean(vectors[..., j], axis=-1) for j in range(vectors.shape[-1])], axis=-1)

# %% sentence-vector: product with equal weights
def sentence_vector(vectors):
    words = vectors.shape[-2]
    return ops.matmul(ops.ones((1, words)) / words, vectors)[..., 0, :]

# %% sentence-vector: running mean
def sentence_vector(vectors):
    mean = ops.zeros_like(vectors[..., 0, :])
    for seen in range(vectors.shape[-2]):
        mean = mean + (vectors[..., seen, :] - mean) / (seen + 1)
    return mean

# %% sentence-vector: sum and divide
def sentence_vector(vectors):
    return ops.sum(vectors, axis=-2) / vectors.shape[-2]

# %% sentence-vector: word by word
def sentence_vector(vectors):
    words = vectors.shape[-2]
    total = vectors[..., 0, :]
    for t in range(1, words):
        total = total + vectors[..., t, :]
    return total / words
