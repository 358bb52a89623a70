def layer_norm(x, gamma, beta, epsilon=1e-12):
    upright = ops.moveaxis(x, -1, 0)  # (d, ...): means over the first axis need no keepdims
    upright = upright - ops.mean(upright, axis=0)
    upright = upright / ops.sqrt(ops.var(upright, axis=0) + epsilon)
    return ops.moveaxis(upright, 0, -1) * gamma + beta
