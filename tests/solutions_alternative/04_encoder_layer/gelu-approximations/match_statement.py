def gelu_approximation(x, kind):
    match kind:
        case "sigmoid":
            weight = ops.sigmoid(ops.multiply(x, 1.702))
        case "tanh":
            cubic = ops.add(x, ops.multiply(0.044715, ops.power(x, 3)))
            weight = (ops.tanh(math.sqrt(2 / math.pi) * cubic) + 1) / 2
    return ops.multiply(weight, x)
