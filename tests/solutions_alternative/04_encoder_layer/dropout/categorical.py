def dropout(x, rate, training):
    if not training or rate == 0:
        return x
    chances = ops.log(ops.tile(ops.convert_to_tensor([[rate, 1 - rate]]), (math.prod(x.shape), 1)))
    kept = ops.reshape(keras.random.categorical(chances, 1), x.shape)
    return ops.where(ops.equal(kept, 1), x / (1 - rate), ops.zeros_like(x))
