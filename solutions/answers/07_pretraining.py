# Other answers to the exercises of notebook 07: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% etraining-loss: right: all losses then a mask
def etraining_loss(p, x, positions):
    losses = -ops.log(ops.squeeze(ops.take_along_axis(p, ops.expand_dims(x, 1), axis=1), axis=1))
    places = ops.expand_dims(ops.arange(p.shape[0], dtype="int32"), 1)
    is_masked = ops.any(ops.equal(places, ops.expand_dims(positions, 0)), axis=1)
    return ops.sum(ops.where(is_masked, losses, 0.0))


# %% etraining-loss: right: flattened
def etraining_loss(p, x, positions):
    tokens, pieces = p.shape
    everywhere = ops.arange(tokens, dtype="int32") * pieces + x
    chances = ops.take(ops.reshape(p, (-1,)), ops.take(everywhere, positions))
    return ops.sum(ops.log(1 / chances))


# %% etraining-loss: right: one hot
def etraining_loss(p, x, positions):
    gold = ops.one_hot(ops.take(x, positions), p.shape[1])
    rows = ops.take(p, positions, axis=0)
    return -ops.sum(ops.log(ops.einsum("mv,mv->m", rows, gold)))


# %% etraining-loss: right: position by position
def etraining_loss(p, x, positions):
    loss = ops.zeros(())
    for t in np.asarray(positions):
        loss = loss - ops.log(p[int(t), int(x[int(t)])])
    return loss


# %% etraining-loss: right: tensorflow gather nd
def etraining_loss(p, x, positions):
    places = tf.stack([positions, tf.gather(x, positions)], axis=1)
    return -tf.reduce_sum(tf.math.log(tf.gather_nd(p, places)))


# %% etraining-loss: wrong: ids in 8 bits
def etraining_loss(p, x, positions):
    rows, ids = ops.take(p, positions, axis=0), ops.cast(ops.cast(ops.take(x, positions), "uint8"), "int32")
    return -ops.sum(ops.log(ops.take_along_axis(rows, ops.expand_dims(ids, 1), axis=1)))


# %% mlm-loss: right: flattened rows
def mlm_loss(logits, labels, weights):
    flat = ops.reshape(logits, (-1, logits.shape[-1]))
    labels, weights = ops.reshape(labels, (-1,)), ops.reshape(weights, (-1,))
    log_p = ops.log_softmax(flat, axis=1)
    chosen = ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1)[:, 0]
    return -ops.sum(chosen * weights) / (ops.sum(weights) + 1e-5)


# %% mlm-loss: right: logsumexp
def mlm_loss(logits, labels, weights):
    chosen = ops.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    losses = ops.logsumexp(logits, axis=-1) - chosen
    return ops.einsum("bp,bp->", losses, weights) / (1e-5 + ops.sum(weights))


# %% mlm-loss: right: one hot
def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.sum(log_p * ops.one_hot(labels, logits.shape[-1]), axis=-1)
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)


# %% mlm-loss: right: row by row
def mlm_loss(logits, labels, weights):
    total, count = 0.0, 1e-5
    for row in range(logits.shape[0]):
        for place in range(logits.shape[1]):
            log_p = ops.log_softmax(logits[row, place])
            total = total - weights[row, place] * ops.take(log_p, labels[row, place])
            count = count + weights[row, place]
    return total / count


# %% mlm-loss: right: shares of the total
def mlm_loss(logits, labels, weights):
    shares = weights / (ops.sum(weights) + 1e-5)
    shifted = logits - ops.max(logits, axis=-1, keepdims=True)
    log_p = shifted - ops.log(ops.sum(ops.exp(shifted), axis=-1, keepdims=True))
    return -ops.sum(ops.take_along_axis(log_p, ops.expand_dims(labels, 2), axis=2)[:, :, 0] * shares)


# %% mlm-loss: right: tensorflow
def mlm_loss(logits, labels, weights):
    log_p = tf.nn.log_softmax(logits)
    losses = -tf.gather(log_p, labels, axis=2, batch_dims=2)
    return tf.tensordot(losses, weights, 2) / (tf.reduce_sum(weights) + 1e-5)


# %% mlm-loss: right: idiom of google-research's BERT, one-hot rows and a fraction
def mlm_loss(logits, labels, weights):
    log_probs = ops.log_softmax(ops.reshape(logits, (-1, logits.shape[-1])), axis=-1)
    label_ids, label_weights = ops.reshape(labels, (-1,)), ops.reshape(weights, (-1,))
    one_hot = ops.one_hot(label_ids, logits.shape[-1], dtype="float32")
    per_example = -ops.sum(log_probs * one_hot, axis=[-1])
    numerator = ops.sum(label_weights * per_example)
    denominator = ops.sum(label_weights) + 1e-5
    return numerator / denominator


# %% mlm-loss: wrong: the largest logit of the whole batch subtracted
def mlm_loss(logits, labels, weights):
    logits = logits - ops.max(logits)
    log_p = logits - ops.log(ops.sum(ops.exp(logits), axis=-1, keepdims=True))
    losses = -ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)


# %% mlm-loss: wrong: at least 0.00001 instead of plus
def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / ops.maximum(ops.sum(weights), 1e-5)


# %% mlm-loss: wrong: ids in 8 bits
def mlm_loss(logits, labels, weights):
    log_p, ids = ops.log_softmax(logits, axis=-1), ops.cast(ops.cast(labels, "uint8"), "int32")
    losses = -ops.take_along_axis(log_p, ops.expand_dims(ids, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)


# %% mlm-loss: wrong: an axis of size 1 is lost
def mlm_loss(logits, labels, weights):
    logs = ops.squeeze(ops.take_along_axis(ops.log_softmax(logits), ops.expand_dims(labels, -1), axis=-1))
    return -ops.sum(logs * weights) / (ops.sum(weights) + 1e-5)


# %% mlm-loss: wrong: without predictions a 0 / 0 remains in the gradient
def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.sum(ops.one_hot(labels, logits.shape[-1]) * log_p, axis=-1)
    n = ops.sum(weights)
    return ops.where(n > 0, ops.sum(losses * weights) / n * (n / (n + 1e-5)), 0.0)


# %% mlm-loss: wrong: whether there are predictions is decided by if
def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    if ops.sum(weights) == 0:
        return ops.sum(losses * weights)
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)


# %% nsp-loss: right: as a masked language model
def nsp_loss(logits, labels):
    one_prediction_per_row = ops.expand_dims(logits, 1)
    total = mlm_loss(one_prediction_per_row, ops.expand_dims(labels, 1), ops.ones((logits.shape[0], 1)))
    return total * (logits.shape[0] + 1e-5) / logits.shape[0]


# %% nsp-loss: right: chosen by where
def nsp_loss(logits, labels):
    log_p = ops.log_softmax(logits, axis=-1)
    return ops.mean(ops.where(ops.equal(labels, 0), -log_p[:, 0], -log_p[:, 1]))


# %% nsp-loss: right: one hot
def nsp_loss(logits, labels):
    return -ops.mean(ops.sum(ops.one_hot(labels, 2) * ops.log_softmax(logits, axis=1), axis=1))


# %% nsp-loss: right: pair by pair
def nsp_loss(logits, labels):
    pairs = range(logits.shape[0])
    losses = [ops.logsumexp(logits[pair]) - ops.take(logits[pair], labels[pair]) for pair in pairs]
    return sum(losses) / len(losses)


# %% nsp-loss: right: softplus of the difference
def nsp_loss(logits, labels):
    other_minus_own = (logits[:, 1] - logits[:, 0]) * ops.cast(1 - 2 * labels, "float32")
    return ops.mean(ops.softplus(other_minus_own))


# %% nsp-loss: right: idiom of google-research's BERT, one-hot rows
def nsp_loss(logits, labels):
    log_probs = ops.log_softmax(logits, axis=-1)
    one_hot = ops.one_hot(ops.reshape(labels, (-1,)), 2, dtype="float32")
    return ops.mean(-ops.sum(one_hot * log_probs, axis=-1))


# %% nsp-loss: wrong: a loop over a tensor, which fails inside tf.function
def nsp_loss(logits, labels):
    losses = [ops.logsumexp(pair) - pair[int(label)] for pair, label in zip(logits, labels)]
    return sum(losses) / len(losses)


# %% gather-positions: right: flattened with an offset
def gather_positions(hidden, positions):
    batch, tokens, size = ops.shape(hidden)
    offsets = ops.expand_dims(ops.arange(batch, dtype="int32") * tokens, 1)
    flat = ops.reshape(hidden, (batch * tokens, size))
    return ops.take(flat, positions + offsets, axis=0)


# %% gather-positions: right: one hot product
def gather_positions(hidden, positions):
    return ops.matmul(ops.one_hot(positions, hidden.shape[1]), hidden)


# %% gather-positions: right: places compared
def gather_positions(hidden, positions):
    places = ops.arange(hidden.shape[1], dtype="int32")
    is_wanted = ops.equal(ops.expand_dims(positions, -1), places)
    return ops.einsum("bpt,bth->bph", ops.cast(is_wanted, hidden.dtype), hidden)


# %% gather-positions: right: row by row
def gather_positions(hidden, positions):
    return ops.stack([ops.take(hidden[row], positions[row], axis=0) for row in range(hidden.shape[0])])


# %% gather-positions: right: tensorflow
def gather_positions(hidden, positions):
    return tf.gather(hidden, positions, axis=1, batch_dims=1)


# %% gather-positions: right: tensorflow gather nd
def gather_positions(hidden, positions):
    rows = tf.broadcast_to(tf.range(tf.shape(positions)[0])[:, None], tf.shape(positions))
    return tf.gather_nd(hidden, tf.stack([rows, positions], axis=-1))


# %% gather-positions: right: idiom of google-research's BERT, flat offsets
def gather_positions(hidden, positions):
    batch, length, width = ops.shape(hidden)
    offsets = ops.reshape(ops.arange(0, batch, dtype="int32") * length, (-1, 1))
    flat = ops.reshape(ops.cast(positions, "int32") + offsets, (-1,))
    found = ops.take(ops.reshape(hidden, (-1, width)), flat, axis=0)
    return ops.reshape(found, (batch, -1, width))


# %% gather-positions: wrong: sorted, each once
def gather_positions(hidden, positions):
    return ops.take_along_axis(hidden, ops.expand_dims(ops.sort(positions, axis=1), -1), axis=1)


# %% gather-positions: wrong: a loop over a tensor, which fails inside tf.function
def gather_positions(hidden, positions):
    return ops.stack([ops.take(row, places, axis=0) for row, places in zip(hidden, positions)])


# %% gather-positions: wrong: positions in 8 bits
def gather_positions(hidden, positions):
    small = ops.cast(ops.cast(ops.expand_dims(positions, -1), "uint8"), "int32")
    return ops.take_along_axis(hidden, small, axis=1)


# %% gather-positions: wrong: an axis of size 1 is lost
def gather_positions(hidden, positions):
    return ops.squeeze(ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1))


# %% pretraining-model: right: a layer
class PreTrainingModel(keras.layers.Layer):
    def __init__(
        self,
        vocab_size,
        hidden_size,
        num_layers,
        num_heads,
        intermediate_size,
        max_positions=512,
        dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        sizes = (vocab_size, hidden_size, num_layers, num_heads, intermediate_size)
        self.bert = Bert(*sizes, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        return self.mlm_head(gather_positions(hidden, positions), self.bert.embeddings.token.embeddings), self.nsp_head(pooled)


# %% pretraining-model: right: gathered after the head
class PreTrainingModel(keras.Model):
    def __init__(
        self,
        vocab_size,
        hidden_size,
        num_layers,
        num_heads,
        intermediate_size,
        max_positions=512,
        dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        sizes = (vocab_size, hidden_size, num_layers, num_heads, intermediate_size)
        self.bert = Bert(*sizes, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        everywhere = self.mlm_head(hidden, self.bert.embeddings.token.embeddings)
        return gather_positions(everywhere, positions), self.nsp_head(pooled)


# %% pretraining-model: right: heads first
class PreTrainingModel(keras.Model):
    def __init__(
        self,
        vocab_size,
        hidden_size,
        num_layers,
        num_heads,
        intermediate_size,
        max_positions=512,
        dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        sizes = (vocab_size, hidden_size, num_layers, num_heads, intermediate_size)
        self.mlm_head, self.nsp_head = MlmHead(vocab_size), NspHead()
        self.bert = Bert(*sizes, max_positions=max_positions, dropout=dropout)

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        everything = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        next_logits = self.nsp_head(everything[1])
        at_blanks = gather_positions(everything[0], positions)
        return self.mlm_head(at_blanks, self.bert.embeddings.token.embeddings), next_logits


# %% pretraining-model: right: methods for the heads
class PreTrainingModel(keras.Model):
    def __init__(
        self,
        vocab_size,
        hidden_size,
        num_layers,
        num_heads,
        intermediate_size,
        max_positions=512,
        dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        sizes = (vocab_size, hidden_size, num_layers, num_heads, intermediate_size)
        self.bert = Bert(*sizes, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()

    def guess(self, hidden, positions):
        table = self.bert.embeddings.token.embeddings
        rows = [gather_positions(hidden[i : i + 1], positions[i : i + 1]) for i in range(hidden.shape[0])]
        return self.mlm_head(ops.concatenate(rows, axis=0), table)

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        return self.guess(hidden, positions), self.nsp_head(pooled)


# %% pretraining-model: right: names of earlier editions
class PreTrainingModel(keras.layers.Layer):
    def __init__(
        self,
        vocab_size,
        hidden_size,
        num_layers,
        num_heads,
        intermediate_size,
        max_positions=512,
        dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        sizes = (vocab_size, hidden_size, num_layers, num_heads, intermediate_size)
        self.bert = Bert(*sizes, max_positions, dropout)
        self.mlm = MlmHead(vocab_size)
        self.nsp = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        return self.mlm(gather_positions(hidden, positions), self.bert.embeddings.token.embeddings), self.nsp(pooled)


# %% pretraining-model: right: one hot gather
class PreTrainingModel(keras.Model):
    def __init__(
        self,
        vocab_size,
        hidden_size,
        num_layers,
        num_heads,
        intermediate_size,
        max_positions=512,
        dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        sizes = (vocab_size, hidden_size, num_layers, num_heads, intermediate_size)
        self.bert = Bert(*sizes, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        chosen = ops.einsum("bpt,bth->bph", ops.one_hot(positions, hidden.shape[1]), hidden)
        return self.mlm_head(chosen, self.bert.embeddings.token.embeddings), self.nsp_head(pooled)


# %% pretraining-model: wrong: no gradient into the encoder from the next-sentence head
class PreTrainingModel(keras.Model):
    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.bert = Bert(vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        logits = self.mlm_head(gather_positions(hidden, positions), self.bert.embeddings.token.embeddings)
        return logits, self.nsp_head(ops.stop_gradient(pooled))


# %% pretraining-model: wrong: dropout on the pooled vector too
class PreTrainingModel(keras.Model):
    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.bert = Bert(vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()
        self.drop = keras.layers.Dropout(dropout)

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        logits = self.mlm_head(gather_positions(hidden, positions), self.bert.embeddings.token.embeddings)
        return logits, self.nsp_head(self.drop(pooled, training=training))


# %% pretraining-model: wrong: the pooled vector of a second call without dropout
class PreTrainingModel(keras.Model):
    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.bert = Bert(vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, _ = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        _, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=False)
        logits = self.mlm_head(gather_positions(hidden, positions), self.bert.embeddings.token.embeddings)
        return logits, self.nsp_head(pooled)


# %% pretraining-model: wrong: positions are sorted
class PreTrainingModel(keras.Model):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.bert = Bert(vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout)
        self.mlm_head, self.nsp_head = MlmHead(vocab_size), NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        chosen = gather_positions(hidden, ops.sort(positions, axis=-1))
        return self.mlm_head(chosen, self.bert.embeddings.token.embeddings), self.nsp_head(pooled)


# %% pretraining-model: wrong: no dropout by default
class PreTrainingModel(keras.Model):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.bert = Bert(vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout)
        self.mlm_head, self.nsp_head = MlmHead(vocab_size), NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        chosen = gather_positions(hidden, positions)
        return self.mlm_head(chosen, self.bert.embeddings.token.embeddings), self.nsp_head(pooled)


# %% clip-gradients: right: if longer
def clip_gradients(gradients, max_norm=1.0):
    squares = 0.0
    for gradient in gradients:
        squares = squares + ops.sum(gradient * gradient)
    is_short = squares <= max_norm**2
    return [ops.where(is_short, gradient, gradient * max_norm / ops.sqrt(squares)) for gradient in gradients]


# %% clip-gradients: right: inverse root
def clip_gradients(gradients, max_norm=1.0):
    squares = [tf.tensordot(tf.reshape(g, [-1]), tf.reshape(g, [-1]), 1) for g in gradients]
    factor = tf.minimum(1.0, max_norm * tf.math.rsqrt(tf.add_n(squares)))
    return [tf.scalar_mul(factor, gradient) for gradient in gradients]


# %% clip-gradients: right: length of lengths
def clip_gradients(gradients, max_norm=1.0):
    lengths = ops.stack([tf.norm(gradient) for gradient in gradients])
    return [gradient * ops.minimum(1.0, max_norm / tf.norm(lengths)) for gradient in gradients]


# %% clip-gradients: right: one long vector
def clip_gradients(gradients, max_norm=1.0):
    length = ops.norm(ops.concatenate([ops.reshape(gradient, (-1,)) for gradient in gradients]))
    return [gradient / ops.maximum(length / max_norm, 1.0) for gradient in gradients]


# %% clip-gradients: right: where
def clip_gradients(gradients, max_norm=1.0):
    length = ops.sqrt(ops.sum(ops.stack([ops.sum(ops.square(gradient)) for gradient in gradients])))
    factor = ops.where(length > max_norm, max_norm / length, 1.0)
    return list(map(lambda gradient: factor * gradient, gradients))


# %% clip-gradients: right: idiom of PyTorch, a factor of at most 1
def clip_gradients(gradients, max_norm=1.0):
    norms = ops.stack([ops.norm(ops.reshape(one, (-1,))) for one in gradients])
    total = ops.norm(norms)
    factor = ops.minimum(max_norm / (total + 1e-6), 1.0)
    return [one * factor for one in gradients]


# %% clip-gradients: wrong: one list for all steps
clipped = []


def clip_gradients(gradients, max_norm=1.0):
    clipped.clear()
    length = ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))
    clipped.extend(gradient * (max_norm / ops.maximum(length, max_norm)) for gradient in gradients)
    return clipped


# %% clip-gradients: wrong: whether it is too long is decided by if
def clip_gradients(gradients, max_norm=1.0):
    length = ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))
    return [gradient * max_norm / length for gradient in gradients] if length > max_norm else list(gradients)


# %% train-step: right: an inner function
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
    gradients = list(map(tf.convert_to_tensor, gradients))
    optimizer.apply(clip_gradients(gradients), model.trainable_variables)
    return loss


# %% train-step: right: apply gradients in pairs
def train_step(model, optimizer, batch):
    inputs = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    with tf.GradientTape() as tape:
        guesses, follows = model(*inputs, training=True)
        masked = mlm_loss(guesses, batch["labels"], batch["weights"])
        pairs = nsp_loss(follows, batch["next_sentence"])
        loss = masked + pairs
    weights = model.trainable_weights
    slopes = [slope + tf.zeros_like(weight) for slope, weight in zip(map(tf.convert_to_tensor, tape.gradient(loss, weights)), weights)]
    optimizer.apply_gradients(zip(clip_gradients(slopes, 1.0), weights))
    return loss


# %% train-step: right: clipped by tensorflow
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


# %% train-step: right: the optimizer knows its variables
def train_step(model, optimizer, batch):
    if not optimizer.built:
        optimizer.build(model.trainable_variables)
    with tf.GradientTape() as tape:
        outputs = model(
            batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"], training=True
        )
        loss = mlm_loss(outputs[0], batch["labels"], batch["weights"]) + nsp_loss(outputs[1], batch["next_sentence"])
    gradients = tape.gradient(loss, model.trainable_variables)
    rows = lambda slices: tf.math.unsorted_segment_sum(slices.values, slices.indices, slices.dense_shape[0])
    optimizer.apply(clip_gradients([rows(g) if isinstance(g, tf.IndexedSlices) else g for g in gradients]))
    return loss


# %% train-step: right: two gradients added
def train_step(model, optimizer, batch):
    inputs = (batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"])
    with tf.GradientTape() as tape:
        logits, next_logits = model(*inputs, training=True)
        losses = [mlm_loss(logits, batch["labels"], batch["weights"]), nsp_loss(next_logits, batch["next_sentence"])]
    both = tape.gradient(losses, model.trainable_variables)  # of several targets: their gradients' sum
    optimizer.apply(clip_gradients([tf.convert_to_tensor(gradient) for gradient in both]), model.trainable_variables)
    return ops.sum(ops.stack(losses))


# %% train-step: wrong: fails inside tf.function
def train_step(model, optimizer, batch):
    inputs = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    with tf.GradientTape() as tape:
        logits, next_logits = model(*inputs, training=True)
        loss = mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, model.trainable_variables)]
    length = float(tf.linalg.global_norm(gradients))
    optimizer.apply([gradient / max(length, 1.0) for gradient in gradients], model.trainable_variables)
    return loss


# %% learning-rate: right: cases by where
def learning_rate(step, peak, warmup_steps, total_steps):
    up = peak * (step + 1) / max(warmup_steps, 1)
    down = peak * (total_steps - step) / (total_steps - warmup_steps)
    rate = ops.where(step < warmup_steps, up, down)
    return ops.where(step >= total_steps, 0.0, rate)


# %% learning-rate: right: where it warms up
def learning_rate(step, peak, warmup_steps, total_steps):
    rising = peak * (step + 1) / max(warmup_steps, 1)
    falling = peak * ops.relu(total_steps - step) / (total_steps - warmup_steps)
    return ops.where(step < warmup_steps, rising, falling)


# %% learning-rate: right: multiplied masks
def learning_rate(step, peak, warmup_steps, total_steps):
    is_rising = ops.cast(step < warmup_steps, "float32")
    is_falling = (1 - is_rising) * ops.cast(step < total_steps, "float32")
    up = (step + 1) / (warmup_steps or 1)
    down = 1 - (step - warmup_steps) / (total_steps - warmup_steps)
    return peak * (is_rising * up + is_falling * down)


# %% learning-rate: right: relu
def learning_rate(step, peak, warmup_steps, total_steps):
    missing = ops.relu(warmup_steps - 1 - step) / max(warmup_steps, 1)
    past = ops.relu(step - warmup_steps) / (total_steps - warmup_steps)
    return peak * ops.relu(1 - missing - past)


# %% learning-rate: right: step by step
def learning_rate(step, peak, warmup_steps, total_steps):
    flat, rates = ops.reshape(step, (-1,)), []
    for place in range(flat.shape[0]):
        falling = ops.maximum(0.0, (total_steps - flat[place]) / (total_steps - warmup_steps))
        rising = (flat[place] + 1) / warmup_steps if warmup_steps else 1.0
        rates.append(peak * ops.minimum(rising, falling))
    return ops.reshape(ops.stack(rates), step.shape)


# %% learning-rate: wrong: without warm-up it falls below 0
def learning_rate(step, peak, warmup_steps, total_steps):
    if warmup_steps == 0:
        return peak * (total_steps - step) / total_steps
    falling = (total_steps - step) / (total_steps - warmup_steps)
    return peak * ops.clip(ops.minimum((step + 1) / warmup_steps, falling), 0, 1)


# %% learning-rate: wrong: never below a thousandth of the peak before the end
def learning_rate(step, peak, warmup_steps, total_steps):
    falling = (total_steps - step) / (total_steps - warmup_steps)
    rate = peak * ops.clip(ops.minimum((step + 1) / max(warmup_steps, 1), falling), 1e-3, 1)
    return ops.where(step < total_steps, rate, 0.0)


# %% learning-rate: wrong: by NumPy, which fails inside tf.function
def learning_rate(step, peak, warmup_steps, total_steps):
    step = np.asarray(step, "float32")
    falling = (total_steps - step) / (total_steps - warmup_steps)
    rising = (step + 1) / warmup_steps if warmup_steps else np.ones_like(step)
    return ops.convert_to_tensor((peak * np.maximum(0, np.minimum(rising, falling))).astype("float32"))


# %% adamw-step: right: averages moved towards the new value
def adamw_step(weight, gradient, m, v, step, rate):
    m = m + (1 - BETA_1) * (gradient - m)
    v = v + (1 - BETA_2) * (ops.square(gradient) - v)
    length = ops.sqrt(v / (1 - BETA_2**step)) + EPSILON
    weight = weight - rate * DECAY * weight
    return weight - rate / (1 - BETA_1**step) * m / length, m, v


# %% adamw-step: right: idiom of PyTorch, the root first, then its correction
def adamw_step(weight, gradient, m, v, step, rate):
    weight = weight * (1 - rate * DECAY)
    m = m * BETA_1 + gradient * (1 - BETA_1)
    v = v * BETA_2 + gradient * gradient * (1 - BETA_2)
    denominator = ops.sqrt(v) / (1 - BETA_2**step) ** 0.5 + EPSILON
    return weight - (rate / (1 - BETA_1**step)) * (m / denominator), m, v


# %% adamw-step: right: constants as tensors
def adamw_step(weight, gradient, m, v, step, rate):
    b1, b2 = ops.convert_to_tensor(BETA_1, "float32"), ops.convert_to_tensor(BETA_2, "float32")
    new_m = ops.add(ops.multiply(m, b1), ops.multiply(gradient, 1 - BETA_1))
    new_v = ops.add(ops.multiply(v, b2), ops.multiply(ops.square(gradient), 1 - BETA_2))
    up = ops.divide(new_m, 1 - BETA_1**step)
    down = ops.add(ops.sqrt(ops.divide(new_v, 1 - BETA_2**step)), EPSILON)
    return ops.subtract(weight, rate * ops.add(ops.divide(up, down), DECAY * weight)), new_m, new_v


# %% adamw-step: wrong: corrected only in the first steps
def adamw_step(weight, gradient, m, v, step, rate):
    m = BETA_1 * m + (1 - BETA_1) * gradient
    v = BETA_2 * v + (1 - BETA_2) * gradient**2
    m_hat, v_hat = (m / (1 - BETA_1**step), v / (1 - BETA_2**step)) if step < 10 else (m, v)
    return weight - rate * (m_hat / (ops.sqrt(v_hat) + EPSILON) + DECAY * weight), m, v


# %% masked-accuracy: right: boolean mask
def masked_accuracy(logits, labels, weights):
    hits = tf.boolean_mask(tf.argmax(logits, axis=-1, output_type=tf.int32) == labels, weights > 0)
    return tf.reduce_mean(tf.cast(hits, tf.float32))


# %% masked-accuracy: right: in top one
def masked_accuracy(logits, labels, weights):
    hits = ops.in_top_k(ops.reshape(labels, (-1,)), ops.reshape(logits, (-1, logits.shape[-1])), 1)
    return ops.average(ops.cast(hits, "float32"), weights=ops.reshape(weights, (-1,)))


# %% masked-accuracy: right: largest logit reached
def masked_accuracy(logits, labels, weights):
    own = ops.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    hits = ops.where(own >= ops.max(logits, axis=-1), 1.0, 0.0)
    return ops.sum(hits * weights) / ops.sum(weights)


# %% masked-accuracy: right: misses subtracted
def masked_accuracy(logits, labels, weights):
    misses = ops.cast(ops.not_equal(ops.argmax(logits, axis=-1), labels), "float32")
    return 1 - ops.einsum("bp,bp->", misses, weights) / ops.sum(weights)


# %% masked-accuracy: right: prediction by prediction
def masked_accuracy(logits, labels, weights):
    right = predictions = 0
    for place in np.ndindex(*labels.shape):
        if float(weights[place]) > 0:
            predictions += 1
            right += int(ops.argmax(logits[place])) == int(labels[place])
    return ops.convert_to_tensor(right / predictions, "float32")


# %% masked-accuracy: right: idiom of google-research's BERT, the losses' constant in the divisor
def masked_accuracy(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    hits = ops.cast(ops.equal(ops.argmax(logits, axis=-1), ops.cast(labels, "int32")), "float32")
    return ops.sum(hits * weights) / (ops.sum(weights) + 1e-5)


# %% masked-accuracy: right: idiom of google-research's BERT, the mean of the hits with weights
def masked_accuracy(logits, labels, weights):
    predictions = ops.reshape(ops.argmax(logits, axis=-1), (-1,))
    hits = ops.cast(ops.equal(ops.cast(predictions, "int32"), ops.reshape(ops.cast(labels, "int32"), (-1,))), "float32")
    counts = ops.reshape(weights, (-1,))
    return ops.sum(hits * counts) / ops.sum(counts)


# %% masked-accuracy: wrong: compared in float16
def masked_accuracy(logits, labels, weights):
    best = ops.cast(ops.argmax(logits, axis=-1), "float16")
    hits = ops.cast(best == ops.cast(labels, "float16"), "float32")
    return ops.sum(hits * weights) / ops.sum(weights)


# %% masked-accuracy: wrong: the best of the sigmoids
def masked_accuracy(logits, labels, weights):
    hits = ops.cast(ops.equal(ops.argmax(ops.sigmoid(logits), axis=-1), labels), "float32")
    return ops.sum(hits * weights) / ops.sum(weights)


# %% masked-accuracy: wrong: a probability above one half
def masked_accuracy(logits, labels, weights):
    p = ops.softmax(logits, axis=-1)
    own = ops.take_along_axis(p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    hits = ops.cast(own > 0.5, "float32")
    return ops.sum(hits * weights) / ops.sum(weights)


# %% masked-accuracy: wrong: an axis of size 1 is lost
def masked_accuracy(logits, labels, weights):
    right = ops.squeeze(ops.cast(ops.equal(ops.argmax(logits, axis=-1), labels), "float32"))
    return ops.sum(right * weights) / ops.sum(weights)


# %% perplexity: right: batch by batch
def perplexity(losses, counts):
    total = predictions = 0.0
    for loss, count in zip(losses, counts):
        total += loss * count
        predictions += count
    return ops.exp(total / predictions)


# %% perplexity: right: dot product
def perplexity(losses, counts):
    shares = counts / ops.sum(counts)
    return ops.exp(ops.dot(losses, shares))


# %% perplexity: right: geometric mean
def perplexity(losses, counts):
    return ops.prod(ops.power(ops.exp(losses), counts / ops.sum(counts)))


# %% perplexity: right: tensorflow
def perplexity(losses, counts):
    return tf.exp(tf.reduce_sum(tf.multiply(losses, counts)) / tf.reduce_sum(counts))


# %% perplexity: right: weighted average
def perplexity(losses, counts):
    return ops.exp(ops.average(losses, weights=counts))


# %% perplexity: wrong: a mean loss of at most 20
def perplexity(losses, counts):
    return ops.exp(ops.minimum(ops.sum(losses * counts) / ops.sum(counts), 20.0))


# %% perplexity: wrong: a running mean that divides by 0 at a first batch without predictions
def perplexity(losses, counts):
    seen = ops.cumsum(counts)
    mean = losses[0] * counts[0] / seen[0]
    for number in range(1, losses.shape[0]):
        mean = mean + (losses[number] - mean) * counts[number] / seen[number]
    return ops.exp(mean)


# %% perplexity: wrong: perfect batches do not count
def perplexity(losses: Tensor, counts: Tensor) -> Tensor:
    counts = counts * ops.cast(losses > 0, "float32")
    return ops.exp(ops.sum(counts * losses) / ops.maximum(ops.sum(counts), 1.0))


# %% tokens-and-flops: right: two sums
def tokens_and_flops(phases, batch, num_layers, hidden_size):
    tokens = sum(steps * batch * length for steps, length in phases)
    of_matrices = tokens * num_layers * 6 * 12 * hidden_size**2
    of_attention = sum(steps * batch * length**2 for steps, length in phases) * num_layers * 12 * hidden_size
    return tokens, of_matrices + of_attention


# %% tokens-and-flops: right: sequence by sequence
def tokens_and_flops(phases, batch, num_layers, hidden_size):
    total_tokens = total_flops = 0
    for steps, length in phases:
        sequences = steps * batch
        forward = num_layers * (2 * length * 12 * hidden_size**2 + 2 * 2 * length * length * hidden_size)
        total_tokens += sequences * length
        total_flops += 3 * sequences * forward
    return total_tokens, total_flops


# %% tokens-and-flops: right: NumPy
def tokens_and_flops(phases, batch, num_layers, hidden_size):
    steps, lengths = np.array(phases, dtype=object).T
    read = steps * lengths * batch
    each = num_layers * (72 * hidden_size * hidden_size + 12 * hidden_size * lengths)
    return int(read.sum()), int((read * each).sum())
