def train_step(model, optimizer, batch):
    inputs = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    with tf.GradientTape() as tape:
        guesses, follows = model(*inputs, training=True)
        masked = mlm_loss(guesses, batch["labels"], batch["weights"])
        pairs = nsp_loss(follows, batch["next_sentence"])
        loss = masked + pairs
    weights = model.trainable_weights
    optimizer.apply_gradients(zip(clip_gradients(tape.gradient(loss, weights), 1.0), weights))
    return loss
