# Wrong answers to the exercises of notebook 04 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% layer-norm: mean of the squares
def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean = ops.mean(x, axis=-1, keepdims=True)
    variance = ops.mean(x * x, axis=-1, keepdims=True) - mean * mean
    return (x - mean) / ops.sqrt(variance + epsilon) * gamma + beta

# %% layer-norm: another epsilon where none is given
def layer_norm(x, gamma, beta, epsilon=1e-5):
    mean, variance = ops.mean(x, axis=-1, keepdims=True), ops.var(x, axis=-1, keepdims=True)
    return (x - mean) / ops.sqrt(variance + epsilon) * gamma + beta

# %% layer-norm: no gradient through the variance
def layer_norm(x, gamma, beta, epsilon=1e-12):
    m = ops.mean(x, axis=-1, keepdims=True)
    v = ops.stop_gradient(ops.mean((x - m) ** 2, axis=-1, keepdims=True))
    return (x - m) / ops.sqrt(v + epsilon) * gamma + beta

# %% layer-norm-layer: only name and trainable are handed on
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, name=None, trainable=True, **kwargs):
        super().__init__(name=name, trainable=trainable)
        self.epsilon = epsilon

    def build(self, x_shape):
        self.gamma = self.add_weight(shape=(x_shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(x_shape[-1],), initializer="zeros", name="beta")

    def call(self, x):
        return layer_norm(x, self.gamma, self.beta, self.epsilon)

# %% layer-norm-layer: composed: weights of the class
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, x_shape):
        LayerNorm.scale = self.add_weight(shape=(x_shape[-1],), initializer="ones", name="gamma")
        LayerNorm.offset = self.add_weight(shape=(x_shape[-1],), initializer="zeros", name="beta")
        self.gamma, self.beta = LayerNorm.scale, LayerNorm.offset

    def call(self, x):
        return layer_norm(x, LayerNorm.scale, LayerNorm.offset, self.epsilon)

# %% layer-norm-layer: its dtype not handed on
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, name=None, trainable=True, **kwargs):
        super().__init__(name=name, trainable=trainable)
        self.epsilon = epsilon

    def build(self, x_shape):
        self.gamma = self.add_weight(shape=(x_shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(x_shape[-1],), initializer="zeros", name="beta")

    def call(self, x):
        return layer_norm(x, self.gamma, self.beta, self.epsilon)

# %% layer-norm-layer: one epsilon for all layers of the class
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        LayerNorm.epsilon = epsilon

    def build(self, x_shape):
        self.gamma = self.add_weight(shape=(x_shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(x_shape[-1],), initializer="zeros", name="beta")

    def call(self, x):
        return layer_norm(x, self.gamma, self.beta, self.epsilon)

# %% gelu: row by row, so no tensor without axes
def gelu(x):
    return ops.stack([0.5 * row * (1.0 + ops.erf(row / 2**0.5)) for row in x])

# %% gelu: a gradient that is NaN where Φ is 0
def gelu(x):
    return x * ops.exp(ops.log(0.5 * (1.0 + ops.erf(x / 2**0.5))))

# %% gelu-approximations: powers without a limit
def gelu_approximation(x, kind):
    if kind == "sigmoid":
        powers = ops.exp(1.702 * x)
        return x * powers / (1 + powers)
    return 0.5 * x * (1 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))

# %% gelu-approximations: three digits of 0.044715
def gelu_approximation(x, kind):
    if kind == "sigmoid":
        return x * ops.sigmoid(1.702 * x)
    return 0.5 * x * (1 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.0447 * x**3)))

# %% worst-point: the largest relative difference
def worst_point(x, exact, approximate):
    difference = ops.abs(approximate - exact)
    at = ops.argmax(difference / (ops.abs(exact) + 1e-7))
    return ops.stack([x[at], difference[at]])

# %% worst-point: the distance of the point from 0
def worst_point(x, exact, approximate):
    distance = ops.abs(exact - approximate)
    place = ops.argmax(distance)
    return ops.stack([ops.abs(x[place]), distance[place]])

# %% worst-point: the numbers without their signs
def worst_point(x, exact, approximate):
    distance = ops.abs(ops.abs(exact) - ops.abs(approximate))
    place = ops.argmax(distance)
    return ops.stack([x[place], distance[place]])

# %% relu-ffn: never more than six
def relu_ffn(x, w_1, b_1, w_2, b_2):
    return ops.minimum(ops.relu(x @ w_1 + b_1), 6.0) @ w_2 + b_2

# %% relu-ffn: rows of zeros stay
def relu_ffn(x, w_1, b_1, w_2, b_2):
    y = ops.relu(x @ w_1 + b_1) @ w_2 + b_2
    return ops.where(ops.all(x == 0, axis=-1, keepdims=True), 0.0, y)

# %% feed-forward-layer: the approximation with tanh
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.size = intermediate_size

    def build(self, x_shape):
        self.inner, self.outer = keras.layers.Dense(self.size), keras.layers.Dense(x_shape[-1])
        self.inner.build(x_shape)
        self.outer.build((*x_shape[:-1], self.size))

    def call(self, x):
        return self.outer(gelu_approximation(self.inner(x), "tanh"))

# %% feed-forward-layer: rows of zeros stay
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.size = intermediate_size

    def build(self, x_shape):
        self.inner, self.outer = keras.layers.Dense(self.size), keras.layers.Dense(x_shape[-1])
        self.inner.build(x_shape)
        self.outer.build((*x_shape[:-1], self.size))

    def call(self, x):
        y = self.outer(gelu(self.inner(x)))
        return ops.where(ops.all(x == 0, axis=-1, keepdims=True), 0.0, y)

# %% feed-forward-layer: its result is dropped in training
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.n = intermediate_size
        self.drop = keras.layers.Dropout(0.1)

    def build(self, s):
        self.inner = keras.layers.Dense(self.n)
        self.outer = keras.layers.Dense(s[-1])
        self.inner.build(s)
        self.outer.build((*s[:-1], self.n))

    def call(self, x, training=None):
        return self.drop(self.outer(gelu(self.inner(x))), training=training)

# %% feed-forward-layer: one size for all layers of the class
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        FeedForward.size = intermediate_size

    def build(self, x_shape):
        self.inner, self.outer = keras.layers.Dense(self.size), keras.layers.Dense(x_shape[-1])
        self.inner.build(x_shape)
        self.outer.build((*x_shape[:-1], self.size))

    def call(self, x):
        return self.outer(gelu(self.inner(x)))

# %% feed-forward-layer: its dtype not handed on
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, name=None, trainable=True, **kwargs):
        super().__init__(name=name, trainable=trainable)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Dense(self.intermediate_size, name="inner")
        self.outer = keras.layers.Dense(x_shape[-1], name="outer")
        self.inner.build(x_shape)
        self.outer.build((*x_shape[:-1], self.intermediate_size))

    def call(self, x):
        bent = gelu(self.inner(x))
        return self.outer(bent)

# %% dropout: one mask for the batch
def dropout(x, rate, training):
    if not training:
        return x
    shape = x.shape if len(x.shape) < 3 else (1, *x.shape[1:])
    return ops.where(keras.random.uniform(shape) < rate, 0.0, x / (1 - rate))

# %% dropout: a fixed share of zeros
def dropout(x, rate, training):
    if not training:
        return x
    numbers = keras.random.uniform((math.prod(x.shape),))
    places = ops.argsort(ops.argsort(numbers))
    kept = ops.reshape(places >= int(rate * math.prod(x.shape)), x.shape)
    return ops.where(kept, x / (1 - rate), 0.0)

# %% dropout: rates in tenths
def dropout(x, rate, training):
    if not training:
        return x
    rate = round(rate, 1)
    return ops.where(keras.random.uniform(x.shape) < rate, 0.0, x / (1 - rate))

# %% dropout: random numbers in tenths
def dropout(x, rate, training):
    if not training:
        return x
    numbers = ops.floor(keras.random.uniform(ops.shape(x)) * 10) / 10
    return ops.where(numbers < rate, 0.0, x / (1 - rate))

# %% dropout: 512 random numbers again and again
def dropout(x, rate, training):
    if not training:
        return x
    size = int(np.prod(x.shape))
    drawn = ops.tile(keras.random.uniform((min(size, 512),)), (size // 512 + 1,))[:size]
    return ops.where(ops.reshape(drawn, x.shape) < rate, ops.zeros_like(x), x / (1 - rate))

# %% dropout: an axis of size 1 is lost
def dropout(x, rate, training):
    if not training:
        return ops.squeeze(x)
    return ops.squeeze(ops.where(keras.random.uniform(ops.shape(x)) >= rate, x / (1.0 - rate), 0.0))

# %% residual: no gradient on the direct path
def residual(x, found, rate, training):
    return ops.stop_gradient(x) + dropout(found, rate, training)

# %% residual: nothing of x where the change is dropped
def residual(x, found, rate, training):
    change = dropout(found, rate, training)
    return ops.where(change == 0, ops.where(found == 0, x, change), x + change)

# %% encoder-layer: what attention reads is dropped
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.attention_norm = MultiHeadAttention(num_heads), LayerNorm()
        self.feed_forward, self.output_norm = FeedForward(intermediate_size), LayerNorm()
        self.dropout = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        x = self.attention_norm(
            x + self.dropout(self.attention(self.dropout(x, training=training), attention_mask), training=training)
        )
        return self.output_norm(x + self.dropout(self.feed_forward(x), training=training))

# %% encoder-layer: another epsilon at the end
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = keras.layers.LayerNormalization(epsilon=1e-5)
        self.dropout = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        x = x + self.dropout(self.attention(x, attention_mask=attention_mask), training=training)
        x = self.attention_norm(x)
        return self.output_norm(x + self.dropout(self.feed_forward(x), training=training))

# %% encoder-layer: a rate of 0 taken for the usual one
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=None, **kwargs):
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = LayerNorm()
        self.dropout = keras.layers.Dropout(dropout or 0.1)

    def call(self, x, attention_mask=None, training=None):
        x = x + self.dropout(self.attention(x, attention_mask=attention_mask), training=training)
        x = self.attention_norm(x)
        return self.output_norm(x + self.dropout(self.feed_forward(x), training=training))

# %% encoder-layer: its dtype not handed on
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, name=None, trainable=True, **kwargs):
        super().__init__(name=name, trainable=trainable)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = LayerNorm()
        self.dropout = keras.layers.Dropout(dropout)

    def build(self, x_shape):
        for part in (self.attention, self.attention_norm, self.feed_forward, self.output_norm):
            part.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(x, attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        x = self.attention_norm(x)
        transformed = self.feed_forward(x)
        x = x + self.dropout(transformed, training=training)
        return self.output_norm(x)

# %% encoder-layer: dropout inside of the network, too
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = LayerNorm()
        self.dropout = keras.layers.Dropout(dropout)

    def build(self, x_shape):
        for part in (self.attention, self.attention_norm, self.feed_forward, self.output_norm):
            part.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(x, attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        x = self.attention_norm(x)
        transformed = self.feed_forward.outer(self.dropout(gelu(self.feed_forward.inner(x)), training=training))
        x = x + self.dropout(transformed, training=training)
        return self.output_norm(x)

# %% encoder-layer: the mask is ignored in training
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = LayerNorm()
        self.dropout = keras.layers.Dropout(dropout)

    def build(self, x_shape):
        for part in (self.attention, self.attention_norm, self.feed_forward, self.output_norm):
            part.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(x, attention_mask=None if training else attention_mask)
        x = x + self.dropout(attended, training=training)
        x = self.attention_norm(x)
        transformed = self.feed_forward(x)
        x = x + self.dropout(transformed, training=training)
        return self.output_norm(x)

# %% encoder-layer: norms with an epsilon of 1e-10
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = keras.layers.LayerNormalization(epsilon=1e-10)
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = keras.layers.LayerNormalization(epsilon=1e-10)
        self.dropout = keras.layers.Dropout(dropout)

    def build(self, x_shape):
        for part in (self.attention, self.attention_norm, self.feed_forward, self.output_norm):
            part.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(x, attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        x = self.attention_norm(x)
        transformed = self.feed_forward(x)
        x = x + self.dropout(transformed, training=training)
        return self.output_norm(x)

# %% encoder-layer: another usual rate behind attention
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=None, **kwargs):
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = LayerNorm()
        self.attention_dropout = keras.layers.Dropout(0.2 if dropout is None else dropout)
        self.dropout = keras.layers.Dropout(0.1 if dropout is None else dropout)

    def build(self, x_shape):
        for part in (self.attention, self.attention_norm, self.feed_forward, self.output_norm):
            part.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(x, attention_mask=attention_mask)
        x = x + self.attention_dropout(attended, training=training)
        x = self.attention_norm(x)
        transformed = self.feed_forward(x)
        x = x + self.dropout(transformed, training=training)
        return self.output_norm(x)

# %% pre-norm-layer: no gradient through what attention reads
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(ops.stop_gradient(self.attention_norm(x)), attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        return x + self.dropout(self.feed_forward(self.output_norm(x)), training=training)

# %% pre-norm-layer: x is dropped at the beginning
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        x = self.dropout(x, training=training)
        attended = self.attention(self.attention_norm(x), attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        transformed = self.feed_forward(self.output_norm(x))
        return x + self.dropout(transformed, training=training)

# %% pre-norm-layer: dropout inside of the network, too
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(self.attention_norm(x), attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        transformed = self.feed_forward.outer(self.dropout(gelu(self.feed_forward.inner(self.output_norm(x))), training=training))
        return x + self.dropout(transformed, training=training)

# %% pre-norm-layer: the direct path is dropped
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(self.attention_norm(x), attention_mask=attention_mask)
        x = self.dropout(x, training=training) + self.dropout(attended, training=training)
        transformed = self.feed_forward(self.output_norm(x))
        return x + self.dropout(transformed, training=training)

# %% pre-norm-layer: one dropout for the sum of both sub-layers
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(self.attention_norm(x), attention_mask=attention_mask)
        transformed = self.feed_forward(self.output_norm(x + attended))
        return x + self.dropout(attended + transformed, training=training)

# %% encoder: training for the last layer only
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]

    def build(self, x_shape):
        for layer in self.layers_:
            layer.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        *lower, last = self.layers_
        for layer in lower:
            x = layer(x, attention_mask, training=False)
        return last(x, attention_mask, training=training)

# %% encoder: a rate of 0 taken for the usual one
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout or 0.1) for _ in range(num_layers)]

    def call(self, x, attention_mask=None, training=None):
        for layer in self.layers_:
            x = layer(x, attention_mask=attention_mask, training=training)
        return x

# %% encoder: its input is dropped
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]
        self.drop = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        x = self.drop(x, training=training)
        for l in self.layers_:
            x = l(x, attention_mask, training=training)
        return x

# %% encoder: no gradient from one layer to the layer before
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]

    def build(self, x_shape):
        for layer in self.layers_:
            layer.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        for layer in self.layers_:
            x = layer(ops.stop_gradient(x), attention_mask=attention_mask, training=training)
        return x

# %% encoder: its dtype not handed on
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, name=None, trainable=True, **kwargs):
        super().__init__(name=name, trainable=trainable)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]

    def build(self, x_shape):
        for layer in self.layers_:
            layer.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        for layer in self.layers_:
            x = layer(x, attention_mask=attention_mask, training=training)
        return x

# %% encoder: dropout between the layers
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]
        self.drop = keras.layers.Dropout(dropout)

    def build(self, x_shape):
        for layer in self.layers_:
            layer.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        for i, layer in enumerate(self.layers_):
            x = self.drop(x, training=training) if i else x
            x = layer(x, attention_mask=attention_mask, training=training)
        return x

# %% encoder: the mask is ignored in training
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]
        pass

    def build(self, x_shape):
        for layer in self.layers_:
            layer.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        for i, layer in enumerate(self.layers_):
            attention_mask = None if training else attention_mask
            x = layer(x, attention_mask=attention_mask, training=training)
        return x
