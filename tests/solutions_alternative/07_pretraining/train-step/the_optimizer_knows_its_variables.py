def train_step(model, optimizer, batch):
    if not optimizer.built:
        optimizer.build(model.trainable_variables)
    with tf.GradientTape() as tape:
        outputs = model(
            batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"], training=True
        )
        loss = mlm_loss(outputs[0], batch["labels"], batch["weights"]) + nsp_loss(outputs[1], batch["next_sentence"])
    optimizer.apply(clip_gradients(tape.gradient(loss, model.trainable_variables)))
    return loss
