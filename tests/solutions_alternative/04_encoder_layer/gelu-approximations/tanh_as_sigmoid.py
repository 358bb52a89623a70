def gelu_approximation(x, kind):
    # ½ (1 + tanh(z)) = σ(2z): both are x σ(something)
    inside = 1.702 * x
    if kind == "tanh":
        inside = math.sqrt(8 / math.pi) * (x + 0.044715 * ops.power(x, 3))
    return x * ops.sigmoid(inside)
