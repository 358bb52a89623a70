# Other answers to the exercises of notebook 00: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% sentence-vector: right: einsum
def sentence_vector(vectors):
    return ops.einsum("...td->...d", vectors) / ops.cast(ops.shape(vectors)[-2], vectors.dtype)

# %% sentence-vector: right: keras pooling
def sentence_vector(vectors):
    one_batch = ops.reshape(vectors, (-1, *vectors.shape[-2:]))
    pooled = keras.layers.GlobalAveragePooling1D()(one_batch)
    return ops.reshape(pooled, (*vectors.shape[:-2], vectors.shape[-1]))

# %% sentence-vector: right: number by number
def sentence_vector(vectors):
    return ops.stack([ops.mean(vectors[..., j], axis=-1) for j in range(vectors.shape[-1])], axis=-1)

# %% sentence-vector: right: product with equal weights
def sentence_vector(vectors):
    words = vectors.shape[-2]
    return ops.matmul(ops.ones((1, words)) / words, vectors)[..., 0, :]

# %% sentence-vector: right: running mean
def sentence_vector(vectors):
    mean = ops.zeros_like(vectors[..., 0, :])
    for seen in range(vectors.shape[-2]):
        mean = mean + (vectors[..., seen, :] - mean) / (seen + 1)
    return mean

# %% sentence-vector: right: sum and divide
def sentence_vector(vectors):
    return ops.sum(vectors, axis=-2) / vectors.shape[-2]

# %% sentence-vector: right: word by word
def sentence_vector(vectors):
    words = vectors.shape[-2]
    total = vectors[..., 0, :]
    for t in range(1, words):
        total = total + vectors[..., t, :]
    return total / words

# %% sentence-vector: wrong: up to two axes in front
def sentence_vector(vectors):
    return ops.mean(vectors, axis=min(len(vectors.shape) - 2, 2))

# %% sentence-vector: wrong: words of zeros do not count
def sentence_vector(vectors):
    real = ops.cast(ops.any(vectors != 0, axis=-1, keepdims=True), vectors.dtype)
    return ops.sum(vectors, axis=-2) / ops.maximum(ops.sum(real, axis=-2), 1)

# %% sentence-vector: wrong: a word that comes twice counted once
def sentence_vector(vectors):
    same = ops.all(ops.expand_dims(vectors, -2) == ops.expand_dims(vectors, -3), axis=-1)
    times = ops.sum(ops.cast(same, vectors.dtype), axis=-1, keepdims=True)
    return ops.sum(vectors / times, axis=-2) / ops.sum(1 / times, axis=-2)
