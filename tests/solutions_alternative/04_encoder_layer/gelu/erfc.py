import tensorflow as tf


def gelu(x):
    return x * tf.math.erfc(-x / 2**0.5) / 2
