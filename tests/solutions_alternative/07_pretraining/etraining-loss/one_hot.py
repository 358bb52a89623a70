def etraining_loss(p, x, positions):
    gold = ops.one_hot(ops.take(x, positions), p.shape[1])
    rows = ops.take(p, positions, axis=0)
    return -ops.sum(ops.log(ops.einsum("mv,mv->m", rows, gold)))
