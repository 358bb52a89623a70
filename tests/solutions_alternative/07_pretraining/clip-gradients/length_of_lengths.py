def clip_gradients(gradients, most=1.0):
    lengths = ops.stack([tf.norm(gradient) for gradient in gradients])
    return [gradient * ops.minimum(1.0, most / tf.norm(lengths)) for gradient in gradients]
