# Other answers to the exercises of notebook P: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% cbow-loss: right: products with one-hot vectors
def cbow_loss(table, w_out, context, is_real, target):
    words = table.shape[0]
    counts = ops.sum(ops.one_hot(context, words) * ops.cast(is_real, "float32")[..., None], axis=1)  # (batch, words)
    mean = ops.matmul(counts / ops.sum(counts, axis=1, keepdims=True), table)
    log_p = ops.log_softmax(ops.matmul(mean, w_out))
    return -ops.mean(ops.sum(log_p * ops.one_hot(target, words), axis=-1))

# %% cbow-loss: right: log-sum-exp
def cbow_loss(table, w_out, context, is_real, target):
    share = ops.cast(is_real, "float32") / ops.cast(ops.sum(is_real, axis=1, keepdims=True), "float32")
    mean = ops.einsum("bw,bwd->bd", share, ops.take(table, context, axis=0))
    scores = ops.matmul(mean, w_out)
    of_target = ops.take_along_axis(scores, ops.expand_dims(target, 1), axis=1)[:, 0]
    return ops.mean(ops.logsumexp(scores, axis=1) - of_target)

# %% cbow-loss: right: scores of each neighbour, then their mean
def cbow_loss(table, w_out, context, is_real, target):
    hidden = ops.logical_not(ops.cast(is_real, "bool"))[..., None]
    each = ops.where(hidden, 0.0, ops.matmul(ops.take(table, context, axis=0), w_out))  # a mean and a product commute
    scores = ops.sum(each, axis=1) / ops.cast(ops.sum(is_real, axis=1), each.dtype)[:, None]
    return -ops.mean(tf.gather(ops.log_softmax(scores), target, batch_dims=1))

# %% cbow-loss: wrong: NumPy inside
def cbow_loss(table, w_out, context, is_real, target):
    real = np.array(is_real)[..., None]
    mean = (np.array(table)[np.array(context)] * real).sum(1) / real.sum(1)
    log_p = ops.log_softmax(ops.matmul(mean.astype("float32"), w_out))
    return -ops.mean(ops.take_along_axis(log_p, target[:, None], axis=1))

# %% rnn-step: right: one matrix
def rnn_step(x, h, w, u, b):
    both = ops.concatenate([x, h], axis=-1)
    return ops.tanh(ops.matmul(both, ops.concatenate([w, u], axis=0)) + b)

# %% rnn-step: right: from exponentials
def rnn_step(x, h, w, u, b):
    a = ops.einsum("bd,du->bu", x, w) + ops.einsum("bv,vu->bu", h, u) + b
    return 2 * ops.sigmoid(2 * a) - 1

# %% rnn-step: right: bias first
def rnn_step(x, h, w, u, b):
    total = ops.broadcast_to(b, (x.shape[0], b.shape[0]))
    for vectors, matrix in ((x, w), (h, u)):
        total = total + ops.matmul(vectors, matrix)
    return ops.tanh(total)

# %% rnn-step: wrong: a state for all rows
def rnn_step(x, h, w, u, b):
    return ops.tanh(ops.matmul(x, w) + ops.matmul(h[:1], u) + b)

# %% lstm-step: right: slices
def lstm_step(x, h, c, w, u, b):
    units = h.shape[-1]
    parts = ops.matmul(x, w) + ops.matmul(h, u) + b
    i, f, g, o = (parts[:, number * units : (number + 1) * units] for number in range(4))
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    return ops.sigmoid(o) * ops.tanh(c), c

# %% lstm-step: right: a product for each part
def lstm_step(x, h, c, w, u, b):
    pieces = zip(ops.split(w, 4, axis=1), ops.split(u, 4, axis=1), ops.split(b, 4))
    i, f, g, o = [ops.matmul(x, w_part) + ops.matmul(h, u_part) + b_part for w_part, u_part, b_part in pieces]
    new = ops.multiply(ops.sigmoid(f), c) + ops.multiply(ops.sigmoid(i), ops.tanh(g))
    return ops.multiply(ops.sigmoid(o), ops.tanh(new)), new

# %% lstm-step: right: reshaped
def lstm_step(x, h, c, w, u, b):
    parts = ops.reshape(ops.matmul(x, w) + ops.matmul(h, u) + b, (-1, 4, h.shape[-1]))
    gates = ops.sigmoid(parts)
    c = gates[:, 1] * c + gates[:, 0] * ops.tanh(parts[:, 2])
    return gates[:, 3] * ops.tanh(c), c

# %% lstm-step: wrong: cell clipped
def lstm_step(x, h, c, w, u, b):
    i, f, g, o = ops.split(ops.matmul(x, w) + ops.matmul(h, u) + b, 4, axis=-1)
    c = ops.clip(ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g), -1, 1)
    return ops.sigmoid(o) * ops.tanh(c), c

# %% gradient-by-distance: right: unit by unit
def gradient_by_distance(read, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        numbers = ops.unstack(read(x))
    rows = [tape.gradient(number, x, unconnected_gradients=tf.UnconnectedGradients.ZERO) for number in numbers]
    squares = sum(ops.sum(row * row, axis=-1) for row in rows)
    return ops.sqrt(squares)[::-1]

# %% gradient-by-distance: right: plain Jacobian, reversed at the beginning
def gradient_by_distance(read, x):
    backwards = ops.flip(x, axis=0)
    with tf.GradientTape() as tape:
        tape.watch(backwards)
        state = read(ops.flip(backwards, axis=0))
    return ops.norm(ops.moveaxis(tape.jacobian(state, backwards), 1, 0), axis=(1, 2))

# %% gradient-by-distance: right: word by word
def gradient_by_distance(read, x):
    words = ops.unstack(x)
    with tf.GradientTape(persistent=True) as tape:
        for word in words:
            tape.watch(word)
        state = read(ops.stack(words))
    parts = [tape.jacobian(state, word, experimental_use_pfor=False) for word in words]
    return ops.stack([ops.sqrt(ops.sum(part**2)) for part in reversed(parts)])

# %% costs: right: division by k
def costs(n, d, k):
    groups, layers = n, 0
    while groups > 1:
        groups, layers = -(-groups // k), layers + 1
    return dict(attention=(n**2 * d, 1, 1), recurrence=(n * d**2, n, n), convolution=(k * n * d**2, 1, layers))

# %% costs: right: first of all powers
def costs(n, d, k):
    path = next(layers for layers in range(1, n + 1) if k**layers >= n)
    names = "attention", "recurrence", "convolution"
    return dict(zip(names, zip((n * n * d, n * d * d, n * d * d * k), (1, n, 1), (1, n, path))))

# %% costs: right: logarithm, mended
def costs(n, d, k):
    layers = max(1, round(math.log(n) / math.log(k)))
    layers += k**layers < n
    if layers > 1 and k ** (layers - 1) >= n:
        layers -= 1
    return {"attention": (d * n * n, 1, 1), "recurrence": (d * d * n, n, n), "convolution": (k * d * d * n, 1, int(layers))}

# %% costs: wrong: in 32 bits
def costs(n, d, k):
    n, d = np.int32(n), np.int32(d)
    layers = next(layers for layers in range(1, 40) if k**layers >= n)
    operations = int(n * n * d), int(n * d * d), int(k * n * d * d)
    return {
        "attention": (operations[0], 1, 1),
        "recurrence": (operations[1], int(n), int(n)),
        "convolution": (operations[2], 1, layers),
    }

# %% pair-features: right: a large negative number
def pair_features(x, x_real, y, y_real):
    def largest(states, is_real):
        hidden = 1.0 - ops.cast(is_real, states.dtype)[..., None]
        return ops.max(states - 1e9 * hidden, axis=1)

    u, v = largest(x, x_real), largest(y, y_real)
    return ops.concatenate([u, v, ops.maximum(u - v, v - u), ops.multiply(u, v)], axis=1)

# %% pair-features: right: sorted
def pair_features(x, x_real, y, y_real):
    u, v = (
        ops.sort(ops.where(ops.cast(real, "bool")[:, :, None], states, float("-inf")), axis=1)[:, -1]
        for states, real in ((x, x_real), (y, y_real))
    )
    blocks = ops.stack([u, v, ops.sqrt((u - v) ** 2), u * v], axis=1)
    return ops.reshape(blocks, (-1, 4 * u.shape[-1]))

# %% pair-features: right: word by word
def pair_features(x, x_real, y, y_real):
    vectors = []
    for states, real in ((x, x_real), (y, y_real)):
        best = ops.full_like(states[:, 0], -np.inf)
        for word, counts in zip(ops.unstack(states, axis=1), ops.unstack(real, axis=1)):
            best = ops.where(counts[:, None] == 1, ops.maximum(best, word), best)
        vectors.append(best)
    u, v = vectors
    return ops.hstack([u, v, abs(u - v), u * v])

# %% pair-features: wrong: a number that is below most states
def pair_features(x, x_real, y, y_real):
    u, v = (
        ops.max(ops.where(ops.equal(real, 1)[..., None], states, -1000.0), axis=1)
        for states, real in ((x, x_real), (y, y_real))
    )
    return ops.concatenate([u, v, ops.abs(u - v), u * v], axis=-1)

# %% two-tasks-loss: right: one-hot labels
def two_tasks_loss(states, w_tag, w_label, tags, labels, layer):
    log_tags = ops.log_softmax(ops.einsum("bth,hn->btn", states[layer - 1], w_tag))
    chosen = ops.one_hot(tags, w_tag.shape[1])  # −1 is a row of zeros
    log_labels = ops.log_softmax(ops.matmul(states[-1, :, 0], w_label))
    right = ops.one_hot(labels, w_label.shape[1])
    return -ops.sum(log_tags * chosen) / ops.sum(chosen) - ops.sum(log_labels * right) / ops.sum(right)

# %% two-tasks-loss: right: only the tagged positions
def two_tasks_loss(states, w_tag, w_label, tags, labels, layer):
    tagged = tf.where(tags >= 0)
    log_p = ops.log_softmax(ops.matmul(tf.gather_nd(states[layer - 1], tagged), w_tag))
    tag_loss = ops.mean(tf.gather(log_p, tf.gather_nd(tags, tagged), batch_dims=1))
    log_p = ops.log_softmax(ops.matmul(states[-1][:, 0], w_label))
    return -(tag_loss + ops.mean(tf.gather(log_p, labels, batch_dims=1)))

# %% two-tasks-loss: right: log-sum-exp
def two_tasks_loss(states, w_tag, w_label, tags, labels, layer):
    def losses(scores, right):
        of_right = ops.take_along_axis(scores, ops.maximum(right, 0)[..., None], axis=-1)[..., 0]
        return ops.logsumexp(scores, axis=-1) - of_right

    of_tags = losses(ops.matmul(states[layer - 1], w_tag), tags)
    counted = ops.where(tags < 0, 0.0, of_tags)
    number = ops.cast(ops.sum(ops.cast(tags >= 0, "int32")), "float32")
    return ops.sum(counted) / number + ops.mean(losses(ops.matmul(states[-1][:, 0, :], w_label), labels))
