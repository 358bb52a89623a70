import tensorflow as tf


def attention_scores(q, k):
    return tf.linalg.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(k)[-1], tf.float32))
