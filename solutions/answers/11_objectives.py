# Other answers to the exercises of notebook 11: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% visible: right: farthest key of each query
def visible(kind, is_real, prefix=0):
    tokens = is_real.shape[1]
    places = np.arange(tokens)
    farthest = {"both-sided": places * 0 + tokens, "left-to-right": places, "prefix": np.maximum(places, int(prefix) - 1)}[kind]
    seen = ops.convert_to_tensor(places[None, :] <= farthest[:, None])
    return ops.logical_and(seen[None], ops.equal(is_real, 1)[:, None, :])

# %% visible: right: products of integers
def visible(kind, is_real, prefix=0):
    tokens = is_real.shape[1]
    lower = ops.tril(ops.ones((tokens, tokens), "int32"))
    given = ops.cast(ops.arange(tokens) < prefix, "int32")
    allowed = {
        "both-sided": ops.ones_like(lower),
        "left-to-right": lower,
        "prefix": ops.maximum(lower, given[None, :]),
    }[kind]
    return ops.cast(allowed[None] * ops.cast(is_real, "int32")[:, None, :], "bool")

# %% visible: right: rows of lists
def visible(kind, is_real, prefix=0):
    real = np.array(is_real).astype(bool)
    rows, tokens = real.shape
    seen = np.zeros((rows, tokens, tokens), bool)
    for i in range(tokens):
        last = tokens if kind == "both-sided" else i + 1
        if kind == "prefix":
            last = max(last, int(prefix))
        seen[:, i, :last] = real[:, :last]
    return ops.convert_to_tensor(seen)

# %% visible: wrong: prefix of two
def visible(kind, is_real, prefix=0):
    places = ops.arange(ops.shape(is_real)[1])
    query, key = places[:, None], places[None, :]
    rule = {"both-sided": key >= 0, "left-to-right": key <= query}.get(kind, ops.logical_or(key <= query, key < 2))
    return ops.logical_and(ops.logical_and(rule, query >= 0), ops.cast(is_real, "bool")[:, None, :])

# %% ltr-loss: right: log softmax by hand
def ltr_loss(logits, ids, is_real):
    logs = ops.log_softmax(logits[:, :-1], axis=-1)
    of_next = ops.take_along_axis(logs, ids[:, 1:, None], axis=-1)[..., 0]
    counts = ops.cast(is_real[:, 1:], logits.dtype)
    return -ops.sum(of_next * counts) / (ops.sum(counts) + 1e-5)

# %% ltr-loss: right: one-hot targets
def ltr_loss(logits, ids, is_real):
    logs = logits - ops.logsumexp(logits, axis=-1, keepdims=True)
    target = ops.one_hot(ids[:, 1:], logits.shape[-1], dtype=logits.dtype)
    counts = ops.cast(is_real, logits.dtype)[:, 1:]
    total = ops.einsum("btv,btv,bt->", logs[:, :-1], target, counts)
    return -total / (ops.sum(counts) + 1e-5)

# %% ltr-loss: right: rolled with a weight of zero
def ltr_loss(logits, ids, is_real):
    tokens = ids.shape[1]
    weights = ops.roll(ops.cast(is_real, "float32"), -1, axis=1) * ops.cast(ops.arange(tokens) < tokens - 1, "float32")
    return mlm_loss(logits, ops.roll(ids, -1, axis=1), weights)

# %% ltr-loss: wrong: asked only by real tokens
def ltr_loss(logits, ids, is_real):
    both = is_real[:, 1:] * is_real[:, :-1]
    return mlm_loss(logits[:, :-1], ids[:, 1:], ops.cast(both, "float32"))

# %% albert-encoder: right: recursion and parts built early
class AlbertEncoder(keras.layers.Layer):
    def __init__(self, vocab_size, embedding_size, hidden_size, num_layers, num_heads, intermediate_size,
                 max_positions=512, dropout=0.0, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, embedding_size, max_positions, dropout=dropout)
        self.projection = keras.layers.Dense(hidden_size)
        self.layer = EncoderLayer(num_heads, intermediate_size, dropout)
        self.num_layers, self.sizes = num_layers, (embedding_size, hidden_size)

    def build(self, ids_shape, *others):
        self.projection.build((*ids_shape, self.sizes[0]))
        self.layer.build((*ids_shape, self.sizes[1]))

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        seen = ops.cast(ops.expand_dims(attention_mask, 1), "bool")

        def passed(x, left):
            return x if left == 0 else passed(self.layer(x, attention_mask=seen, training=training), left - 1)

        return passed(self.projection(self.embeddings(token_ids, token_type_ids, training=training)), self.num_layers)

# %% albert-encoder: right: a list with one layer again and again
class AlbertEncoder(keras.layers.Layer):
    def __init__(self, vocab_size, embedding_size, hidden_size, num_layers, num_heads, intermediate_size,
                 max_positions=512, dropout=0.0, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, embedding_size, max_positions, dropout=dropout)
        self.projection = keras.layers.Dense(hidden_size, name="wider")
        self.layer = EncoderLayer(num_heads, intermediate_size, dropout)
        self.passes = range(num_layers)

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        narrow = self.embeddings(token_ids, token_type_ids, training=training)
        x, keys = self.projection(narrow), padding_mask(attention_mask)
        for layer in [self.layer for _ in self.passes]:
            x = layer(x, attention_mask=keys, training=training)
        return x

# %% albert-encoder: wrong: in training in the first pass alone
class AlbertEncoder(keras.layers.Layer):
    def __init__(self, vocab_size, embedding_size, hidden_size, num_layers, num_heads, intermediate_size,
                 max_positions=512, dropout=0.0, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.num_layers = num_layers
        self.embeddings = BertEmbeddings(vocab_size, embedding_size, max_positions, dropout=dropout)
        self.projection = keras.layers.Dense(hidden_size)
        self.layer = EncoderLayer(num_heads, intermediate_size, dropout)

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.projection(self.embeddings(token_ids, token_type_ids, training=training))
        for number in range(self.num_layers):
            x = self.layer(x, attention_mask=padding_mask(attention_mask), training=training if number == 0 else False)
        return x

# %% order-pair: right: label first
def order_pair(document, i, rng):
    label = int(rng.integers(2))
    return document[i + label], document[i + 1 - label], label

# %% order-pair: right: a shuffled pair
def order_pair(document, i, rng):
    order = [int(place) for place in rng.permutation(2)]
    first, second = (document[i + place] for place in order)
    return first, second, order[0]

# %% order-pair: right: a slice, turned
def order_pair(document, i, rng):
    pair, exchanged = document[i : i + 2], bool(rng.random() >= 0.5)
    return (*(pair[::-1] if exchanged else pair), int(exchanged))

# %% order-pair: wrong: the previous pair
def order_pair(document, i, rng):
    label = int(rng.integers(2))
    i = max(i - 1, 0)
    return document[i + label], document[i + 1 - label], label

# %% corrupt: right: Gumbel noise
def corrupt(ids, positions, logits, rng):
    corrupted = list(ids)
    for position, row in zip(positions, logits):
        noise = rng.gumbel(size=len(row))
        corrupted[position] = int(np.argmax(row.astype("float64") + noise))
    return corrupted, [0 if one == other else 1 for one, other in zip(corrupted, ids)]

# %% corrupt: right: summed probabilities
def corrupt(ids, positions, logits, rng):
    new, labels = np.array(ids), np.zeros(len(ids), int)
    for p, position in enumerate(positions):
        powers = np.exp(logits[p].astype("float64") - logits[p].max())
        edges = np.cumsum(powers) / powers.sum()
        new[position] = min(int(np.searchsorted(edges, rng.random(), side="right")), len(edges) - 1)
        labels[position] = int(new[position] != ids[position])
    return [int(token) for token in new], [int(label) for label in labels]

# %% corrupt: right: multinomial counts
def corrupt(ids, positions, logits, rng):
    new = dict(enumerate(ids))
    for position, row in zip(positions, logits):
        powers = np.exp(row.astype("float64") - row.max())
        counts = rng.multinomial(1, powers / powers.sum())
        new[position] = int(counts.argmax())
    return list(new.values()), [int(new[place] != token) for place, token in enumerate(ids)]

# %% electra-loss: right: two softplus
def electra_loss(generator_logits, labels, weights, scores, replaced, is_real):
    fake, real = ops.cast(replaced, scores.dtype), ops.cast(is_real, scores.dtype)
    each = fake * ops.softplus(-scores) + (1 - fake) * ops.softplus(scores)
    return mlm_loss(generator_logits, labels, weights) + 50 * ops.sum(each * real) / ops.sum(real)

# %% electra-loss: right: max and log1p
def electra_loss(generator_logits, labels, weights, scores, replaced, is_real):
    y = ops.cast(replaced, scores.dtype)
    each = ops.maximum(scores, 0.0) - scores * y + ops.log1p(ops.exp(-ops.abs(scores)))
    chosen = ops.where(ops.cast(is_real, "bool"), each, ops.zeros_like(each))
    return 50.0 * ops.sum(chosen) / ops.sum(ops.cast(is_real, scores.dtype)) + mlm_loss(generator_logits, labels, weights)

# %% electra-loss: right: two classes
def electra_loss(generator_logits, labels, weights, scores, replaced, is_real):
    two = ops.stack([ops.zeros_like(scores), scores], axis=-1)
    logs = ops.log_softmax(two, axis=-1)
    each = -ops.take_along_axis(logs, ops.expand_dims(replaced, -1), axis=-1)[..., 0]
    share = ops.cast(is_real, scores.dtype) / ops.sum(ops.cast(is_real, scores.dtype))
    return mlm_loss(generator_logits, labels, weights) + 50.0 * ops.sum(each * share)

# %% permutation-masks: right: turn by turn
def permutation_masks(order):
    tokens = len(order)
    content, query = (np.zeros((tokens, tokens), dtype=bool) for _ in range(2))
    seen = []
    for place in order:
        query[place, seen] = True
        seen.append(int(place))
        content[place, seen] = True
    return content, query

# %% permutation-masks: right: a triangle, moved
def permutation_masks(order):
    turn = np.empty(len(order), int)
    turn[order] = np.arange(len(order))
    triangle = np.tril(np.ones((len(order), len(order)), bool))
    content = triangle[np.ix_(turn, turn)]
    return content, content & ~np.eye(len(order), dtype=bool)

# %% permutation-masks: right: places looked up in a list
def permutation_masks(order):
    order = [int(place) for place in order]
    places = range(len(order))
    query = np.array([[order.index(j) < order.index(i) for j in places] for i in places])
    return query | np.eye(len(order), dtype=bool), query

# %% what-ppl-says: right: total first
def what_ppl_says(first, second):
    question = [(run["text"], run["sees"]) for run in (first, second)]
    found = []
    if question[0] == question[1]:
        for run in (first, second):
            total = run["tokens"] * np.log(run["perplexity"])
            found.append(float(total / np.log(2) / run["characters"]))
    return found

# %% what-ppl-says: right: all keys of the question
def what_ppl_says(first, second):
    import math

    if any(first[key] != second[key] for key in ("text", "sees")):
        return []
    return [math.log(run["perplexity"] ** (run["tokens"] / run["characters"]), 2) for run in (first, second)]

# %% what-ppl-says: wrong: lower perplexity first
def what_ppl_says(first, second):
    if first["text"] != second["text"] or first["sees"] != second["sees"]:
        return []
    return sorted(float(np.log2(run["perplexity"]) * run["tokens"] / run["characters"]) for run in (first, second))

# %% what-ppl-says: wrong: tokens of the first
def what_ppl_says(first, second):
    if first["text"] != second["text"] or first["sees"] != second["sees"]:
        return []
    return [float(np.log2(run["perplexity"]) * first["tokens"] / first["characters"]) for run in (first, second)]
