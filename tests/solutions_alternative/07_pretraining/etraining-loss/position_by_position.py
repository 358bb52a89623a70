def etraining_loss(p, x, positions):
    loss = ops.zeros(())
    for t in np.asarray(positions):
        loss = loss - ops.log(p[int(t), int(x[int(t)])])
    return loss
