"""Inputs and references of notebook 07, exercises on losses and figures, in NumPy (float64, library-free).

Letters: B rows of a batch, T tokens, P predictions in a row, V pieces, H hidden size.
"""

import numpy as np

from autograde.exercises.spec import Case

Random = np.random.Generator


def normal(rng: Random, *shape: int, size: float = 1.0) -> np.ndarray:
    """Standard normal float32 times `size`."""
    return (rng.normal(size=shape) * size).astype("float32")


def whole_numbers(rng: Random, most: int, *shape: int) -> np.ndarray:
    """int32 below `most`."""
    return rng.integers(0, most, size=shape).astype("int32")


# --- references ---


def log_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def etraining_loss(p, x, positions):
    return np.array(sum((-np.log(p[t, x[t]]) for t in positions), 0.0))


def mlm_loss(logits, labels, weights):
    """Prediction by prediction, those that are padding left out."""
    total, count = 0.0, 0.0
    for place in np.ndindex(labels.shape):
        total += weights[place] * -log_softmax(logits[place])[labels[place]]
        count += weights[place]
    return np.array(total / (count + 1e-5))


def nsp_loss(logits, labels):
    return np.array(np.mean([-log_softmax(row)[label] for row, label in zip(logits, labels)]))


def gather_positions(hidden, positions):
    return np.stack([row[places] for row, places in zip(hidden, positions)])


def learning_rate(step, peak, warmup_steps, total_steps):
    def at(s):
        if s < warmup_steps:
            return peak * (s + 1) / warmup_steps
        return peak * max(0.0, total_steps - s) / (total_steps - warmup_steps)

    return np.vectorize(at, otypes=["float64"])(step)


def decays(name):
    return not name.endswith(("/bias", "/gamma", "/beta"))


def masked_accuracy(logits, labels, weights):
    right = [weights[place] for place in np.ndindex(labels.shape) if logits[place].argmax() == labels[place]]
    return np.array(sum(right) / weights.sum())


def perplexity(losses, counts):
    return np.array(np.prod(np.exp(losses) ** (counts / counts.sum())))


# --- draws: losses ---


def chances(rng: Random, length: int, pieces: int) -> np.ndarray:
    """Rows of shares, as P of line 8 has them: (length, pieces)."""
    return np.exp(log_softmax(normal(rng, length, pieces).astype("float64"))).astype("float32")


def lecture_example(rng: Random) -> Case:
    """The cat sat: 21 and 5438 are masked, P[1, 21] = 0.0041. The ids are those of a vocabulary of 30 pieces."""
    p = chances(rng, 3, 30)
    p[0] *= (1 - 0.0041) / (p[0].sum() - p[0, 21])
    p[0, 21] = 0.0041
    return Case((p, np.array([21, 17, 5], "int32"), np.array([0, 2], "int32")), note="the lecture's example")


def masked_sentences(rng: Random) -> list[Case]:
    positions = np.sort(rng.choice(8, 3, replace=False)).astype("int32")
    return [lecture_example(rng), Case((chances(rng, 8, 6), whole_numbers(rng, 6, 8), positions))]


def nothing_masked(rng: Random) -> list[Case]:
    return [Case((chances(rng, 4, 6), whole_numbers(rng, 6, 4), np.zeros(0, "int32")))]


def some_padding(rng: Random, rows: int, predictions: int) -> np.ndarray:
    """1 for a prediction, 0 for filling at a row's end; rows differ in length: (B, P) float32."""
    lengths = 1 + (rng.integers(0, predictions) + np.arange(rows)) % predictions
    return (np.arange(predictions) < lengths[:, None]).astype("float32")


def predictions_of(rng: Random, rows: int, predictions: int, pieces: int, size: float = 2.0) -> tuple:
    """logits (B, P, V), labels (B, P), weights (B, P)."""
    logits = normal(rng, rows, predictions, pieces, size=size)
    return logits, whole_numbers(rng, pieces, rows, predictions), some_padding(rng, rows, predictions)


def batches_of_predictions(rng: Random) -> list[Case]:
    return [Case(predictions_of(rng, 2, 3, 7)), Case(predictions_of(rng, 4, 4, 9))]


def no_predictions(rng: Random) -> list[Case]:
    logits, labels, weights = predictions_of(rng, 2, 3, 5)
    return [Case((logits, labels, np.zeros_like(weights)))]


def large_logits(rng: Random) -> list[Case]:
    logits, labels, weights = predictions_of(rng, 3, 2, 6, size=1)
    logits[..., 0] += 300
    labels[:, 0] = 1 + labels[:, 0] % 5  # a prediction that is sure, and wrong
    return [Case((logits, labels, weights))]


def pairs(rng: Random) -> list[Case]:
    """Both labels occur, one more often than the other."""
    few = np.array([0, 1, 0, 0, 1], "int32")
    return [
        Case((normal(rng, 3, 2, size=2), rng.permutation(few[:3]))),
        Case((normal(rng, 5, 2, size=2), rng.permutation(few))),
    ]


def only_true_pairs(rng: Random) -> list[Case]:
    """All IsNext: a model that is sure of column 0 has next to no loss."""
    logits = normal(rng, 4, 2) + np.array([6, -6], "float32")
    return [Case((logits, np.zeros(4, "int32")))]


# --- draws: gathering ---


def places_in_rows(rng: Random, rows: int, tokens: int, predictions: int) -> np.ndarray:
    """Rising positions, other ones in each row: (B, P) int32."""
    return np.stack([np.sort(rng.choice(tokens, predictions, replace=False)) for _ in range(rows)]).astype("int32")


def hidden_and_positions(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 2, 5, 4), places_in_rows(rng, 2, 5, 3))),
        Case((normal(rng, 3, 6, 3), places_in_rows(rng, 3, 6, 2))),
    ]


def filled_up_positions(rng: Random) -> list[Case]:
    """Rows with fewer predictions are filled up with position 0."""
    positions = places_in_rows(rng, 3, 6, 4)
    positions[0, 2:], positions[1, 1:] = 0, 0
    return [Case((normal(rng, 3, 6, 2), positions))]


# --- draws: schedule, decay, figures ---


def schedules(rng: Random) -> list[Case]:
    steps = np.arange(0, 100, 9).astype("float32")
    second = np.sort(rng.choice(60, 8, replace=False)).astype("float32")
    return [Case((steps, 1e-4, 10, 100)), Case((second, 3e-3, int(rng.integers(12, 24)), 60))]


def after_the_end(rng: Random) -> list[Case]:
    start = int(rng.integers(45, 55))
    return [Case((np.arange(start, start + 12).astype("float32"), 2e-3, 5, 50))]


def no_warmup(rng: Random) -> list[Case]:
    total = int(rng.integers(20, 40))
    return [Case((np.arange(0, 20, 3).astype("float32"), 1e-3, 0, total))]


def usual_names(rng: Random) -> list[Case]:
    """One name of every kind; which layer is drawn."""
    kinds = ("attention/query/kernel", "attention/key/bias", "attention_norm/gamma", "attention_norm/beta",
             "feed_forward/inner/kernel", "feed_forward/outer/bias", "output_norm/gamma")  # fmt: skip
    names = [f"bert/encoder/layer_{int(rng.integers(12))}/{kind}" for kind in kinds]
    names += ["bert/embeddings/token/embeddings", "bert/embeddings/norm/beta", "bert/pooler/dense/kernel", "mlm/bias"]
    return [Case((name,)) for name in names]


def words_in_words(rng: Random) -> list[Case]:
    """Names in which the three words stand somewhere, but not as the last part."""
    number = int(rng.integers(100))
    names = (f"alphabet_{number}/kernel", f"unbiased_{number}/kernel", f"gamma_rays_{number}/embeddings",
             f"alphabet_{number}/bias")  # fmt: skip
    return [Case((name,)) for name in names]


def guesses(rng: Random, rows: int, predictions: int, pieces: int) -> Case:
    """Half of the predictions are right, and one more of the filling is."""
    logits, labels, weights = predictions_of(rng, rows, predictions, pieces, size=1)
    right = rng.random(labels.shape) < 0.5
    right[0, 0], right[1, 0] = True, False
    right |= weights == 0
    logits[right, labels[right]] += 8
    wrong = ~right
    logits[wrong, (labels[wrong] + 1) % pieces] += 8
    return Case((logits, labels, weights))


def batches_of_guesses(rng: Random) -> list[Case]:
    return [guesses(rng, 3, 4, 9), guesses(rng, 5, 3, 8)]


def all_wrong_but_the_filling(rng: Random) -> list[Case]:
    logits, labels, weights = predictions_of(rng, 3, 4, 7, size=1)
    real = weights > 0
    logits[~real, labels[~real]] += 9
    logits[real, (labels[real] + 2) % 7] += 9
    return [Case((logits, labels, weights))]


def losses_of_batches(rng: Random) -> list[Case]:
    def case(batches):
        losses = (2 + 3 * rng.random(batches)).astype("float32")
        return Case((losses, rng.permutation(np.arange(1, batches + 1) * 7).astype("float32")))

    return [case(3), case(5)]


def one_batch(rng: Random) -> list[Case]:
    """Guessing among V pieces with equal chances: the loss is ln V, the perplexity V."""
    pieces = int(rng.integers(20, 60))
    return [Case((np.log([pieces]).astype("float32"), np.array([9.0], "float32")))]
