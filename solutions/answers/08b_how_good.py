# Other answers to the exercises of notebook 08: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% f1-matthews: right: bit arithmetic
def f1_and_matthews(gold, predicted):
    """The sums of g, p and g·p and the number of rows say everything."""
    n, g, p = len(gold), sum(gold), sum(predicted)
    both = sum(a & b for a, b in zip(gold, predicted))
    below = g * (n - g) * p * (n - p)
    return 2 * both / max(g + p, 1), (n * both - g * p) / below**0.5 if below else 0.0

# %% f1-matthews: right: confusion matrix
def f1_and_matthews(gold, predicted):
    """A 2 × 2 table: its determinant is the numerator of Matthews' figure, its margins the denominator."""
    table = np.zeros((2, 2))
    np.add.at(table, (gold, predicted), 1)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    margins = rows.prod() * columns.prod()
    f1 = 2 * table[1, 1] / (rows[1] + columns[1]) if rows[1] + columns[1] else 0.0
    determinant = table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0]
    return float(f1), float(determinant / margins**0.5) if margins else 0.0

# %% f1-matthews: right: correlation of rows
def f1_and_matthews(gold, predicted):
    """Matthews' figure is Pearson's correlation of two rows of 0 and 1."""
    gold, predicted = np.array(gold, "float64"), np.array(predicted, "float64")
    both = gold.sum() + predicted.sum()
    f1 = 2 * (gold * predicted).sum() / both if both else 0.0
    constant = gold.std() < 1e-9 or predicted.std() < 1e-9
    return f1, 0.0 if constant else np.corrcoef(gold, predicted)[0, 1]

# %% f1-matthews: right: counter
def f1_and_matthews(gold, predicted):
    cells = Counter(zip(gold, predicted))
    hits, misses, alarms, rest = cells[1, 1], cells[1, 0], cells[0, 1], cells[0, 0]
    f1 = hits / (hits + (misses + alarms) / 2) if hits else 0.0
    product = 1
    for total in (hits + misses, hits + alarms, rest + misses, rest + alarms):
        product *= total
    return f1, (hits * rest - misses * alarms) / np.sqrt(product) if product else 0.0

# %% f1-matthews: right: loop with four counts
def f1_and_matthews(gold, predicted):
    tp = fp = fn = tn = 0
    for truth, guess in zip(gold, predicted):
        if truth and guess:
            tp += 1
        elif guess:
            fp += 1
        elif truth:
            fn += 1
        else:
            tn += 1
    try:
        f1 = 2 * tp / (2 * tp + fp + fn)
    except ZeroDivisionError:
        f1 = 0.0
    try:
        matthews = (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    except ZeroDivisionError:
        matthews = 0.0
    return f1, matthews

# %% f1-matthews: right: precision and recall
def f1_and_matthews(gold, predicted):
    """F1 from precision and recall; Matthews' figure from informedness and markedness."""

    def share(of, among):
        chosen = [a for a, b in zip(of, among) if b]
        return sum(chosen) / len(chosen) if chosen else None

    precision, recall = share(gold, predicted), share(predicted, gold)
    false_alarms = share(predicted, [1 - g for g in gold])
    false_omissions = share(gold, [1 - p for p in predicted])
    f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
    if None in (precision, recall, false_alarms, false_omissions):
        return f1, 0.0
    informed, marked = recall - false_alarms, precision - false_omissions
    size = abs(informed * marked) ** 0.5
    return f1, size if informed > 0 else -size

# %% f1-matthews: right: idiom of scikit-learn, precision and recall first
def f1_and_matthews(gold, predicted):
    gold, predicted = np.array(gold, "int64"), np.array(predicted, "int64")
    tp, fp = int(np.sum(predicted & gold)), int(np.sum(predicted & (1 - gold)))
    fn, tn = int(np.sum((1 - predicted) & gold)), int(np.sum((1 - predicted) & (1 - gold)))
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    root = float((tp + fp) * (tp + fn)) ** 0.5 * float((tn + fp) * (tn + fn)) ** 0.5
    return f1, (tp * tn - fp * fn) / root if root else 0.0

# %% spearman: right: groups of equals
import itertools


def spearman(gold, predicted):
    def rank(values):
        ranks, begun = {}, 1
        for value, group in itertools.groupby(sorted(values)):
            size = len(list(group))
            ranks[value] = begun + (size - 1) / 2
            begun += size
        return np.array([ranks[value] for value in values])

    a, b = rank(gold), rank(predicted)
    return float(np.cov(a, b)[0, 1] / (a.std(ddof=1) * b.std(ddof=1)))

# %% spearman: right: signs of differences
def spearman(gold, predicted):
    """The sum of the signs of all differences is twice the rank, shifted: correlation does not mind."""
    places = []
    for values in (np.array(gold), np.array(predicted)):
        places.append(np.sign(values[:, None] - values[None, :]).sum(axis=1))
    a, b = places
    return float(a @ b / np.sqrt(a @ a) / np.sqrt(b @ b))

# %% spearman: right: sorted and index
def spearman(gold, predicted):
    def rank(values):
        ordered = sorted(values)
        return [ordered.index(x) + (1 + ordered.count(x)) / 2 for x in values]

    a, b = rank(gold), rank(predicted)
    mean = (len(a) + 1) / 2
    together = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    apart = (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5
    return together / apart

# %% spearman: right: sorted from both ends
def spearman(gold, predicted):
    """The mean of the places that searching from the left and from the right gives."""

    def rank(values):
        ordered = np.sort(values)
        return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2

    a, b = rank(gold), rank(predicted)
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    return float(np.mean(a * b))

# %% spearman: right: unique
def spearman(gold, predicted):
    rows = []
    for values in (gold, predicted):
        _, group, size = np.unique(values, return_inverse=True, return_counts=True)
        rows.append((np.cumsum(size) - (size - 1) / 2)[group])
    return np.corrcoef(rows)[0, 1]

# %% spearman: wrong: ties found by the text of the numbers
def spearman(gold, predicted):
    def ranks(numbers):
        ordered = [repr(x) for x in sorted(numbers)]
        return np.array([ordered.index(repr(x)) + (ordered.count(repr(x)) + 1) / 2 for x in numbers])
    return float(np.corrcoef(ranks(gold), ranks(predicted))[0, 1])

# %% spearman: wrong: ranks of numbers rounded to ten places
def spearman(gold, predicted):
    def ranks(numbers):
        numbers = [round(x, 10) for x in numbers]
        return [sum(y < x for y in numbers) + (numbers.count(x) + 1) / 2 for x in numbers]
    return float(np.corrcoef(ranks(gold), ranks(predicted))[0, 1])

# %% span-scores: right: beads removed
def normal_words(text):
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    return [word for word in kept.split() if word not in {"a", "an", "the"}]


def span_scores(prediction, answers):
    guess, best = normal_words(prediction), (0.0, 0.0)
    for answer in answers or [""]:
        left = normal_words(answer)
        size, exact = len(left), left == guess
        shared = 0
        for word in guess:
            if word in left:
                left.remove(word)
                shared += 1
        f1 = 2 * shared / (size + len(guess)) if shared else float(exact)
        best = max(best[0], float(exact)), max(best[1], f1)
    return best

# %% span-scores: right: count of each word
def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction, answers):
    def one(answer):
        a, b = normal_words(prediction), normal_words(answer)
        if not (a and b):
            return float(a == b), float(a == b)
        shared = sum(min(a.count(word), b.count(word)) for word in set(a))
        return float(a == b), shared / ((len(a) + len(b)) / 2)

    both = np.array([one(answer) for answer in answers or [""]]).max(axis=0)
    return float(both[0]), float(both[1])

# %% span-scores: right: precision and recall
def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def f1_of(guess, gold):
    shared = (Counter(gold) & Counter(guess)).total()
    if shared == 0:
        return 1.0 if guess == gold else 0.0
    precision, recall = shared / len(guess), shared / len(gold)
    return 2 / (1 / precision + 1 / recall)


def span_scores(prediction, answers):
    guess = normal_words(prediction)
    golds = [normal_words(answer) for answer in answers] if answers else [[]]
    return 1.0 if guess in golds else 0.0, max(f1_of(guess, gold) for gold in golds)

# %% span-scores: right: two pointers
def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction, answers):
    """Both lists sorted, walked along side by side."""
    scores = []
    for answer in answers or ("",):
        left, right = sorted(normal_words(prediction)), sorted(normal_words(answer))
        i = j = shared = 0
        while i < len(left) and j < len(right):
            if left[i] == right[j]:
                shared, i, j = shared + 1, i + 1, j + 1
            elif left[i] < right[j]:
                i += 1
            else:
                j += 1
        exact = normal_words(prediction) == normal_words(answer)
        scores.append((float(exact), 2 * shared / (len(left) + len(right)) if left and right else float(exact)))
    return max(exact for exact, _ in scores), max(f1 for _, f1 in scores)

# %% span-scores: right: vectors of counts
def normal_words(text):
    words = re.findall(r"\S+", re.sub("[" + re.escape(string.punctuation) + "]", "", text.lower()))
    return list(filter(lambda word: word not in ("a", "an", "the"), words))


def span_scores(prediction, answers):
    """Bags as vectors over all words: shared is the sum of the smaller entries."""
    texts = [normal_words(text) for text in (prediction, *(answers or [""]))]
    vocabulary = sorted({word for text in texts for word in text})
    bags = np.array([[text.count(word) for word in vocabulary] for text in texts]).reshape(len(texts), -1)
    shared, sizes = np.minimum(bags[0], bags[1:]).sum(axis=1), bags.sum(axis=1)
    exact = [float(text == texts[0]) for text in texts[1:]]
    f1 = [2 * s / (sizes[0] + n) if s else e for s, n, e in zip(shared, sizes[1:], exact)]
    return max(exact), float(max(f1))

# %% span-scores: wrong: spaces do not count
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

# %% span-scores: wrong: only the first three answers
def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction, answers):
    guess, golds = normal_words(prediction), [normal_words(answer) for answer in answers[:3]] or [[]]
    shared = [sum((Counter(gold) & Counter(guess)).values()) for gold in golds]
    f1 = [2 * n / (len(gold) + len(guess)) if gold and guess else float(gold == guess) for n, gold in zip(shared, golds)]
    return float(guess in golds), max(f1)

# %% span-scores: wrong: exact match of the answer with the best F1
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


# %% paired-bootstrap: right: round by round
def paired_bootstrap(a, b, drawn):
    differences = []
    for rows in drawn:
        differences.append(sum(b[row] for row in rows) / len(rows) - sum(a[row] for row in rows) / len(rows))
    worse = [difference for difference in differences if difference <= 0]
    return np.quantile(differences, 0.025), np.quantile(differences, 0.975), len(worse) / len(differences)


# %% paired-bootstrap: right: differences of the examples first
def paired_bootstrap(a, b, drawn):
    gains = np.array(b) - np.array(a)
    means = np.mean(gains[np.array(drawn)], axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return low, high, 1 - np.mean(means > 0)


# %% paired-bootstrap: right: how often each example is drawn
def paired_bootstrap(a, b, drawn):
    counts = np.stack([np.bincount(rows, minlength=len(a)) for rows in drawn])
    differences = (counts @ np.array(b) - counts @ np.array(a)) / len(a)
    return (*np.quantile(differences, [0.025, 0.975]), float(np.count_nonzero(differences <= 0)) / len(differences))


# %% paired-bootstrap: wrong: each example once in a round
def paired_bootstrap(a, b, drawn):
    differences = np.array([np.mean([b[row] - a[row] for row in set(rows)]) for rows in drawn])
    low, high = np.percentile(differences, [2.5, 97.5])
    return low, high, np.mean(differences <= 0)
