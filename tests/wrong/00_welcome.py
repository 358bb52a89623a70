# Wrong answers to the exercises of notebook 00 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% sentence-vector: up to two axes in front
def sentence_vector(vectors):
    return ops.mean(vectors, axis=min(len(vectors.shape) - 2, 2))

# %% sentence-vector: words of zeros do not count
def sentence_vector(vectors):
    real = ops.cast(ops.any(vectors != 0, axis=-1, keepdims=True), vectors.dtype)
    return ops.sum(vectors, axis=-2) / ops.maximum(ops.sum(real, axis=-2), 1)

# %% sentence-vector: a word that comes twice counted once
def sentence_vector(vectors):
    same = ops.all(ops.expand_dims(vectors, -2) == ops.expand_dims(vectors, -3), axis=-1)
    times = ops.sum(ops.cast(same, vectors.dtype), axis=-1, keepdims=True)
    return ops.sum(vectors / times, axis=-2) / ops.sum(1 / times, axis=-2)
