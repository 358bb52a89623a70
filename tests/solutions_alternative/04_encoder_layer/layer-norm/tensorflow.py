import tensorflow as tf


def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean, variance = tf.nn.moments(x, axes=-1, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)
