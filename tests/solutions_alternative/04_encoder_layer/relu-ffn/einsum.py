def relu_ffn(x, w_1, b_1, w_2, b_2):
    inner = ops.einsum("...d,dm->...m", x, w_1) + b_1
    return ops.einsum("...m,md->...d", ops.relu(inner), w_2) + b_2
