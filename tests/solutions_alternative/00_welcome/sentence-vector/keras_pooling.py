def sentence_vector(vectors):
    one_batch = ops.reshape(vectors, (-1, *vectors.shape[-2:]))
    pooled = keras.layers.GlobalAveragePooling1D()(one_batch)
    return ops.reshape(pooled, (*vectors.shape[:-2], vectors.shape[-1]))
