def train_step(model, optimizer, batch):
    inputs = (batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"])
    with tf.GradientTape() as tape:
        logits, next_logits = model(*inputs, training=True)
        losses = [mlm_loss(logits, batch["labels"], batch["weights"]), nsp_loss(next_logits, batch["next_sentence"])]
    both = tape.gradient(losses, model.trainable_variables)  # of several targets: their gradients' sum
    optimizer.apply(clip_gradients([ops.convert_to_tensor(gradient) for gradient in both]), model.trainable_variables)
    return ops.sum(ops.stack(losses))
