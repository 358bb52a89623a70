def train_step(model, optimizer, batch):
    variables = model.trainable_variables
    with tf.GradientTape(persistent=True) as tape:
        logits, next_logits = model(
            batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"], training=True
        )
        masked = mlm_loss(logits, batch["labels"], batch["weights"])
        pairs = nsp_loss(next_logits, batch["next_sentence"])
    first = tape.gradient(masked, variables, unconnected_gradients="zero")
    second = tape.gradient(pairs, variables, unconnected_gradients="zero")
    both = [tf.convert_to_tensor(one) + tf.convert_to_tensor(other) for one, other in zip(first, second)]
    optimizer.apply(clip_gradients(both), variables)
    return masked + pairs
