# Other answers to the exercises of notebook 04: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% layer-norm: right: centring matrix
def layer_norm(x, gamma, beta, epsilon=1e-12):
    d = x.shape[-1]
    centred = x @ (ops.eye(d) - ops.ones((d, d)) / d)  # subtracts each row's mean
    lengths = ops.sqrt(ops.einsum("...i,...i->...", centred, centred) / d + epsilon)
    return centred / lengths[..., None] * gamma + beta

# %% layer-norm: right: moments
def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean, variance = ops.moments(x, axes=[-1], keepdims=True)
    return gamma * (x - mean) * ops.rsqrt(variance + epsilon) + beta

# %% layer-norm: right: row by row
def layer_norm(x, gamma, beta, epsilon=1e-12):
    rows = ops.reshape(x, (-1, x.shape[-1]))
    done = []
    for row in ops.unstack(rows, axis=0):
        deviations = row - ops.mean(row)
        done.append(deviations / ops.sqrt(ops.mean(deviations * deviations) + epsilon) * gamma + beta)
    return ops.reshape(ops.stack(done), x.shape)

# %% layer-norm: right: scale and shift folded
def layer_norm(x, gamma, beta, epsilon=1e-12):
    d = x.shape[-1]
    mean = ops.sum(x, axis=-1, keepdims=True) / d
    spread = ops.sqrt(ops.sum((x - mean) ** 2, axis=-1, keepdims=True) / d + epsilon)
    factor = gamma / spread
    return x * factor + (beta - mean * factor)

# %% layer-norm: right: tensorflow
import tensorflow as tf


def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean, variance = tf.nn.moments(x, axes=-1, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)

# %% layer-norm: right: turned
def layer_norm(x, gamma, beta, epsilon=1e-12):
    upright = ops.moveaxis(x, -1, 0)  # (d, ...): means over the first axis need no keepdims
    upright = upright - ops.mean(upright, axis=0)
    upright = upright / ops.sqrt(ops.var(upright, axis=0) + epsilon)
    return ops.moveaxis(upright, 0, -1) * gamma + beta

# %% layer-norm: right: idiom of Flax, mean of the squares
def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean = ops.mean(x, axis=-1, keepdims=True)
    variance = ops.mean(x * x, axis=-1, keepdims=True) - mean * mean
    return (x - mean) / ops.sqrt(variance + epsilon) * gamma + beta

# %% layer-norm: right: idiom of google-research's BERT, one scale and one shift
def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean, variance = ops.moments(x, axes=[-1], keepdims=True)
    scale = ops.rsqrt(variance + epsilon) * gamma
    return x * scale + (beta - mean * scale)

# %% layer-norm: wrong: another epsilon where none is given
def layer_norm(x, gamma, beta, epsilon=1e-5):
    mean, variance = ops.mean(x, axis=-1, keepdims=True), ops.var(x, axis=-1, keepdims=True)
    return (x - mean) / ops.sqrt(variance + epsilon) * gamma + beta

# %% layer-norm: wrong: no gradient through the variance
def layer_norm(x, gamma, beta, epsilon=1e-12):
    m = ops.mean(x, axis=-1, keepdims=True)
    v = ops.stop_gradient(ops.mean((x - m) ** 2, axis=-1, keepdims=True))
    return (x - m) / ops.sqrt(v + epsilon) * gamma + beta

# %% layer-norm-layer: right: other names
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

# %% layer-norm-layer: right: scale in a layer of its own
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

# %% layer-norm-layer: right: sentence by sentence
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

# %% layer-norm-layer: right: variables
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, x_shape):
        self.gamma = keras.Variable(ops.ones(x_shape[-1]), name="gamma")
        self.beta = keras.Variable(ops.zeros(x_shape[-1]), name="beta")

    def call(self, x):
        return layer_norm(x, self.gamma, self.beta, self.epsilon)

# %% layer-norm-layer: right: written out
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

# %% layer-norm-layer: wrong: only name and trainable are handed on
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, name=None, trainable=True, **kwargs):
        super().__init__(name=name, trainable=trainable)
        self.epsilon = epsilon

    def build(self, x_shape):
        self.gamma = self.add_weight(shape=(x_shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(x_shape[-1],), initializer="zeros", name="beta")

    def call(self, x):
        return layer_norm(x, self.gamma, self.beta, self.epsilon)

# %% layer-norm-layer: wrong: composed: weights of the class
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

# %% layer-norm-layer: wrong: one epsilon for all layers of the class
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        LayerNorm.epsilon = epsilon

    def build(self, x_shape):
        self.gamma = self.add_weight(shape=(x_shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(x_shape[-1],), initializer="zeros", name="beta")

    def call(self, x):
        return layer_norm(x, self.gamma, self.beta, self.epsilon)

# %% token-spread: right: norms
def token_spread(x):
    centred = x - ops.mean(x, axis=-2, keepdims=True)
    return ops.norm(centred, axis=(1, 2)) / ops.norm(x, axis=(1, 2))

# %% token-spread: right: by the mean of the squares
def token_spread(x):
    # |X - mean|² = |X|² - ℓ |mean|²
    mean = ops.mean(x, axis=1)
    power = ops.mean(ops.sum(x * x, axis=2), axis=1)
    return ops.sqrt(ops.maximum(1 - ops.sum(mean * mean, axis=1) / power, 0))

# %% token-spread: right: sentence by sentence
def length(matrix):
    return ops.sqrt(ops.sum(matrix**2))


def token_spread(x):
    return ops.stack([length(tokens - ops.mean(tokens, axis=0)) / length(tokens) for tokens in x])

# %% token-spread: right: variances
def token_spread(x):
    return ops.sqrt(ops.sum(ops.var(x, axis=1), axis=-1) / ops.mean(ops.sum(ops.square(x), axis=-1), axis=1))

# %% token-spread: right: a matrix that subtracts the mean
def token_spread(x):
    tokens = x.shape[1]
    centred = (ops.eye(tokens) - 1 / tokens) @ x
    return ops.sqrt(ops.einsum("btd,btd->b", centred, centred) / ops.einsum("btd,btd->b", x, x))

# %% gelu: right: match statement
def gelu(x, kind="exact"):
    match kind:
        case "exact":
            weight = ops.erfc(-x / 2**0.5) / 2 if hasattr(ops, "erfc") else 0.5 + 0.5 * ops.erf(x * 2**-0.5)
        case "sigmoid":
            weight = ops.sigmoid(ops.multiply(x, 1.702))
        case "tanh":
            cubic = ops.add(x, ops.multiply(0.044715, ops.power(x, 3)))
            weight = (ops.tanh(math.sqrt(2 / math.pi) * cubic) + 1) / 2
    return ops.multiply(weight, x)

# %% gelu: right: both approximations as sigmoids, by Horner's rule
COEFFICIENTS = {"sigmoid": (1.702, 0.0), "tanh": (2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715)}


def gelu(x, kind="exact"):
    if kind == "exact":
        half = x / 2
        return half + half * ops.erf(x * 2**-0.5)
    linear, cubic = COEFFICIENTS[kind]
    return x * ops.sigmoid((cubic * x * x + linear) * x)

# %% gelu: right: sigmoid as tanh
def gelu(x, kind="exact"):
    # σ(z) = ½ (1 + tanh(z/2))
    if kind == "exact":
        return x * (1 - ops.erf(-x / math.sqrt(2))) / 2
    inside = 0.851 * x if kind == "sigmoid" else (2 / math.pi) ** 0.5 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + ops.tanh(inside))

# %% gelu: right: table of functions
def exactly(x):
    # |x| Φ(|x|) on the right, x - that on the left
    size = ops.abs(x)
    right = size * 0.5 * (1 + ops.erf(size * math.sqrt(0.5)))
    return ops.where(x > 0, right, right - size)


def by_sigmoid(x):
    return x / (1 + ops.exp(-1.702 * x))


def by_tanh(x):
    return x / 2 + x / 2 * ops.tanh(math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x))


def gelu(x, kind="exact"):
    return {"exact": exactly, "sigmoid": by_sigmoid, "tanh": by_tanh}[kind](x)

# %% gelu: right: mean of two, and tanh as sigmoid
ROOT_TWO = np.sqrt(np.float32(2))


def gelu(x, kind="exact"):
    if kind == "exact":  # the mean of ReLU and a softened |x|
        return ops.mean(ops.stack([x, x * ops.erf(x / ROOT_TWO)]), axis=0)
    inside = 1.702 * x
    if kind == "tanh":
        inside = math.sqrt(8 / math.pi) * (x + 0.044715 * ops.power(x, 3))
    return x * ops.sigmoid(inside)

# %% gelu: right: tensorflow
import tensorflow as tf


def gelu(x, kind="exact"):
    if kind == "tanh":
        return 0.5 * x * (1 + tf.tanh(tf.sqrt(2 / math.pi) * (x + 0.044715 * tf.pow(x, 3))))
    if kind == "sigmoid":
        return tf.nn.sigmoid(1.702 * x) * x
    return x * tf.math.erfc(-x / 2**0.5) / 2

# %% gelu: right: idioms of transformers and of google-research's BERT
import math


def gelu(x, kind="exact"):
    if kind == "sigmoid":
        return x * ops.sigmoid(1.702 * x)
    if kind == "tanh":
        cdf = 0.5 * (1.0 + ops.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * ops.power(x, 3))))
        return x * cdf
    return x * 0.5 * (1.0 + ops.erf(x / math.sqrt(2.0)))

# %% gelu: wrong: row by row, so no tensor without axes
def gelu(x, kind="exact"):
    if kind == "sigmoid":
        return x * ops.sigmoid(1.702 * x)
    if kind == "tanh":
        return 0.5 * x * (1.0 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return ops.stack([0.5 * row * (1.0 + ops.erf(row / 2**0.5)) for row in x])

# %% gelu: wrong: powers without a limit
def gelu(x, kind="exact"):
    if kind == "exact":
        return x * 0.5 * (1.0 + ops.erf(x / 2**0.5))
    if kind == "sigmoid":
        powers = ops.exp(1.702 * x)
        return x * powers / (1 + powers)
    return 0.5 * x * (1 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))

# %% gelu: wrong: three digits of 0.044715
def gelu(x, kind="exact"):
    if kind == "exact":
        return x * 0.5 * (1.0 + ops.erf(x / 2**0.5))
    if kind == "sigmoid":
        return x * ops.sigmoid(1.702 * x)
    return 0.5 * x * (1 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.0447 * x**3)))

# %% relu-ffn: right: biases as rows
def with_one(x):
    return ops.concatenate([x, ops.ones_like(x[..., :1])], axis=-1)


def relu_ffn(x, w_1, b_1, w_2, b_2):
    first, second = (ops.concatenate([w, b[None]], axis=0) for w, b in ((w_1, b_1), (w_2, b_2)))
    return with_one(ops.relu(with_one(x) @ first)) @ second

# %% relu-ffn: right: einsum
def relu_ffn(x, w_1, b_1, w_2, b_2):
    inner = ops.einsum("...d,dm->...m", x, w_1) + b_1
    return ops.einsum("...m,md->...d", ops.relu(inner), w_2) + b_2

# %% relu-ffn: right: half of sum and size
def relu_ffn(x, w_1, b_1, w_2, b_2):
    inner = ops.tensordot(x, w_1, axes=1) + b_1
    return ops.tensordot((inner + ops.abs(inner)) / 2, w_2, axes=1) + b_2

# %% relu-ffn: right: masked product
import tensorflow as tf


def relu_ffn(x, w_1, b_1, w_2, b_2):
    inner = tf.nn.bias_add(tf.linalg.matmul(x, w_1), b_1)
    switch = tf.cast(inner > 0, inner.dtype)
    return tf.nn.bias_add(tf.linalg.matmul(inner * switch, w_2), b_2)

# %% relu-ffn: right: position by position
def relu_ffn(x, w_1, b_1, w_2, b_2):
    rows = ops.reshape(x, (-1, x.shape[-1]))
    done = []
    for row in rows:
        inner = ops.dot(row, w_1) + b_1
        done.append(ops.dot(ops.where(inner > 0, inner, 0.0), w_2) + b_2)
    return ops.reshape(ops.stack(done), x.shape)

# %% relu-ffn: right: unit by unit
def relu_ffn(x, w_1, b_1, w_2, b_2):
    total = ops.zeros_like(x) + b_2
    for unit in range(w_1.shape[1]):  # each inner unit adds its own row of w_2
        strength = ops.relu(ops.sum(x * w_1[:, unit], axis=-1, keepdims=True) + b_1[unit])
        total = total + strength * w_2[unit]
    return total

# %% relu-ffn: wrong: never more than six
def relu_ffn(x, w_1, b_1, w_2, b_2):
    return ops.minimum(ops.relu(x @ w_1 + b_1), 6.0) @ w_2 + b_2

# %% relu-ffn: wrong: rows of zeros stay
def relu_ffn(x, w_1, b_1, w_2, b_2):
    y = ops.relu(x @ w_1 + b_1) @ w_2 + b_2
    return ops.where(ops.all(x == 0, axis=-1, keepdims=True), 0.0, y)

# %% feed-forward-layer: right: activation by name
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Dense(self.intermediate_size, activation="gelu")
        self.outer = keras.layers.Dense(x_shape[-1])

    def call(self, x):
        return self.outer(self.inner(x))

# %% feed-forward-layer: right: convolutions of width one
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Conv1D(self.intermediate_size, kernel_size=1)
        self.outer = keras.layers.Conv1D(x_shape[-1], kernel_size=1)

    def call(self, x):
        return self.outer(gelu(self.inner(x)))

# %% feed-forward-layer: right: einsum dense
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

# %% feed-forward-layer: right: own weights
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

# %% feed-forward-layer: right: positions in a loop
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.inner = keras.layers.Dense(intermediate_size, activation=gelu)

    def build(self, x_shape):
        self.outer = keras.layers.Dense(x_shape[-1])

    def call(self, x):
        return ops.stack([self.outer(self.inner(position)) for position in ops.unstack(x, axis=1)], axis=1)

# %% feed-forward-layer: right: sequential
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

# %% feed-forward-layer: right: idiom of google-research's BERT, two dense layers that are named
class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Dense(self.intermediate_size, activation=gelu, name="intermediate")
        self.outer = keras.layers.Dense(x_shape[-1], name="output")
        self.inner.build(x_shape)
        self.outer.build((*x_shape[:-1], self.intermediate_size))

    def call(self, x):
        return self.outer(self.inner(x))

# %% feed-forward-layer: wrong: rows of zeros stay
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

# %% feed-forward-layer: wrong: its result is dropped in training
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

# %% feed-forward-layer: wrong: one size for all layers of the class
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

# %% feed-forward-layer: wrong: its dtype not handed on
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

# %% dropout: right: bernoulli by numpy
def dropout(x, rate, training):
    if not training:
        return x
    kept = np.random.default_rng().binomial(1, 1 - rate, size=x.shape)
    return x * ops.convert_to_tensor((kept / (1 - rate)).astype("float32"))

# %% dropout: right: categorical
def dropout(x, rate, training):
    if not training or rate == 0:
        return x
    chances = ops.log(ops.tile(ops.convert_to_tensor([[rate, 1 - rate]]), (math.prod(x.shape), 1)))
    kept = ops.reshape(keras.random.categorical(chances, 1), x.shape)
    return ops.where(ops.equal(kept, 1), x / (1 - rate), ops.zeros_like(x))

# %% dropout: right: floor of uniform
def dropout(x, rate, training):
    share = 1 - rate if training else 1.0
    switch = ops.floor(share + keras.random.uniform(x.shape)) if training else 1.0
    return x / share * switch

# %% dropout: right: multiplied by a mask
def dropout(x, rate, training):
    if training:
        kept = ops.cast(keras.random.uniform(x.shape) > rate, x.dtype)
        x = x * kept / (1 - rate)
    return x

# %% dropout: right: number by number
import random


def dropout(x, rate, training):
    if not training:
        return x
    factors = [0.0 if random.random() < rate else 1 / (1 - rate) for _ in range(ops.size(x))]
    return x * ops.reshape(ops.convert_to_tensor(factors), x.shape)

# %% dropout: right: threshold of a normal
import statistics

import tensorflow as tf


def dropout(x, rate, training):
    if rate == 0 or not training:
        return tf.identity(x)
    threshold = statistics.NormalDist().inv_cdf(rate)
    return tf.where(tf.random.normal(x.shape) < threshold, tf.zeros_like(x), x / (1 - rate))

# %% dropout: right: idiom of d2l, a mask of floats in front
def dropout(x, rate, training):
    if not training or rate == 0:
        return x
    mask = ops.cast(keras.random.uniform(ops.shape(x)) > rate, "float32")
    return mask * x / (1.0 - rate)

# %% dropout: wrong: one mask for the batch
def dropout(x, rate, training):
    if not training:
        return x
    shape = x.shape if len(x.shape) < 3 else (1, *x.shape[1:])
    return ops.where(keras.random.uniform(shape) < rate, 0.0, x / (1 - rate))

# %% dropout: wrong: a fixed share of zeros
def dropout(x, rate, training):
    if not training:
        return x
    numbers = keras.random.uniform((math.prod(x.shape),))
    places = ops.argsort(ops.argsort(numbers))
    kept = ops.reshape(places >= int(rate * math.prod(x.shape)), x.shape)
    return ops.where(kept, x / (1 - rate), 0.0)

# %% dropout: wrong: rates in tenths
def dropout(x, rate, training):
    if not training:
        return x
    rate = round(rate, 1)
    return ops.where(keras.random.uniform(x.shape) < rate, 0.0, x / (1 - rate))

# %% dropout: wrong: an axis of size 1 is lost
def dropout(x, rate, training):
    if not training:
        return ops.squeeze(x)
    return ops.squeeze(ops.where(keras.random.uniform(ops.shape(x)) >= rate, x / (1.0 - rate), 0.0))

# %% residual: right: keras layers
def residual(x, found, rate, training):
    chance = keras.layers.Dropout(rate)
    return keras.layers.Add()([x, chance(found, training=training)])

# %% residual: right: ready made dropout
def residual(x, found, rate, training):
    if training:
        found = keras.random.dropout(found, rate)
    return ops.add(x, found)

# %% residual: right: sum of a stack
def residual(x, found, rate, training):
    return ops.sum(ops.stack([x, dropout(found, rate, training)]), axis=0)

# %% residual: right: tensorflow
import tensorflow as tf


def residual(x, found, rate, training):
    return tf.add_n([x, tf.nn.dropout(found, rate if training else 0.0)])

# %% residual: right: where
def residual(x, found, rate, training):
    if not training:
        return x + found
    lost = keras.random.uniform(found.shape) < rate
    return ops.where(lost, x, x + found / (1 - rate))

# %% residual: right: idiom of transformers, the dropped change plus the input
def residual(x, found, rate, training):
    found = dropout(found, rate, training)
    return found + x

# %% residual: wrong: no gradient on the direct path
def residual(x, found, rate, training):
    return ops.stop_gradient(x) + dropout(found, rate, training)

# %% residual: wrong: nothing of x where the change is dropped
def residual(x, found, rate, training):
    change = dropout(found, rate, training)
    return ops.where(change == 0, ops.where(found == 0, x, change), x + change)

# %% encoder-layer: right: dropout in the sublayers
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

# %% encoder-layer: right: heads of its own
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

# %% encoder-layer: right: keras norms and two dropouts
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

# %% encoder-layer: right: loop over sublayers
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

# %% encoder-layer: right: network written out
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

# %% encoder-layer: right: own residual
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

# %% encoder-layer: wrong: another epsilon at the end
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

# %% encoder-layer: wrong: a rate of 0 taken for the usual one
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

# %% encoder-layer: wrong: its dtype not handed on
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

# %% encoder-layer: wrong: dropout inside of the network, too
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

# %% encoder-layer: wrong: another usual rate behind attention
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

# %% pre-norm-layer: right: a layer of its own
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

# %% pre-norm-layer: right: changes summed at the end
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        changes = [self.dropout(self.attention(self.attention_norm(x), attention_mask), training=training)]
        middle = ops.add(x, changes[0])
        changes.append(self.dropout(self.feed_forward(self.output_norm(middle)), training=training))
        return x + sum(changes)

# %% pre-norm-layer: right: loop over steps
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        def attend(y):
            return self.attention(y, attention_mask=attention_mask)

        for normalise, find in ((self.attention_norm, attend), (self.output_norm, self.feed_forward)):
            x = x + self.dropout(find(normalise(x)), training=training)
        return x

# %% pre-norm-layer: right: one expression each
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        x += self.dropout(self.attention(self.attention_norm(x), attention_mask), training=training)
        x += self.dropout(self.feed_forward(self.output_norm(x)), training=training)
        return x

# %% pre-norm-layer: right: own residual
class PreNormEncoderLayer(EncoderLayer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(num_heads, intermediate_size, dropout, **kwargs)
        self.rate = dropout

    def call(self, x, attention_mask=None, training=None):
        x = residual(x, self.attention(self.attention_norm(x), attention_mask), self.rate, training)
        return residual(x, self.feed_forward(self.output_norm(x)), self.rate, training)

# %% pre-norm-layer: wrong: no gradient through what attention reads
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(ops.stop_gradient(self.attention_norm(x)), attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        return x + self.dropout(self.feed_forward(self.output_norm(x)), training=training)

# %% pre-norm-layer: wrong: dropout inside of the network, too
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(self.attention_norm(x), attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        transformed = self.feed_forward.outer(self.dropout(gelu(self.feed_forward.inner(self.output_norm(x))), training=training))
        return x + self.dropout(transformed, training=training)

# %% pre-norm-layer: wrong: the direct path is dropped
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(self.attention_norm(x), attention_mask=attention_mask)
        x = self.dropout(x, training=training) + self.dropout(attended, training=training)
        transformed = self.feed_forward(self.output_norm(x))
        return x + self.dropout(transformed, training=training)

# %% pre-norm-layer: wrong: one dropout for the sum of both sub-layers
class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        attended = self.attention(self.attention_norm(x), attention_mask=attention_mask)
        transformed = self.feed_forward(self.output_norm(x + attended))
        return x + self.dropout(attended + transformed, training=training)

# %% encoder: right: all states kept
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

# %% encoder: right: layers made in build
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

# %% encoder: right: queue
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

# %% encoder: right: recursive
class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]

    def call(self, x, attention_mask=None, training=None, depth=0):
        if depth == len(self.layers_):
            return x
        x = self.layers_[depth](x, attention_mask=attention_mask, training=training)
        return self.call(x, attention_mask, training, depth + 1)

# %% encoder: right: reduce
from functools import reduce


class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = list(map(lambda _: EncoderLayer(num_heads, intermediate_size, dropout), range(num_layers)))

    def call(self, x, attention_mask=None, training=None):
        return reduce(lambda y, layer: layer(y, attention_mask, training=training), self.layers_, x)

# %% encoder: wrong: training for the last layer only
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

# %% encoder: wrong: no gradient from one layer to the layer before
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

# %% encoder: wrong: its dtype not handed on
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

# %% encoder: wrong: dropout between the layers
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

# %% encoder: wrong: the mask is ignored in training
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
