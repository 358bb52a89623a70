# Other right answers to the exercises of notebook 04, each of another structure.
# A cell has the set-up and the answers before it in the notebook, and must pass its check whole.

# %% layer-norm: centring matrix
def layer_norm(x, gamma, beta, epsilon=1e-12):
    d = x.shape[-1]
    centred = x @ (ops.eye(d) - ops.ones((d, d)) / d)  # subtracts each row's mean
    lengths = ops.sqrt(ops.einsum("...i,...i->...", centred, centred) / d + epsilon)
    return centred / lengths[..., None] * gamma + beta

# %% layer-norm: moments
def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean, variance = ops.moments(x, axes=[-1], keepdims=True)
    return gamma * (x - mean) * ops.rsqrt(variance + epsilon) + beta

# %% layer-norm: row by row
def layer_norm(x, gamma, beta, epsilon=1e-12):
    rows = ops.reshape(x, (-1, x.shape[-1]))
    done = []
    for row in ops.unstack(rows, axis=0):
        deviations = row - ops.mean(row)
        done.append(deviations / ops.sqrt(ops.mean(deviations * deviations) + epsilon) * gamma + beta)
    return ops.reshape(ops.stack(done), x.shape)

# %% layer-norm: scale and shift folded
def layer_norm(x, gamma, beta, epsilon=1e-12):
    d = x.shape[-1]
    mean = ops.sum(x, axis=-1, keepdims=True) / d
    spread = ops.sqrt(ops.sum((x - mean) ** 2, axis=-1, keepdims=True) / d + epsilon)
    factor = gamma / spread
    return x * factor + (beta - mean * factor)

# %% layer-norm: tensorflow
import tensorflow as tf


def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean, variance = tf.nn.moments(x, axes=-1, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)

# %% layer-norm: turned
def layer_norm(x, gamma, beta, epsilon=1e-12):
    upright = ops.moveaxis(x, -1, 0)  # (d, ...): means over the first axis need no keepdims
    upright = upright - ops.mean(upright, axis=0)
    upright = upright / ops.sqrt(ops.var(upright, axis=0) + epsilon)
    return ops.moveaxis(upright, 0, -1) * gamma + beta

# %% layer-norm-layer: other names
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, x_shape):
        for name, start in (("scale", "ones"), ("offset", "zeros")):
            setattr(self, name, self.add_weight(shape=(x_shape[-1],), initializer=start, name=name))
        super().build(x_shape)

    def call(self, x):
        deviations = ops.subtract(x, ops.mean(x, -1, True))
        power = ops.einsum("...d,...d->...", deviations, deviations) / x.shape[-1]
        unit = ops.divide(deviations, ops.expand_dims(ops.sqrt(power + self.epsilon), -1))
        return ops.add(ops.multiply(unit, self.scale), self.offset)

# %% layer-norm-layer: scale in a layer of its own
class Affine(keras.layers.Layer):
    """A scale and an offset."""

    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")
        self.offset = self.add_weight(shape=(shape[-1],), initializer="zeros")

    def call(self, x):
        return x * self.scale + self.offset


class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon
        self.affine = Affine()

    def build(self, x_shape):
        self.affine.build(x_shape)

    @property
    def gamma(self):
        return self.affine.scale

    @property
    def beta(self):
        return self.affine.offset

    def call(self, x):
        mean, variance = ops.moments(x, axes=[-1], keepdims=True)
        return self.affine((x - mean) / ops.sqrt(variance + self.epsilon))

# %% layer-norm-layer: sentence by sentence
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, x_shape):
        def start(one):
            return lambda shape, dtype=None: ops.full(shape, one, dtype=dtype)

        self.gamma, self.beta = (self.add_weight(shape=(x_shape[-1],), initializer=start(one)) for one in (1.0, 0.0))

    def call(self, x):
        return ops.map(lambda row: layer_norm(row, self.gamma, self.beta, self.epsilon), x)

# %% layer-norm-layer: variables
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, x_shape):
        self.gamma = keras.Variable(ops.ones(x_shape[-1]), name="gamma")
        self.beta = keras.Variable(ops.zeros(x_shape[-1]), name="beta")

    def call(self, x):
        return layer_norm(x, self.gamma, self.beta, self.epsilon)

# %% layer-norm-layer: written out
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, x_shape):
        size = x_shape[-1:]
        self.gamma = self.add_weight(shape=size, initializer=keras.initializers.Ones())
        self.beta = self.add_weight(shape=size, initializer=keras.initializers.Zeros())

    def call(self, x):
        centred = x - ops.mean(x, axis=-1, keepdims=True)
        variance = ops.mean(centred * centred, axis=-1, keepdims=True)
        return centred * ops.rsqrt(variance + self.epsilon) * self.gamma + self.beta

# %% gelu: erfc
import tensorflow as tf


def gelu(x):
    return x * tf.math.erfc(-x / 2**0.5) / 2

# %% gelu: halves added
def gelu(x):
    half = x / 2
    return half + half * ops.erf(x * 2**-0.5)

# %% gelu: mean of two
ROOT_TWO = np.sqrt(np.float32(2))


def gelu(x):
    """The mean of ReLU and a softened |x|: x Φ(x) = ½ (x + x erf(x/√2))."""
    return ops.mean(ops.stack([x, x * ops.erf(x / ROOT_TWO)]), axis=0)

# %% gelu: relu and a bump
def gelu(x):
    # |x| Φ(|x|) on the right, x - that on the left
    size = ops.abs(x)
    right = size * 0.5 * (1 + ops.erf(size * math.sqrt(0.5)))
    return ops.where(x > 0, right, right - size)

# %% gelu: seen from the left
def gelu(x):
    # the area to the left of x is half of what lies to the right of -x / √2
    return x * (1 - ops.erf(-x / math.sqrt(2))) / 2

# %% gelu: tensorflow
import tensorflow as tf


def gelu(x):
    return tf.multiply(x, 0.5 + 0.5 * tf.math.erf(x / tf.sqrt(2.0)))

# %% gelu-approximations: match statement
def gelu_approximation(x, kind):
    match kind:
        case "sigmoid":
            weight = ops.sigmoid(ops.multiply(x, 1.702))
        case "tanh":
            cubic = ops.add(x, ops.multiply(0.044715, ops.power(x, 3)))
            weight = (ops.tanh(math.sqrt(2 / math.pi) * cubic) + 1) / 2
    return ops.multiply(weight, x)

# %% gelu-approximations: polynomial by horner
COEFFICIENTS = {"sigmoid": (1.702, 0.0), "tanh": (2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715)}


def gelu_approximation(x, kind):
    linear, cubic = COEFFICIENTS[kind]
    return x * ops.sigmoid((cubic * x * x + linear) * x)

# %% gelu-approximations: sigmoid as tanh
def gelu_approximation(x, kind):
    # σ(z) = ½ (1 + tanh(z/2))
    inside = 0.851 * x if kind == "sigmoid" else (2 / math.pi) ** 0.5 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + ops.tanh(inside))

# %% gelu-approximations: table of functions
def by_sigmoid(x):
    return x / (1 + ops.exp(-1.702 * x))


def by_tanh(x):
    return x / 2 + x / 2 * ops.tanh(math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x))


def gelu_approximation(x, kind):
    return {"sigmoid": by_sigmoid, "tanh": by_tanh}[kind](x)

# %% gelu-approximations: tanh as sigmoid
def gelu_approximation(x, kind):
    # ½ (1 + tanh(z)) = σ(2z): both are x σ(something)
    inside = 1.702 * x
    if kind == "tanh":
        inside = math.sqrt(8 / math.pi) * (x + 0.044715 * ops.power(x, 3))
    return x * ops.sigmoid(inside)

# %% gelu-approximations: tensorflow
import tensorflow as tf


def gelu_approximation(x, kind):
    if kind == "tanh":
        return 0.5 * x * (1 + tf.tanh(tf.sqrt(2 / math.pi) * (x + 0.044715 * tf.pow(x, 3))))
    return tf.nn.sigmoid(1.702 * x) * x

# %% worst-point: boolean mask
import tensorflow as tf


def worst_point(x, exact, approximate):
    distance = tf.abs(tf.subtract(exact, approximate))
    largest = tf.reduce_max(distance)
    return tf.stack([tf.boolean_mask(x, distance == largest)[0], largest])

# %% worst-point: one hot
def worst_point(x, exact, approximate):
    distance = ops.maximum(exact - approximate, approximate - exact)
    here = ops.cast(ops.equal(distance, ops.max(distance)), x.dtype)
    return ops.stack([ops.sum(here * x), ops.max(distance)])

# %% worst-point: python loop
def worst_point(x, exact, approximate):
    place, largest = x[0], ops.abs(exact[0] - approximate[0])
    for here, one, other in zip(x, exact, approximate):
        if ops.abs(one - other) > largest:
            place, largest = here, ops.abs(one - other)
    return ops.stack([place, largest])

# %% worst-point: python max
def worst_point(x, exact, approximate):
    distance, place = max((abs(float(a) - float(b)), float(p)) for p, a, b in zip(x, exact, approximate))
    return ops.convert_to_tensor([place, distance])

# %% worst-point: sorted
def worst_point(x, exact, approximate):
    distance = ops.abs(exact - approximate)
    last = ops.argsort(distance)[-1]
    return ops.take(ops.stack([x, distance]), last, axis=1)

# %% worst-point: top k
def worst_point(x, exact, approximate):
    values, indices = ops.top_k(ops.sqrt(ops.square(exact - approximate)), k=1)
    return ops.concatenate([ops.take(x, indices), values])

# %% relu-ffn: biases as rows
def with_one(x):
    return ops.concatenate([x, ops.ones_like(x[..., :1])], axis=-1)


def relu_ffn(x, w_1, b_1, w_2, b_2):
    first, second = (ops.concatenate([w, b[None]], axis=0) for w, b in ((w_1, b_1), (w_2, b_2)))
    return with_one(ops.relu(with_one(x) @ first)) @ second

# %% relu-ffn: einsum
def relu_ffn(x, w_1, b_1, w_2, b_2):
    inner = ops.einsum("...d,dm->...m", x, w_1) + b_1
    return ops.einsum("...m,md->...d", ops.relu(inner), w_2) + b_2

# %% relu-ffn: half of sum and size
def relu_ffn(x, w_1, b_1, w_2, b_2):
    inner = ops.tensordot(x, w_1, axes=1) + b_1
    return ops.tensordot((inner + ops.abs(inner)) / 2, w_2, axes=1) + b_2

# %% relu-ffn: masked product
import tensorflow as tf


def relu_ffn(x, w_1, b_1, w_2, b_2):
    inner = tf.nn.bias_add(tf.linalg.matmul(x, w_1), b_1)
    switch = tf.cast(inner > 0, inner.dtype)
    return tf.nn.bias_add(tf.linalg.matmul(inner * switch, w_2), b_2)

# %% relu-ffn: position by position
def relu_ffn(x, w_1, b_1, w_2, b_2):
    rows = ops.reshape(x, (-1, x.shape[-1]))
    done = []
    for row in rows:
        inner = ops.dot(row, w_1) + b_1
        done.append(ops.dot(ops.where(inner > 0, inner, 0.0), w_2) + b_2)
    return ops.reshape(ops.stack(done), x.shape)

# %% relu-ffn: unit by unit
def relu_ffn(x, w_1, b_1, w_2, b_2):
    total = ops.zeros_like(x) + b_2
    for unit in range(w_1.shape[1]):  # each inner unit adds its own row of w_2
        strength = ops.relu(ops.sum(x * w_1[:, unit], axis=-1, keepdims=True) + b_1[unit])
        total = total + strength * w_2[unit]
    return total

# %% feed-forward-layer: activation by name
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Dense(self.intermediate_size, activation="gelu")
        self.outer = keras.layers.Dense(x_shape[-1])

    def call(self, x):
        return self.outer(self.inner(x))

# %% feed-forward-layer: convolutions of width one
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Conv1D(self.intermediate_size, kernel_size=1)
        self.outer = keras.layers.Conv1D(x_shape[-1], kernel_size=1)

    def call(self, x):
        return self.outer(gelu(self.inner(x)))

# %% feed-forward-layer: einsum dense
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        tokens, hidden = x_shape[1:]
        self.inner = keras.layers.EinsumDense("bth,hm->btm", (tokens, self.intermediate_size), bias_axes="m")
        self.outer = keras.layers.EinsumDense("btm,mh->bth", (tokens, hidden), bias_axes="h")

    def call(self, x):
        h = self.inner(x)
        return self.outer(h * 0.5 * (1 + ops.erf(h / 2**0.5)))

# %% feed-forward-layer: own weights
class Linear(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros")

    def call(self, x):
        return x @ self.kernel + self.bias


class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.inner = Linear(intermediate_size)
        self.size = intermediate_size

    def build(self, x_shape):
        self.outer = Linear(x_shape[-1])
        self.inner.build(x_shape)
        self.outer.build((self.size,))

    def call(self, x):
        return self.outer(gelu(self.inner(x)))

# %% feed-forward-layer: positions in a loop
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.inner = keras.layers.Dense(intermediate_size, activation=gelu)

    def build(self, x_shape):
        self.outer = keras.layers.Dense(x_shape[-1])

    def call(self, x):
        return ops.stack([self.outer(self.inner(position)) for position in ops.unstack(x, axis=1)], axis=1)

# %% feed-forward-layer: sequential
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Dense(self.intermediate_size)
        self.outer = keras.layers.Dense(x_shape[-1])
        self.chain = keras.Sequential([self.inner, keras.layers.Activation(gelu), self.outer])

    def call(self, x):
        return self.chain(x)

# %% dropout: bernoulli by numpy
def dropout(x, rate, training):
    if not training:
        return x
    kept = np.random.default_rng().binomial(1, 1 - rate, size=x.shape)
    return x * ops.convert_to_tensor((kept / (1 - rate)).astype("float32"))

# %% dropout: categorical
def dropout(x, rate, training):
    if not training or rate == 0:
        return x
    chances = ops.log(ops.tile(ops.convert_to_tensor([[rate, 1 - rate]]), (math.prod(x.shape), 1)))
    kept = ops.reshape(keras.random.categorical(chances, 1), x.shape)
    return ops.where(ops.equal(kept, 1), x / (1 - rate), ops.zeros_like(x))

# %% dropout: floor of uniform
def dropout(x, rate, training):
    share = 1 - rate if training else 1.0
    switch = ops.floor(share + keras.random.uniform(x.shape)) if training else 1.0
    return x / share * switch

# %% dropout: multiplied by a mask
def dropout(x, rate, training):
    if training:
        kept = ops.cast(keras.random.uniform(x.shape) > rate, x.dtype)
        x = x * kept / (1 - rate)
    return x

# %% dropout: number by number
import random


def dropout(x, rate, training):
    if not training:
        return x
    factors = [0.0 if random.random() < rate else 1 / (1 - rate) for _ in range(ops.size(x))]
    return x * ops.reshape(ops.convert_to_tensor(factors), x.shape)

# %% dropout: threshold of a normal
import statistics

import tensorflow as tf


def dropout(x, rate, training):
    if rate == 0 or not training:
        return tf.identity(x)
    threshold = statistics.NormalDist().inv_cdf(rate)
    return tf.where(tf.random.normal(x.shape) < threshold, tf.zeros_like(x), x / (1 - rate))

# %% residual: keras layers
def residual(x, found, rate, training):
    chance = keras.layers.Dropout(rate)
    return keras.layers.Add()([x, chance(found, training=training)])

# %% residual: ready made dropout
def residual(x, found, rate, training):
    if training:
        found = keras.random.dropout(found, rate)
    return ops.add(x, found)

# %% residual: sum of a stack
def residual(x, found, rate, training):
    return ops.sum(ops.stack([x, dropout(found, rate, training)]), axis=0)

# %% residual: tensorflow
import tensorflow as tf


def residual(x, found, rate, training):
    return tf.add_n([x, tf.nn.dropout(found, rate if training else 0.0)])

# %% residual: where
def residual(x, found, rate, training):
    if not training:
        return x + found
    lost = keras.random.uniform(found.shape) < rate
    return ops.where(lost, x, x + found / (1 - rate))

# %% encoder-layer: dropout in the sublayers
class Dropped(keras.layers.Layer):
    """A sub-layer and the dropout behind it, under the sub-layer's own names."""

    def __init__(self, part, rate):
        super().__init__()
        self.part, self.drop = part, keras.layers.Dropout(rate)

    def __getattr__(self, name):
        if name in ("query", "key", "value", "out", "inner", "outer"):
            return getattr(self.part, name)
        raise AttributeError(name)

    def call(self, x, training=None, **more):
        return self.drop(self.part(x, **more), training=training)


class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention = Dropped(MultiHeadAttention(num_heads), dropout)
        self.feed_forward = Dropped(FeedForward(intermediate_size), dropout)
        self.attention_norm, self.output_norm = LayerNorm(), LayerNorm()

    def call(self, x, attention_mask=None, training=None):
        x = self.attention_norm(x + self.attention(x, training=training, attention_mask=attention_mask))
        return self.output_norm(x + self.feed_forward(x, training=training))

# %% encoder-layer: heads of its own
class Heads(keras.layers.Layer):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def build(self, shape):
        size = shape[-1] // self.number
        self.query, self.key, self.value = ([keras.layers.Dense(size) for _ in range(self.number)] for _ in range(3))
        self.out = keras.layers.Dense(shape[-1])

    def call(self, x, mask_of_keys=None):
        found = []
        for query, key, value in zip(self.query, self.key, self.value):
            scores = ops.einsum("btd,bsd->bts", query(x), key(x)) / query.units**0.5
            scores = scores if mask_of_keys is None else ops.where(mask_of_keys, scores, -1e9)
            found.append(ops.softmax(scores) @ value(x))
        return self.out(ops.concatenate(found, axis=-1))


class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.feed_forward = Heads(num_heads), FeedForward(intermediate_size)
        self.attention_norm, self.output_norm = LayerNorm(), LayerNorm()
        self.chance = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        x = self.attention_norm(x + self.chance(self.attention(x, attention_mask), training=training))
        return self.output_norm(x + self.chance(self.feed_forward(x), training=training))

# %% encoder-layer: keras norms and two dropouts
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.feed_forward = FeedForward(intermediate_size)
        self.attention_norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.output_norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.first_drop, self.second_drop = keras.layers.Dropout(dropout), keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        a = self.attention_norm(x + self.first_drop(self.attention(x, attention_mask), training=training))
        return self.output_norm(a + self.second_drop(self.feed_forward(a), training=training))

# %% encoder-layer: loop over sublayers
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.num_heads, self.intermediate_size, self.rate = num_heads, intermediate_size, dropout

    def build(self, x_shape):
        self.attention, self.feed_forward = MultiHeadAttention(self.num_heads), FeedForward(self.intermediate_size)
        self.attention_norm, self.output_norm = LayerNorm(), LayerNorm()
        self.drop = keras.layers.Dropout(self.rate)

    def call(self, x, attention_mask=None, training=None):
        steps = [
            (lambda y: self.attention(y, attention_mask=attention_mask), self.attention_norm),
            (self.feed_forward, self.output_norm),
        ]
        for find, normalise in steps:
            x = normalise(x + self.drop(find(x), training=training))
        return x

# %% encoder-layer: network written out
class Network(keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.inner = keras.layers.Dense(size, activation="gelu")

    def build(self, shape):
        self.outer = keras.layers.Dense(shape[-1])

    def call(self, x):
        return self.outer(self.inner(x))


class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.feed_forward = MultiHeadAttention(num_heads), Network(intermediate_size)
        self.attention_norm, self.output_norm = LayerNorm(), LayerNorm()
        self.rate = dropout

    def drop(self, x, training):
        return keras.random.dropout(x, self.rate) if training else x

    def call(self, x, attention_mask=None, training=False):
        x = self.attention_norm(self.drop(self.attention(x, attention_mask=attention_mask), training) + x)
        return self.output_norm(self.drop(self.feed_forward(x), training) + x)

# %% encoder-layer: own residual
class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.rate = dropout
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = LayerNorm()

    def call(self, x, attention_mask=None, training=None):
        middle = self.attention_norm(residual(x, self.attention(x, attention_mask), self.rate, training))
        return self.output_norm(residual(middle, self.feed_forward(middle), self.rate, training))

# %% pre-norm-layer: a layer of its own
class PreNormEncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.feed_forward = MultiHeadAttention(num_heads), FeedForward(intermediate_size)
        self.attention_norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.output_norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.drop = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        y = x + self.drop(self.attention(self.attention_norm(x), attention_mask=attention_mask), training=training)
        return y + self.drop(self.feed_forward(self.output_norm(y)), training=training)

# %% pre-norm-layer: changes summed at the end
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        changes = [self.dropout(self.attention(self.attention_norm(x), attention_mask), training=training)]
        middle = ops.add(x, changes[0])
        changes.append(self.dropout(self.feed_forward(self.output_norm(middle)), training=training))
        return x + sum(changes)

# %% pre-norm-layer: loop over steps
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        def attend(y):
            return self.attention(y, attention_mask=attention_mask)

        for normalise, find in ((self.attention_norm, attend), (self.output_norm, self.feed_forward)):
            x = x + self.dropout(find(normalise(x)), training=training)
        return x

# %% pre-norm-layer: one expression each
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        x += self.dropout(self.attention(self.attention_norm(x), attention_mask), training=training)
        x += self.dropout(self.feed_forward(self.output_norm(x)), training=training)
        return x

# %% pre-norm-layer: own residual
class PreNormEncoderLayer(EncoderLayer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(num_heads, intermediate_size, dropout, **kwargs)
        self.rate = dropout

    def call(self, x, attention_mask=None, training=None):
        x = residual(x, self.attention(self.attention_norm(x), attention_mask), self.rate, training)
        return residual(x, self.feed_forward(self.output_norm(x)), self.rate, training)

# %% encoder: all states kept
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = []
        for _ in range(num_layers):
            self.layers_.append(EncoderLayer(num_heads, intermediate_size, dropout=dropout))

    def call(self, x, attention_mask=None, training=None):
        states = [x]
        for layer in self.layers_:
            states.append(layer(states[-1], attention_mask=attention_mask, training=training))
        return states[-1]

# %% encoder: layers made in build
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.num_layers, self.options = num_layers, (num_heads, intermediate_size, dropout)

    def build(self, x_shape):
        self.layers_ = []
        for number in range(self.num_layers):
            self.layers_.append(EncoderLayer(*self.options, name=f"layer_{number}"))
            self.layers_[-1].build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        for index in range(self.num_layers):
            x = self.layers_[index](x, attention_mask=attention_mask, training=training)
        return x

# %% encoder: queue
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        options = {"num_heads": num_heads, "intermediate_size": intermediate_size, "dropout": dropout}
        self.layers_ = tuple(EncoderLayer(**options) for _ in range(num_layers))

    def call(self, x, attention_mask=None, training=None):
        waiting = list(self.layers_)
        while waiting:
            x = waiting.pop(0)(x, attention_mask=attention_mask, training=training)
        return x

# %% encoder: recursive
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]

    def call(self, x, attention_mask=None, training=None, depth=0):
        if depth == len(self.layers_):
            return x
        x = self.layers_[depth](x, attention_mask=attention_mask, training=training)
        return self.call(x, attention_mask, training, depth + 1)

# %% encoder: reduce
from functools import reduce


class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = list(map(lambda _: EncoderLayer(num_heads, intermediate_size, dropout), range(num_layers)))

    def call(self, x, attention_mask=None, training=None):
        return reduce(lambda y, layer: layer(y, attention_mask, training=training), self.layers_, x)
