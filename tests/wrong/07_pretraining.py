# Wrong answers to the exercises of notebook 07 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% etraining-loss: logarithm of the product
def etraining_loss(p, x, positions):
    rows = ops.take(p, positions, axis=0)
    return -ops.log(ops.prod(ops.take_along_axis(rows, ops.expand_dims(ops.take(x, positions), 1), axis=1)))

# %% etraining-loss: probabilities of at least 1e-7
def etraining_loss(p, x, positions):
    rows = ops.take(ops.clip(p, 1e-7, 1.0), positions, axis=0)
    return -ops.sum(ops.log(ops.take_along_axis(rows, ops.expand_dims(ops.take(x, positions), 1), axis=1)))

# %% etraining-loss: probabilities of at least 1e-30
def etraining_loss(p, x, positions):
    rows = ops.take(ops.maximum(p, 1e-30), positions, axis=0)
    return -ops.sum(ops.log(ops.take_along_axis(rows, ops.expand_dims(ops.take(x, positions), 1), axis=1)))

# %% etraining-loss: ids in 8 bits
def etraining_loss(p, x, positions):
    rows, ids = ops.take(p, positions, axis=0), ops.cast(ops.cast(ops.take(x, positions), "uint8"), "int32")
    return -ops.sum(ops.log(ops.take_along_axis(rows, ops.expand_dims(ids, 1), axis=1)))

# %% mlm-loss: the largest logit of the whole batch subtracted
def mlm_loss(logits, labels, weights):
    logits = logits - ops.max(logits)
    log_p = logits - ops.log(ops.sum(ops.exp(logits), axis=-1, keepdims=True))
    losses = -ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)

# %% mlm-loss: at least 0.00001 instead of plus
def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / ops.maximum(ops.sum(weights), 1e-5)

# %% mlm-loss: label 0 is taken for padding
def mlm_loss(logits, labels, weights):
    weights = weights * ops.cast(labels > 0, weights.dtype)
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)

# %% mlm-loss: no gradient
def mlm_loss(logits, labels, weights):
    log_p = ops.stop_gradient(ops.log_softmax(logits, axis=-1))
    losses = -ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)

# %% mlm-loss: ids in 8 bits
def mlm_loss(logits, labels, weights):
    log_p, ids = ops.log_softmax(logits, axis=-1), ops.cast(ops.cast(labels, "uint8"), "int32")
    losses = -ops.take_along_axis(log_p, ops.expand_dims(ids, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)

# %% mlm-loss: an axis of size 1 is lost
def mlm_loss(logits, labels, weights):
    logs = ops.squeeze(ops.take_along_axis(ops.log_softmax(logits), ops.expand_dims(labels, -1), axis=-1))
    return -ops.sum(logs * weights) / (ops.sum(weights) + 1e-5)

# %% mlm-loss: without predictions a 0 / 0 remains in the gradient
def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.sum(ops.one_hot(labels, logits.shape[-1]) * log_p, axis=-1)
    n = ops.sum(weights)
    return ops.where(n > 0, ops.sum(losses * weights) / n * (n / (n + 1e-5)), 0.0)

# %% mlm-loss: a loop over a tensor, which fails inside tf.function
def mlm_loss(logits, labels, weights):
    total, count = 0.0, 1e-5
    for row, ids, counts in zip(logits, labels, weights):
        for prediction, label, weight in zip(row, ids, counts):
            total = total - weight * ops.log_softmax(prediction)[int(label)]
            count = count + weight
    return total / count

# %% mlm-loss: whether there are predictions is decided by if
def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    if ops.sum(weights) == 0:
        return ops.sum(losses * weights)
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)

# %% nsp-loss: a loop over a tensor, which fails inside tf.function
def nsp_loss(logits, labels):
    losses = [ops.logsumexp(pair) - pair[int(label)] for pair, label in zip(logits, labels)]
    return sum(losses) / len(losses)

# %% nsp-loss: logits are cut off at 50
def nsp_loss(logits, labels):
    log_p = ops.log_softmax(ops.clip(logits, -50, 50), axis=-1)
    return -ops.mean(ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1))

# %% gather-positions: sorted, each once
def gather_positions(hidden, positions):
    return ops.take_along_axis(hidden, ops.expand_dims(ops.sort(positions, axis=1), -1), axis=1)

# %% gather-positions: a loop over a tensor, which fails inside tf.function
def gather_positions(hidden, positions):
    return ops.stack([ops.take(row, places, axis=0) for row, places in zip(hidden, positions)])

# %% gather-positions: positions by NumPy, which fails inside tf.function
def gather_positions(hidden, positions):
    return ops.stack([ops.take(hidden[row], list(np.array(positions)[row]), axis=0) for row in range(hidden.shape[0])])

# %% gather-positions: positions in 8 bits
def gather_positions(hidden, positions):
    small = ops.cast(ops.cast(ops.expand_dims(positions, -1), "uint8"), "int32")
    return ops.take_along_axis(hidden, small, axis=1)

# %% gather-positions: positions in float16
def gather_positions(hidden, positions):
    near = ops.cast(ops.cast(ops.expand_dims(positions, -1), "float16"), "int32")
    return ops.take_along_axis(hidden, near, axis=1)

# %% gather-positions: an axis of size 1 is lost
def gather_positions(hidden, positions):
    return ops.squeeze(ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1))

# %% pretraining-model: no gradient into the encoder from the next-sentence head
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

# %% pretraining-model: dropout on the pooled vector too
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

# %% pretraining-model: dropout in front of the head for masked tokens too
class PreTrainingModel(keras.Model):
    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.bert = Bert(vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()
        self.drop = keras.layers.Dropout(dropout)

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        chosen = self.drop(gather_positions(hidden, positions), training=training)
        return self.mlm_head(chosen, self.bert.embeddings.token.embeddings), self.nsp_head(pooled)

# %% pretraining-model: the pooled vector of a second call without dropout
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

# %% pretraining-model: positions are sorted
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

# %% pretraining-model: no dropout by default
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

# %% pretraining-model: always one layer
class PreTrainingModel(keras.Model):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.bert = Bert(vocab_size, hidden_size, 1, num_heads, intermediate_size, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        table = self.bert.embeddings.token.embeddings
        return self.mlm_head(gather_positions(hidden, positions), table), self.nsp_head(pooled)

# %% clip-gradients: one list for all steps
clipped = []


def clip_gradients(gradients, max_norm=1.0):
    clipped.clear()
    length = ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))
    clipped.extend(gradient * (max_norm / ops.maximum(length, max_norm)) for gradient in gradients)
    return clipped

# %% clip-gradients: by NumPy, which fails inside tf.function
def clip_gradients(gradients, max_norm=1.0):
    arrays = [np.asarray(gradient) for gradient in gradients]
    length = np.sqrt(sum(np.sum(array**2) for array in arrays))
    return [ops.convert_to_tensor(array * np.float32(max_norm / max(length, max_norm))) for array in arrays]

# %% clip-gradients: whether it is too long is decided by if
def clip_gradients(gradients, max_norm=1.0):
    length = ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))
    return [gradient * max_norm / length for gradient in gradients] if length > max_norm else list(gradients)

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

# %% train-step: the padding is seen
def train_step(model, optimizer, batch):
    variables, everything = model.trainable_variables, ops.ones_like(batch["attention_mask"])
    with tf.GradientTape() as tape:
        logits, next_logits = model(batch["token_ids"], batch["token_type_ids"], everything, batch["positions"], training=True)
        loss = mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
    optimizer.apply(clip_gradients(gradients), variables)
    return loss

# %% train-step: also the variables that are not trained
def train_step(model, optimizer, batch):
    inputs = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    with tf.GradientTape() as tape:
        logits, next_logits = model(*inputs, training=True)
        loss = mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, model.variables)]
    optimizer.apply(clip_gradients(gradients), model.variables)
    return loss

# %% train-step: a call for each of the two losses
def train_step(model, optimizer, batch):
    inputs = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    with tf.GradientTape() as tape:
        loss = mlm_loss(model(*inputs, training=True)[0], batch["labels"], batch["weights"])
        loss += nsp_loss(model(*inputs, training=True)[1], batch["next_sentence"])
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, model.trainable_variables)]
    optimizer.apply(clip_gradients(gradients), model.trainable_variables)
    return loss

# %% train-step: one more call of the model, not in training
def train_step(model, optimizer, batch):
    inputs = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    model(*inputs, training=False)
    with tf.GradientTape() as tape:
        logits, next_logits = model(*inputs, training=True)
        loss = mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])
    variables = model.trainable_variables
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
    optimizer.apply(clip_gradients(gradients), variables)
    return loss

# %% learning-rate: without warm-up it falls below 0
def learning_rate(step, peak, warmup_steps, total_steps):
    if warmup_steps == 0:
        return peak * (total_steps - step) / total_steps
    falling = (total_steps - step) / (total_steps - warmup_steps)
    return peak * ops.clip(ops.minimum((step + 1) / warmup_steps, falling), 0, 1)

# %% learning-rate: never below a thousandth of the peak
def learning_rate(step, peak, warmup_steps, total_steps):
    falling = (total_steps - step) / (total_steps - warmup_steps)
    return peak * ops.clip(ops.minimum((step + 1) / max(warmup_steps, 1), falling), 1e-3, 1)

# %% learning-rate: never below a thousandth of the peak before the end
def learning_rate(step, peak, warmup_steps, total_steps):
    falling = (total_steps - step) / (total_steps - warmup_steps)
    rate = peak * ops.clip(ops.minimum((step + 1) / max(warmup_steps, 1), falling), 1e-3, 1)
    return ops.where(step < total_steps, rate, 0.0)

# %% learning-rate: by NumPy, which fails inside tf.function
def learning_rate(step, peak, warmup_steps, total_steps):
    step = np.asarray(step, "float32")
    falling = (total_steps - step) / (total_steps - warmup_steps)
    rising = (step + 1) / warmup_steps if warmup_steps else np.ones_like(step)
    return ops.convert_to_tensor((peak * np.maximum(0, np.minimum(rising, falling))).astype("float32"))

# %% decays: a last part that begins with one of the words
def decays(name):
    return not name.split("/")[-1].startswith(("bias", "gamma", "beta"))

# %% decays: a slash before the word
def decays(name):
    return not name.endswith(("/bias", "/gamma", "/beta"))

# %% decays: searched in a text
def decays(name):
    return name.split("/")[-1] not in "bias gamma beta"

# %% decays: without what follows a dot
def decays(name):
    return name.split("/")[-1].split(".")[0] not in ("bias", "gamma", "beta")

# %% decays: without underscores at the ends
def decays(name):
    return name.split("/")[-1].strip("_") not in ("bias", "gamma", "beta")

# %% decays: dots are slashes
def decays(name):
    return name.replace(".", "/").split("/")[-1] not in ("bias", "gamma", "beta")

# %% decays: only letters count
def decays(name):
    return "".join(filter(str.isalpha, name.split("/")[-1])) not in ("bias", "gamma", "beta")

# %% masked-accuracy: label 0 is taken for padding
def masked_accuracy(logits, labels, weights):
    weights = ops.cast(labels != 0, "float32")
    hits = ops.cast(ops.equal(ops.argmax(logits, axis=-1), labels), "float32")
    return ops.sum(hits * weights) / ops.sum(weights)

# %% masked-accuracy: compared in float16
def masked_accuracy(logits, labels, weights):
    best = ops.cast(ops.argmax(logits, axis=-1), "float16")
    hits = ops.cast(best == ops.cast(labels, "float16"), "float32")
    return ops.sum(hits * weights) / ops.sum(weights)

# %% masked-accuracy: the best of the sigmoids
def masked_accuracy(logits, labels, weights):
    hits = ops.cast(ops.equal(ops.argmax(ops.sigmoid(logits), axis=-1), labels), "float32")
    return ops.sum(hits * weights) / ops.sum(weights)

# %% masked-accuracy: a probability above one half
def masked_accuracy(logits, labels, weights):
    p = ops.softmax(logits, axis=-1)
    own = ops.take_along_axis(p, ops.expand_dims(labels, -1), axis=-1)[..., 0]
    hits = ops.cast(own > 0.5, "float32")
    return ops.sum(hits * weights) / ops.sum(weights)

# %% masked-accuracy: compared in 8 bits
def masked_accuracy(logits, labels, weights):
    best = ops.cast(ops.argmax(logits, axis=-1), "uint8")
    hits = ops.cast(best == ops.cast(labels, "uint8"), "float32")
    return ops.sum(hits * weights) / ops.sum(weights)

# %% masked-accuracy: the losses' constant in the divisor
def masked_accuracy(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    hits = ops.cast(ops.equal(ops.argmax(logits, axis=-1), ops.cast(labels, "int32")), "float32")
    return ops.sum(hits * weights) / (ops.sum(weights) + 1e-5)

# %% masked-accuracy: an axis of size 1 is lost
def masked_accuracy(logits, labels, weights):
    right = ops.squeeze(ops.cast(ops.equal(ops.argmax(logits, axis=-1), labels), "float32"))
    return ops.sum(right * weights) / ops.sum(weights)

# %% perplexity: a loss of at most 10
def perplexity(losses, counts):
    return ops.exp(ops.sum(ops.minimum(losses, 10.0) * counts) / ops.sum(counts))

# %% perplexity: a mean loss of at most 20
def perplexity(losses, counts):
    return ops.exp(ops.minimum(ops.sum(losses * counts) / ops.sum(counts), 20.0))

# %% perplexity: a running mean that divides by 0 at a first batch without predictions
def perplexity(losses, counts):
    seen = ops.cumsum(counts)
    mean = losses[0] * counts[0] / seen[0]
    for number in range(1, losses.shape[0]):
        mean = mean + (losses[number] - mean) * counts[number] / seen[number]
    return ops.exp(mean)

# %% perplexity: perfect batches do not count
def perplexity(losses: Tensor, counts: Tensor) -> Tensor:
    counts = counts * ops.cast(losses > 0, "float32")
    return ops.exp(ops.sum(counts * losses) / ops.maximum(ops.sum(counts), 1.0))
