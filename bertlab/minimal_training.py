"""BERT's pre-training on one page, from stored rows to a trained model. Read it after `minimal.py`, the model's page.

    bertlab data make TEXT.txt --vocab vocab.txt --dynamic-masking --out rows
    python -m bertlab.minimal_training rows

The order of the lines is the order of events. The library (`bertlab pretrain`) computes the same losses, which a test
compares; it adds what long runs need: resuming, reports, several devices, other objectives and optimizers.

Letters: B rows in a batch, T tokens in a row, P predictions in a row at most, V tokens in the vocabulary.
Source: Devlin et al. 2019, "BERT", sections 3.1 and A.2; Loshchilov and Hutter 2019 for AdamW. Runs on TensorFlow.
"""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from bertlab import BertConfig, PreTrainingModel
from bertlab.data.pretraining.batches import permuted
from bertlab.data.pretraining.records import ExampleFiles

BATCH, STEPS, PEAK, WARMUP = 32, 1000, 1e-3, 0.1  # rows in an update; updates; rate; fraction of warm-up
BETA_1, BETA_2, EPSILON, DECAY, CLIP = 0.9, 0.999, 1e-6, 0.01, 1.0  # of AdamW


def batch_of(files, step, size, seed):
    """The rows of an update: the next `size` of all rows in a shuffled order, which is another one in every epoch."""
    epochs, positions = np.divmod(np.arange(step * size, (step + 1) * size), len(files))
    return files.take(permuted(positions, len(files), seed, epochs))  # ids, segments, attention mask (B, T); pair (B,)


def mask(ids, vocabulary, settings, rng):
    """Chooses 15 % of the tokens of each row. The model must predict them; it sees [MASK] in place of most."""
    lengths = (ids != vocabulary.pad_id).sum(axis=1)  # (B,)
    wanted = np.clip(np.rint(settings.masked_lm_probability * lengths), 1, settings.max_predictions)  # (B,)
    maskable = ~np.isin(ids, [vocabulary.cls_id, vocabulary.sep_id, vocabulary.pad_id])  # (B, T)
    keys = np.where(maskable, rng.random(ids.shape, dtype=np.float32), np.float32(2))  # (B, T)
    ranks = keys.argsort(axis=1).argsort(axis=1)  # (B, T): the tokens with the smallest keys are chosen
    rows, columns = np.nonzero(maskable & (ranks < wanted[:, None]))  # N predictions, row by row

    choice = rng.random(len(rows))  # (N,): 80 % become [MASK], 10 % a random token, 10 % stay as they are
    unused = [i for i, piece in enumerate(vocabulary.pieces) if piece.startswith("[unused")]
    regular = np.setdiff1d(np.arange(len(vocabulary)), [*vocabulary.special_ids, *unused])
    drawn = regular[rng.integers(len(regular), size=len(rows))]  # (N,)
    original, masked = ids[rows, columns], ids.copy()
    masked[rows, columns] = np.select([choice < 0.8, choice < 0.9], [vocabulary.mask_id, drawn], original)

    column = np.arange(len(rows)) - np.searchsorted(rows, rows)  # 0, 1, 2 … in each row
    positions, labels, weights = np.zeros((3, len(ids), settings.max_predictions), "int32")
    positions[rows, column], labels[rows, column], weights[rows, column] = columns, original, 1
    return {"input_ids": masked, "masked_lm_positions": positions}, labels, weights.astype("float32")


def cross_entropy(logits, labels):
    """−log of the probability that the softmax gives to the label: logits (…, classes), labels (…) → (…)."""
    return -ops.take_along_axis(ops.log_softmax(logits), labels[..., None], axis=-1)[..., 0]


def losses_of(model, inputs, labels, weights, is_random):
    """The losses of both tasks, each a mean over its predictions. weights (B, P): 0 where there is no prediction."""
    outputs = model(inputs, training=True)  # masked_lm_logits (B, P, V), next_sentence_logits (B, 2)
    words = cross_entropy(outputs["masked_lm_logits"], labels)  # (B, P)
    pairs = cross_entropy(outputs["next_sentence_logits"], is_random)  # (B,); class 0: the next sentence
    return ops.sum(words * weights) / (ops.sum(weights) + 1e-5), ops.mean(pairs)


def rate_at(step, steps):
    """The learning rate: a straight line up to its peak, then one down to 0."""
    warmup = int(WARMUP * steps)
    return PEAK * min((step + 1) / warmup, (steps - step) / (steps - warmup))


class AdamW:
    """Adam with decoupled weight decay; the gradients of all weights together are clipped to norm 1."""

    def __init__(self, variables):
        self.variables = variables
        self.means = [ops.zeros_like(v) for v in variables]  # of each weight's gradient
        self.squares = [ops.zeros_like(v) for v in variables]  # of its square

    def update(self, gradients, rate, step):
        norm = ops.sqrt(sum(ops.sum(ops.square(g)) for g in gradients))
        gradients = [g * CLIP / ops.maximum(norm, CLIP) for g in gradients]
        # Both means start from 0, so the first ones are too small. This corrects it (Kingma and Ba 2015, section 2).
        corrected = rate * (1 - BETA_2 ** (step + 1)) ** 0.5 / (1 - BETA_1 ** (step + 1))
        for i, (variable, gradient) in enumerate(zip(self.variables, gradients)):
            self.means[i] += (1 - BETA_1) * (gradient - self.means[i])
            self.squares[i] += (1 - BETA_2) * (ops.square(gradient) - self.squares[i])
            if variable.name not in ("bias", "gamma", "beta"):  # γ and β: LayerNorm's scale and shift
                variable.assign_sub(rate * DECAY * variable)
            variable.assign_sub(corrected * self.means[i] / (ops.sqrt(self.squares[i]) + EPSILON))


def pretrain(folder, config, steps=STEPS, seed=12345):
    """Yields (step, masked-LM loss, next-sentence loss) for each update. folder: rows of `bertlab data make`."""
    files = ExampleFiles(folder)
    assert files.settings.dynamic_masking and files.settings.next_sentence, "expected pairs without stored masks"
    vocabulary = files.tokenizer.vocabulary
    keras.utils.set_random_seed(seed)
    model = PreTrainingModel(config)  # embeddings, encoder and two heads, as in minimal.py, and dropout
    optimizer = AdamW(model.trainable_variables)
    for step in range(steps):
        batch = batch_of(files, step, BATCH, seed)
        is_random = batch.pop("next_sentence_labels")  # (B,)
        rng = np.random.default_rng([files.settings.seed, seed, step])
        inputs, labels, weights = mask(batch["input_ids"], vocabulary, files.settings, rng)
        with tf.GradientTape() as tape:
            masked_lm, next_sentence = losses_of(model, batch | inputs, labels, weights, is_random)
            loss = masked_lm + next_sentence
        gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
        optimizer.update([tf.convert_to_tensor(g) for g in gradients], rate_at(step, steps), step)
        yield step, float(masked_lm), float(next_sentence)


if __name__ == "__main__":
    tokens = len(ExampleFiles(sys.argv[1]).tokenizer.vocabulary)
    for step, masked_lm, next_sentence in pretrain(sys.argv[1], BertConfig.named("tiny", vocab_size=tokens)):
        print(f"update {step + 1:4}   masked tokens {masked_lm:.3f}   next sentence {next_sentence:.3f}", flush=True)
