import statistics

import tensorflow as tf


def dropout(x, rate, training):
    if rate == 0 or not training:
        return tf.identity(x)
    threshold = statistics.NormalDist().inv_cdf(rate)
    return tf.where(tf.random.normal(x.shape) < threshold, tf.zeros_like(x), x / (1 - rate))
