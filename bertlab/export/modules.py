"""Exported models, from strings to predictions: a `tf.Module` with one function, `serve`, for each task type.

Letters: B texts, T tokens, C classes or choices, W words of the longest text.
"""

import tensorflow as tf

from bertlab.tokenizers.wordpiece.graph import join_rows
from bertlab.tokenizers.wordpiece.graph_packing import pack_rows_in_graph


class ServedModule(tf.Module):
    """The common base: the tokenizer, the model and the maximum length of a row."""

    def __init__(self, predictor):
        super().__init__()
        self._graph = predictor.tokenizer.graph()
        self._vocabulary = predictor.tokenizer.vocabulary
        self._model = predictor.model
        self._length = predictor.info.max_length
        self._weights = predictor.model.variables  # tf.Module saves its attributes

    def _pack(self, a, b):
        """Inputs padded to the longest row, (B, T) each, and whether a row was truncated, (B,)."""
        lengths = a.row_lengths() + 2 if b is None else a.row_lengths() + b.row_lengths() + 3  # (B,)
        inputs = pack_rows_in_graph(self._vocabulary, a, b, self._length)
        used = tf.minimum(tf.reduce_max(tf.concat([lengths, [2]], 0)), self._length)  # no longer than needed
        return {name: values[:, :used] for name, values in inputs.items()}, lengths > self._length


class TextModule(ServedModule):
    """A label, any number of labels, or a number for each text."""

    def __init__(self, predictor):
        super().__init__(predictor)
        self._labels = tf.constant(predictor.info.labels, tf.string)
        self._is_number = not predictor.info.labels
        self._multi_label = predictor.info.multi_label

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def serve(self, texts):
        """(B,) strings → a dict of outputs."""
        return self._classify(self._graph(texts), None)

    def _classify(self, a, b):
        """a, b: ids (B, None) of texts and, for pairs, of second texts."""
        inputs, truncated = self._pack(a, b)
        logits = tf.cast(self._model(inputs, training=False), tf.float32)  # (B, C)
        if self._is_number:
            return {"value": logits[:, 0], "truncated": truncated}
        if self._multi_label:
            probabilities = tf.sigmoid(logits)
            labels = tf.where(probabilities > 0.5, self._labels, "")
            return {"labels": labels, "probabilities": probabilities, "truncated": truncated}
        probabilities = tf.nn.softmax(logits)
        return {
            "label": tf.gather(self._labels, tf.argmax(logits, axis=-1)),
            "probability": tf.reduce_max(probabilities, axis=-1),
            "probabilities": probabilities,
            "truncated": truncated,
        }


class PairModule(TextModule):
    """A label, any number of labels, or a number for each pair of texts."""

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="texts"),
            tf.TensorSpec([None], tf.string, name="texts_b"),
        ]
    )
    def serve(self, texts, texts_b):
        """Two (B,) strings → a dict of outputs."""
        return self._classify(self._graph(texts), self._graph(texts_b))


class TaggingModule(TextModule):
    """A tag for each word of each text; words are separated by spaces."""

    def __init__(self, predictor):
        super().__init__(predictor)
        labels = predictor.info.labels
        self._default = "O" if "O" in labels else labels[0]  # of words beyond the maximum length

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def serve(self, texts):
        """(B,) strings → a dict of outputs."""
        words = tf.strings.split(texts)  # (B, None)
        pieces = self._graph(words.flat_values)  # (all words, None)
        inputs, truncated = self._pack(join_rows(pieces, words.row_splits), None)
        probabilities = tf.nn.softmax(tf.cast(self._model(inputs, training=False), tf.float32))  # (B, T, C)

        counts = pieces.row_lengths()  # (all words,)
        before = words.with_flat_values(tf.cumsum(counts, exclusive=True))  # (B, None) tokens before each word
        first = before - tf.gather(pieces.row_splits, words.row_starts())[:, None] + 1  # its first token; + 1: [CLS]
        read = (first < tf.shape(probabilities, tf.int64)[1] - 1) & (words.with_flat_values(counts) > 0)
        positions = tf.where(read, first, tf.zeros_like(first))
        chosen = tf.gather(probabilities, positions.to_tensor(0), batch_dims=1)  # (B, W, C)
        read = read.to_tensor(False)  # (B, W)
        is_word = tf.ones_like(first).to_tensor(0) > 0
        tags = tf.where(read, tf.gather(self._labels, tf.argmax(chosen, axis=-1)), self._default)
        return {
            "words": words.to_tensor(""),
            "tags": tf.where(is_word, tags, ""),
            "probability": tf.where(read, tf.reduce_max(chosen, axis=-1), 0.0),
            "truncated": truncated,
        }


class ChoiceModule(ServedModule):
    """The most likely continuation of each text."""

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="contexts"),
            tf.TensorSpec([None, None], tf.string, name="choices"),
        ]
    )
    def serve(self, contexts, choices):
        """(B,) and (B, C) strings → a dict of outputs. A row with fewer choices than others is padded with ""."""
        shape = tf.shape(choices)
        context = tf.repeat(contexts, shape[1])  # (B·C,)
        inputs, truncated = self._pack(self._graph(context), self._graph(tf.reshape(choices, [-1])))
        scores = self._model({name: values[:, None] for name, values in inputs.items()}, training=False)  # (B·C, 1)
        scores = tf.where(choices == "", -float("inf"), tf.reshape(tf.cast(scores, tf.float32), shape))
        probabilities = tf.nn.softmax(scores)  # (B, C)
        best = tf.argmax(scores, axis=1)
        return {
            "choice": best,
            "text": tf.gather(choices, best, batch_dims=1),
            "probability": tf.reduce_max(probabilities, axis=1),
            "probabilities": probabilities,
            "truncated": tf.reduce_any(tf.reshape(truncated, shape), axis=1),
        }
