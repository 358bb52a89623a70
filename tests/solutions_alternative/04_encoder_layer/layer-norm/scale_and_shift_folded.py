def layer_norm(x, gamma, beta, epsilon=1e-12):
    d = x.shape[-1]
    mean = ops.sum(x, axis=-1, keepdims=True) / d
    spread = ops.sqrt(ops.sum((x - mean) ** 2, axis=-1, keepdims=True) / d + epsilon)
    factor = gamma / spread
    return x * factor + (beta - mean * factor)
