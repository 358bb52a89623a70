import tensorflow as tf


def token_embeddings(token_ids, w_e):
    return tf.tensordot(tf.one_hot(token_ids, depth=tf.shape(w_e)[0]), w_e, axes=1)
