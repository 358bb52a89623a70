def perplexity(losses, counts):
    return tf.exp(tf.reduce_sum(tf.multiply(losses, counts)) / tf.reduce_sum(counts))
