def softmax_rows(a):
    columns = ops.swapaxes(a, -1, -2)
    columns = columns - ops.max(columns, axis=-2, keepdims=True)
    powers = ops.exp(columns)
    return ops.swapaxes(powers / ops.sum(powers, axis=-2, keepdims=True), -1, -2)
