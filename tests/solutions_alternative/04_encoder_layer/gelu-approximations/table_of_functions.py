def by_sigmoid(x):
    return x / (1 + ops.exp(-1.702 * x))


def by_tanh(x):
    return x / 2 + x / 2 * ops.tanh(math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x))


def gelu_approximation(x, kind):
    return {"sigmoid": by_sigmoid, "tanh": by_tanh}[kind](x)
