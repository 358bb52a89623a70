"""The library's version of the names that notebook 08 defines."""

import keras
import numpy as np
from keras import ops

from bertlab.data.tasks import features

__all__ = ["ClassificationHead", "SpanHead", "align_labels", "best_span", "choice_logits", "layer_rates",
           "tagging_loss"]  # fmt: skip


class ClassificationHead(keras.layers.Layer):
    """The notebook's layer, `ClassificationHead(num_labels, dropout=0.1)`: hidden (B, T, H) → logits (B, C), from
    [CLS]."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.drop = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels)

    def call(self, hidden, training=None):
        logits = self.dense(self.drop(hidden[:, :1], training=training))  # (B, 1, C)
        return ops.squeeze(logits, axis=1)


class SpanHead(keras.layers.Layer):
    """The notebook's layer: hidden (B, T, H), may_answer (B, T) → (B, 2, T), −10⁹ at tokens that may not answer."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        start, end = ops.unstack(self.dense(hidden), axis=-1)
        return ops.stack([ops.where(may_answer, logits, -1e9) for logits in (start, end)], axis=1)


def choice_logits(hidden, v, choices):
    """(questions · choices, tokens, hidden) and (hidden,) → (questions, choices)."""
    return ops.stack([ops.dot(hidden[choice::choices, 0], v) for choice in range(choices)], axis=1)


def align_labels(pieces_of_words, tags):
    """The tag on each word's first token, −100 on all other positions of [CLS] tokens [SEP]."""
    inner = features.align_tags([len(pieces) for pieces in pieces_of_words], tags)
    return [features.IGNORED, *inner.tolist(), features.IGNORED]


def tagging_loss(logits, labels):
    """Mean cross-entropy over the positions whose label is not −100; 0 without any."""
    asked = ops.cast(labels != features.IGNORED, logits.dtype)
    losses = ops.sparse_categorical_crossentropy(ops.maximum(labels, 0), logits, from_logits=True)
    return ops.sum(losses * asked) / ops.maximum(ops.sum(asked), 1)


def best_span(start, end, first, last, longest, threshold=0.0):
    """The first and last token of the best span, or (0, 0) for "no answer"."""
    starts, ends = np.meshgrid(np.arange(first, last + 1), np.arange(first, last + 1), indexing="ij")
    sums = np.where((starts <= ends) & (ends < starts + longest), start[starts] + end[ends], -np.inf)
    index = sums.argmax()
    if sums.flat[index] <= start[0] + end[0] + threshold:
        return 0, 0
    return int(starts.flat[index]), int(ends.flat[index])


def layer_rates(num_layers, rate, decay, frozen=0):
    """The learning rates of the embeddings, the layers and the head; 0 for the lowest `frozen`."""
    rates = rate * decay ** np.arange(num_layers + 1, -1, -1.0)
    rates[:frozen] = 0
    return rates.tolist()
