def train_step(model, optimizer, batch):
    def total_loss():
        logits, next_logits = model(
            token_ids=batch["token_ids"], token_type_ids=batch["token_type_ids"],
            attention_mask=batch["attention_mask"], positions=batch["positions"], training=True,
        )  # fmt: skip
        return mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])

    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([variable.value for variable in model.trainable_variables])
        loss = total_loss()
    gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
    optimizer.apply(clip_gradients(gradients), model.trainable_variables)
    return loss
