def layer_norm(x, gamma, beta, epsilon=1e-12):
    d = x.shape[-1]
    centred = x @ (ops.eye(d) - ops.ones((d, d)) / d)  # subtracts each row's mean
    lengths = ops.sqrt(ops.einsum("...i,...i->...", centred, centred) / d + epsilon)
    return centred / lengths[..., None] * gamma + beta
