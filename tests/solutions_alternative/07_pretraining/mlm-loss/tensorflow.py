def mlm_loss(logits, labels, weights):
    log_p = tf.nn.log_softmax(logits)
    losses = -tf.gather(log_p, labels, axis=2, batch_dims=2)
    return tf.tensordot(losses, weights, 2) / (tf.reduce_sum(weights) + 1e-5)
