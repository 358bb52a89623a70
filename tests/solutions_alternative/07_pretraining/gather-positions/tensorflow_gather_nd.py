def gather_positions(hidden, positions):
    rows = tf.broadcast_to(tf.range(tf.shape(positions)[0])[:, None], tf.shape(positions))
    return tf.gather_nd(hidden, tf.stack([rows, positions], axis=-1))
