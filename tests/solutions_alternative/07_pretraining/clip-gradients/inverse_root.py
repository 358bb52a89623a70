def clip_gradients(gradients, most=1.0):
    squares = [tf.tensordot(tf.reshape(g, [-1]), tf.reshape(g, [-1]), 1) for g in gradients]
    factor = tf.minimum(1.0, most * tf.math.rsqrt(tf.add_n(squares)))
    return [tf.scalar_mul(factor, gradient) for gradient in gradients]
