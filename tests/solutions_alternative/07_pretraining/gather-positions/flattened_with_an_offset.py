def gather_positions(hidden, positions):
    batch, tokens, size = ops.shape(hidden)
    offsets = ops.expand_dims(ops.arange(batch, dtype="int32") * tokens, 1)
    flat = ops.reshape(hidden, (batch * tokens, size))
    return ops.take(flat, positions + offsets, axis=0)
