def etraining_loss(p, x, positions):
    places = tf.stack([positions, tf.gather(x, positions)], axis=1)
    return -tf.reduce_sum(tf.math.log(tf.gather_nd(p, places)))
