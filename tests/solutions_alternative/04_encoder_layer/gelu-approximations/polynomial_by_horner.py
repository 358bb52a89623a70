COEFFICIENTS = {"sigmoid": (1.702, 0.0), "tanh": (2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715)}


def gelu_approximation(x, kind):
    linear, cubic = COEFFICIENTS[kind]
    return x * ops.sigmoid((cubic * x * x + linear) * x)
