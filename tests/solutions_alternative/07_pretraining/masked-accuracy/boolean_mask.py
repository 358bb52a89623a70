def masked_accuracy(logits, labels, weights):
    hits = tf.boolean_mask(tf.argmax(logits, axis=-1, output_type=tf.int32) == labels, weights > 0)
    return tf.reduce_mean(tf.cast(hits, tf.float32))
