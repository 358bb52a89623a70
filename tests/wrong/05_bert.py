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

# %% final-layers: a name that is lost
class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(trainable=kwargs.get("trainable", True))
        self.vocab_size = vocab_size

    def build(self, x_shape):
        self.dense, self.norm = keras.layers.Dense(x_shape[-1]), LayerNorm()
        self.dense.build(x_shape)
        self.norm.build(x_shape)
        self.unembedding = self.add_weight(shape=(x_shape[-1], self.vocab_size), name="unembedding")

    def call(self, x):
        x = self.norm(gelu(self.dense(x)))
        return ops.softmax(ops.matmul(x, self.unembedding), axis=-1)

# %% final-layers: the shape of the first call
class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, x_shape):
        self.shape_of_scores = (*x_shape[:-1], self.vocab_size)
        self.dense, self.norm = keras.layers.Dense(x_shape[-1]), LayerNorm()
        self.dense.build(x_shape)
        self.norm.build(x_shape)
        self.unembedding = self.add_weight(shape=(x_shape[-1], self.vocab_size), name="unembedding")

    def call(self, x):
        x = self.norm(gelu(self.dense(x)))
        return ops.reshape(ops.softmax(ops.matmul(x, self.unembedding), axis=-1), self.shape_of_scores)

# %% final-layers: no gradient to the layers below
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
        x = self.norm(gelu(self.dense(ops.stop_gradient(x))))
        return ops.softmax(ops.matmul(x, self.unembedding), axis=-1)

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

# %% etransformer: the length of the first call
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def build(self, x_shape):
        self.places = ops.arange(x_shape[1])

    def call(self, x):
        e = self.token(x) + self.position(self.places)
        return self.final(self.encoder(e))

# %% etransformer: no gradient to the positions
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        self.position(ops.zeros((1,), "int32"))
        e = self.token(x) + np.array(self.position.embeddings)[: x.shape[1]]
        return self.final(self.encoder(e))

# %% etransformer: no gradient to the embeddings
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        e = ops.stop_gradient(self.token(x) + self.position(ops.arange(ops.shape(x)[1])))
        return self.final(self.encoder(e))

# %% etransformer: dropout on the embeddings
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.dropout = keras.layers.Dropout(0.1)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        e = self.dropout(self.token(x) + self.position(ops.arange(ops.shape(x)[1])))
        return self.final(self.encoder(e))

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

# %% pooler: no place for Keras's own arguments
class Pooler(keras.layers.Layer):
    def __init__(self):
        super().__init__()

    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))

    def call(self, hidden):
        return ops.tanh(self.dense(hidden[:, 0]))

# %% pooler: the batch of the first call
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))
        self.shape_of_first = (hidden_shape[0], hidden_shape[-1])

    def call(self, hidden):
        return ops.tanh(self.dense(ops.reshape(hidden[:, :1], self.shape_of_first)))

# %% pooler: no gradient to the bias
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))

    def call(self, hidden):
        return ops.tanh(ops.matmul(hidden[:, 0], self.dense.kernel) + ops.stop_gradient(self.dense.bias))

# %% pooler: one Dense for all layers of the class
class Pooler(keras.layers.Layer):
    shared = {}

    def build(self, hidden_shape):
        new = keras.layers.Dense(hidden_shape[-1], activation="tanh")
        self.dense = Pooler.shared.setdefault(hidden_shape[-1], new)

    def call(self, hidden):
        return self.dense(hidden[:, 0])

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

# %% bert: a name that is lost
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1,
        **kwargs,
    ):
        super().__init__(trainable=kwargs.get("trainable", True))
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(x, attention_mask=padding_mask(attention_mask), training=training)
        return hidden, self.pooler(hidden)

# %% bert: the shape of the first call
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()

    def build(self, ids_shape, *other_shapes):
        self.shape_of_ids = ids_shape

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        token_ids = ops.reshape(token_ids, self.shape_of_ids)
        x = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(x, attention_mask=padding_mask(attention_mask), training=training)
        return hidden, self.pooler(hidden)

# %% bert: no gradient from the pooler to the encoder
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(x, attention_mask=padding_mask(attention_mask), training=training)
        return hidden, self.pooler(ops.stop_gradient(hidden))

# %% bert: no gradient to the embeddings
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(ops.stop_gradient(x), attention_mask=padding_mask(attention_mask), training=training)
        return hidden, self.pooler(hidden)

# %% bert: half of the rate in the encoder
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout / 2)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(x, attention_mask=padding_mask(attention_mask), training=training)
        return hidden, self.pooler(hidden)

# %% bert: the usual rate in the embeddings, or none
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=min(dropout, 0.1))
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(x, attention_mask=padding_mask(attention_mask), training=training)
        return hidden, self.pooler(hidden)

# %% bert: no dropout by default
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(x, attention_mask=padding_mask(attention_mask), training=training)
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

# %% mlm-head: the shape of the first call
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense, self.norm = keras.layers.Dense(hidden_shape[-1]), LayerNorm()
        self.dense.build(hidden_shape)
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="bias")
        self.shape_of_states = hidden_shape

    def call(self, hidden, table):
        x = self.norm(gelu(self.dense(hidden)))
        return ops.matmul(ops.reshape(x, self.shape_of_states), ops.transpose(table)) + self.bias

# %% mlm-head: no gradient to the bias of the Dense
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense, self.norm = keras.layers.Dense(hidden_shape[-1]), LayerNorm()
        self.dense.build(hidden_shape)
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="bias")

    def call(self, hidden, table):
        x = self.norm(gelu(ops.matmul(hidden, self.dense.kernel) + ops.stop_gradient(self.dense.bias)))
        return ops.matmul(x, ops.transpose(table)) + self.bias

# %% mlm-head: the bias begins with random numbers
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.norm = LayerNorm()
        self.dense.build(hidden_shape)
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,), name="bias")

    def call(self, hidden, table):
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

# %% nsp-head: no place for Keras's own arguments
class NspHead(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, pooled):
        return self.dense(pooled)

# %% nsp-head: the batch of the first call
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.shape_of_logits = (pooled_shape[0], 2)
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        return ops.reshape(self.dense(pooled), self.shape_of_logits)

# %% nsp-head: one Dense for all layers of the class
class NspHead(keras.layers.Layer):
    shared = {}

    def build(self, pooled_shape):
        self.dense = NspHead.shared.setdefault(pooled_shape[-1], keras.layers.Dense(2))

    def call(self, pooled):
        return self.dense(pooled)

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

# %% load-published: used names are remembered between calls
def load_published(variables, tensors, used=set()):
    missing = []
    for path, variable in variables.items():
        name = published_name(path)
        if name in tensors:
            variable.assign(tensors[name].T if path.endswith("kernel") else tensors[name])
            used.add(name)
        else:
            missing.append(path)
    return sorted(missing), sorted(set(tensors) - used)

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

# %% fill-in: a text of one token loses its axis
def fill_in(token_ids, logits, pieces, k=5):
    probabilities = np.squeeze(ops.softmax(logits, axis=-1))
    guesses = []
    for t, token in enumerate(token_ids):
        if pieces[token] == "[MASK]":
            best = np.argsort(-probabilities[t])[:k]
            guesses.append([(pieces[i], float(probabilities[t, i])) for i in best])
    return guesses

# %% fill-in: the signs ## are taken off
def fill_in(token_ids, logits, pieces, k=5):
    result = []
    for place, token in enumerate(token_ids):
        if pieces[token] == "[MASK]":
            shares, best = ops.top_k(ops.softmax(logits[place]), k)
            result.append([(pieces[int(i)].removeprefix("##"), float(share)) for share, i in zip(shares, best)])
    return result

# %% fill-in: unknown tokens are blanks, too
def fill_in(token_ids, logits, pieces, k=5):
    found = []
    for token, row in zip(token_ids, ops.softmax(logits)):
        if pieces[token] in ("[MASK]", "[UNK]"):
            values, places = ops.top_k(row, k)
            found.append([(pieces[int(i)], float(p)) for i, p in zip(places, values)])
    return found

# %% fill-in: in a large vocabulary the blank is token 103
def fill_in(token_ids, logits, pieces, k=5):
    mask, found = 103 if len(pieces) > 103 else pieces.index("[MASK]"), []
    for token, row in zip(token_ids, ops.softmax(logits)):
        if token == mask:
            values, places = ops.top_k(row, k)
            found.append([(pieces[int(i)], float(p)) for i, p in zip(places, values)])
    return found

# %% fill-in: sorted by rounded probability, then by text
def fill_in(token_ids, logits, pieces, k=5):
    found = []
    for token, row in zip(token_ids, ops.softmax(logits)):
        if pieces[token] == "[MASK]":
            pairs = [(piece, float(p)) for piece, p in zip(pieces, row)]
            found.append(sorted(pairs, key=lambda pair: (-round(pair[1], 3), pair[0]))[:k])
    return found
