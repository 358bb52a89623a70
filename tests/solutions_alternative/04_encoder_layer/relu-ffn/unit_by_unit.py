def relu_ffn(x, w_1, b_1, w_2, b_2):
    total = ops.zeros_like(x) + b_2
    for unit in range(w_1.shape[1]):  # each inner unit adds its own row of w_2
        strength = ops.relu(ops.sum(x * w_1[:, unit], axis=-1, keepdims=True) + b_1[unit])
        total = total + strength * w_2[unit]
    return total
