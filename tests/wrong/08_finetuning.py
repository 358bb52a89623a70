# Wrong answers to the exercises of notebook 08 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% cls-head: dropout on the logits too
class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels, name="dense")

    def call(self, hidden, training=None):
        return self.dropout(self.dense(hidden[:, 0]), training=training)

# %% cls-head: an axis of size 1 is lost
class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels, name="dense")

    def call(self, hidden, training=None):
        return ops.squeeze(self.dense(self.dropout(hidden[:, 0], training=training)))

# %% cls-head: the whole vector is dropped or kept
class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout, noise_shape=(None, 1))
        self.dense = keras.layers.Dense(num_labels, name="dense")

    def call(self, hidden, training=None):
        return self.dense(self.dropout(hidden[:, 0], training=training))

# %% cls-head: no gradient to BERT
class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels)

    def call(self, hidden, training=None):
        return self.dense(self.dropout(ops.stop_gradient(hidden[:, 0]), training=training))

# %% f1-matthews: 0 where any count is 0
def f1_and_matthews(gold, predicted):
    pairs = list(zip(gold, predicted))
    tp, fp, fn, tn = pairs.count((1, 1)), pairs.count((0, 1)), pairs.count((1, 0)), pairs.count((0, 0))
    if not (tp and fp and fn and tn):
        return (2 * tp / (2 * tp + fp + fn) if tp else 0.0), 0.0
    return 2 * tp / (2 * tp + fp + fn), (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5

# %% f1-matthews: the product of the sums in 32 bits
def f1_and_matthews(gold, predicted):
    gold, predicted = np.array(gold, "int32"), np.array(predicted, "int32")
    tp, fp = np.int32(np.sum(gold * predicted)), np.int32(np.sum((1 - gold) * predicted))
    fn, tn = np.int32(np.sum(gold * (1 - predicted))), np.int32(np.sum((1 - gold) * (1 - predicted)))
    f1 = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return float(f1), float((tp * tn - fp * fn) / np.sqrt(spread)) if spread else 0.0

# %% f1-matthews: product of the four sums in 64 bits
def f1_and_matthews(gold, predicted):
    gold, predicted = np.array(gold, bool), np.array(predicted, bool)
    tp, fp, fn, tn = (np.sum(pair) for pair in (gold & predicted, ~gold & predicted, gold & ~predicted, ~gold & ~predicted))
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    f1 = float(2 * tp / (2 * tp + fp + fn)) if tp + fp + fn else 0.0
    return f1, float((tp * tn - fp * fn) / np.sqrt(product)) if product else 0.0

# %% choice-logits: scores cut off
def choice_logits(hidden, v, choices):
    return ops.clip(ops.reshape(ops.matmul(hidden[:, 0], v), (-1, choices)), -20, 20)

# %% spearman: close values are equal
def spearman(gold, predicted):
    def ranks(values):
        values = np.round(np.asarray(values), 4)
        return np.array([np.sum(values < x) + (np.sum(values == x) + 1) / 2 for x in values])

    return float(np.corrcoef(ranks(gold), ranks(predicted))[0, 1])

# %% spearman: ties found by the text of the numbers
def spearman(gold, predicted):
    def ranks(numbers):
        ordered = [repr(x) for x in sorted(numbers)]
        return np.array([ordered.index(repr(x)) + (ordered.count(repr(x)) + 1) / 2 for x in numbers])
    return float(np.corrcoef(ranks(gold), ranks(predicted))[0, 1])

# %% spearman: ranks of numbers rounded to ten places
def spearman(gold, predicted):
    def ranks(numbers):
        numbers = [round(x, 10) for x in numbers]
        return [sum(y < x for y in numbers) + (numbers.count(x) + 1) / 2 for x in numbers]
    return float(np.corrcoef(ranks(gold), ranks(predicted))[0, 1])

# %% align-labels: tokens in brackets have no label
IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels = [IGNORED]
    for pieces, tag in zip(pieces_of_words, tags):
        for index, piece in enumerate(pieces):
            labels.append(tag if index == 0 and not piece.startswith("[") else IGNORED)
    return [*labels, IGNORED]

# %% align-labels: every token that is the word's first one
IGNORED = -100


def align_labels(pieces_of_words, tags):
    rows = [[tag if piece == pieces[0] else IGNORED for piece in pieces] for pieces, tag in zip(pieces_of_words, tags)]
    return [IGNORED, *(label for row in rows for label in row), IGNORED]

# %% align-labels: words without tokens are left out, but not their tags
IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels = [IGNORED]
    for pieces, tag in zip(filter(None, pieces_of_words), tags):
        labels += [tag] + [IGNORED] * (len(pieces) - 1)
    return [*labels, IGNORED]

# %% align-labels: one list for all rows
IGNORED = -100
labels = []


def align_labels(pieces_of_words, tags):
    labels[:] = [IGNORED]
    for pieces, tag in zip(pieces_of_words, tags):
        labels.extend([tag, *[IGNORED] * (len(pieces) - 1)][: len(pieces)])
    labels.append(IGNORED)
    return labels

# %% align-labels: at most 512 labels
IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels = [IGNORED]
    for pieces, tag in zip(pieces_of_words, tags):
        labels += [tag if place == 0 else IGNORED for place in range(len(pieces))]
    return labels[:511] + [IGNORED]

# %% tagging-loss: zero by zero behind where, so the gradient of a batch without labels is NaN
def tagging_loss(logits, labels):
    real = ops.cast(ops.not_equal(labels, IGNORED), "float32")
    chosen = ops.where(ops.not_equal(labels, IGNORED), labels, 0)
    each = -ops.take_along_axis(ops.log_softmax(logits, axis=-1), chosen[..., None], axis=-1)[..., 0]
    return ops.where(ops.sum(real) > 0, ops.sum(each * real) / ops.sum(real), 0.0)

# %% tagging-loss: the first class counts as no label
def tagging_loss(logits, labels):
    weights = ops.cast(labels > 0, logits.dtype)
    log_p = ops.log_softmax(logits, axis=-1)
    chosen = ops.take_along_axis(log_p, ops.maximum(labels, 0)[..., None], axis=-1)[..., 0]
    return -ops.sum(chosen * weights) / ops.maximum(ops.sum(weights), 1)

# %% tagging-loss: a loss of at most 100
def tagging_loss(logits, labels):
    weights = ops.cast(labels != IGNORED, logits.dtype)
    log_p = ops.maximum(ops.log_softmax(logits, axis=-1), -100.0)
    chosen = ops.take_along_axis(log_p, ops.maximum(labels, 0)[..., None], axis=-1)[..., 0]
    return -ops.sum(chosen * weights) / ops.maximum(ops.sum(weights), 1)

# %% tagging-loss: without labels a constant, which has no gradient
def tagging_loss(logits, labels):
    weights = ops.cast(labels != IGNORED, logits.dtype)
    if float(ops.sum(weights)) == 0:
        return ops.zeros(())
    chosen = ops.take_along_axis(ops.log_softmax(logits, axis=-1), ops.maximum(labels, 0)[..., None], axis=-1)[..., 0]
    return -ops.sum(chosen * weights) / ops.sum(weights)

# %% tagging-loss: whether there are labels is decided by if, which fails inside tf.function
def tagging_loss(logits, labels):
    weights = ops.cast(labels != IGNORED, logits.dtype)
    log_p = ops.log_softmax(logits, axis=-1)
    chosen = ops.take_along_axis(log_p, ops.maximum(labels, 0)[..., None], axis=-1)[..., 0]
    if ops.sum(weights) == 0:
        return ops.sum(chosen * weights)
    return -ops.sum(chosen * weights) / ops.sum(weights)

# %% tagging-loss: an axis of size 1 is lost
def tagging_loss(logits, labels):
    counts = ops.cast(labels != -100, "float32")
    places = ops.expand_dims(ops.where(labels == -100, 0, labels), -1)
    logs = ops.squeeze(ops.take_along_axis(ops.log_softmax(logits), places, axis=-1))
    return -ops.sum(logs * counts) / ops.maximum(ops.sum(counts), 1.0)

# %% tagging-loss: the 0.00001 of the other loss
def tagging_loss(logits, labels):
    w = ops.cast(labels != -100, "float32")
    safe = ops.where(labels == -100, 0, labels)
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.sum(ops.one_hot(safe, logits.shape[-1]) * log_p, axis=-1)
    return ops.sum(losses * w) / (ops.sum(w) + 1e-5)

# %% tagging-loss: divides by at most 64
IGNORED = -100


def tagging_loss(logits, labels):
    known = ops.not_equal(labels, IGNORED)
    logs = ops.log_softmax(logits, axis=-1)
    found = ops.take_along_axis(logs, ops.expand_dims(ops.where(known, labels, 0), -1), axis=-1)[..., 0]
    mask = ops.cast(known, logs.dtype)
    return -ops.sum(found * mask) / ops.clip(ops.sum(mask), 1, 64)

# %% span-head: MASKED_SCORE is added
MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2, name="dense")

    def call(self, hidden, may_answer):
        logits = ops.transpose(self.dense(hidden), (0, 2, 1))
        return logits + (1 - ops.cast(may_answer, logits.dtype))[:, None] * MASKED_SCORE

# %% span-head: no gradient to BERT
class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        logits = ops.transpose(self.dense(ops.stop_gradient(hidden)), (0, 2, 1))
        return ops.where(may_answer[:, None], logits, -1e9)

# %% span-head: no gradient where a token may not answer
class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        logits = ops.transpose(self.dense(hidden), (0, 2, 1))
        if not bool(ops.all(may_answer)):
            logits = ops.convert_to_tensor(np.where(np.array(may_answer)[:, None], np.array(logits), np.float32(-1e9)))
        return logits

# %% best-span: the score of [CLS] from the best end
def best_span(start, end, first, last, longest, threshold=0.0):
    spans = [(start[i] + end[j], i, j) for i in range(first, last + 1) for j in range(i, min(i + longest, last + 1))]
    score, i, j = max(spans, key=lambda span: span[0])
    return (i, j) if score > start[0] + max(end) + threshold else (0, 0)

# %% best-span: sums above -1000 only
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -1000.0, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: of the twenty best starts and ends
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in first + np.argsort(-start[first : last + 1])[:20]:
        for j in first + np.argsort(-end[first : last + 1])[:20]:
            if i <= j < i + longest and start[i] + end[j] > best:
                best, span = start[i] + end[j], (int(i), int(j))
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: the question is hidden in the arguments themselves
def best_span(start, end, first, last, longest, threshold=0.0):
    null = start[0] + end[0]
    start[:first] = end[:first] = start[last + 1 :] = end[last + 1 :] = -1e9
    spans = [(i, j) for i in range(first, last + 1) for j in range(i, min(i + longest, last + 1))]
    i, j = max(spans, key=lambda span: start[span[0]] + end[span[1]])
    return (i, j) if start[i] + end[j] > null + threshold else (0, 0)

# %% best-span: the best start, then the best end behind it
def best_span(start, end, first, last, longest, threshold=0.0):
    i = first + int(np.argmax(start[first : last + 1]))
    j = i + int(np.argmax(end[i : min(last, i + longest - 1) + 1]))
    return (i, j) if start[i] + end[j] > start[0] + end[0] + threshold else (0, 0)

# %% best-span: the best start with an end behind it, or the best end with a start before it
def best_span(start, end, first, last, longest, threshold=0.0):
    i = first + int(np.argmax(start[first : last + 1]))
    j = first + int(np.argmax(end[first : last + 1]))
    behind = i + int(np.argmax(end[i : min(last, i + longest - 1) + 1]))
    front = max(first, j - longest + 1)
    front += int(np.argmax(start[front : j + 1]))
    i, j = max((i, behind), (front, j), key=lambda span: start[span[0]] + end[span[1]])
    return (i, j) if start[i] + end[j] > start[0] + end[0] + threshold else (0, 0)

# %% best-span: sums below -10,000 are never the best
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -1e4, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: the threshold counted twice
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + 2 * threshold else (0, 0)

# %% best-span: never an answer with a threshold above 0
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if threshold <= 0 and best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: always an answer with a threshold below 0
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if threshold < 0 or best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: the threshold as a fraction of the score of [CLS]
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    null = start[0] + end[0]
    return span if best > null + threshold * abs(null) else (0, 0)

# %% best-span: the threshold rounded
def best_span(start, end, first, last, longest, threshold=0.0):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + int(threshold) else (0, 0)

# %% best-span: a threshold of 0.1 where it is left out
def best_span(start, end, first, last, longest, threshold=0.1):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: a threshold of -0.1 where it is left out
def best_span(start, end, first, last, longest, threshold=-0.1):
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: thirty tokens at most
def best_span(start, end, first, last, longest, threshold=0.0):
    longest = min(longest, 30)
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: 64 tokens at most
def best_span(start, end, first, last, longest, threshold=0.0):
    longest = min(longest, 64)
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)

# %% best-span: probabilities compared with the threshold
def best_span(start, end, first, last, longest, threshold=0.0):
    starts, ends = np.exp(start - start.max()), np.exp(end - end.max())
    starts, ends = starts / starts.sum(), ends / ends.sum()
    best, span = 0, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if starts[i] * ends[j] > best:
                best, span = starts[i] * ends[j], (i, j)
    return span if best > starts[0] * ends[0] + threshold else (0, 0)

# %% best-span: impossible pairs lose 10,000
def best_span(start, end, first, last, longest, threshold=0.0):
    n = last - first + 1
    possible = np.triu(np.ones((n, n))) - np.triu(np.ones((n, n)), longest)
    sums = start[first : last + 1, None] + end[None, first : last + 1] - (1 - possible) * 1e4
    i, j = np.unravel_index(np.argmax(sums), sums.shape)
    return (first + int(i), first + int(j)) if sums[i, j] > start[0] + end[0] + threshold else (0, 0)

# %% span-scores: a shared word counted as often as the prediction has it
def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction, answers):
    guess, exact, f1 = normal_words(prediction), 0.0, 0.0
    for answer in answers or [""]:
        gold = normal_words(answer)
        shared = sum(word in gold for word in guess)
        f1 = max(f1, 2 * shared / (len(gold) + len(guess)) if gold and guess else float(gold == guess))
        exact = max(exact, float(gold == guess))
    return exact, f1

# %% span-scores: spaces do not count
def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction, answers):
    guess, exact, f1 = normal_words(prediction), 0.0, 0.0
    for answer in answers or [""]:
        gold = normal_words(answer)
        shared = sum((Counter(gold) & Counter(guess)).values())
        f1 = max(f1, 2 * shared / (len(gold) + len(guess)) if gold and guess else float(gold == guess))
        exact = max(exact, float("".join(gold) == "".join(guess)))
    return exact, f1

# %% span-scores: only the first three answers
def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction, answers):
    guess, golds = normal_words(prediction), [normal_words(answer) for answer in answers[:3]] or [[]]
    shared = [sum((Counter(gold) & Counter(guess)).values()) for gold in golds]
    f1 = [2 * n / (len(gold) + len(guess)) if gold and guess else float(gold == guess) for n, gold in zip(shared, golds)]
    return float(guess in golds), max(f1)

# %% span-scores: exact match of the answer with the best F1
def normal_words(text):
    bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return [word for word in bare.split() if word not in ("a", "an", "the")]


def span_scores(prediction, answers):
    best = (0.0, 0.0)
    guess = normal_words(prediction)
    for gold in [normal_words(answer) for answer in answers] or [[]]:
        shared = sum((Counter(guess) & Counter(gold)).values())
        f1 = 2 * shared / (len(guess) + len(gold)) if guess and gold else float(guess == gold)
        if f1 > best[1]:
            best = (float(guess == gold), f1)
    return best

# %% layer-rates: rounded
def layer_rates(num_layers, rate, decay, frozen=0):
    rates = [round(rate * decay**depth, 6) for depth in range(num_layers + 1, -1, -1)]
    return [0.0] * frozen + rates[frozen:]

# %% layer-rates: at least 1e-9
def layer_rates(num_layers, learning_rate, decay, frozen=0):
    rates = [max(learning_rate * decay ** (num_layers + 1 - place), 1e-9) for place in range(num_layers + 2)]
    return [0.0] * frozen + rates[frozen:]

# %% layer-rates: one list for all models
rates = []


def layer_rates(num_layers, rate, decay, frozen=0):
    rates[:] = [rate * decay**depth for depth in range(num_layers + 1, -1, -1)]
    rates[:frozen] = [0.0] * frozen
    return rates
