import tensorflow as tf


def worst_point(x, exact, approximate):
    distance = tf.abs(tf.subtract(exact, approximate))
    largest = tf.reduce_max(distance)
    return tf.stack([tf.boolean_mask(x, distance == largest)[0], largest])
