import tensorflow as tf


def cosine_similarities(x):
    unit = tf.math.l2_normalize(x, axis=-1)
    return tf.linalg.matmul(unit, unit, transpose_b=True)
