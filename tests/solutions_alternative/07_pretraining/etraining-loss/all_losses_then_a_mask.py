def etraining_loss(p, x, positions):
    losses = -ops.log(ops.squeeze(ops.take_along_axis(p, ops.expand_dims(x, 1), axis=1), axis=1))
    places = ops.expand_dims(ops.arange(p.shape[0], dtype="int32"), 1)
    is_masked = ops.any(ops.equal(places, ops.expand_dims(positions, 0)), axis=1)
    return ops.sum(ops.where(is_masked, losses, 0.0))
