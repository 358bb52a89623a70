import random


def dropout(x, rate, training):
    if not training:
        return x
    factors = [0.0 if random.random() < rate else 1 / (1 - rate) for _ in range(ops.size(x))]
    return x * ops.reshape(ops.convert_to_tensor(factors), x.shape)
