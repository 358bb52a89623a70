def train_step(model, optimizer, batch):
    inputs = (batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"])
    variables = model.trainable_variables
    with tf.GradientTape(persistent=True) as tape:
        logits, next_logits = model(*inputs, training=True)
        losses = mlm_loss(logits, batch["labels"], batch["weights"]), nsp_loss(next_logits, batch["next_sentence"])
    zero = tf.UnconnectedGradients.ZERO
    each = [tape.gradient(loss, variables, unconnected_gradients=zero) for loss in losses]
    both = [ops.convert_to_tensor(one) + ops.convert_to_tensor(other) for one, other in zip(*each)]
    optimizer.apply(clip_gradients(both), variables)
    return losses[0] + losses[1]
