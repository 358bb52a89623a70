def clip_gradients(gradients, most=1.0):
    length = ops.norm(ops.concatenate([ops.reshape(gradient, (-1,)) for gradient in gradients]))
    return [gradient / ops.maximum(length / most, 1.0) for gradient in gradients]
