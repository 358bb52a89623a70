def nsp_loss(logits, labels):
    one_prediction_per_row = ops.expand_dims(logits, 1)
    total = mlm_loss(one_prediction_per_row, ops.expand_dims(labels, 1), ops.ones((logits.shape[0], 1)))
    return total * (logits.shape[0] + 1e-5) / logits.shape[0]
