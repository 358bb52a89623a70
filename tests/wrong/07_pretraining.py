# Wrong answers to the exercises of notebook 07 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% train-step: the rows of a table are not added up
def train_step(model, optimizer, batch):
    inputs = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    with tf.GradientTape() as tape:
        logits, next_logits = model(*inputs, training=True)
        loss = mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])
    gradients = [ops.convert_to_tensor(gradient) for gradient in tape.gradient(loss, model.trainable_variables)]
    optimizer.apply(clip_gradients(gradients), model.trainable_variables)
    return loss

# %% train-step: fails inside tf.function
def train_step(model, optimizer, batch):
    inputs = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    with tf.GradientTape() as tape:
        logits, next_logits = model(*inputs, training=True)
        loss = mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, model.trainable_variables)]
    length = float(tf.linalg.global_norm(gradients))
    optimizer.apply([gradient / max(length, 1.0) for gradient in gradients], model.trainable_variables)
    return loss
