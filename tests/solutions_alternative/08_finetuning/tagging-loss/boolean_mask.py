import tensorflow as tf

IGNORED = -100


def tagging_loss(logits, labels):
    """Only the positions that count are kept at all."""
    asked = tf.not_equal(labels, IGNORED)
    kept, right = tf.boolean_mask(logits, asked), tf.boolean_mask(labels, asked)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=right, logits=kept)
    return tf.math.divide_no_nan(tf.reduce_sum(losses), tf.cast(tf.size(losses), losses.dtype))
