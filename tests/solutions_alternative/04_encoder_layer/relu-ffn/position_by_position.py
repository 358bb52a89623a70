def relu_ffn(x, w_1, b_1, w_2, b_2):
    rows = ops.reshape(x, (-1, x.shape[-1]))
    done = []
    for row in rows:
        inner = ops.dot(row, w_1) + b_1
        done.append(ops.dot(ops.where(inner > 0, inner, 0.0), w_2) + b_2)
    return ops.reshape(ops.stack(done), x.shape)
