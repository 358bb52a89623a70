def layer_norm(x, gamma, beta, epsilon=1e-12):
    rows = ops.reshape(x, (-1, x.shape[-1]))
    done = []
    for row in ops.unstack(rows, axis=0):
        deviations = row - ops.mean(row)
        done.append(deviations / ops.sqrt(ops.mean(deviations * deviations) + epsilon) * gamma + beta)
    return ops.reshape(ops.stack(done), x.shape)
