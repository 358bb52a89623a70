"""Five readers on the questions of notebook P: `python -m benchmarks.training.before_transformers`.

bag (counts of words), cbow (the mean of their vectors), rnn, lstm, attention (a BERT of 2 × 64). Experiments:

order      who acts? Two sentences with the same words have different answers (`small_world.who_acts`)
recall     "… went to FRANCE …, … KOREA …, of that country": which of two countries came first, by distance
words      the vectors of words, learned by predicting words of the small world: cbow, rnn and lstm from left to right,
           attention with [MASK]. The value is the share of a word's five nearest that are of its own class
tasks      who acts, with few labels: alone, with tags from the last layer, with tags from the first
transfer   four questions about sentences, asked of frozen vectors: untrained, and trained on inference

Writes before_transformers.csv, a row for each run. Supports: notebook P.
"""

import csv
import io
import time
from pathlib import Path

import click
import numpy as np

from bertlab.common.backend import load_backend
from bertlab.common.files import write_text
from bertlab.data import small_world

COLUMNS = ("experiment", "reader", "distance", "seed", "value", "cpu_seconds")
READERS = ("bag", "cbow", "rnn", "lstm", "attention")
DISTANCES = (4, 8, 16, 32, 64)
PLACES, FILLERS = 8, 24  # words of the task `recall`
PAD = len(small_world.WORDS)  # the id of "", after the end of a sentence


def recall_rows(distance: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of distance + 1 words and the answers: the first is a place, one more is somewhere behind it, the last asks.

    ids (N, distance + 1): 0 to 7 are places, then other words, the largest is the question. answers (N,).
    """
    rng = np.random.default_rng(seed)
    ids = rng.integers(PLACES, PLACES + FILLERS, size=(count, distance + 1))
    ids[:, -1] = PLACES + FILLERS
    first = rng.integers(PLACES, size=count)
    ids[:, 0] = first
    ids[np.arange(count), rng.integers(1, distance, size=count)] = (first + rng.integers(1, PLACES, size=count)) % PLACES
    return ids.astype("int32"), first.astype("int32")


def make_reader(kind: str, vocabulary: int, width: int = 64, longest: int = 80):
    """A layer: ids (B, T), is_real (B, T) → a vector for each text (B, …); of attention that of the last real word."""
    import keras
    from keras import ops

    from bertlab.layers.encoder import Encoder
    from bertlab.training.baselines.averages import mean_of_real
    from bertlab.training.baselines.recurrent import RecurrentStack

    class Reader(keras.Model):
        def __init__(self):
            super().__init__()
            self.words = keras.layers.Embedding(vocabulary, width, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
            self.words.build(None)
            if kind in ("rnn", "lstm", "bilstm"):
                self.recurrent = RecurrentStack(kind, width, width)
            if kind == "attention":
                self.positions = self.add_weight(shape=(longest, width), initializer=keras.initializers.RandomNormal(stddev=0.1))
                self.encoder = Encoder(2, 4, 4 * width, dropout=0.0, initializer_range=width**-0.5)

        def states(self, ids, is_real, causal=False):
            x = self.words(ids)
            if kind in ("rnn", "lstm", "bilstm"):
                return self.recurrent(x, is_real)
            x = x + self.positions[: ids.shape[1]]
            return self.encoder(x, attention_mask=ops.cast(is_real, "bool")[:, None])

        def call(self, ids, is_real):
            if kind == "bag":
                return ops.sum(ops.one_hot(ids, vocabulary) * ops.cast(is_real, "float32")[..., None], axis=1)
            if kind == "cbow":
                return mean_of_real(self.words(ids), is_real)
            states = self.states(ids, is_real)
            if kind != "attention":
                return self.recurrent.pooled(states, is_real)
            last = ops.sum(ops.cast(is_real, "int32"), axis=1) - 1
            return ops.take_along_axis(states, last[:, None, None], axis=1)[:, 0]

    return Reader()


def train(model, loss_of, batches, steps: int, rate: float) -> None:
    """`steps` steps of Adam with a rate that falls to 0. loss_of: a batch → its loss."""
    import keras
    import tensorflow as tf

    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(rate, steps), clipnorm=1.0)

    @tf.function(jit_compile=True)
    def step(*batch):
        with tf.GradientTape() as tape:
            loss = loss_of(*batch)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    for number in range(steps):
        loss = step(*batches(number))
        if number % 100 == 0:
            print(number, float(loss), flush=True)


def accuracy_of(kind: str, data, held_out, vocabulary, classes, seed, steps, rate, batch=64):
    import keras
    from keras import ops
    import tensorflow as tf

    keras.utils.set_random_seed(seed)
    ids, labels = data
    reader, head = make_reader(kind, vocabulary), keras.layers.Dense(classes)
    pad = PAD

    def logits(ids):
        return head(reader(ids, ids != pad))

    class Both(keras.Model):
        def __init__(self):
            super().__init__()
            self.reader, self.head = reader, head
    logits(tf.constant(ids[:2]))
    model = Both()
    order = np.random.default_rng(seed)

    def batches(number):
        chosen = order.integers(len(ids), size=batch)
        return tf.constant(ids[chosen]), tf.constant(labels[chosen])

    def loss_of(ids, labels):
        return ops.mean(keras.losses.sparse_categorical_crossentropy(labels, logits(ids), from_logits=True))

    train(model, loss_of, batches, steps, rate)
    predict = tf.function(logits)
    guesses = np.argmax(predict(tf.constant(held_out[0])), axis=-1)
    return float((guesses == held_out[1]).mean())
