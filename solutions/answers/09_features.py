# Other answers to the exercises of notebook 09: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% take-layers: right: one stacked tensor
def take_layers(states, how):
    layers = ops.stack(states, axis=0)  # (L + 1, B, T, H)
    single = {"embeddings": 0, "second-to-last": -2, "last": -1}
    if how in single:
        return layers[single[how]]
    if how == "all-sum":
        return ops.sum(layers[1:], axis=0)
    if how == "last4-sum":
        return ops.sum(layers[-4:], axis=0)
    four = ops.transpose(layers[-4:], (1, 2, 0, 3))
    return ops.reshape(four, (*four.shape[:2], 4 * four.shape[3]))

# %% take-layers: right: numbers of the layers, and a loop
def take_layers(states, how):
    last = len(states) - 1
    numbers = {
        "embeddings": [0],
        "second-to-last": [last - 1],
        "last": [last],
        "last4-sum": [last - 3, last - 2, last - 1, last],
        "last4-concat": [last - 3, last - 2, last - 1, last],
        "all-sum": list(range(1, last + 1)),
    }[how]
    result = states[numbers[0]]
    for number in numbers[1:]:
        if how.endswith("concat"):
            result = ops.concatenate([result, states[number]], axis=2)
        else:
            result = result + states[number]
    return result

# %% take-layers: wrong: counted from the front, for four layers
def take_layers(states, how):
    if how == "last4-concat":
        return ops.concatenate(states[1:5], axis=-1)
    if how == "last4-sum":
        return sum(states[1:5])
    return {"embeddings": states[0], "second-to-last": states[-2], "last": states[-1]}.get(how, sum(states[1:]))

# %% take-layers: wrong: numbers of the four layers alternate
def take_layers(states, how):
    if how == "last4-concat":
        four = ops.stack(states[-4:], axis=-1)
        return ops.reshape(four, (*four.shape[:2], -1))
    some = {"embeddings": states[:1], "second-to-last": states[-2:-1], "last": states[-1:], "last4-sum": states[-4:]}
    return sum(some.get(how, states[1:]))

# %% take-layers: wrong: every layer is the last four
def take_layers(states, how):
    if how == "last4-concat":
        return ops.concatenate(states[-4:], axis=-1)
    some = {"embeddings": states[:1], "second-to-last": states[-2:-1], "last": states[-1:]}
    return sum(some.get(how, states[-4:]))

# %% scalar-mix: right: einsum, and a build
class ScalarMix(keras.layers.Layer):
    def __init__(self, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.num_layers = num_layers

    def build(self, shape):
        self.w = self.add_weight(shape=(self.num_layers,), initializer="zeros")
        self.gamma = self.add_weight(shape=(1,), initializer="ones")

    def call(self, states):
        return ops.einsum("btkh,k->bth", states, ops.softmax(self.w)) * self.gamma

# %% scalar-mix: right: layer by layer
class ScalarMix(keras.layers.Layer):
    def __init__(self, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.num_layers = num_layers
        self.w = self.add_weight(shape=(num_layers,), initializer="ones", name="w")
        self.gamma = self.add_weight(shape=(), initializer=keras.initializers.Constant(1.0), name="gamma")

    def call(self, states):
        powers = ops.exp(self.w - ops.max(self.w))
        total = 0.0
        for number in range(self.num_layers):
            total = total + powers[number] * states[:, :, number]
        return self.gamma * total / ops.sum(powers)

# %% scalar-mix: right: a product of matrices
class ScalarMix(keras.layers.Layer):
    def __init__(self, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.w = self.add_weight(shape=(1, num_layers), initializer="zeros", name="w")
        self.gamma = self.add_weight(shape=(), initializer="ones", name="gamma")

    def call(self, states):
        shares = self.gamma * ops.softmax(self.w, axis=-1)
        return ops.squeeze(ops.matmul(shares, states), axis=-2)

# %% scalar-mix: wrong: a share for each number of the vector
class ScalarMix(keras.layers.Layer):
    def __init__(self, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.num_layers = num_layers
        self.gamma = self.add_weight(shape=(), initializer="ones", name="gamma")

    def build(self, shape):
        self.w = self.add_weight(shape=(self.num_layers, shape[-1]), initializer="zeros", name="w")

    def call(self, states):
        return self.gamma * ops.sum(ops.softmax(self.w, axis=0) * states, axis=-2)

# %% scalar-mix: wrong: over the tokens
class ScalarMix(keras.layers.Layer):
    def __init__(self, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.w = self.add_weight(shape=(num_layers,), initializer="zeros", name="w")
        self.gamma = self.add_weight(shape=(), initializer="ones", name="gamma")

    def call(self, states):
        return self.gamma * ops.sum(ops.softmax(self.w)[:, None] * states, axis=1)

# %% scalar-mix: wrong: gamma cannot learn
class ScalarMix(keras.layers.Layer):
    def __init__(self, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.w = self.add_weight(shape=(num_layers,), initializer="zeros", name="w")
        self.gamma = self.add_weight(shape=(), initializer="ones", trainable=False, name="gamma")

    def call(self, states):
        return self.gamma * ops.sum(ops.softmax(self.w)[:, None] * states, axis=-2)

# %% scalar-mix: wrong: shares of the squares
class ScalarMix(keras.layers.Layer):
    def __init__(self, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.w = self.add_weight(shape=(num_layers,), initializer="ones", name="w")
        self.gamma = self.add_weight(shape=(), initializer="ones", name="gamma")

    def call(self, states):
        squares = ops.square(self.w)
        return self.gamma * ops.sum((squares / ops.sum(squares))[:, None] * states, axis=-2)
