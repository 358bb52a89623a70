def gather_positions(hidden, positions):
    return tf.gather(hidden, positions, axis=1, batch_dims=1)
