def softmax_rows(a):
    rows = []
    for row in ops.unstack(ops.reshape(a, (-1, a.shape[-1])), axis=0):
        powers = ops.exp(row - ops.max(row))
        rows.append(powers / ops.sum(powers))
    return ops.reshape(ops.stack(rows), ops.shape(a))
