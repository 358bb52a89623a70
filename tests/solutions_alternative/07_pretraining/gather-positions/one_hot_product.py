def gather_positions(hidden, positions):
    return ops.matmul(ops.one_hot(positions, hidden.shape[1]), hidden)
