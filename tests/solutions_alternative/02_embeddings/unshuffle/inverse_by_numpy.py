def unshuffle(y, order):
    order = np.array(order)
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return ops.take(y, ops.convert_to_tensor(inverse), axis=-2)
