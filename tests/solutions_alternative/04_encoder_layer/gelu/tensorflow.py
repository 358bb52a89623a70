import tensorflow as tf


def gelu(x):
    return tf.multiply(x, 0.5 + 0.5 * tf.math.erf(x / tf.sqrt(2.0)))
