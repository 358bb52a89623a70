# Wrong answers to the exercises of notebook 05 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% final-layers: probabilities not below 1e-7, for a logarithm
class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, x_shape):
        self.dense, self.norm = keras.layers.Dense(x_shape[-1]), LayerNorm()
        self.dense.build(x_shape)
        self.norm.build(x_shape)
        self.unembedding = self.add_weight(shape=(x_shape[-1], self.vocab_size), name="unembedding")

    def call(self, x):
        x = self.norm(gelu(self.dense(x)))
        return ops.clip(ops.softmax(ops.matmul(x, self.unembedding), axis=-1), 1e-7, 1.0)

# %% etransformer: token 0 is hidden as if it were padding
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        e = self.token(x) + self.position(ops.arange(ops.shape(x)[1]))
        return self.final(self.encoder(e, padding_mask(ops.cast(x != 0, "int32"))))

# %% pooler: dropout in training
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))
        self.dropout = keras.layers.Dropout(0.3)

    def call(self, hidden):
        return ops.tanh(self.dense(self.dropout(hidden[:, 0])))

# %% pooler: no gradient to the encoder
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))

    def call(self, hidden):
        return ops.tanh(self.dense(ops.stop_gradient(hidden[:, 0])))

# %% pooler: tanh by exponentials, which overflow
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))

    def call(self, hidden: Tensor) -> Tensor:
        z = self.dense(hidden[:, 0])
        up, down = ops.exp(z), ops.exp(-z)
        return (up - down) / (up + down)

# %% bert: no mask in training
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        mask = None if training else padding_mask(attention_mask)
        hidden = self.encoder(x, attention_mask=mask, training=training)
        return hidden, self.pooler(hidden)

# %% bert: all padding at the end
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        lengths = ops.sum(attention_mask, axis=1, keepdims=True)
        is_real = ops.cast(ops.arange(ops.shape(token_ids)[1]) < lengths, "int32")
        hidden = self.encoder(x, attention_mask=padding_mask(is_real), training=training)
        return hidden, self.pooler(hidden)

# %% mlm-head: the table of the first call
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size, self.kept = vocab_size, None

    def build(self, hidden_shape, table_shape=None):
        self.dense, self.norm = keras.layers.Dense(hidden_shape[-1]), LayerNorm()
        self.dense.build(hidden_shape)
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="bias")

    def call(self, hidden, table):
        self.kept = ops.transpose(table) if self.kept is None else self.kept
        return ops.matmul(self.norm(gelu(self.dense(hidden))), self.kept) + self.bias

# %% mlm-head: a name of its own beside kwargs
class MlmHead(keras.layers.Layer):
    """The masked-language-model head, tied to the token table."""

    def __init__(self, vocab_size: int, **kwargs):
        super().__init__(name="mlm_head", **kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense = keras.layers.Dense(hidden_shape[-1], name="dense")
        self.norm = LayerNorm(name="norm")
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="bias")

    def call(self, hidden: Tensor, table: Tensor) -> Tensor:
        x = self.norm(gelu(self.dense(hidden)))
        return ops.matmul(x, ops.transpose(table)) + self.bias

# %% nsp-head: dropout in training
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)
        self.dropout = keras.layers.Dropout(0.1)

    def call(self, pooled, training=None):
        return self.dense(self.dropout(pooled, training=training))

# %% nsp-head: dropout that Keras switches on
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)
        self.dropout = keras.layers.Dropout(0.5)

    def call(self, pooled):
        return self.dense(self.dropout(pooled))

# %% nsp-head: composed: the Dense of the head that was built last
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        global dense
        dense = self.dense = keras.layers.Dense(2)
        dense.build(pooled_shape)

    def call(self, pooled):
        return dense(pooled)

# %% nsp-head: a batch of one loses its axis
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        return ops.squeeze(self.dense(pooled))

# %% parameter-count: counted in int32
def parameter_count(
    vocab_size: int,
    hidden_size: int,
    num_layers: int,
    num_heads: int,
    intermediate_size: int,
    max_positions: int = 512,
    num_segments: int = 2,
    pretraining_heads: bool = False,
) -> int:
    h, f, v = np.int32(hidden_size), np.int32(intermediate_size), np.int32(vocab_size)
    total = v * h + max_positions * h + num_segments * h + 2 * h
    total += num_layers * (4 * (h * h + h) + h * f + f + f * h + h + 4 * h)
    total += h * h + h
    if pretraining_heads:
        total += h * h + h + 2 * h + v + 2 * h + 2
    return int(total)

# %% parameter-count: no pooler without layers
def parameter_count(
    vocab_size: int,
    hidden_size: int,
    num_layers: int,
    num_heads: int,
    intermediate_size: int,
    max_positions: int = 512,
    num_segments: int = 2,
    pretraining_heads: bool = False,
) -> int:
    h, f = hidden_size, intermediate_size
    total = (vocab_size + max_positions + num_segments + 2) * h
    for layer in range(num_layers):
        total += 4 * (h * h + h) + 2 * h
        total += h * f + f + f * h + h + 2 * h
        if layer == num_layers - 1:
            total += h * h + h  # the pooler, on top of the last layer
    if pretraining_heads:
        total += h * h + h + 2 * h + vocab_size
        total += h * 2 + 2
    return total

# %% published-name: the twelve layers of Base
RENAMED = {
    "embeddings.token": "embeddings.word_embeddings", "embeddings.position": "embeddings.position_embeddings",
    "embeddings.segment": "embeddings.token_type_embeddings", "embeddings.norm": "embeddings.LayerNorm",
    **{f"encoder.layers_.{number}.": f"encoder.layer.{number}." for number in range(12)},
    "attention.query": "attention.self.query", "attention.key": "attention.self.key",
    "attention.value": "attention.self.value", "attention.out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm", "feed_forward.inner": "intermediate.dense",
    "feed_forward.outer": "output.dense", "output_norm": "output.LayerNorm",
    "mlm_head.dense": "cls.predictions.transform.dense", "mlm_head.norm": "cls.predictions.transform.LayerNorm",
    "mlm_head": "cls.predictions", "nsp_head.dense": "cls.seq_relationship",
}


def published_name(path):
    part, _, last = path.rpartition(".")
    for mine, theirs in RENAMED.items():
        part = part.replace(mine, theirs)
    return f"{part}.{'bias' if last in ('bias', 'beta') else 'weight'}"

# %% load-published: the table of segments is turned like a kernel, and then does not fit
def load_published(variables, tensors):
    missing, used = [], set()
    for path, variable in variables.items():
        name = published_name(path)
        if name not in tensors:
            missing.append(path)
            continue
        array = tensors[name]
        if array.ndim == 2 and "token" not in path and "position" not in path:
            array = array.T
        if array.shape == tuple(variable.shape):
            variable.assign(array)
            used.add(name)
    return sorted(missing), sorted(set(tensors) - used)

# %% load-published: the file's arrays are turned
def load_published(variables, tensors):
    missing, unused = [], set(tensors)
    for path, variable in variables.items():
        name = published_name(path)
        if name not in tensors:
            missing.append(path)
            continue
        if path.endswith(".kernel"):
            tensors[name] = tensors[name].T
        variable.assign(tensors[name])
        unused.discard(name)
    return sorted(missing), sorted(unused)

# %% load-published: the file's dict is emptied
def load_published(variables, tensors):
    missing = []
    for path, variable in variables.items():
        if published_name(path) not in tensors:
            missing.append(path)
            continue
        value = tensors.pop(published_name(path))
        variable.assign(value.T if path.endswith(".kernel") else value)
    return sorted(missing), sorted(tensors)

# %% load-published: loaded variables leave the dict
def load_published(variables, tensors):
    unused = set(tensors)
    for path in list(variables):
        name = published_name(path)
        if name in tensors:
            variables.pop(path).assign(tensors[name].T if path.endswith(".kernel") else tensors[name])
            unused.discard(name)
    return sorted(variables), sorted(unused)

# %% load-published: names of another model are not reported
def load_published(
    variables: dict[str, keras.Variable], tensors: dict[str, np.ndarray]
) -> tuple[list[str], list[str]]:
    missing, unused = [], [name for name in tensors if name.startswith(("bert.", "cls."))]
    for path, variable in variables.items():
        name = published_name(path)
        if name in tensors:
            array = tensors[name]
            variable.assign(array.T if path.split(".")[-1] == "kernel" else array)
            unused.remove(name)
        else:
            missing.append(path)
    return sorted(missing), sorted(unused)

# %% load-published: one list for all missing names
missing = []


def load_published(variables, tensors):
    missing.clear()
    unused = set(tensors)
    for path, variable in variables.items():
        name = published_name(path)
        if name not in tensors:
            missing.append(path)
            continue
        variable.assign(tensors[name].T if path.endswith("kernel") else tensors[name])
        unused.discard(name)
    missing.sort()
    return missing, sorted(unused)

# %% fill-in: softmax without the maximum subtracted
def fill_in(token_ids, logits, pieces, k=5):
    guesses = []
    for token, row in zip(token_ids, np.array(logits)):
        if pieces[token] == "[MASK]":
            shares = np.exp(row) / np.exp(row).sum()
            guesses.append([(pieces[i], float(shares[i])) for i in np.argsort(-shares, kind="stable")[:k]])
    return guesses

# %% fill-in: one list for all texts
guesses = []


def fill_in(token_ids, logits, pieces, k=5):
    guesses.clear()
    for token, row in zip(token_ids, ops.softmax(logits, axis=-1)):
        if pieces[token] == "[MASK]":
            shares, best = ops.top_k(row, k)
            guesses.append([(pieces[int(i)], float(share)) for i, share in zip(best, shares)])
    return guesses
