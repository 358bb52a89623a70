"""A fine-tuned model as one TensorFlow SavedModel that takes strings: tokenizer, encoder, head and label names.

    import tensorflow as tf, tensorflow_text
    serve = tf.saved_model.load("exported").signatures["serving_default"]
    serve(texts=tf.constant(["a fine film"]))["label"]

Neither BertLab nor Keras is needed to run it; TensorFlow Text is, because its operations are in the graph. TensorFlow
Serving has them built in.

A graph reads one row for each text, up to the model's maximum length: a longer text is truncated, and `truncated` is
True. If you need long texts, use `bertlab predict`, which reads them in windows. Contexts of questions are read in
windows here, too.

Letters: B texts or questions, T tokens of a row, C classes or choices, W words of the longest text; of questions, W
windows of all.
"""

from pathlib import Path
from typing import NamedTuple

import tensorflow as tf

from bertlab.common.errors import ConfigError, asked
from bertlab.tokenizers.wordpiece.graph import join_rows, pack_rows_in_graph

_N_BEST = 20  # starts and ends tried in each window, as `windows.best_answers` does
_MAX_ANSWER_LENGTH = 30  # tokens of an answer at most
_NO_SPAN = -1e9  # the score of a span that is not allowed


def export_saved_model(predictor, folder: str | Path) -> Path:
    """Writes a `bertlab.predict.Predictor`'s model with its tokenizer. Returns the folder.

    The signature serving_default takes `texts` (B,), strings, and gives `truncated` (B,) bool and

        sentence          label (B,), probability (B,), probabilities (B, C)
        pair              the same; takes `texts_b` (B,), too
        with numbers      value (B,) instead
        any number of     labels (B, C), "" for one that does not apply; probabilities (B, C), each on its own;
        labels            instead
        multiple-choice   choice (B,), its number; text (B,), probability (B,), probabilities (B, C); takes `contexts`
                          (B,) and `choices` (B, C); "" is not a choice
        tagging           words (B, W), tags (B, W), probability (B, W), padded with "" and 0
        question          answer (B,), "" for none; start and end (B,), its characters in the context or −1;
                          no_answer_score (B,), larger if "no answer" is more likely; takes `questions` and
                          `contexts` (B,). An answer that begins or ends inside a word with letters beyond ASCII
                          includes the whole word

    Raises ConfigError for another backend than TensorFlow and for a classifier whose folder does not say whether it
    reads one text or two, MissingDependencyError without TensorFlow Text.

    Example:
        from bertlab.predict import Predictor

        export_saved_model(Predictor.load("runs/reviews"), "exported")
    """
    import keras

    if keras.backend.backend() != "tensorflow":
        raise ConfigError(f"exporting a SavedModel needs KERAS_BACKEND=tensorflow, not {keras.backend.backend()}")
    module_class = _MODULES.get(predictor.info.shape)
    if module_class is None:
        raise ConfigError(
            f"{predictor.info.name}: this folder does not say whether the model reads one text or two, and the "
            f"signature must; choose with {asked('--shape sentence or --shape pair', 'Predictor.load(…, shape=…)')}"
        )
    module = module_class(predictor)
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.serve})
    return Path(folder)


def _strings(name: str) -> tf.TensorSpec:
    return tf.TensorSpec([None], tf.string, name=name)


class ServedModule(tf.Module):
    """Predictions from strings by one function, `serve`: the tokenizer, the model and the maximum length of a row."""

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

    @tf.function(input_signature=[_strings("texts")])
    def serve(self, texts):
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

    @tf.function(input_signature=[_strings("texts"), _strings("texts_b")])
    def serve(self, texts, texts_b):
        return self._classify(self._graph(texts), self._graph(texts_b))


class TaggingModule(TextModule):
    """A tag for each word of each text; words are separated by spaces."""

    def __init__(self, predictor):
        super().__init__(predictor)
        labels = predictor.info.labels
        self._default = "O" if "O" in labels else labels[0]  # of words beyond the maximum length

    @tf.function(input_signature=[_strings("texts")])
    def serve(self, texts):
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

    @tf.function(input_signature=[_strings("contexts"), tf.TensorSpec([None, None], tf.string, name="choices")])
    def serve(self, contexts, choices):
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


# === Answers to questions ===


class Windows(NamedTuple):
    """The position of each window: all (W,) int64.

    row: its question. first: the context token, counted from the question's first one, at which it begins. count: its
    number of context tokens. column: the position of its first context token in the row that the model reads.
    """

    row: tf.Tensor
    first: tf.Tensor
    count: tf.Tensor
    column: tf.Tensor


class QuestionModule(ServedModule):
    """The answer to each question about its context: the best span of all windows over it.

    The same steps as `bertlab.data.tasks.windows`, on tensors instead of arrays, so that an exported model gives the
    same answers as `bertlab predict`, for contexts of any length.
    """

    def __init__(self, predictor):
        super().__init__(predictor)
        self._stride = predictor.info.stride
        self._question_length = predictor.task_kind.question_length
        threshold = predictor.info.null_threshold
        self._null_threshold = float("inf") if threshold is None else threshold  # inf: always an answer

    @tf.function(input_signature=[_strings("questions"), _strings("contexts")])
    def serve(self, questions, contexts):
        contexts = tf.strings.unicode_transcode(contexts, "UTF-8", "UTF-8", errors="ignore")
        asked = self._graph(questions)  # (B, None)
        truncated = asked.row_lengths() > self._question_length
        asked = asked[:, : self._question_length]
        pieces, begins, ends = self._graph.with_offsets(contexts)  # (B, None) each; bytes
        windows = windows_of(asked.row_lengths(), pieces.row_lengths(), self._length, self._stride)
        positions = tf.gather(pieces.row_starts(), windows.row) + windows.first
        positions = tf.ragged.range(positions, positions + windows.count)  # (W, None) among all N
        context = positions.with_values(tf.gather(pieces.flat_values, positions.flat_values))
        inputs = pack_rows_in_graph(self._vocabulary, tf.gather(asked, windows.row), context, self._length)
        used = tf.reduce_max(tf.concat([windows.column + windows.count + 1, [3]], 0))
        outputs = self._model({name: values[:, :used] for name, values in inputs.items()}, training=False)
        start, end = (tf.cast(outputs[name], tf.float32) for name in ("start_logits", "end_logits"))  # (W, T)
        scores, first, last = best_spans(start, end, windows, allowed_starts(windows, pieces.row_lengths()))
        best = best_of_rows(scores, windows.row, contexts)
        none = tf.math.segment_min(start[:, 0] + end[:, 0], windows.row)  # (B,) the score of "no answer"
        score = tf.gather(scores, best)
        is_answer = (score > _NO_SPAN / 2) & (none - score <= self._null_threshold)
        piece = pieces.row_starts() + tf.gather(windows.first, best)  # of the window's first one among all N
        values = tf.concat([begins.flat_values, [0]], 0), tf.concat([ends.flat_values, [0]], 0)  # there may be none
        begin = tf.where(is_answer, tf.gather(values[0], tf.where(is_answer, piece + tf.gather(first, best), 0)), 0)
        stop = tf.where(is_answer, tf.gather(values[1], tf.where(is_answer, piece + tf.gather(last, best), 0)), 0)
        before = tf.strings.length(tf.strings.substr(contexts, tf.zeros_like(begin), begin), unit="UTF8_CHAR")
        answer = tf.strings.substr(contexts, begin, stop - begin)
        return {
            "answer": answer,
            "start": tf.where(is_answer, before, -1),
            "end": tf.where(is_answer, before + tf.strings.length(answer, unit="UTF8_CHAR"), -1),
            "no_answer_score": none - score,
            "truncated": truncated,
        }


def windows_of(question_lengths, context_lengths, max_length: int, stride: int) -> Windows:
    """The windows of B questions, in order. question_lengths, context_lengths: (B,) int64 tokens."""
    max_context = max_length - 3 - question_lengths  # (B,) context tokens of a full window
    step = tf.minimum(tf.cast(stride, tf.int64), max_context)
    beyond = tf.maximum(context_lengths - max_context, 0)
    counts = 1 + (beyond + step - 1) // step
    row = tf.repeat(tf.range(tf.size(counts, tf.int64)), counts)  # (W,)
    first = tf.ragged.range(counts).flat_values * tf.gather(step, row)
    count = tf.minimum(tf.gather(max_context, row), tf.gather(context_lengths, row) - first)
    return Windows(row, first, count, tf.gather(question_lengths, row) + 2)


def allowed_starts(windows: Windows, context_lengths) -> tf.RaggedTensor:
    """Whether a token has its maximum context in this window, so that an answer may begin there: (W, None) bool.

    As `QuestionWindows.max_context`: of equally good windows it is the earliest one.
    """
    columns = tf.ragged.range(windows.count)  # (W, None)
    window = columns.value_rowids()
    column, count = columns.flat_values, tf.gather(windows.count, window)
    score = 100 * tf.minimum(column, count - 1 - column) + count
    row_starts = tf.cumsum(context_lengths, exclusive=True)
    piece = tf.gather(tf.gather(row_starts, windows.row) + windows.first, window) + column  # among all N
    number = tf.reduce_sum(context_lengths)
    is_best = score == tf.gather(tf.math.unsorted_segment_max(score, piece, number), piece)
    candidates = tf.where(is_best, window, tf.int64.max)
    owner = tf.math.unsorted_segment_min(candidates, piece, number)  # (N,)
    return columns.with_values(tf.gather(owner, piece) == window)


def best_spans(start, end, windows: Windows, starts_allowed: tf.RaggedTensor):
    """The best span of each window. start, end: (W, T) logits.

    Returns scores (W,), `_NO_SPAN` or less where there is no span, and the first and last token of each span, counted
    from the window's first one, (W,) int64 each.
    """
    columns = tf.range(tf.shape(start, tf.int64)[1]) - windows.column[:, None]  # (W, T) context tokens from 0
    inside = (columns >= 0) & (columns < windows.count[:, None])
    lead = tf.RaggedTensor.from_row_lengths(tf.zeros([tf.reduce_sum(windows.column)], tf.bool), windows.column)
    allowed = tf.concat([lead, starts_allowed], 1).to_tensor(False, shape=[None, None])  # (W, T or less)
    allowed = tf.pad(allowed, [[0, 0], [0, tf.shape(start)[1] - tf.shape(allowed)[1]]])
    n_best = tf.minimum(_N_BEST, tf.shape(start)[1])
    start_scores, first = tf.math.top_k(tf.where(allowed & inside, start, _NO_SPAN), n_best)  # (W, k)
    end_scores, last = tf.math.top_k(tf.where(inside, end, _NO_SPAN), n_best)
    length = last[:, None, :] - first[:, :, None] + 1  # (W, k, k)
    scores = start_scores[:, :, None] + end_scores[:, None, :]
    scores = tf.where((length >= 1) & (length <= _MAX_ANSWER_LENGTH), scores, 2 * _NO_SPAN)
    flat = tf.reshape(scores, [tf.shape(scores)[0], -1])
    best = tf.argmax(flat, axis=1)
    offset = windows.column
    first = tf.gather(tf.cast(first, tf.int64), best // tf.cast(n_best, tf.int64), batch_dims=1) - offset
    last = tf.gather(tf.cast(last, tf.int64), best % tf.cast(n_best, tf.int64), batch_dims=1) - offset
    return tf.reduce_max(flat, axis=1), first, last


def best_of_rows(scores, rows, questions):
    """The window with the best span of each question: (B,) int64; among equals the first. scores, rows: (W,)."""
    number = tf.size(questions, tf.int64)
    best = tf.gather(tf.math.unsorted_segment_max(scores, rows, number), rows)
    indices = tf.where(scores == best, tf.range(tf.size(scores, tf.int64)), tf.int64.max)
    return tf.math.unsorted_segment_min(indices, rows, number)


_MODULES = {
    "sentence": TextModule,
    "pair": PairModule,
    "multiple-choice": ChoiceModule,
    "tagging": TaggingModule,
    "question": QuestionModule,
}
