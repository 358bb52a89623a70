ROOT_TWO = np.sqrt(np.float32(2))


def gelu(x):
    """The mean of ReLU and a softened |x|: x Φ(x) = ½ (x + x erf(x/√2))."""
    return ops.mean(ops.stack([x, x * ops.erf(x / ROOT_TWO)]), axis=0)
