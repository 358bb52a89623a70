def clip_gradients(gradients, most=1.0):
    length = ops.sqrt(ops.sum(ops.stack([ops.sum(ops.square(gradient)) for gradient in gradients])))
    factor = ops.where(length > most, most / length, 1.0)
    return list(map(lambda gradient: factor * gradient, gradients))
