# Other answers to the exercises of notebook 08: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% cls-head: right: all tokens then the first
class ClassificationHead(keras.layers.Layer):
    """Logits of every token, of which only the first row of each text is kept."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(num_labels)
        self.dropout = keras.layers.Dropout(dropout)

    def call(self, hidden, training=None):
        logits = self.dense(self.dropout(hidden, training=training))
        return logits[:, 0]

# %% cls-head: right: one hot selection
class ClassificationHead(keras.layers.Layer):
    """A row of weights that is 1 for [CLS] and 0 for the others picks its vector."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.num_labels, self.rate = num_labels, dropout

    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(self.num_labels)
        self.dense.build((hidden_shape[0], hidden_shape[-1]))
        self.dropout = keras.layers.Dropout(self.rate)

    def call(self, hidden, training=None):
        chosen = ops.one_hot(0, hidden.shape[1], dtype=hidden.dtype)  # (T,)
        cls = ops.einsum("t,bth->bh", chosen, hidden)
        return self.dense(self.dropout(cls, training=training))

# %% cls-head: right: own weights
class ClassificationHead(keras.layers.Layer):
    """`dense` is a holder of two weights, and the product is written out."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.num_labels, self.dropout = num_labels, keras.layers.Dropout(dropout)

    def build(self, hidden_shape):
        self.dense = keras.layers.Layer(name="dense")
        self.dense.kernel = self.dense.add_weight(shape=(hidden_shape[-1], self.num_labels), name="kernel")
        self.dense.bias = self.dense.add_weight(shape=(self.num_labels,), initializer="zeros", name="bias")

    def call(self, hidden, training=None):
        cls = self.dropout(hidden[:, 0, :], training=training)
        return ops.matmul(cls, self.dense.kernel) + self.dense.bias

# %% cls-head: right: sequential
class ClassificationHead(keras.layers.Layer):
    """Two layers in a row that are one thing."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(num_labels)
        self.steps = keras.Sequential([keras.layers.Dropout(dropout), self.dense])

    def call(self, hidden, training=None):
        return self.steps(hidden[:, 0], training=training)

# %% cls-head: right: taken and squeezed
class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.drop = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels)

    def call(self, hidden, training=None):
        first = ops.take(hidden, [0], axis=1)  # (B, 1, H)
        return ops.squeeze(self.dense(self.drop(first, training=training)), axis=1)

# %% cls-head: right: unstacked
class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout)
        self.dense = keras.layers.EinsumDense("bh,hc->bc", output_shape=num_labels, bias_axes="c")

    def call(self, hidden, training=None):
        cls, *_ = ops.unstack(hidden, axis=1)
        return self.dense(self.dropout(cls, training=training))

# %% cls-head: wrong: an axis of size 1 is lost
class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels, name="dense")

    def call(self, hidden, training=None):
        return ops.squeeze(self.dense(self.dropout(hidden[:, 0], training=training)))

# %% cls-head: wrong: no gradient to BERT
class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels)

    def call(self, hidden, training=None):
        return self.dense(self.dropout(ops.stop_gradient(hidden[:, 0]), training=training))

# %% choice-logits: right: all tokens first
def choice_logits(hidden, v, choices):
    """Scores of all tokens, folded, of which those of [CLS] stay."""
    scores = ops.tensordot(hidden, v, axes=1)  # (questions · choices, tokens)
    return ops.reshape(scores, (-1, choices, hidden.shape[1]))[:, :, 0]

# %% choice-logits: right: einsum
def choice_logits(hidden, v, choices):
    rows, tokens, width = hidden.shape
    folded = ops.reshape(hidden, (rows // choices, choices, tokens, width))
    return ops.einsum("qch,h->qc", folded[:, :, 0], v)

# %% choice-logits: right: every nth row
def choice_logits(hidden, v, choices):
    """Column c: rows c, c + choices, c + 2 · choices …"""
    columns = [ops.sum(hidden[c::choices, 0] * v, axis=-1) for c in range(choices)]
    return ops.stack(columns, axis=1)

# %% choice-logits: right: grid of places
import tensorflow as tf


def choice_logits(hidden, v, choices):
    """Row q, column c is row q · choices + c."""
    q = tf.range(tf.shape(hidden)[0] // choices)
    places = q[:, None] * choices + tf.range(choices)[None]
    return tf.reduce_sum(tf.gather(hidden[:, 0], places) * v, axis=-1)

# %% choice-logits: right: question by question
def choice_logits(hidden, v, choices):
    questions = []
    for start in range(0, hidden.shape[0], choices):
        cls = hidden[start : start + choices, 0]
        questions.append(ops.squeeze(ops.matmul(cls, ops.expand_dims(v, 1)), axis=1))
    return ops.stack(questions)

# %% choice-logits: right: split
def choice_logits(hidden, v, choices):
    scores = ops.dot(hidden[:, 0, :], v)
    return ops.stack(ops.split(scores, hidden.shape[0] // choices))

# %% choice-logits: wrong: scores cut off
def choice_logits(hidden, v, choices):
    return ops.clip(ops.reshape(ops.matmul(hidden[:, 0], v), (-1, choices)), -20, 20)

# %% align-labels: right: comprehension
IGNORED = -100


def align_labels(pieces_of_words, tags):
    inner = [IGNORED if index else tag for pieces, tag in zip(pieces_of_words, tags) for index in range(len(pieces))]
    return [IGNORED, *inner, IGNORED]

# %% align-labels: right: iterator of tags
IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels, waiting = [IGNORED], iter(tags)
    for pieces in pieces_of_words:
        label = next(waiting)
        for _ in pieces:
            labels.append(label)
            label = IGNORED
    return [*labels, IGNORED]

# %% align-labels: right: padded and cut
IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels = [IGNORED]
    for word, tag in zip(pieces_of_words, tags):
        labels.extend(([tag] + [IGNORED] * len(word))[: len(word)])
    return labels + [IGNORED]

# %% align-labels: right: places of first pieces
IGNORED = -100


def align_labels(pieces_of_words, tags):
    sizes = np.array([len(pieces) for pieces in pieces_of_words])
    labels = np.full(sizes.sum() + 2, IGNORED)
    firsts = 1 + np.cumsum(sizes) - sizes
    labels[firsts[sizes > 0]] = np.array(tags)[sizes > 0]
    return labels.tolist()

# %% align-labels: right: recursive
IGNORED = -100


def align_labels(pieces_of_words, tags):
    def inner(words, tags):
        if not words:
            return []
        (first, *rest), (tag, *others) = words, tags
        own = [tag] + [IGNORED] * (len(first) - 1) if first else []
        return own + inner(rest, others)

    return [IGNORED] + inner(pieces_of_words, tags) + [IGNORED]

# %% align-labels: right: repeat and blank
IGNORED = -100


def align_labels(pieces_of_words, tags):
    """Every piece gets its word's number; where the number is that of the piece before, nobody is asked."""
    owner = [None]
    for number, pieces in enumerate(pieces_of_words):
        owner += [number] * len(pieces)
    labels = [IGNORED]
    for before, here in zip(owner, owner[1:]):
        labels.append(tags[here] if here != before else IGNORED)
    labels.append(IGNORED)
    return labels

# %% align-labels: wrong: every token that is the word's first one
IGNORED = -100


def align_labels(pieces_of_words, tags):
    rows = [[tag if piece == pieces[0] else IGNORED for piece in pieces] for pieces, tag in zip(pieces_of_words, tags)]
    return [IGNORED, *(label for row in rows for label in row), IGNORED]

# %% align-labels: wrong: words without tokens are left out, but not their tags
IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels = [IGNORED]
    for pieces, tag in zip(filter(None, pieces_of_words), tags):
        labels += [tag] + [IGNORED] * (len(pieces) - 1)
    return [*labels, IGNORED]

# %% align-labels: wrong: one list for all rows
IGNORED = -100
labels = []


def align_labels(pieces_of_words, tags):
    labels[:] = [IGNORED]
    for pieces, tag in zip(pieces_of_words, tags):
        labels.extend([tag, *[IGNORED] * (len(pieces) - 1)][: len(pieces)])
    labels.append(IGNORED)
    return labels

# %% align-labels: wrong: at most 512 labels
IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels = [IGNORED]
    for pieces, tag in zip(pieces_of_words, tags):
        labels += [tag if place == 0 else IGNORED for place in range(len(pieces))]
    return labels[:511] + [IGNORED]

# %% tagging-loss: right: boolean mask
import tensorflow as tf

IGNORED = -100


def tagging_loss(logits, labels):
    """Only the positions that count are kept at all."""
    asked = tf.not_equal(labels, IGNORED)
    kept, right = tf.boolean_mask(logits, asked), tf.boolean_mask(labels, asked)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=right, logits=kept)
    return tf.math.divide_no_nan(tf.reduce_sum(losses), tf.cast(tf.size(losses), losses.dtype))

# %% tagging-loss: right: class by class
IGNORED = -100


def tagging_loss(logits, labels):
    """The sum over classes of the log-shares where that class is the right one."""
    log_shares = logits - ops.logsumexp(logits, axis=-1, keepdims=True)
    total, number = 0.0, 0.0
    for label in range(logits.shape[-1]):
        here = ops.cast(ops.equal(labels, label), logits.dtype)
        total += ops.sum(here * log_shares[..., label])
        number += ops.sum(here)
    return -total / ops.maximum(number, 1.0)

# %% tagging-loss: right: flat positions
IGNORED = -100


def tagging_loss(logits, labels):
    """All positions in one long row, the right class picked by a flat index."""
    classes = logits.shape[-1]
    flat, right = ops.reshape(logits, (-1, classes)), ops.reshape(labels, (-1,))
    counts = ops.cast(right >= 0, "int32")
    own = ops.take(ops.reshape(flat, (-1,)), ops.arange(ops.shape(right)[0]) * classes + right * counts)
    losses = ops.logsumexp(flat, axis=-1) - own
    counts = ops.cast(counts, logits.dtype)
    return ops.sum(losses * counts) / ops.maximum(ops.sum(counts), 1.0)

# %% tagging-loss: right: keras ops cross entropy
IGNORED = -100


def tagging_loss(logits, labels):
    mask = ops.not_equal(labels, IGNORED)
    losses = ops.sparse_categorical_crossentropy(ops.maximum(labels, 0), logits, from_logits=True)
    number = ops.sum(ops.cast(mask, "float32"))
    total = ops.sum(ops.where(mask, losses, 0.0))
    return ops.where(number > 0, total / ops.maximum(number, 1.0), 0.0)

# %% tagging-loss: right: one hot
IGNORED = -100


def tagging_loss(logits, labels):
    """one_hot(−100) is a row of zeros: what nobody asks about adds nothing."""
    wanted = ops.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
    return -ops.sum(wanted * ops.log_softmax(logits)) / ops.maximum(ops.sum(wanted), 1)

# %% tagging-loss: right: sentence sums
IGNORED = -100


def tagging_loss(logits, labels):
    total, number = 0.0, 0.0
    for own_logits, own_labels in zip(ops.unstack(logits), ops.unstack(labels)):
        counts = ops.cast(own_labels != IGNORED, logits.dtype)
        logs = ops.log_softmax(own_logits)  # (T, K)
        total = total - ops.sum(logs * ops.one_hot(own_labels, logs.shape[-1]))  # a row of 0 where ignored
        number = number + ops.sum(counts)
    return total / ops.maximum(number, 1.0)

# %% tagging-loss: right: idiom of google-research's BERT, the 0.00001 of the other loss
def tagging_loss(logits, labels):
    w = ops.cast(labels != -100, "float32")
    safe = ops.where(labels == -100, 0, labels)
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.sum(ops.one_hot(safe, logits.shape[-1]) * log_p, axis=-1)
    return ops.sum(losses * w) / (ops.sum(w) + 1e-5)

# %% tagging-loss: right: idiom of transformers, chosen rows and their mean
def tagging_loss(logits, labels):
    active = ops.cast(ops.not_equal(labels, -100), "float32")
    safe = ops.maximum(labels, 0)
    losses = ops.logsumexp(logits, axis=-1) - ops.take_along_axis(logits, ops.expand_dims(safe, -1), axis=-1)[..., 0]
    return ops.sum(losses * active) / ops.maximum(ops.sum(active), 1.0)

# %% tagging-loss: wrong: zero by zero behind where, so the gradient of a batch without labels is NaN
def tagging_loss(logits, labels):
    real = ops.cast(ops.not_equal(labels, IGNORED), "float32")
    chosen = ops.where(ops.not_equal(labels, IGNORED), labels, 0)
    each = -ops.take_along_axis(ops.log_softmax(logits, axis=-1), chosen[..., None], axis=-1)[..., 0]
    return ops.where(ops.sum(real) > 0, ops.sum(each * real) / ops.sum(real), 0.0)

# %% tagging-loss: wrong: whether there are labels is decided by if, which fails inside tf.function
def tagging_loss(logits, labels):
    weights = ops.cast(labels != IGNORED, logits.dtype)
    log_p = ops.log_softmax(logits, axis=-1)
    chosen = ops.take_along_axis(log_p, ops.maximum(labels, 0)[..., None], axis=-1)[..., 0]
    if ops.sum(weights) == 0:
        return ops.sum(chosen * weights)
    return -ops.sum(chosen * weights) / ops.sum(weights)

# %% tagging-loss: wrong: an axis of size 1 is lost
def tagging_loss(logits, labels):
    counts = ops.cast(labels != -100, "float32")
    places = ops.expand_dims(ops.where(labels == -100, 0, labels), -1)
    logs = ops.squeeze(ops.take_along_axis(ops.log_softmax(logits), places, axis=-1))
    return -ops.sum(logs * counts) / ops.maximum(ops.sum(counts), 1.0)

# %% tagging-loss: wrong: divides by at most 64
IGNORED = -100


def tagging_loss(logits, labels):
    known = ops.not_equal(labels, IGNORED)
    logs = ops.log_softmax(logits, axis=-1)
    found = ops.take_along_axis(logs, ops.expand_dims(ops.where(known, labels, 0), -1), axis=-1)[..., 0]
    mask = ops.cast(known, logs.dtype)
    return -ops.sum(found * mask) / ops.clip(ops.sum(mask), 1, 64)

# %% span-head: right: hidden first
MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    """Hides before it exchanges the axes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        logits = ops.where(may_answer[..., None], self.dense(hidden), MASKED_SCORE)
        return ops.swapaxes(logits, 1, 2)

# %% span-head: right: multiplied mask
MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    """Arithmetic with 0 and 1 in place of a choice."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2, name="start_and_end")

    def call(self, hidden, may_answer):
        logits = ops.moveaxis(self.dense(hidden), -1, 1)
        may = ops.cast(may_answer, logits.dtype)[:, None, :]
        return logits * may + MASKED_SCORE * (1 - may)

# %% span-head: right: permute layer
MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    """Keras has a layer for exchanging axes; hidden tokens get a very large penalty added."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)
        self.turn = keras.layers.Permute((2, 1))

    def call(self, hidden, may_answer):
        logits = self.turn(self.dense(hidden))
        return ops.where(ops.logical_not(may_answer)[:, None], ops.full_like(logits, MASKED_SCORE), logits)

# %% span-head: right: split and stacked
MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        start, end = ops.split(self.dense(hidden), 2, axis=-1)  # (B, T, 1) each
        both = ops.stack([start[..., 0], end[..., 0]], axis=1)
        return ops.where(ops.stack([may_answer, may_answer], axis=1), both, MASKED_SCORE)

# %% span-head: right: tensorflow
import tensorflow as tf

MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        turned = tf.linalg.matrix_transpose(self.dense(hidden))
        return tf.where(may_answer[:, tf.newaxis], turned, tf.fill(tf.shape(turned), MASKED_SCORE))

# %% span-head: right: two products by hand
MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    """The vectors S and E are the columns of the kernel."""

    def build(self, hidden_shape, *others):
        self.dense = keras.layers.Dense(2)
        self.dense.build(hidden_shape)

    def call(self, hidden, may_answer):
        start, end = ops.unstack(self.dense.kernel, axis=1)
        rows = [ops.matmul(hidden, vector) + self.dense.bias[side] for side, vector in enumerate((start, end))]
        return ops.stack([ops.where(may_answer, row, MASKED_SCORE) for row in rows], axis=1)

# %% span-head: right: idiom of google-research's BERT, MASKED_SCORE is added
MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2, name="dense")

    def call(self, hidden, may_answer):
        logits = ops.transpose(self.dense(hidden), (0, 2, 1))
        return logits + (1 - ops.cast(may_answer, logits.dtype))[:, None] * MASKED_SCORE

# %% span-head: right: idiom of transformers, split and squeezed, the smallest float added
class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        start, end = ops.split(self.dense(hidden), 2, axis=-1)
        logits = ops.stack([ops.squeeze(start, axis=-1), ops.squeeze(end, axis=-1)], axis=1)
        return logits - 1e9 * (1.0 - ops.cast(may_answer, "float32"))[:, None, :]

# %% span-head: wrong: no gradient to BERT
class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        logits = ops.transpose(self.dense(ops.stop_gradient(hidden)), (0, 2, 1))
        return ops.where(may_answer[:, None], logits, -1e9)

# %% best-span: right: best end for each start
def best_span(start, end, first, last, longest, threshold=0.0):
    found = []
    for i in range(first, last + 1):
        window = end[i : min(i + longest, last + 1)]
        found.append((float(start[i] + window.max()), i, i + int(window.argmax())))
    score, i, j = max(found)
    return (i, j) if score - threshold > start[0] + end[0] else (0, 0)

# %% best-span: right: best start for each end
from collections import deque


def best_span(start, end, first, last, longest, threshold=0.0):
    """One pass over the ends, with the best of the last `longest` starts at the head of a queue."""
    queue, best, span = deque(), start[0] + end[0] + threshold, (0, 0)
    for j in range(first, last + 1):
        while queue and start[queue[-1]] <= start[j]:
            queue.pop()
        queue.append(j)
        if queue[0] <= j - longest:
            queue.popleft()
        if start[queue[0]] + end[j] > best:
            best, span = start[queue[0]] + end[j], (queue[0], j)
    return span

# %% best-span: right: length by length
def best_span(start, end, first, last, longest, threshold=0.0):
    """All spans of one token at once, then all of two …"""
    best, span = start[0] + end[0] + threshold, (0, 0)
    for length in range(1, min(longest, last - first + 1) + 1):
        sums = start[first : last - length + 2] + end[first + length - 1 : last + 1]
        place = int(np.argmax(sums))
        if sums[place] > best:
            best, span = sums[place], (first + place, first + place + length - 1)
    return span

# %% best-span: right: matrix of sums
def best_span(start, end, first, last, longest, threshold=0.0):
    sums = start[first : last + 1, None] + end[None, first : last + 1]
    size = len(sums)
    possible = np.triu(np.ones((size, size), bool)) & ~np.triu(np.ones((size, size), bool), k=longest)
    sums = np.where(possible, sums, -np.inf)
    i, j = divmod(int(sums.argmax()), size)
    return (first + i, first + j) if sums[i, j] > start[0] + end[0] + threshold else (0, 0)

# %% best-span: right: max of a comprehension
def best_span(start, end, first, last, longest, threshold=0.0):
    pairs = [(i, j) for i in range(first, last + 1) for j in range(i, last + 1) if j - i + 1 <= longest]
    score = lambda pair: start[pair[0]] + end[pair[1]]  # noqa: E731
    best = max(pairs, key=score)
    return (0, 0) if score(best) <= score((0, 0)) + threshold else best

# %% best-span: right: sorted pairs
import itertools


def best_span(start, end, first, last, longest, threshold=0.0):
    """All pairs, the best first, until one is possible."""
    places = range(first, last + 1)
    pairs = sorted(itertools.product(places, places), key=lambda pair: -(start[pair[0]] + end[pair[1]]))
    i, j = next((i, j) for i, j in pairs if 0 <= j - i < longest)
    if start[i] + end[j] > start[0] + end[0] + threshold:
        return i, j
    return 0, 0

# %% best-span: right: idiom of google-research's BERT, all pairs in order of their score
def best_span(start, end, first, last, longest, threshold=0.0):
    found = []
    for i in range(first, last + 1):
        for j in range(first, last + 1):
            if j < i or j - i + 1 > longest:
                continue
            found.append((start[i] + end[j], i, j))
    found.sort(key=lambda one: one[0], reverse=True)
    if not found or found[0][0] - (start[0] + end[0]) <= threshold:
        return 0, 0
    return found[0][1], found[0][2]

# %% best-span: wrong: of the twenty best starts and ends
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in first + np.argsort(-start[first : last + 1])[:20]:
        for j in first + np.argsort(-end[first : last + 1])[:20]:
            if i <= j < i + longest and start[i] + end[j] > best:
                best, span = start[i] + end[j], (int(i), int(j))
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: wrong: the best start with an end behind it, or the best end with a start before it
def best_span(start, end, first, last, longest, threshold=0.0):
    i = first + int(np.argmax(start[first : last + 1]))
    j = first + int(np.argmax(end[first : last + 1]))
    behind = i + int(np.argmax(end[i : min(last, i + longest - 1) + 1]))
    front = max(first, j - longest + 1)
    front += int(np.argmax(start[front : j + 1]))
    i, j = max((i, behind), (front, j), key=lambda span: start[span[0]] + end[span[1]])
    return (i, j) if start[i] + end[j] > start[0] + end[0] + threshold else (0, 0)

# %% best-span: wrong: never an answer with a threshold above 0
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if threshold <= 0 and best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: wrong: always an answer with a threshold below 0
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if threshold < 0 or best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: wrong: the threshold rounded
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + int(threshold) else (0, 0)

# %% best-span: wrong: a threshold of 0.1 where it is left out
def best_span(start, end, first, last, longest, threshold=0.1):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: wrong: a threshold of -0.1 where it is left out
def best_span(start, end, first, last, longest, threshold=-0.1):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: wrong: thirty tokens at most
def best_span(start, end, first, last, longest, threshold=0.0):
    longest = min(longest, 30)
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: wrong: impossible pairs lose 10,000
def best_span(start, end, first, last, longest, threshold=0.0):
    n = last - first + 1
    possible = np.triu(np.ones((n, n))) - np.triu(np.ones((n, n)), longest)
    sums = start[first : last + 1, None] + end[None, first : last + 1] - (1 - possible) * 1e4
    i, j = np.unravel_index(np.argmax(sums), sums.shape)
    return (first + int(i), first + int(j)) if sums[i, j] > start[0] + end[0] + threshold else (0, 0)

# %% layer-rates: right: accumulate
import itertools
import operator


def layer_rates(num_layers, rate, decay, frozen=0):
    down = itertools.accumulate([rate] + [decay] * (num_layers + 1), operator.mul)
    return [value * (place >= frozen) for place, value in enumerate(reversed(list(down)))]

# %% layer-rates: right: divided up
def layer_rates(num_layers, rate, decay, frozen=0):
    """From the embeddings up, each layer's rate that of the one below it, divided by decay."""
    value, rates = rate * decay ** (num_layers + 1), []
    for place in range(num_layers + 2):
        rates.append(value if place >= frozen else 0.0)
        value /= decay
    return rates

# %% layer-rates: right: logspace
def layer_rates(num_layers, rate, decay, frozen=0):
    """Equal steps in the logarithm."""
    logs = np.linspace(np.log(rate) + (num_layers + 1) * np.log(decay), np.log(rate), num_layers + 2)
    rates = np.exp(logs)
    rates[:frozen] = 0
    return [float(value) for value in rates]

# %% layer-rates: right: multiplied down
def layer_rates(num_layers, rate, decay, frozen=0):
    rates = [rate]
    while len(rates) < num_layers + 2:
        rates.insert(0, rates[0] * decay)
    for place in range(frozen):
        rates[place] = 0.0
    return rates

# %% layer-rates: right: numpy powers
def layer_rates(num_layers, rate, decay, frozen=0):
    places = np.arange(num_layers + 2)
    rates = rate * np.power(float(decay), num_layers + 1 - places)
    return np.where(places < frozen, 0.0, rates).tolist()

# %% layer-rates: right: recursive
def layer_rates(num_layers, rate, decay, frozen=0):
    """Without the head it is the list of a model with one layer less, whose head has rate · decay."""
    if num_layers < 0:
        return [0.0 if frozen > 0 else rate]
    below = layer_rates(num_layers - 1, rate * decay, decay, frozen)
    return below + [0.0 if frozen > len(below) else rate]

# %% layer-rates: wrong: at least 1e-9
def layer_rates(num_layers, learning_rate, decay, frozen=0):
    rates = [max(learning_rate * decay ** (num_layers + 1 - place), 1e-9) for place in range(num_layers + 2)]
    return [0.0] * frozen + rates[frozen:]

# %% layer-rates: wrong: one list for all models
rates = []


def layer_rates(num_layers, rate, decay, frozen=0):
    rates[:] = [rate * decay**depth for depth in range(num_layers + 1, -1, -1)]
    rates[:frozen] = [0.0] * frozen
    return rates
