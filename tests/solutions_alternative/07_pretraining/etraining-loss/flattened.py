def etraining_loss(p, x, positions):
    tokens, pieces = p.shape
    everywhere = ops.arange(tokens, dtype="int32") * pieces + x
    chances = ops.take(ops.reshape(p, (-1,)), ops.take(everywhere, positions))
    return ops.sum(ops.log(1 / chances))
