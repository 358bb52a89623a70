# Other answers to the exercises of notebook 13: right ones, each of another structure, and wrong
# ones that the checks must find. A cell has the set-up and the answers before it in the notebook.

# %% shift-right: right: padded and cut
def shift_right(ids, start):
    return ops.pad(ids, ((0, 0), (1, 0)), constant_values=start)[:, :-1]

# %% shift-right: right: rolled, then the first column
def shift_right(ids, start):
    rolled = ops.roll(ids, 1, axis=1)
    return ops.where(ops.arange(ids.shape[1]) == 0, ops.cast(start, ids.dtype), rolled)

# %% cross-attention-layer: right: einsum, with ready-made softmax
class CrossAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, z_shape, h_shape):
        self.query, self.key, self.value, self.out = (keras.layers.Dense(z_shape[-1]) for _ in range(4))
        for part in (self.query, self.key, self.value, self.out):
            part.build(z_shape)

    def call(self, z, h, attention_mask=None):
        (batch, tokens, hidden), others, d = ops.shape(z), ops.shape(h)[1], z.shape[-1] // self.num_heads
        q = ops.reshape(self.query(z), (batch, tokens, self.num_heads, d)) / d**0.5
        k = ops.reshape(self.key(h), (batch, others, self.num_heads, d))
        v = ops.reshape(self.value(h), (batch, others, self.num_heads, d))
        scores = ops.einsum("btad,bsad->bats", q, k)
        if attention_mask is not None:
            scores = ops.where(attention_mask[:, None], scores, -1e9)
        found = ops.einsum("bats,bsad->btad", ops.softmax(scores, axis=-1), v)
        return self.out(ops.reshape(found, (batch, tokens, hidden)))

# %% cross-attention-layer: right: head by head
class CrossAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, z_shape, h_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(z_shape[-1], name=name))
            getattr(self, name).build(z_shape)

    def call(self, z, h, attention_mask=None):
        parts = zip(*(ops.split(x, self.num_heads, axis=-1) for x in (self.query(z), self.key(h), self.value(h))))
        found = []
        for q, k, v in parts:
            scores = attention_scores(q, k)
            scores = scores if attention_mask is None else ops.where(attention_mask, scores, MASKED_SCORE)
            found.append(ops.matmul(softmax_rows(scores), v))
        return self.out(ops.concatenate(found, axis=-1))

# %% cross-attention-layer: wrong: the batch size from z.shape
class CrossAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, z_shape, h_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(z_shape[-1], name=name))
            getattr(self, name).build(z_shape)

    def split_heads(self, x):
        batch, tokens, hidden = x.shape
        x = ops.reshape(x, (batch, tokens, self.num_heads, hidden // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))

    def call(self, z, h, attention_mask=None):
        q, k, v = self.split_heads(self.query(z)), self.split_heads(self.key(h)), self.split_heads(self.value(h))
        scores = attention_scores(q, k)
        if attention_mask is not None:
            scores = ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)
        found = ops.matmul(softmax_rows(scores), v)
        return self.out(ops.reshape(ops.transpose(found, (0, 2, 1, 3)), z.shape))

# %% decoder-layer: right: one helper, without build
class DecoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.cross_attention = MultiHeadAttention(num_heads), CrossAttention(num_heads)
        self.feed_forward = ReluFeedForward(intermediate_size)
        self.attention_norm, self.cross_norm, self.output_norm = (
            keras.layers.LayerNormalization(epsilon=1e-12) for _ in range(3)
        )
        self.dropout = keras.layers.Dropout(dropout)

    def call(self, x, h, source_mask=None, training=None):
        def added(x, found, norm):
            return norm(x + self.dropout(found, training=training))

        not_later = ops.tril(ops.ones((1, x.shape[1], x.shape[1]), "bool"))
        x = added(x, self.attention(x, attention_mask=not_later), self.attention_norm)
        x = added(x, self.cross_attention(x, h, attention_mask=source_mask), self.cross_norm)
        return added(x, self.feed_forward(x), self.output_norm)

# %% transformer: right: all in call
class Transformer(keras.Model):
    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, hidden_size)
        self.encoder_layers, self.decoder_layers = [], []
        for _ in range(num_layers):
            self.encoder_layers.append(ReluEncoderLayer(num_heads, intermediate_size, dropout=dropout))
            self.decoder_layers.append(DecoderLayer(num_heads, intermediate_size, dropout=dropout))

    def call(self, source, target, training=None):
        width = self.token.output_dim
        table = sinusoids(max(source.shape[1], target.shape[1]), width)
        h = ops.sqrt(float(width)) * self.token(source) + table[: source.shape[1]]
        x = ops.sqrt(float(width)) * self.token(target) + table[: target.shape[1]]
        mask = ops.expand_dims(source > 0, axis=1)
        for layer in self.encoder_layers:
            h = layer(h, attention_mask=mask, training=training)
        for layer in self.decoder_layers:
            x = layer(x, h, source_mask=mask, training=training)
        return ops.einsum("bth,vh->btv", x, ops.convert_to_tensor(self.token.embeddings))

# %% greedy: right: with NumPy, and a loop over positions
def greedy(model, source, start, end, most):
    row = np.full((1, most + 1), start, "int32")
    for place in range(most):
        logits = model(ops.convert_to_tensor(np.array([source], "int32")), ops.convert_to_tensor(row[:, : place + 1]))
        row[0, place + 1] = np.argmax(logits[0, place])
        if row[0, place + 1] == end:
            return row[0, 1 : place + 1].tolist()
    return row[0, 1:].tolist()

# %% greedy: right: by recursion
def greedy(model, source, start, end, most):
    def more(row):
        if len(row) > most:
            return row
        log_probs = ops.log_softmax(model(ops.convert_to_tensor([source]), ops.convert_to_tensor([row])), axis=-1)
        best = int(ops.argmax(log_probs[0, -1]))
        return row if best == end else more([*row, best])

    return more([start])[1:]

# %% greedy: wrong: at most 20 tokens
def greedy(model, source, start, end, most):
    row = [start]
    for _ in range(min(most, 20)):
        token = int(ops.argmax(model(ops.convert_to_tensor([source]), ops.convert_to_tensor([row]))[0, -1]))
        if token == end:
            break
        row.append(token)
    return row[1:]

# %% greedy: wrong: one token where none is allowed
def greedy(model, source, start, end, most):
    row = [start]
    while True:
        token = int(ops.argmax(model(ops.convert_to_tensor([source]), ops.convert_to_tensor([row]))[0, -1]))
        if token == end:
            return row[1:]
        row.append(token)
        if len(row) > most:
            return row[1:]

# %% sample: right: by the inverse of the sums
def sample(logits, temperature, top_k, top_p, rng):
    p = np.exp(logits / temperature - np.max(logits / temperature))
    ranked = sorted(range(len(p)), key=lambda token: -p[token])[:top_k]
    total, kept = sum(p[token] for token in ranked), []
    for token in ranked:
        if top_p is None or sum(p[t] for t in kept) < top_p * total:
            kept.append(token)
    left = rng.random() * sum(p[token] for token in kept)
    for token in kept:
        left -= p[token]
        if left < 0:
            return token
    return kept[-1]

# %% sample: right: with the noise of Gumbel
def sample(logits, temperature, top_k, top_p, rng):
    scores = np.asarray(logits, "float64") / temperature
    if top_k is not None:
        scores = np.where(scores >= np.sort(scores)[::-1][min(top_k, len(scores)) - 1], scores, -np.inf)
    if top_p is not None:
        p = np.exp(scores - scores.max())
        p /= p.sum()
        above = np.array([p[p > own].sum() for own in p])
        scores = np.where(above < top_p, scores, -np.inf)
    return int(np.argmax(scores + rng.gumbel(size=len(scores))))

# %% sample: wrong: exp of large numbers
def sample(logits, temperature, top_k, top_p, rng):
    scores = logits.astype("float64") / temperature
    order = np.argsort(-scores)[:top_k]
    p = np.exp(scores[order])
    p = p / np.sum(p)
    if top_p is not None:
        order = order[np.cumsum(p) - p < top_p]
    p = np.exp(scores[order])
    return int(rng.choice(order, p=p / np.sum(p)))

# %% gpt-count: right: by the formula of notebook 04
def gpt_count(vocab_size, hidden_size, num_layers, max_positions, pre_norm=True):
    layers = num_layers * (12 * hidden_size**2 + 13 * hidden_size)
    return hidden_size * (vocab_size + max_positions + 2 * int(pre_norm)) + layers
