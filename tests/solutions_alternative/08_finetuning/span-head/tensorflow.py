import tensorflow as tf

MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        turned = tf.linalg.matrix_transpose(self.dense(hidden))
        return tf.where(may_answer[:, tf.newaxis], turned, tf.fill(tf.shape(turned), MASKED_SCORE))
