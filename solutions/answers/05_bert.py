# Other answers to the exercises of notebook 05: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% final-layers: right: bare weights
from types import SimpleNamespace


class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, x_shape):
        d = x_shape[-1]
        self.w_f, self.b_f = self.add_weight(shape=(d, d)), self.add_weight(shape=(d,), initializer="zeros")
        self.dense = SimpleNamespace(kernel=self.w_f, bias=self.b_f)
        self.norm = LayerNorm()
        self.norm.build(x_shape)
        self.unembedding = self.add_weight(shape=(d, self.vocab_size))

    def call(self, x):
        x = self.norm(gelu(ops.einsum("btd,de->bte", x, self.w_f) + self.b_f))
        return ops.softmax(ops.einsum("btd,dv->btv", x, self.unembedding))

# %% final-layers: right: dense as unembedding
class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.norm = LayerNorm()
        self.unembedding = keras.layers.Dense(vocab_size, use_bias=False, activation="softmax")

    def build(self, x_shape):
        self.dense = keras.layers.Dense(x_shape[-1], activation=gelu)

    def call(self, x):
        return self.unembedding(self.norm(self.dense(x)))

# %% final-layers: right: norm and softmax by hand
class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.columns = vocab_size

    def build(self, x_shape):
        self.dense = keras.layers.Dense(x_shape[-1])
        self.dense.build(x_shape)
        self.norm = LayerNorm()
        self.norm.build(x_shape)
        self.unembedding = self.add_weight(shape=(x_shape[-1], self.columns))

    def call(self, x):
        x = gelu(x @ self.dense.kernel + self.dense.bias)
        centred = x - ops.mean(x, axis=-1, keepdims=True)
        x = centred * ops.rsqrt(ops.mean(centred**2, axis=-1, keepdims=True) + 1e-12)
        scores = (x * self.norm.gamma + self.norm.beta) @ self.unembedding
        powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
        return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% final-layers: right: rows of all texts as one matrix
class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)

    def build(self, x_shape):
        self.dense = keras.layers.Dense(x_shape[-1])
        self.unembedding = self.add_weight(shape=(x_shape[-1], self.vocab_size), name="w_u")

    def call(self, x):
        batch, tokens, d_e = ops.shape(x)
        rows = self.norm(gelu(self.dense(ops.reshape(x, (-1, d_e)))))
        return ops.reshape(ops.softmax(ops.dot(rows, self.unembedding)), (batch, tokens, self.vocab_size))

# %% final-layers: right: steps in a list
class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, x_shape):
        d_e = x_shape[-1]
        self.dense, self.norm = keras.layers.Dense(d_e), LayerNorm()
        self.unembedding = keras.layers.Dense(self.vocab_size, use_bias=False)
        self.steps = [self.dense, keras.layers.Activation(gelu), self.norm, self.unembedding, keras.layers.Softmax()]

    def call(self, x):
        for step in self.steps:
            x = step(x)
        return x

# %% final-layers: right: through logarithms
class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, x_shape):
        d_e = x_shape[-1]
        self.dense = keras.layers.Dense(d_e)
        self.norm = LayerNorm()
        self.unembedding = self.add_weight(shape=(d_e, self.vocab_size))

    def call(self, x):
        scores = self.norm(gelu(self.dense(x))) @ self.unembedding
        return ops.exp(scores - ops.logsumexp(scores, axis=-1, keepdims=True))

# %% final-layers: wrong: probabilities not below 1e-7, for a logarithm
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

# %% final-layers: wrong: the shape of the first call
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

# %% final-layers: wrong: no gradient to the layers below
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

# %% etransformer: right: first rows of the table
class ETransformer(keras.Model):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.position.build()
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        length = x.shape[1]
        return self.final(self.encoder(self.token(x) + self.position.embeddings[:length]))

# %% etransformer: right: layer by layer
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token, self.position = (keras.layers.Embedding(rows, d_e) for rows in (vocab_size, max_length))
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        e = self.token(x) + self.position(ops.cumsum(ops.ones_like(x), axis=1) - 1)
        for layer in self.encoder.layers_:
            e = layer(e)
        return self.final(e)

# %% etransformer: right: lines 10 to 12 written out
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.dense = keras.layers.Dense(d_e, activation=gelu)
        self.norm = LayerNorm()
        self.unembedding = keras.layers.Dense(vocab_size, use_bias=False, activation="softmax")

    def call(self, x):
        places = ops.broadcast_to(ops.arange(ops.shape(x)[1]), ops.shape(x))
        x = self.encoder(ops.add(self.token(x), self.position(places)))
        return self.unembedding(self.norm(self.dense(x)))

# %% etransformer: right: one hot products
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.sizes = vocab_size, max_length
        self.token, self.position = keras.layers.Embedding(vocab_size, d_e), keras.layers.Embedding(max_length, d_e)
        self.encoder, self.final = Encoder(num_layers, num_heads, d_mlp), FinalLayers(vocab_size)

    def build(self, x_shape):
        self.token.build(x_shape)
        self.position.build(x_shape)

    def call(self, x):
        pieces = ops.one_hot(x, self.sizes[0]) @ self.token.embeddings
        places = ops.one_hot(ops.arange(x.shape[1]), self.sizes[1]) @ self.position.embeddings
        return self.final(self.encoder(pieces + places))

# %% etransformer: right: parts made in build
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.sizes = dict(token=vocab_size, position=max_length)
        self.d_e, self.stack = d_e, (num_layers, num_heads, d_mlp)

    def build(self, x_shape):
        for name, rows in self.sizes.items():
            setattr(self, name, keras.layers.Embedding(rows, self.d_e))
        self.encoder = Encoder(*self.stack)
        self.final = FinalLayers(self.sizes["token"])

    def call(self, x):
        looked_up = [self.token(x), self.position(ops.arange(ops.shape(x)[1])[None])]
        return self.final(self.encoder(sum(looked_up)))

# %% etransformer: right: text by text
class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        def distributions(text):
            e = ops.stack(
                [
                    self.token(token) + self.position(ops.convert_to_tensor(t))
                    for t, token in enumerate(ops.unstack(text))
                ]
            )
            return self.final(self.encoder(e[None]))[0]

        return ops.map(distributions, x)

# %% etransformer: wrong: the length of the first call
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

# %% etransformer: wrong: no gradient to the embeddings
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

# %% etransformer: wrong: dropout on the embeddings
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

# %% pooler: right: activation of the dense
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1], activation="tanh")

    def call(self, hidden):
        return self.dense(hidden[:, 0, :])

# %% pooler: right: all tokens then the first
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])

    def call(self, hidden):
        return ops.tanh(self.dense(hidden))[:, 0]

# %% pooler: right: taken
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])

    def call(self, hidden):
        return keras.activations.tanh(self.dense(ops.take(hidden, 0, axis=1)))

# %% pooler: right: text by text
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])

    def call(self, hidden):
        return ops.map(lambda text: ops.tanh(self.dense(text[:1]))[0], hidden)

# %% pooler: right: unstacked and multiplied
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((None, hidden_shape[-1]))

    def call(self, hidden):
        first, *_ = ops.unstack(hidden, axis=1)
        return ops.tanh(ops.einsum("bh,hk->bk", first, self.dense.kernel) + self.dense.bias)

# %% pooler: right: weighted sum of tokens
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])

    def call(self, hidden):
        chosen = ops.one_hot(0, hidden.shape[1])
        first = ops.tensordot(hidden, chosen, axes=[[1], [0]])
        return 2 * ops.sigmoid(2 * self.dense(first)) - 1

# %% pooler: right: idiom of google-research's BERT, a slice whose axis is removed
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1], activation="tanh")
        self.dense.build((hidden_shape[0], hidden_shape[-1]))

    def call(self, hidden):
        return self.dense(ops.squeeze(hidden[:, 0:1, :], axis=1))

# %% pooler: wrong: dropout in training
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))
        self.dropout = keras.layers.Dropout(0.3)

    def call(self, hidden):
        return ops.tanh(self.dense(self.dropout(hidden[:, 0])))

# %% pooler: wrong: tanh by exponentials, which overflow
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))

    def call(self, hidden: Tensor) -> Tensor:
        z = self.dense(hidden[:, 0])
        up, down = ops.exp(z), ops.exp(-z)
        return (up - down) / (up + down)

# %% pooler: wrong: no place for Keras's own arguments
class Pooler(keras.layers.Layer):
    def __init__(self):
        super().__init__()

    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))

    def call(self, hidden):
        return ops.tanh(self.dense(hidden[:, 0]))

# %% pooler: wrong: the batch of the first call
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))
        self.shape_of_first = (hidden_shape[0], hidden_shape[-1])

    def call(self, hidden):
        return ops.tanh(self.dense(ops.reshape(hidden[:, :1], self.shape_of_first)))

# %% pooler: wrong: one Dense for all layers of the class
class Pooler(keras.layers.Layer):
    shared = {}

    def build(self, hidden_shape):
        new = keras.layers.Dense(hidden_shape[-1], activation="tanh")
        self.dense = Pooler.shared.setdefault(hidden_shape[-1], new)

    def call(self, hidden):
        return self.dense(hidden[:, 0])

# %% bert: right: a keras model
class Bert(keras.Model):
    def __init__(self, vocab_size, hidden_size, *stack, max_positions=512, dropout=0.1, **sizes):
        super().__init__(trainable=sizes.pop("trainable", True), name=sizes.pop("name", None))
        sizes = dict(zip(("num_layers", "num_heads", "intermediate_size"), stack)) | sizes
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions=max_positions, dropout=dropout)
        self.encoder = Encoder(**sizes, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        visible = ops.expand_dims(attention_mask > 0, 1)
        hidden = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(hidden, attention_mask=visible, training=training)
        pooled = self.pooler(hidden)
        return (hidden, pooled)

# %% bert: right: layer by layer
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, 2, dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        states = [self.embeddings(token_ids, token_type_ids, training=training)]
        for layer in self.encoder.layers_:
            states.append(layer(states[-1], attention_mask=padding_mask(attention_mask), training=training))
        return states[-1], self.pooler(states[-1])

# %% bert: right: mask by hand
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        seen = ops.cast(attention_mask, "bool")[:, None, :]
        h = self.encoder(self.embeddings(token_ids, token_type_ids, training=training), seen, training=training)
        return h, self.pooler(h)

# %% bert: right: parts made in build
class Bert(keras.layers.Layer):
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
        self.dictionary = (vocab_size, hidden_size, max_positions, 2, dropout)
        self.stack = (num_layers, num_heads, intermediate_size, dropout)

    def build(self, *shapes, **more):
        self.embeddings, self.encoder, self.pooler = BertEmbeddings(*self.dictionary), Encoder(*self.stack), Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        x = self.encoder(x, attention_mask=padding_mask(attention_mask), training=training)
        return x, self.pooler(x)

# %% bert: right: square mask
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        tokens = token_ids.shape[1]
        pairs = ops.ones((tokens, 1), "int32") * attention_mask[:, None]
        hidden = self.encoder(
            self.embeddings(token_ids, token_type_ids, training=training),
            attention_mask=ops.equal(pairs, 1),
            training=training,
        )
        return hidden, self.pooler(hidden)

# %% bert: right: text by text
class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        def hidden_of(text):
            ids, segments, real = (part[None] for part in text)
            x = self.embeddings(ids, segments, training=training)
            return self.encoder(x, attention_mask=padding_mask(real), training=training)[0]

        hidden = ops.map(hidden_of, (token_ids, token_type_ids, attention_mask))
        return hidden, self.pooler(hidden)

# %% bert: wrong: no mask in training
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

# %% bert: wrong: all padding at the end
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

# %% bert: wrong: the shape of the first call
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

# %% bert: wrong: no gradient from the pooler to the encoder
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

# %% bert: wrong: half of the rate in the encoder
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

# %% bert: wrong: no dropout by default
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

# %% mlm-head: right: bare weights
from types import SimpleNamespace


class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        h = hidden_shape[-1]
        self.matrix, self.offset = self.add_weight(shape=(h, h)), self.add_weight(shape=(h,))
        self.dense = SimpleNamespace(kernel=self.matrix, bias=self.offset)
        self.norm = LayerNorm()
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros")

    def call(self, hidden, table):
        x = gelu(hidden @ self.matrix + self.offset)
        return self.norm(x) @ ops.transpose(table) + self.bias

# %% mlm-head: right: bias as one more column
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense, self.norm = keras.layers.Dense(hidden_shape[-1]), LayerNorm()
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros")

    def call(self, hidden, table):
        x = self.norm(gelu(self.dense(hidden)))
        x = ops.concatenate([x, ops.ones_like(x[..., :1])], axis=-1)
        wider = ops.concatenate([table, self.bias[:, None]], axis=1)
        return ops.matmul(x, ops.transpose(wider))

# %% mlm-head: right: einsum
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.norm = LayerNorm()
        self.bias = self.add_weight(shape=(vocab_size,), initializer="zeros")

    def build(self, hidden_shape, table_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1], activation=gelu)

    def call(self, hidden, table):
        return ops.einsum("bth,vh->btv", self.norm(self.dense(hidden)), table) + self.bias

# %% mlm-head: right: norm by hand tensordot
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense, self.norm = keras.layers.Dense(hidden_shape[-1]), LayerNorm()
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros")

    def call(self, hidden, table):
        x = gelu(self.dense(hidden))
        mean, variance = ops.moments(x, axes=[-1], keepdims=True)
        x = (x - mean) / ops.sqrt(variance + 1e-12) * self.norm.gamma + self.norm.beta
        return ops.tensordot(x, table, axes=[[2], [1]]) + self.bias

# %% mlm-head: right: piece by piece
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.bias = self.add_weight(shape=(vocab_size,), initializer="zeros")

    def build(self, hidden_shape, table_shape=None):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.norm = LayerNorm()

    def call(self, hidden, table):
        x = self.norm(gelu(self.dense(hidden)))
        columns = [ops.sum(x * row, axis=-1) + b for row, b in zip(ops.unstack(table), ops.unstack(self.bias))]
        return ops.stack(columns, axis=-1)

# %% mlm-head: right: pieces first
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.pieces = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.bias = self.add_weight(shape=(self.pieces,), initializer="zeros", name="bias")

    def call(self, hidden, table):
        x = self.norm(gelu(self.dense(hidden)))
        upright = ops.matmul(table, ops.swapaxes(x, 1, 2)) + self.bias[:, None]
        return ops.swapaxes(upright, 1, 2)

# %% mlm-head: right: idiom of google-research's BERT, the rows of all texts as one matrix
class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense, self.norm = keras.layers.Dense(hidden_shape[-1], activation=gelu), LayerNorm()
        self.dense.build(hidden_shape)
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="output_bias")

    def call(self, hidden, table):
        x = self.norm(self.dense(hidden))
        flat = ops.reshape(x, (-1, x.shape[-1]))
        logits = ops.add(ops.einsum("nh,vh->nv", flat, table), self.bias)
        return ops.reshape(logits, (*ops.shape(x)[:-1], self.vocab_size))

# %% mlm-head: wrong: the shape of the first call
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

# %% mlm-head: wrong: the bias begins with random numbers
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

# %% nsp-head: right: a dense itself
class NspHead(keras.layers.Dense):
    dense = property(lambda self: self)

    def __init__(self, **kwargs):
        super().__init__(2, **kwargs)

# %% nsp-head: right: bare weights
from types import SimpleNamespace


class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.kernel = self.add_weight(shape=(pooled_shape[-1], 2))
        self.bias = self.add_weight(shape=(2,), initializer="zeros")
        self.dense = SimpleNamespace(kernel=self.kernel, bias=self.bias)

    def call(self, pooled):
        return ops.einsum("bh,hc->bc", pooled, self.kernel) + self.bias

# %% nsp-head: right: bias as one more row
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        taller = ops.concatenate([self.dense.kernel, self.dense.bias[None]], axis=0)
        return ops.pad(pooled, [[0, 0], [0, 1]], constant_values=1.0) @ taller

# %% nsp-head: right: dense in init
class NspHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(units=2)

    def call(self, pooled):
        logits = self.dense(pooled)
        return logits

# %% nsp-head: right: matrix product
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        return ops.matmul(pooled, self.dense.kernel) + self.dense.bias

# %% nsp-head: right: one column each
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        w, b = self.dense.kernel, self.dense.bias
        is_next, not_next = (ops.sum(pooled * w[:, c], axis=1) + b[c] for c in (0, 1))
        return ops.stack([is_next, not_next], axis=1)

# %% nsp-head: wrong: dropout in training
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)
        self.dropout = keras.layers.Dropout(0.1)

    def call(self, pooled, training=None):
        return self.dense(self.dropout(pooled, training=training))

# %% nsp-head: wrong: composed: the Dense of the head that was built last
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        global dense
        dense = self.dense = keras.layers.Dense(2)
        dense.build(pooled_shape)

    def call(self, pooled):
        return dense(pooled)

# %% nsp-head: wrong: a batch of one loses its axis
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        return ops.squeeze(self.dense(pooled))

# %% nsp-head: wrong: no place for Keras's own arguments
class NspHead(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, pooled):
        return self.dense(pooled)

# %% nsp-head: wrong: the batch of the first call
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.shape_of_logits = (pooled_shape[0], 2)
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        return ops.reshape(self.dense(pooled), self.shape_of_logits)

# %% nsp-head: wrong: one Dense for all layers of the class
class NspHead(keras.layers.Layer):
    shared = {}

    def build(self, pooled_shape):
        self.dense = NspHead.shared.setdefault(pooled_shape[-1], keras.layers.Dense(2))

    def call(self, pooled):
        return self.dense(pooled)

# %% parameter-count: right: helpers
def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    def dense(a, b):
        return (a + 1) * b

    def norm():
        return 2 * hidden_size

    def layer():
        return (
            4 * dense(hidden_size, hidden_size)
            + dense(hidden_size, intermediate_size)
            + dense(intermediate_size, hidden_size)
            + 2 * norm()
        )

    tables = hidden_size * sum((vocab_size, max_positions, num_segments))
    heads = dense(hidden_size, hidden_size) + norm() + vocab_size + dense(hidden_size, 2)
    body = tables + norm() + num_layers * layer() + dense(hidden_size, hidden_size)
    return body + heads if pretraining_heads else body

# %% parameter-count: right: matrices and vectors with numpy
def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h, f = hidden_size, intermediate_size
    matrices = np.array([[vocab_size, h], [max_positions, h], [num_segments, h], [h, h], [h, h], [h, f]])
    how_often = np.array([1, 1, 1, 4 * num_layers, 1, 2 * num_layers])
    vectors = np.dot([2 + 9 * num_layers + 1, num_layers], [h, f])
    if pretraining_heads:
        vectors += h * h + 3 * h + vocab_size + 2 * h + 2
    return int(matrices.prod(axis=1) @ how_often + vectors)

# %% parameter-count: right: named parts
def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h = hidden_size
    parts = {
        "tables": (vocab_size + max_positions + num_segments) * h,
        "query key value out": num_layers * 4 * h * (h + 1),
        "inner": num_layers * (h + 1) * intermediate_size,
        "outer": num_layers * (intermediate_size + 1) * h,
        "norms": (1 + 2 * num_layers) * 2 * h,
        "pooler": h * (h + 1),
        "mlm": pretraining_heads and h * (h + 1) + 2 * h + vocab_size,
        "nsp": pretraining_heads and 2 * (h + 1),
    }
    return sum(parts.values())

# %% parameter-count: right: one formula
def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h, f, v = hidden_size, intermediate_size, vocab_size
    count = (v + max_positions + num_segments + 2) * h + num_layers * (4 * h * h + 2 * h * f + 9 * h + f) + h * (h + 1)
    return count + pretraining_heads * (h * h + 5 * h + v + 2)

# %% parameter-count: right: recursive
def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h, f = hidden_size, intermediate_size
    sizes = (vocab_size, h), num_heads, f, max_positions, num_segments, pretraining_heads
    if num_layers > 0:
        one = (h + 1) * 4 * h + h * f + f + f * h + h + 4 * h
        (v, _), *others = sizes
        return one + parameter_count(v, h, num_layers - 1, *others)
    bare = h * (vocab_size + max_positions + num_segments) + 2 * h + h**2 + h
    return bare + (h**2 + h + 2 * h + vocab_size + 2 * (h + 1) if pretraining_heads else 0)

# %% parameter-count: right: shapes
import math


def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h, f = hidden_size, intermediate_size
    shapes = [(vocab_size, h), (max_positions, h), (num_segments, h), (2, h), (h, h), (h,)]
    for _ in range(num_layers):
        shapes += 4 * [(h, h), (h,)] + [(h, f), (f,), (f, h), (h,)] + 2 * [(2, h)]
    if pretraining_heads:
        shapes += [(h, h), (h,), (2, h), (vocab_size,), (h, 2), (2,)]
    return sum(map(math.prod, shapes))

# %% parameter-count: wrong: counted in int32
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

# %% parameter-count: wrong: no pooler without layers
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

# %% published-name: right: if by if
def published_name(path):
    last = "weight" if path.endswith(("kernel", "gamma", "embeddings")) else "bias"
    words = path.split(".")[:-1]
    if words[0] == "nsp_head":
        return "cls.seq_relationship." + last
    if words[0] == "mlm_head":
        inner = {"dense": "transform.dense.", "norm": "transform.LayerNorm."}[words[1]] if len(words) > 1 else ""
        return "cls.predictions." + inner + last
    if words[1] == "pooler":
        return f"bert.pooler.dense.{last}"
    if words[1] == "embeddings":
        if words[2] == "norm":
            return f"bert.embeddings.LayerNorm.{last}"
        if words[2] == "token":
            return "bert.embeddings.word_embeddings.weight"
        if words[2] == "segment":
            return "bert.embeddings.token_type_embeddings.weight"
        return "bert.embeddings.position_embeddings.weight"
    start, inside = "bert.encoder.layer." + words[3], words[4:]
    if inside[0] == "attention":
        where = "output.dense" if inside[1] == "out" else "self." + inside[1]
        return f"{start}.attention.{where}.{last}"
    if inside[0] == "attention_norm":
        return f"{start}.attention.output.LayerNorm.{last}"
    if inside[0] == "feed_forward":
        return f"{start}.{'intermediate' if inside[1] == 'inner' else 'output'}.dense.{last}"
    return f"{start}.output.LayerNorm.{last}"

# %% published-name: right: longest beginning
WORDS = {
    "": "", "kernel": "weight", "gamma": "weight", "beta": "bias", "bias": "bias", "embeddings": "weight",
    "bert.embeddings.token": "bert.embeddings.word_embeddings",
    "bert.embeddings.position": "bert.embeddings.position_embeddings",
    "bert.embeddings.segment": "bert.embeddings.token_type_embeddings",
    "bert.embeddings.norm": "bert.embeddings.LayerNorm",
    "bert.encoder.layers_": "bert.encoder.layer", "bert.pooler.dense": "bert.pooler.dense",
    "attention.query": "attention.self.query", "attention.key": "attention.self.key",
    "attention.value": "attention.self.value", "attention.out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm", "feed_forward.inner": "intermediate.dense",
    "feed_forward.outer": "output.dense", "output_norm": "output.LayerNorm", "mlm_head": "cls.predictions",
    "mlm_head.dense": "cls.predictions.transform.dense", "mlm_head.norm": "cls.predictions.transform.LayerNorm",
    "nsp_head.dense": "cls.seq_relationship",
}  # fmt: skip


def published_name(path):
    words = path.split(".")
    for end in range(len(words), 0, -1):
        first = ".".join(words[:end])
        if first in WORDS or first.isdigit():
            rest = words[end:]
            return ".".join([WORDS.get(first, first), *([published_name(".".join(rest))] if rest else [])])
    raise KeyError(path)

# %% published-name: right: match
def published_name(path):
    *part, last = path.split(".")
    match part:
        case ["bert", "embeddings", "norm"]:
            name = "bert.embeddings.LayerNorm"
        case ["bert", "embeddings", table]:
            name = f"bert.embeddings.{dict(token='word', segment='token_type').get(table, table)}_embeddings"
        case ["bert", "encoder", "layers_", number, "attention", "out"]:
            name = f"bert.encoder.layer.{number}.attention.output.dense"
        case ["bert", "encoder", "layers_", number, "attention", projection]:
            name = f"bert.encoder.layer.{number}.attention.self.{projection}"
        case ["bert", "encoder", "layers_", number, "attention_norm"]:
            name = f"bert.encoder.layer.{number}.attention.output.LayerNorm"
        case ["bert", "encoder", "layers_", number, "feed_forward", "inner"]:
            name = f"bert.encoder.layer.{number}.intermediate.dense"
        case ["bert", "encoder", "layers_", number, "feed_forward", "outer"]:
            name = f"bert.encoder.layer.{number}.output.dense"
        case ["bert", "encoder", "layers_", number, "output_norm"]:
            name = f"bert.encoder.layer.{number}.output.LayerNorm"
        case ["mlm_head"]:
            name = "cls.predictions"
        case ["mlm_head", inner]:
            name = f"cls.predictions.transform.{'LayerNorm' if inner == 'norm' else inner}"
        case ["nsp_head", _]:
            name = "cls.seq_relationship"
        case _:
            name = ".".join(part)
    return name + (".bias" if last in ("bias", "beta") else ".weight")

# %% published-name: right: regular expressions
import re

RULES = [
    (r"(kernel|embeddings|gamma)$", "weight"),
    (r"beta$", "bias"),
    (r"layers_\.", "layer."),
    (r"attention\.(query|key|value)", r"attention.self.\1"),
    (r"attention\.out\b", "attention.output.dense"),
    (r"attention_norm", "attention.output.LayerNorm"),
    (r"feed_forward\.inner", "intermediate.dense"),
    (r"feed_forward\.outer", "output.dense"),
    (r"output_norm", "output.LayerNorm"),
    (r"embeddings\.token\b", "embeddings.word_embeddings"),
    (r"embeddings\.position\b", "embeddings.position_embeddings"),
    (r"embeddings\.segment\b", "embeddings.token_type_embeddings"),
    (r"\bnorm\b", "LayerNorm"),
    (r"^mlm_head\.(dense|LayerNorm)", r"cls.predictions.transform.\1"),
    (r"^mlm_head", "cls.predictions"),
    (r"^nsp_head\.dense", "cls.seq_relationship"),
]


def published_name(path):
    for pattern, words in RULES:
        path = re.sub(pattern, words, path)
    return path

# %% published-name: right: table of whole names
def published_name(path):
    dense, norm = {"kernel": "weight", "bias": "bias"}, {"gamma": "weight", "beta": "bias"}
    table = {f"bert.embeddings.{a}": (f"bert.embeddings.{b}_embeddings", {"embeddings": "weight"})
             for a, b in (("token", "word"), ("position", "position"), ("segment", "token_type"))}  # fmt: skip
    table["bert.embeddings.norm"] = "bert.embeddings.LayerNorm", norm
    for i in range(100):
        mine, theirs = f"bert.encoder.layers_.{i}.", f"bert.encoder.layer.{i}."
        for name in ("query", "key", "value"):
            table[f"{mine}attention.{name}"] = f"{theirs}attention.self.{name}", dense
        table[mine + "attention.out"] = theirs + "attention.output.dense", dense
        table[mine + "attention_norm"] = theirs + "attention.output.LayerNorm", norm
        table[mine + "feed_forward.inner"] = theirs + "intermediate.dense", dense
        table[mine + "feed_forward.outer"] = theirs + "output.dense", dense
        table[mine + "output_norm"] = theirs + "output.LayerNorm", norm
    table["bert.pooler.dense"] = "bert.pooler.dense", dense
    table["mlm_head.dense"] = "cls.predictions.transform.dense", dense
    table["mlm_head.norm"] = "cls.predictions.transform.LayerNorm", norm
    table["mlm_head"] = "cls.predictions", dense
    table["nsp_head.dense"] = "cls.seq_relationship", dense
    part, last = path.rsplit(".", 1)
    name, words = table[part]
    return f"{name}.{words[last]}"

# %% published-name: right: two dictionaries
OUTSIDE = dict(zip(
    "bert.embeddings.token bert.embeddings.position bert.embeddings.segment bert.embeddings.norm bert.pooler.dense "
    "mlm_head mlm_head.dense mlm_head.norm nsp_head.dense".split(),
    "bert.embeddings.word_embeddings bert.embeddings.position_embeddings bert.embeddings.token_type_embeddings "
    "bert.embeddings.LayerNorm bert.pooler.dense cls.predictions cls.predictions.transform.dense "
    "cls.predictions.transform.LayerNorm cls.seq_relationship".split(),
))  # fmt: skip
INSIDE = dict(
    query="attention.self.query", key="attention.self.key", value="attention.self.value",
    out="attention.output.dense", attention_norm="attention.output.LayerNorm", inner="intermediate.dense",
    outer="output.dense", output_norm="output.LayerNorm",
)  # fmt: skip


def published_name(path):
    part, _, weight = path.rpartition(".")
    last = {"beta": "bias", "bias": "bias"}.get(weight, "weight")
    if part in OUTSIDE:
        return OUTSIDE[part] + "." + last
    words = part.split(".")
    return ".".join(["bert", "encoder", "layer", words[3], INSIDE[words[-1]], last])

# %% published-name: wrong: the twelve layers of Base
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

# %% load-published: right: errors caught
def load_published(variables, tensors):
    missing, used = set(), set()
    for path, variable in variables.items():
        try:
            value = tensors[published_name(path)]
        except KeyError:
            missing.add(path)
        else:
            used.add(published_name(path))
            variable.assign(ops.transpose(value) if "kernel" in path else value)
    return sorted(missing), sorted(tensors.keys() - used)

# %% load-published: right: from their side
def load_published(variables, tensors):
    mine = {published_name(path): path for path in variables}
    unused = []
    for name in sorted(tensors):
        path = mine.pop(name, None)
        if path is None:
            unused.append(name)
        elif path.endswith(".kernel"):
            variables[path].assign(np.swapaxes(tensors[name], 0, 1))
        else:
            variables[path].assign(tensors[name])
    return sorted(mine.values()), unused

# %% load-published: right: recursive
def load_published(variables, tensors):
    if not variables:
        return [], sorted(tensors)
    path, *others = variables
    name = published_name(path)
    missing, unused = load_published(
        {other: variables[other] for other in others}, {n: t for n, t in tensors.items() if n != name}
    )
    if name not in tensors:
        return sorted([path, *missing]), unused
    rows = zip(*tensors[name]) if path.endswith("kernel") else tensors[name]
    variables[path].assign(np.array(list(rows)))
    return missing, unused

# %% load-published: right: sets
def load_published(variables, tensors):
    names = {path: published_name(path) for path in variables}
    there = {path for path, name in names.items() if name in tensors}
    for path in there:
        array = tensors[names[path]]
        if path.split(".")[-1] == "kernel":
            array = np.transpose(array)
        variables[path].assign(array)
    return sorted(set(variables) - there), sorted(set(tensors) - set(names.values()))

# %% load-published: right: taken out of a copy
def load_published(variables, tensors):
    rest, missing = dict(tensors), []
    for path in sorted(variables):
        value = rest.pop(published_name(path), None)
        if value is None:
            missing.append(path)
        else:
            variables[path].assign(np.einsum("oi->io", value) if path.endswith("kernel") else value)
    return missing, sorted(rest)

# %% load-published: right: values first
def load_published(variables, tensors):
    found = {path: tensors.get(published_name(path)) for path in variables}
    values = {path: value for path, value in found.items() if value is not None}
    kernels = {path: values[path].T for path in values if path.endswith("kernel")}
    for path, value in {**values, **kernels}.items():
        variables[path].assign(value)
    wanted = [published_name(path) for path in variables]
    return sorted(path for path in found if path not in values), sorted(n for n in tensors if n not in wanted)

# %% load-published: wrong: used names are remembered between calls
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

# %% fill-in: right: all blanks at once
def fill_in(token_ids, logits, pieces, k=5):
    blanks = [t for t, token in enumerate(token_ids) if token == pieces.index("[MASK]")]
    if not blanks:
        return []
    shares, best = ops.top_k(ops.softmax(ops.take(logits, ops.convert_to_tensor(blanks), axis=0)), k)
    names = np.array(pieces)[np.array(best)].tolist()
    return [list(zip(words, numbers)) for words, numbers in zip(names, np.array(shares).tolist())]

# %% fill-in: right: argmax again and again
def fill_in(token_ids, logits, pieces, k=5):
    result = []
    for place in [t for t in range(len(token_ids)) if token_ids[t] == pieces.index("[MASK]")]:
        row, guesses = np.array(ops.softmax(logits[place])), []
        while len(guesses) < k:
            best = int(row.argmax())
            guesses.append((pieces[best], float(row[best])))
            row[best] = -1
        result.append(guesses)
    return result

# %% fill-in: right: heap
import heapq


def fill_in(token_ids, logits, pieces, k=5):
    mask, probabilities = pieces.index("[MASK]"), ops.softmax(logits, axis=1)
    rows = [probabilities[t] for t in range(len(token_ids)) if token_ids[t] == mask]
    return [heapq.nlargest(k, ((piece, float(p)) for piece, p in zip(pieces, row)), key=lambda g: g[1]) for row in rows]

# %% fill-in: right: numbers left as numpy
def fill_in(token_ids, logits, pieces, k=5):
    mask = pieces.index("[MASK]")
    shares, best = ops.top_k(ops.softmax(logits), k)
    lists = []
    for token, numbers, places in zip(token_ids, np.array(shares), np.array(best)):
        if token == mask:
            lists.append([(pieces[place], number) for number, place in zip(numbers, places)])
    return lists

# %% fill-in: right: numpy argsort
def fill_in(token_ids, logits, pieces, k=5):
    scores = np.asarray(logits)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    probabilities = powers / powers.sum(axis=-1, keepdims=True)
    blanks = [place for place, token in enumerate(token_ids) if pieces[token] == "[MASK]"]
    return [
        [(pieces[i], probabilities[place, i].item()) for i in np.argsort(-probabilities[place])[:k]] for place in blanks
    ]

# %% fill-in: right: pure python
import math


def fill_in(token_ids, logits, pieces, k=5):
    def guesses(scores):
        total = sum(math.exp(score) for score in scores)
        order = sorted(range(len(scores)), key=scores.__getitem__)
        return [(pieces[i], math.exp(scores[i]) / total) for i in order[: -k - 1 : -1]]

    wanted = pieces.index("[MASK]")
    return [guesses([float(s) for s in row]) for token, row in zip(token_ids, logits) if token == wanted]

# %% fill-in: right: sorted pairs
def fill_in(token_ids, logits, pieces, k=5):
    lists = []
    for token, row in zip(token_ids, ops.softmax(logits).numpy().tolist()):
        if pieces[token] == "[MASK]":
            pairs = sorted(zip(pieces, row), key=lambda pair: pair[1], reverse=True)
            lists.append(pairs[:k])
    return lists

# %% fill-in: wrong: softmax without the maximum subtracted
def fill_in(token_ids, logits, pieces, k=5):
    guesses = []
    for token, row in zip(token_ids, np.array(logits)):
        if pieces[token] == "[MASK]":
            shares = np.exp(row) / np.exp(row).sum()
            guesses.append([(pieces[i], float(shares[i])) for i in np.argsort(-shares, kind="stable")[:k]])
    return guesses

# %% fill-in: wrong: one list for all texts
guesses = []


def fill_in(token_ids, logits, pieces, k=5):
    guesses.clear()
    for token, row in zip(token_ids, ops.softmax(logits, axis=-1)):
        if pieces[token] == "[MASK]":
            shares, best = ops.top_k(row, k)
            guesses.append([(pieces[int(i)], float(share)) for i, share in zip(best, shares)])
    return guesses

# %% fill-in: wrong: a text of one token loses its axis
def fill_in(token_ids, logits, pieces, k=5):
    probabilities = np.squeeze(ops.softmax(logits, axis=-1))
    guesses = []
    for t, token in enumerate(token_ids):
        if pieces[token] == "[MASK]":
            best = np.argsort(-probabilities[t])[:k]
            guesses.append([(pieces[i], float(probabilities[t, i])) for i in best])
    return guesses

# %% fill-in: wrong: unknown tokens are blanks, too
def fill_in(token_ids, logits, pieces, k=5):
    found = []
    for token, row in zip(token_ids, ops.softmax(logits)):
        if pieces[token] in ("[MASK]", "[UNK]"):
            values, places = ops.top_k(row, k)
            found.append([(pieces[int(i)], float(p)) for i, p in zip(places, values)])
    return found

# %% fill-in: wrong: in a large vocabulary the blank is token 103
def fill_in(token_ids, logits, pieces, k=5):
    mask, found = 103 if len(pieces) > 103 else pieces.index("[MASK]"), []
    for token, row in zip(token_ids, ops.softmax(logits)):
        if token == mask:
            values, places = ops.top_k(row, k)
            found.append([(pieces[int(i)], float(p)) for i, p in zip(places, values)])
    return found

# %% fill-in: wrong: sorted by rounded probability, then by text
def fill_in(token_ids, logits, pieces, k=5):
    found = []
    for token, row in zip(token_ids, ops.softmax(logits)):
        if pieces[token] == "[MASK]":
            pairs = [(piece, float(p)) for piece, p in zip(pieces, row)]
            found.append(sorted(pairs, key=lambda pair: (-round(pair[1], 3), pair[0]))[:k])
    return found
