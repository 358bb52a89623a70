def gelu(x):
    # |x| Φ(|x|) on the right, x - that on the left
    size = ops.abs(x)
    right = size * 0.5 * (1 + ops.erf(size * math.sqrt(0.5)))
    return ops.where(x > 0, right, right - size)
