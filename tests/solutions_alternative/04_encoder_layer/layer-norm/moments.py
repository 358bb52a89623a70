def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean, variance = ops.moments(x, axes=[-1], keepdims=True)
    return gamma * (x - mean) * ops.rsqrt(variance + epsilon) + beta
