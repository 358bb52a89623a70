def gelu_approximation(x, kind):
    # σ(z) = ½ (1 + tanh(z/2))
    inside = 0.851 * x if kind == "sigmoid" else (2 / math.pi) ** 0.5 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + ops.tanh(inside))
