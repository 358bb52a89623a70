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


# %% scalar-mix: wrong: gamma cannot learn
class ScalarMix(keras.layers.Layer):
    def __init__(self, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.w = self.add_weight(shape=(num_layers,), initializer="zeros", name="w")
        self.gamma = self.add_weight(shape=(), initializer="ones", trainable=False, name="gamma")

    def call(self, states):
        return self.gamma * ops.sum(ops.softmax(self.w)[:, None] * states, axis=-2)


# %% both-ways: right: arithmetic of positions, without a loop
def both_ways(ids, is_real, start, end):
    ids, real = np.asarray(ids), np.asarray(is_real)
    rows, tokens = ids.shape
    lengths = real.sum(axis=1)[:, None]
    marked = np.concatenate([np.full((rows, 1), start), ids, np.zeros((rows, 1), ids.dtype)], axis=1)
    np.put_along_axis(marked, lengths + 1, end, axis=1)
    places = np.arange(tokens + 1)[None, :]
    valid = places <= lengths
    back = np.where(valid, lengths + 1 - places, 0)
    take = lambda where: np.where(valid, np.take_along_axis(marked, where, axis=1), 0).astype("int32")  # noqa: E731
    return (
        take(np.where(valid, places, 0)),
        take(np.where(valid, places + 1, 0)),
        take(back),
        take(np.where(valid, back - 1, 0)),
    )


# %% both-ways: right: one direction, called twice
def both_ways(ids, is_real, start, end):
    def one_way(sentences, first, last):
        shape = (len(ids), ids.shape[1] + 1)
        inputs, targets = np.zeros(shape, "int32"), np.zeros(shape, "int32")
        for row, sentence in enumerate(sentences):
            n = len(sentence)
            inputs[row, 0], targets[row, n] = first, last
            inputs[row, 1 : n + 1] = sentence
            targets[row, :n] = sentence
        return inputs, targets

    sentences = [list(row[: int(real.sum())]) for row, real in zip(ids, is_real)]
    turned = [list(reversed(sentence)) for sentence in sentences]
    return (*one_way(sentences, start, end), *one_way(turned, end, start))


# %% both-ways: right: lists that are padded
def both_ways(ids, is_real, start, end):
    width = ids.shape[1] + 1
    pad = lambda row: row + [0] * (width - len(row))  # noqa: E731
    rows = [[], [], [], []]
    for numbers, real in zip(ids.tolist(), is_real.tolist()):
        text = [start] + [number for number, flag in zip(numbers, real) if flag] + [end]
        rows[0].append(pad(text[:-1]))
        rows[1].append(pad(text[1:]))
        text.reverse()
        rows[2].append(pad(text[:-1]))
        rows[3].append(pad(text[1:]))
    return tuple(np.array(part, dtype="int32") for part in rows)


# %% both-ways: wrong: the length of the first sentence for all
def both_ways(ids, is_real, start, end):
    arrays = tuple(np.zeros((len(ids), ids.shape[1] + 1), "int32") for _ in range(4))
    length = int(max(is_real.sum(axis=1)))
    for row, numbers in enumerate(ids):
        sentence = [start, *numbers[:length], end]
        turned = sentence[::-1]
        for array, part in zip(arrays, (sentence[:-1], sentence[1:], turned[:-1], turned[1:])):
            array[row, : len(part)] = part
    return arrays


# %% bilm-loss: right: one-hot targets
def bilm_loss(forward, backward, w_out, forward_targets, backward_targets, is_real):
    words = ops.shape(w_out)[-1]
    counts = ops.cast(is_real, "float32")

    def paid(states, targets):
        log_p = ops.log_softmax(ops.einsum("btd,dv->btv", states, w_out))
        return -ops.sum(log_p * ops.one_hot(targets, words), axis=-1)

    both = paid(forward, forward_targets) + paid(backward, backward_targets)
    return ops.sum(both * counts) / ops.sum(counts)


# %% bilm-loss: right: both directions as one batch
def bilm_loss(forward, backward, w_out, forward_targets, backward_targets, is_real):
    states = ops.concatenate([forward, backward], axis=0)
    targets = ops.concatenate([forward_targets, backward_targets], axis=0)
    weights = ops.cast(ops.concatenate([is_real, is_real], axis=0), "float32")
    scores = ops.matmul(states, w_out)
    of_target = ops.take_along_axis(scores, targets[..., None], axis=-1)[..., 0]
    losses = ops.logsumexp(scores, axis=-1) - of_target
    return 2 * ops.sum(losses * weights) / ops.sum(weights)


# %% bilm-loss: right: hidden places by where
def bilm_loss(forward, backward, w_out, forward_targets, backward_targets, is_real):
    real = ops.equal(is_real, 1)
    total = 0.0
    for states, targets in zip((forward, backward), (forward_targets, backward_targets)):
        log_p = ops.log_softmax(ops.matmul(states, w_out))
        found = ops.take_along_axis(log_p, ops.expand_dims(targets, -1), axis=-1)
        total = total + ops.sum(ops.where(real, ops.squeeze(found, -1), 0.0))
    return -total / ops.cast(ops.sum(is_real), "float32")


# %% bilm-loss: wrong: no gradient for the matrix
def bilm_loss(forward, backward, w_out, forward_targets, backward_targets, is_real):
    counts, loss = ops.cast(is_real, "float32"), 0.0
    for states, targets in ((forward, forward_targets), (backward, backward_targets)):
        log_p = ops.log_softmax(ops.matmul(states, ops.stop_gradient(w_out)))
        loss -= ops.sum(ops.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0] * counts) / ops.sum(counts)
    return loss


# %% centred-cosine: right: products over products of lengths
def centred_cosine(x, mean):
    centred = x - mean[None]
    products = ops.einsum("id,jd->ij", centred, centred)
    lengths = ops.sqrt(ops.diagonal(products))
    return products / (lengths[:, None] * lengths[None, :])


# %% centred-cosine: right: ready-made unit vectors
def centred_cosine(x, mean):
    unit = keras.utils.normalize(np.array(ops.subtract(x, mean)), axis=-1)
    return ops.convert_to_tensor(unit @ unit.T)


# %% centred-cosine: right: row by row
def centred_cosine(x, mean):
    rows = []
    for number in range(x.shape[0]):
        one, others = x[number] - mean, x - mean
        lengths = ops.sqrt(ops.sum(ops.square(others), axis=1)) * ops.sqrt(ops.sum(ops.square(one)))
        rows.append(ops.sum(others * one, axis=1) / lengths)
    return ops.stack(rows)


# %% centred-cosine: wrong: no signs
def centred_cosine(x, mean):
    centred = x - mean
    unit = centred / ops.norm(centred, axis=-1, keepdims=True)
    return ops.abs(ops.matmul(unit, ops.transpose(unit)))
