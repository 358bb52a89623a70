def gather_positions(hidden, positions):
    return ops.stack([ops.take(row, places, axis=0) for row, places in zip(hidden, positions)])
