"""Readers from before attention, and attention, on the questions of notebook P.

    python -m benchmarks.training.before_transformers

bag: counts of words; cbow: the mean of their vectors; rnn, lstm, attention: networks of 32 units (attention: a BERT of
2 layers). A recurrent one begins as in Keras (rnn: an orthogonal U; lstm: a forget bias of 1) or otherwise ("rnn,
small U": half of that U; "lstm, bias 3"). Each learns for 400 steps of 32 rows, with three seeds; tasks with five.
Experiments:

recall     which of two countries came first? question: how many words ago
order      who acts? Two sentences with the same words have different answers (`small_world.who_acts`)
words      of a word's three nearest by cosine, the fraction of its own class, after learning to predict words
tasks      who acts, of 200 labelled sentences: alone, with relations as tags from the last layer, or from the first;
           250 steps
transfer   questions to frozen vectors of sentences, before and after learning inference (`inference_pairs`)

Writes before_transformers.csv, a row for each run as it ends; started again, it resumes.

Supports: solutions/P_before_transformers.py, "python -m benchmarks.training.before_transformers".
"""

import csv
import itertools
import time
from functools import cache, partial
from pathlib import Path

import click
import numpy as np

from bertlab.common.backend import load_backend
from bertlab.data import small_world

COLUMNS = ("experiment", "reader", "question", "seed", "value", "cpu_seconds")
STEPS, BATCH, WIDTH, LAYERS, HEADS = 400, 32, 32, 2, 4
RATES = {"attention": 3e-3}  # all others 1e-2
PLACES, FILLERS = 8, 24  # words of the experiment `recall`
PAD = len(small_world.WORDS)  # the id of "", after the end of a sentence
FIRST = PAD + 1  # the id of what BERT has as [CLS]
RECALL = {
    "cbow": (16,), "rnn": (8, 16, 32, 64), "rnn, small U": (8, 16, 32, 64), "lstm": (8, 16, 32, 64),
    "lstm, bias 3": (16, 32, 64), "attention": (16, 64),
}  # fmt: skip


# === Rows ===


def recall_rows(distance: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """ids (N, distance + 1), answers (N,): the first word is a place, another place is later, the last word asks."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(PLACES, PLACES + FILLERS, size=(count, distance + 1))
    ids[:, 0] = rng.integers(PLACES, size=count)
    later = rng.integers(1, distance, size=count)
    ids[np.arange(count), later] = (ids[:, 0] + rng.integers(1, PLACES, size=count)) % PLACES
    ids[:, -1] = PLACES + FILLERS
    return ids.astype("int32"), ids[:, 0].astype("int32")


def sentence_rows(sentences, longest: int = small_world.LONGEST) -> np.ndarray:
    return small_world.word_ids(sentences, longest).astype("int32")


def neighbours(ids: np.ndarray, window: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each word's context (M, 2 · window), where it is real (M, 2 · window), and the word (M,)."""
    padded = np.pad(ids, ((0, 0), (window, window)), constant_values=PAD)
    shifts = [shift for shift in range(2 * window + 1) if shift != window]
    context = np.stack([padded[:, shift : shift + ids.shape[1]] for shift in shifts], axis=-1)
    real = ids < PAD
    return context[real], (context[real] < PAD).astype("int32"), ids[real]


# === Models ===


def reader_of(kind: str, vocabulary: int):
    """A Keras model: `states` of all words (B, T, D); called, a vector for each row (B, D), of attention the last."""
    import keras
    from keras import ops

    from bertlab.layers.encoder import Encoder
    from bertlab.training.baselines.models import RecurrentStack
    from bertlab.training.baselines.texts import mean_of_real

    small = keras.initializers.RandomNormal(stddev=0.1)
    base, _, start = kind.partition(", ")

    class Reader(keras.Model):
        def __init__(self):
            super().__init__()
            self.words = keras.layers.Embedding(vocabulary, WIDTH, embeddings_initializer=small)
            self.words.build(None)
            if base in ("rnn", "lstm", "bilstm"):
                self.recurrent = RecurrentStack(base, WIDTH, WIDTH)
            if base == "attention":
                self.positions = self.add_weight(shape=(80, WIDTH), initializer=small)
                self.encoder = Encoder(LAYERS, HEADS, 2 * WIDTH, dropout=0.0, initializer_range=WIDTH**-0.5)
                self.encoder(ops.zeros((1, 2, WIDTH)))
            if start == "small U":
                cell = self.recurrent.layers_[0].cell
                cell.recurrent_kernel.assign(0.5 * cell.recurrent_kernel)
            if start == "bias 3":
                cell = self.recurrent.layers_[0].cell
                cell.bias.assign(3 * cell.bias)  # Keras begins with 1 for the forget gate, 0 for the others
            self.built = True

        def layers_of(self, ids, is_real):
            """The states after each layer of attention."""
            states, x = [], self.words(ids) + self.positions[: ids.shape[1]]
            for layer in self.encoder.layers_:
                x = layer(x, attention_mask=is_real[:, None])
                states.append(x)
            return states

        def states(self, ids, is_real):
            if base == "attention":
                return self.layers_of(ids, is_real)[-1]
            return self.recurrent(self.words(ids), is_real)

        def call(self, ids, is_real):
            if base == "bag":
                return ops.sum(ops.one_hot(ids, vocabulary) * ops.cast(is_real, "float32")[..., None], axis=1)
            if base == "cbow":
                return mean_of_real(self.words(ids), is_real)
            states = self.states(ids, is_real)
            if base != "attention":
                return self.recurrent.pooled(states, is_real)
            last = ops.sum(ops.cast(is_real, "int32"), axis=1) - 1
            return ops.take_along_axis(states, last[:, None, None], axis=1)[:, 0]

    return Reader()


def train(weights: list, loss_of, rows: tuple, seed: int, rate: float, steps: int = STEPS) -> None:
    """Adam with a rate that falls to 0, on `BATCH` rows at a time. loss_of: a batch's arrays → its loss."""
    import keras
    import tensorflow as tf

    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(rate, steps), clipnorm=1.0)
    optimizer.build(weights)
    variables = [weight.value for weight in weights]
    rng, rows = np.random.default_rng(seed), [tf.constant(array) for array in rows]

    @tf.function
    def step(chosen):
        with tf.GradientTape() as tape:
            loss = loss_of(*(tf.gather(array, chosen) for array in rows))
        gradients = tape.gradient(loss, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        optimizer.apply(gradients, weights)

    for _ in range(steps):
        step(tf.constant(rng.integers(len(rows[0]), size=BATCH).astype("int32")))


def cross_entropy(labels, logits):
    import keras

    return keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)


def classified(kind: str, seed: int, train_rows, held_out, vocabulary: int, classes: int) -> float:
    """The accuracy on held-out rows of a reader that learns to classify rows."""
    import keras
    import tensorflow as tf
    from keras import ops

    keras.utils.set_random_seed(seed)
    reader, head = reader_of(kind, vocabulary), keras.layers.Dense(classes)

    def logits(ids):
        return head(reader(ids, ops.not_equal(ids, PAD)))

    logits(tf.constant(train_rows[0][:1]))
    weights = reader.trainable_variables + head.trainable_variables
    train(
        weights,
        lambda ids, labels: ops.mean(cross_entropy(labels, logits(ids))),
        train_rows,
        seed,
        RATES.get(kind, 1e-2),
    )
    return float((np.argmax(tf.function(logits)(tf.constant(held_out[0])), axis=-1) == held_out[1]).mean())


# === Experiments: each yields (reader, question, function of a seed → value) ===


def recall():
    for kind, distances in RECALL.items():
        for distance in distances:
            rows, held_out = recall_rows(distance, 20_000, 0), recall_rows(distance, 1000, 1)
            yield (
                kind,
                distance,
                lambda seed, kind=kind, rows=rows, held_out=held_out: classified(
                    kind, seed, rows, held_out, PLACES + FILLERS + 1, PLACES
                ),
            )


def order():
    data = []
    for seed, count in ((0, 1500), (9, 500)):
        sentences, labels = small_world.who_acts(seed, count)
        data.append((sentence_rows(sentences, 13), labels.astype("int32")))
    for kind in ("bag", "cbow", "rnn", "lstm", "attention"):
        yield kind, "", lambda seed, kind=kind: classified(kind, seed, *data, PAD + 1, 2)


def words():
    ids = sentence_rows(small_world.sample(0, 20_000))
    for kind in ("cbow", "rnn", "lstm", "attention"):
        yield kind, "", lambda seed, kind=kind: _nearest_of_own_class(_word_vectors(kind, ids, seed))


def _word_vectors(kind: str, ids: np.ndarray, seed: int) -> np.ndarray:
    """The input vectors (V, D) after learning to predict words: from neighbours, from the left, or behind a mask."""
    import keras
    from keras import ops

    keras.utils.set_random_seed(seed)
    reader, head = reader_of(kind, FIRST + 1), keras.layers.Dense(PAD)
    head.build((None, WIDTH))
    weights = reader.trainable_variables + head.trainable_variables
    if kind == "cbow":
        rows = neighbours(ids)
        train(weights, lambda c, r, t: ops.mean(cross_entropy(t, head(reader(c, ops.equal(r, 1))))), rows, seed, 1e-2)
        return ops.convert_to_numpy(reader.words.embeddings)[:PAD]
    if kind == "attention":  # two words of each sentence are hidden; FIRST serves as [MASK]; three times the steps
        rng = np.random.default_rng(seed)
        places = np.argsort(np.where(ids < PAD, rng.random(ids.shape), 2.0), axis=1)[:, :2].astype("int32")
        hidden, targets = ids.copy(), np.take_along_axis(ids, places, axis=1)
        np.put_along_axis(hidden, places, FIRST, axis=1)

        def masked_loss(ids, places, targets):
            states = ops.take_along_axis(reader.states(ids, ops.not_equal(ids, PAD)), places[..., None], axis=1)
            return ops.mean(cross_entropy(targets, head(states)))

        train(weights, masked_loss, (hidden, places, targets), seed, 3e-3, 3 * STEPS)
        return ops.convert_to_numpy(reader.words.embeddings)[:PAD]

    def next_loss(ids):
        is_real = ops.cast(ops.not_equal(ids[:, 1:], PAD), "float32")
        states = reader.states(ids[:, :-1], ops.not_equal(ids[:, :-1], PAD))
        losses = cross_entropy(ops.minimum(ids[:, 1:], PAD - 1), head(states))
        return ops.sum(losses * is_real) / ops.sum(is_real)

    train(weights, next_loss, (ids,), seed, 1e-2)
    return ops.convert_to_numpy(reader.words.embeddings)[:PAD]


def _nearest_of_own_class(vectors: np.ndarray, nearest: int = 3) -> float:
    """The mean over words with at least three others that the same states of the grammar write."""
    classes = [column.tobytes() for column in np.ascontiguousarray(small_world.automaton().writes.T[:PAD] > 0)]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T - 3 * np.eye(PAD)
    found = [
        np.mean([classes[other] == classes[word] for other in np.argsort(-cosines[word])[:nearest]])
        for word in range(PAD)
        if classes.count(classes[word]) > nearest
    ]
    return float(np.mean(found))


def tasks():
    sentences, labels = small_world.who_acts(0, 100)
    held_out, answers = small_world.who_acts(9, 500)
    names = sorted({name for sentence in small_world.sample(0, 1000) for name in sentence.relations})
    ids = np.pad(sentence_rows(sentences, 13), ((0, 0), (1, 0)), constant_values=FIRST)
    tests = np.pad(sentence_rows(held_out, 13), ((0, 0), (1, 0)), constant_values=FIRST)
    tags = np.full(ids.shape, -1, "int32")
    for row, sentence in zip(tags, sentences):
        row[1 : 1 + len(sentence)] = [names.index(name) for name in sentence.relations]
    rows = (ids, tags, labels.astype("int32"))
    for way, layer in (("alone", 0), ("both at the top", LAYERS), ("tags at layer 1", 1)):
        yield way, "", lambda seed, layer=layer: _two_tasks(seed, rows, layer, len(names), tests, answers)


def _two_tasks(seed: int, rows: tuple, layer: int, tag_names: int, tests: np.ndarray, answers: np.ndarray) -> float:
    import keras
    import tensorflow as tf
    from keras import ops

    keras.utils.set_random_seed(seed)
    reader = reader_of("attention", FIRST + 1)
    heads = keras.layers.Dense(tag_names), keras.layers.Dense(2)
    for head in heads:
        head.build((None, WIDTH))

    def loss(ids, tags, labels):
        states = reader.layers_of(ids, ops.not_equal(ids, PAD))
        total = ops.mean(cross_entropy(labels, heads[1](states[-1][:, 0])))
        if layer:
            tagged = ops.cast(tags >= 0, "float32")
            of_tags = cross_entropy(ops.maximum(tags, 0), heads[0](states[layer - 1]))
            total = total + ops.sum(of_tags * tagged) / ops.sum(tagged)
        return total

    weights = [*reader.trainable_variables, *heads[1].trainable_variables]
    train([*weights, *(heads[0].trainable_variables if layer else ())], loss, rows, seed, 3e-3, 250)
    logits = tf.function(lambda ids: heads[1](reader.layers_of(ids, ops.not_equal(ids, PAD))[-1][:, 0]))
    return float((np.argmax(logits(tf.constant(tests)), axis=-1) == answers).mean())


def transfer():
    first, second, labels = small_world.inference_pairs(0, 6000)
    rows = sentence_rows(first), sentence_rows(second, 6), labels.astype("int32")
    sentences = small_world.sample(1, 3000)
    asked = {
        "scene": [sentence.scene for sentence in sentences],
        "subject": [sentence.states[0].number for sentence in sentences],
        "negation": [sentence.states[0].polarity for sentence in sentences],
    }
    acting, who = small_world.who_acts(1, 1500)
    questions = {
        name: (sentence_rows(sentences), np.unique(values, return_inverse=True)[1]) for name, values in asked.items()
    }
    questions["who acts"] = sentence_rows(acting, 13), who
    for reader in ("bag", "untrained", "inference"):
        vectors = cache(partial(_sentence_vectors, reader, rows))  # of a seed: made once for all questions
        for name, data in questions.items():
            yield reader, name, lambda seed, data=data, vectors=vectors: _asked(vectors(seed), *data)


def _sentence_vectors(reader: str, rows: tuple, seed: int):
    """A function: ids (N, T) → vectors (N, D) of a BiLSTM with max pooling (2 · 32 units), or of a bag."""
    import keras
    import tensorflow as tf
    from keras import ops

    from bertlab.training.baselines.texts import pair_features

    keras.utils.set_random_seed(seed)
    model, head = reader_of("bag" if reader == "bag" else "bilstm", PAD + 1), keras.layers.Dense(3)

    def vector(ids):
        return model(ids, ops.not_equal(ids, PAD))

    if reader == "inference":
        head.build((None, 8 * WIDTH))
        weights = model.trainable_variables + head.trainable_variables
        loss = lambda x, y, label: ops.mean(cross_entropy(label, head(pair_features(vector(x), vector(y)))))  # noqa: E731
        train(weights, loss, rows, seed, 1e-2)
    return lambda ids: np.array(tf.function(vector)(tf.constant(ids)))


def _asked(vectors, ids: np.ndarray, labels: np.ndarray) -> float:
    """The accuracy of a linear reader of frozen vectors (least squares) on the second half of the rows."""
    x = vectors(ids)
    x = np.column_stack([x, np.ones(len(x))]).astype("float64")
    half, targets = len(x) // 2, np.eye(labels.max() + 1)[labels]
    solved = np.linalg.solve(x[:half].T @ x[:half] + 1e-2 * np.eye(x.shape[1]), x[:half].T @ targets[:half])
    return float(((x[half:] @ solved).argmax(axis=1) == labels[half:]).mean())


EXPERIMENTS = {tasks: 5, order: 3, transfer: 3, words: 3, recall: 3}  # experiment → number of seeds


@click.command(help=__doc__)
@click.option("--out", type=Path, default=Path("build/before_transformers.csv"), show_default=True)
def main(out: Path) -> None:
    load_backend()
    out.parent.mkdir(parents=True, exist_ok=True)
    if not out.exists():
        out.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    with out.open(encoding="utf-8", newline="") as file:
        done = {tuple(row[name] for name in COLUMNS[:4]) for row in csv.DictReader(file)}
    runs = itertools.product(range(1, 6), EXPERIMENTS)
    for seed, experiment in ((seed, experiment) for seed, experiment in runs if seed <= EXPERIMENTS[experiment]):
        for reader, question, value_of in experiment():
            if (experiment.__name__, reader, str(question), str(seed)) in done:
                continue
            start = time.process_time()
            value = value_of(seed)
            row = (experiment.__name__, reader, question, seed, f"{value:.4f}", f"{time.process_time() - start:.1f}")
            with out.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(row)
            print(*row, flush=True)


if __name__ == "__main__":
    main()
