def train_step(model, optimizer, batch):
    with tf.GradientTape() as tape:
        logits, next_logits = model(
            batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"], training=True
        )
        loss = nsp_loss(next_logits, batch["next_sentence"]) + mlm_loss(logits, batch["labels"], batch["weights"])
    gradients = tape.gradient(loss, model.trainable_variables)
    clipped, _ = tf.clip_by_global_norm([tf.convert_to_tensor(gradient) for gradient in gradients], 1.0)
    optimizer.apply(clipped, model.trainable_variables)
    return loss
