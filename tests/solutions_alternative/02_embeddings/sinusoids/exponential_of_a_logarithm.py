def sinusoids(length, d_e):
    rates = ops.exp(ops.arange(0, d_e, 2, dtype="float32") * (-np.log(10000.0) / d_e))
    angles = ops.einsum("p,i->pi", ops.arange(length, dtype="float32"), rates)
    columns = []
    for i in range(d_e // 2):
        columns += [ops.sin(angles[:, i]), ops.cos(angles[:, i])]
    return ops.stack(columns, axis=1)
