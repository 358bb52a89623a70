"""A fine-tuned model as one TensorFlow SavedModel that takes strings: tokenizer, encoder, head and label names.

    import tensorflow as tf, tensorflow_text
    serve = tf.saved_model.load("exported").signatures["serving_default"]
    serve(texts=tf.constant(["a fine film"]))["label"]

Neither BertLab nor Keras is needed to run it; TensorFlow Text is, because its operations are in the graph. TensorFlow
Serving has them built in.

A graph reads one row for each text, as long as the model's longest: a longer text is cut, and `truncated` says so.
Where that is not good enough, `bertlab predict` reads long texts in windows.

Letters: B texts, T tokens, C classes, W words of the longest text.
"""

from pathlib import Path

import tensorflow as tf

from bertlab.errors import ConfigError, DataError
from bertlab.wordpiece.graph import join_rows
from bertlab.wordpiece.graph_packing import pack_rows_in_graph


def export_saved_model(predictor, folder: str | Path) -> Path:
    """Writes a `bertlab.predict.Predictor`'s model with its tokenizer. Returns the folder.

    The signature serving_default takes `texts` (B,), for pairs also `texts_b` (B,), strings, and gives
        sentence, pair          label (B,), probability (B,), probabilities (B, C), truncated (B,)
        the same with numbers   value (B,), truncated (B,)
        tagging                 words (B, W), tags (B, W), probability (B, W), padded with "" and 0; truncated (B,)
    Raises DataError for another shape, ConfigError for another backend than TensorFlow, MissingDependencyError without
    TensorFlow Text.
    """
    import keras

    if keras.backend.backend() != "tensorflow":
        raise ConfigError(f"a SavedModel is made with KERAS_BACKEND=tensorflow, not {keras.backend.backend()}")
    shape = predictor.info.shape
    classes = {"sentence": TextModule, "pair": PairModule, "tagging": TaggingModule}
    if shape not in classes:
        raise DataError(
            f"{predictor.info.name}: a model for the shape {shape!r} is not exported with its tokenizer; "
            "`bertlab export --onnx` writes its encoder, `bertlab predict` runs all of it"
        )
    module = classes[shape](predictor)
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.serve})
    return Path(folder)


class TextModule(tf.Module):
    """A label (or number) for each text."""

    def __init__(self, predictor):
        super().__init__()
        self._graph = predictor.tokenizer.graph()
        self._vocabulary = predictor.tokenizer.vocabulary
        self._model = predictor.model
        self._length = predictor.info.max_length
        self._labels = tf.constant(predictor.info.labels, tf.string)
        self._is_number = not predictor.info.labels
        self._weights = predictor.model.variables  # tf.Module saves what it holds

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
        probabilities = tf.nn.softmax(logits)
        return {
            "label": tf.gather(self._labels, tf.argmax(logits, axis=-1)),
            "probability": tf.reduce_max(probabilities, axis=-1),
            "probabilities": probabilities,
            "truncated": truncated,
        }

    def _pack(self, a, b):
        """Inputs as long as the longest row, (B, T) each, and whether a row was cut, (B,)."""
        lengths = a.row_lengths() + 2 if b is None else a.row_lengths() + b.row_lengths() + 3  # (B,)
        inputs = pack_rows_in_graph(self._vocabulary, a, b, self._length)
        used = tf.minimum(tf.reduce_max(tf.concat([lengths, [2]], 0)), self._length)  # no longer than needed
        return {name: values[:, :used] for name, values in inputs.items()}, lengths > self._length


class PairModule(TextModule):
    """A label (or number) for each pair of texts."""

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
    """A tag for each word of each text; words are what stands between blanks."""

    def __init__(self, predictor):
        super().__init__(predictor)
        labels = predictor.info.labels
        self._default = "O" if "O" in labels else labels[0]  # of words beyond the cut

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def serve(self, texts):
        """(B,) strings → a dict of outputs."""
        words = tf.strings.split(texts)  # (B, None)
        pieces = self._graph(words.flat_values)  # (all words, None)
        inputs, truncated = self._pack(join_rows(pieces, words.row_splits), None)
        probabilities = tf.nn.softmax(tf.cast(self._model(inputs, training=False), tf.float32))  # (B, T, C)

        counts = pieces.row_lengths()  # (all words,)
        before = words.with_flat_values(tf.cumsum(counts, exclusive=True))  # (B, None) pieces before each word
        first = before - tf.gather(pieces.row_splits, words.row_starts())[:, None] + 1  # its first piece; + 1: [CLS]
        read = (first < tf.shape(probabilities, tf.int64)[1] - 1) & (words.with_flat_values(counts) > 0)
        places = tf.where(read, first, tf.zeros_like(first))
        chosen = tf.gather(probabilities, places.to_tensor(0), batch_dims=1)  # (B, W, C)
        read = read.to_tensor(False)  # (B, W)
        is_word = tf.ones_like(first).to_tensor(0) > 0
        tags = tf.where(read, tf.gather(self._labels, tf.argmax(chosen, axis=-1)), self._default)
        return {
            "words": words.to_tensor(""),
            "tags": tf.where(is_word, tags, ""),
            "probability": tf.where(read, tf.reduce_max(chosen, axis=-1), 0.0),
            "truncated": truncated,
        }
