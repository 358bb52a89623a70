import tensorflow as tf


def unshuffle(y, order):
    by_token = sorted(range(y.shape[-2]), key=lambda row: int(order[row]))
    return tf.gather(y, by_token, axis=-2)
