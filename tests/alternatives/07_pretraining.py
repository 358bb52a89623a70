# Other right answers to the exercises of notebook 07, each of another structure.
# A cell has the set-up and the answers before it in the notebook, and must pass its check whole.

# %% etraining-loss: all losses then a mask
def etraining_loss(p, x, positions):
    losses = -ops.log(ops.squeeze(ops.take_along_axis(p, ops.expand_dims(x, 1), axis=1), axis=1))
    places = ops.expand_dims(ops.arange(p.shape[0], dtype="int32"), 1)
    is_masked = ops.any(ops.equal(places, ops.expand_dims(positions, 0)), axis=1)
    return ops.sum(ops.where(is_masked, losses, 0.0))

# %% etraining-loss: flattened
def etraining_loss(p, x, positions):
    tokens, pieces = p.shape
    everywhere = ops.arange(tokens, dtype="int32") * pieces + x
    chances = ops.take(ops.reshape(p, (-1,)), ops.take(everywhere, positions))
    return ops.sum(ops.log(1 / chances))

# %% etraining-loss: one hot
def etraining_loss(p, x, positions):
    gold = ops.one_hot(ops.take(x, positions), p.shape[1])
    rows = ops.take(p, positions, axis=0)
    return -ops.sum(ops.log(ops.einsum("mv,mv->m", rows, gold)))

# %% etraining-loss: position by position
def etraining_loss(p, x, positions):
    loss = ops.zeros(())
    for t in np.asarray(positions):
        loss = loss - ops.log(p[int(t), int(x[int(t)])])
    return loss

# %% etraining-loss: tensorflow gather nd
def etraining_loss(p, x, positions):
    places = tf.stack([positions, tf.gather(x, positions)], axis=1)
    return -tf.reduce_sum(tf.math.log(tf.gather_nd(p, places)))

# %% mlm-loss: flattened rows
def mlm_loss(logits, labels, weights):
    flat = ops.reshape(logits, (-1, logits.shape[-1]))
    labels, weights = ops.reshape(labels, (-1,)), ops.reshape(weights, (-1,))
    log_p = ops.log_softmax(flat, axis=1)
    chosen = ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1)[:, 0]
    return -ops.sum(chosen * weights) / (ops.sum(weights) + 1e-5)

# %% mlm-loss: logsumexp
def mlm_loss(logits, labels, weights):
    chosen = ops.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    losses = ops.logsumexp(logits, axis=-1) - chosen
    return ops.einsum("bp,bp->", losses, weights) / (1e-5 + ops.sum(weights))

# %% mlm-loss: one hot
def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.sum(log_p * ops.one_hot(labels, logits.shape[-1]), axis=-1)
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)

# %% mlm-loss: row by row
def mlm_loss(logits, labels, weights):
    total, count = 0.0, 1e-5
    for row in range(logits.shape[0]):
        for place in range(logits.shape[1]):
            log_p = ops.log_softmax(logits[row, place])
            total = total - weights[row, place] * ops.take(log_p, labels[row, place])
            count = count + weights[row, place]
    return total / count

# %% mlm-loss: shares of the total
def mlm_loss(logits, labels, weights):
    shares = weights / (ops.sum(weights) + 1e-5)
    shifted = logits - ops.max(logits, axis=-1, keepdims=True)
    log_p = shifted - ops.log(ops.sum(ops.exp(shifted), axis=-1, keepdims=True))
    return -ops.sum(ops.take_along_axis(log_p, ops.expand_dims(labels, 2), axis=2)[:, :, 0] * shares)

# %% mlm-loss: tensorflow
def mlm_loss(logits, labels, weights):
    log_p = tf.nn.log_softmax(logits)
    losses = -tf.gather(log_p, labels, axis=2, batch_dims=2)
    return tf.tensordot(losses, weights, 2) / (tf.reduce_sum(weights) + 1e-5)

# %% nsp-loss: as a masked language model
def nsp_loss(logits, labels):
    one_prediction_per_row = ops.expand_dims(logits, 1)
    total = mlm_loss(one_prediction_per_row, ops.expand_dims(labels, 1), ops.ones((logits.shape[0], 1)))
    return total * (logits.shape[0] + 1e-5) / logits.shape[0]

# %% nsp-loss: chosen by where
def nsp_loss(logits, labels):
    log_p = ops.log_softmax(logits, axis=-1)
    return ops.mean(ops.where(ops.equal(labels, 0), -log_p[:, 0], -log_p[:, 1]))

# %% nsp-loss: one hot
def nsp_loss(logits, labels):
    return -ops.mean(ops.sum(ops.one_hot(labels, 2) * ops.log_softmax(logits, axis=1), axis=1))

# %% nsp-loss: pair by pair
def nsp_loss(logits, labels):
    pairs = range(logits.shape[0])
    losses = [ops.logsumexp(logits[pair]) - ops.take(logits[pair], labels[pair]) for pair in pairs]
    return sum(losses) / len(losses)

# %% nsp-loss: softplus of the difference
def nsp_loss(logits, labels):
    other_minus_own = (logits[:, 1] - logits[:, 0]) * ops.cast(1 - 2 * labels, "float32")
    return ops.mean(ops.softplus(other_minus_own))

# %% gather-positions: flattened with an offset
def gather_positions(hidden, positions):
    batch, tokens, size = ops.shape(hidden)
    offsets = ops.expand_dims(ops.arange(batch, dtype="int32") * tokens, 1)
    flat = ops.reshape(hidden, (batch * tokens, size))
    return ops.take(flat, positions + offsets, axis=0)

# %% gather-positions: one hot product
def gather_positions(hidden, positions):
    return ops.matmul(ops.one_hot(positions, hidden.shape[1]), hidden)

# %% gather-positions: places compared
def gather_positions(hidden, positions):
    places = ops.arange(hidden.shape[1], dtype="int32")
    is_wanted = ops.equal(ops.expand_dims(positions, -1), places)
    return ops.einsum("bpt,bth->bph", ops.cast(is_wanted, hidden.dtype), hidden)

# %% gather-positions: row by row
def gather_positions(hidden, positions):
    return ops.stack([ops.take(hidden[row], positions[row], axis=0) for row in range(hidden.shape[0])])

# %% gather-positions: tensorflow
def gather_positions(hidden, positions):
    return tf.gather(hidden, positions, axis=1, batch_dims=1)

# %% gather-positions: tensorflow gather nd
def gather_positions(hidden, positions):
    rows = tf.broadcast_to(tf.range(tf.shape(positions)[0])[:, None], tf.shape(positions))
    return tf.gather_nd(hidden, tf.stack([rows, positions], axis=-1))

# %% pretraining-model: a layer
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

# %% pretraining-model: gathered after the head
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

# %% pretraining-model: heads first
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

# %% pretraining-model: methods for the heads
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

# %% pretraining-model: names of earlier editions
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

# %% pretraining-model: one hot gather
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

# %% clip-gradients: if longer
def clip_gradients(gradients, max_norm=1.0):
    squares = 0.0
    for gradient in gradients:
        squares = squares + ops.sum(gradient * gradient)
    is_short = squares <= max_norm**2
    return [ops.where(is_short, gradient, gradient * max_norm / ops.sqrt(squares)) for gradient in gradients]

# %% clip-gradients: inverse root
def clip_gradients(gradients, max_norm=1.0):
    squares = [tf.tensordot(tf.reshape(g, [-1]), tf.reshape(g, [-1]), 1) for g in gradients]
    factor = tf.minimum(1.0, max_norm * tf.math.rsqrt(tf.add_n(squares)))
    return [tf.scalar_mul(factor, gradient) for gradient in gradients]

# %% clip-gradients: length of lengths
def clip_gradients(gradients, max_norm=1.0):
    lengths = ops.stack([tf.norm(gradient) for gradient in gradients])
    return [gradient * ops.minimum(1.0, max_norm / tf.norm(lengths)) for gradient in gradients]

# %% clip-gradients: one long vector
def clip_gradients(gradients, max_norm=1.0):
    length = ops.norm(ops.concatenate([ops.reshape(gradient, (-1,)) for gradient in gradients]))
    return [gradient / ops.maximum(length / max_norm, 1.0) for gradient in gradients]

# %% clip-gradients: where
def clip_gradients(gradients, max_norm=1.0):
    length = ops.sqrt(ops.sum(ops.stack([ops.sum(ops.square(gradient)) for gradient in gradients])))
    factor = ops.where(length > max_norm, max_norm / length, 1.0)
    return list(map(lambda gradient: factor * gradient, gradients))

# %% train-step: an inner function
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

# %% train-step: apply gradients in pairs
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

# %% train-step: clipped by tensorflow
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

# %% train-step: the optimizer knows its variables
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

# %% train-step: two gradients added
def train_step(model, optimizer, batch):
    inputs = (batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"])
    with tf.GradientTape() as tape:
        logits, next_logits = model(*inputs, training=True)
        losses = [mlm_loss(logits, batch["labels"], batch["weights"]), nsp_loss(next_logits, batch["next_sentence"])]
    both = tape.gradient(losses, model.trainable_variables)  # of several targets: their gradients' sum
    optimizer.apply(clip_gradients([tf.convert_to_tensor(gradient) for gradient in both]), model.trainable_variables)
    return ops.sum(ops.stack(losses))

# %% learning-rate: cases by where
def learning_rate(step, peak, warmup_steps, total_steps):
    up = peak * (step + 1) / max(warmup_steps, 1)
    down = peak * (total_steps - step) / (total_steps - warmup_steps)
    rate = ops.where(step < warmup_steps, up, down)
    return ops.where(step >= total_steps, 0.0, rate)

# %% learning-rate: where it warms up
def learning_rate(step, peak, warmup_steps, total_steps):
    rising = peak * (step + 1) / max(warmup_steps, 1)
    falling = peak * ops.relu(total_steps - step) / (total_steps - warmup_steps)
    return ops.where(step < warmup_steps, rising, falling)

# %% learning-rate: multiplied masks
def learning_rate(step, peak, warmup_steps, total_steps):
    is_rising = ops.cast(step < warmup_steps, "float32")
    is_falling = (1 - is_rising) * ops.cast(step < total_steps, "float32")
    up = (step + 1) / (warmup_steps or 1)
    down = 1 - (step - warmup_steps) / (total_steps - warmup_steps)
    return peak * (is_rising * up + is_falling * down)

# %% learning-rate: relu
def learning_rate(step, peak, warmup_steps, total_steps):
    missing = ops.relu(warmup_steps - 1 - step) / max(warmup_steps, 1)
    past = ops.relu(step - warmup_steps) / (total_steps - warmup_steps)
    return peak * ops.relu(1 - missing - past)

# %% learning-rate: step by step
def learning_rate(step, peak, warmup_steps, total_steps):
    flat, rates = ops.reshape(step, (-1,)), []
    for place in range(flat.shape[0]):
        falling = ops.maximum(0.0, (total_steps - flat[place]) / (total_steps - warmup_steps))
        rising = (flat[place] + 1) / warmup_steps if warmup_steps else 1.0
        rates.append(peak * ops.minimum(rising, falling))
    return ops.reshape(ops.stack(rates), step.shape)

# %% decays: endswith
def decays(name):
    return not f"/{name}".endswith(("/bias", "/gamma", "/beta"))

# %% decays: part by part
def decays(name):
    last = ""
    for letter in name:
        last = "" if letter == "/" else last + letter
    if last == "bias" or last == "gamma":
        return False
    return last != "beta"

# %% decays: pathlib
from pathlib import PurePosixPath


def decays(name):
    return all(PurePosixPath(name).name != spared for spared in ("bias", "gamma", "beta"))

# %% decays: regular expression
import re


def decays(name):
    return re.search(r"(?:^|/)(?:bias|gamma|beta)$", name) is None

# %% decays: rpartition and set
SPARED = {"bias", "gamma", "beta"}


def decays(name):
    return name.rpartition("/")[2] not in SPARED

# %% masked-accuracy: boolean mask
def masked_accuracy(logits, labels, weights):
    hits = tf.boolean_mask(tf.argmax(logits, axis=-1, output_type=tf.int32) == labels, weights > 0)
    return tf.reduce_mean(tf.cast(hits, tf.float32))

# %% masked-accuracy: in top one
def masked_accuracy(logits, labels, weights):
    hits = ops.in_top_k(ops.reshape(labels, (-1,)), ops.reshape(logits, (-1, logits.shape[-1])), 1)
    return ops.average(ops.cast(hits, "float32"), weights=ops.reshape(weights, (-1,)))

# %% masked-accuracy: largest logit reached
def masked_accuracy(logits, labels, weights):
    own = ops.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    hits = ops.where(own >= ops.max(logits, axis=-1), 1.0, 0.0)
    return ops.sum(hits * weights) / ops.sum(weights)

# %% masked-accuracy: misses subtracted
def masked_accuracy(logits, labels, weights):
    misses = ops.cast(ops.not_equal(ops.argmax(logits, axis=-1), labels), "float32")
    return 1 - ops.einsum("bp,bp->", misses, weights) / ops.sum(weights)

# %% masked-accuracy: prediction by prediction
def masked_accuracy(logits, labels, weights):
    right = predictions = 0
    for place in np.ndindex(*labels.shape):
        if float(weights[place]) > 0:
            predictions += 1
            right += int(ops.argmax(logits[place])) == int(labels[place])
    return ops.convert_to_tensor(right / predictions, "float32")

# %% perplexity: batch by batch
def perplexity(losses, counts):
    total = predictions = 0.0
    for loss, count in zip(losses, counts):
        total += loss * count
        predictions += count
    return ops.exp(total / predictions)

# %% perplexity: dot product
def perplexity(losses, counts):
    shares = counts / ops.sum(counts)
    return ops.exp(ops.dot(losses, shares))

# %% perplexity: geometric mean
def perplexity(losses, counts):
    return ops.prod(ops.power(ops.exp(losses), counts / ops.sum(counts)))

# %% perplexity: tensorflow
def perplexity(losses, counts):
    return tf.exp(tf.reduce_sum(tf.multiply(losses, counts)) / tf.reduce_sum(counts))

# %% perplexity: weighted average
def perplexity(losses, counts):
    return ops.exp(ops.average(losses, weights=counts))
