import tensorflow as tf


def residual(x, found, rate, training):
    return tf.add_n([x, tf.nn.dropout(found, rate if training else 0.0)])
