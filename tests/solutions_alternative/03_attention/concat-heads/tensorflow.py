import tensorflow as tf


def concat_heads(heads):
    return tf.concat(heads, -1)
