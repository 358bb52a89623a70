"""The span that answers a question, inside a graph: windows over a long context, and the best span of all of them.

The same steps as `bertlab.data.tasks.windows`, on tensors instead of arrays, so that an exported
model gives the same answers as `bertlab predict`, for contexts of any length.

Letters: B questions, W windows of all questions, T tokens of the longest window, N context tokens of all questions.
"""

from typing import NamedTuple

import tensorflow as tf

from bertlab.export.modules import ServedModule
from bertlab.tokenizers.wordpiece.graph_packing import first_of_rows, pack_rows_in_graph

_N_BEST = 20  # starts and ends tried in each window, as `windows.best_answers` does
_MAX_ANSWER_LENGTH = 30  # tokens of an answer at most
_NO_SPAN = -1e9  # the score of a span that is not allowed


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
    """The answer to each question about its context."""

    def __init__(self, predictor):
        super().__init__(predictor)
        self._stride = predictor.info.stride
        self._question_length = predictor.task_kind.question_length
        threshold = predictor.info.null_threshold
        self._null_threshold = float("inf") if threshold is None else threshold  # inf: always an answer

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="questions"),
            tf.TensorSpec([None], tf.string, name="contexts"),
        ]
    )
    def serve(self, questions, contexts):
        """Two (B,) strings → a dict of outputs."""
        contexts = tf.strings.unicode_transcode(contexts, "UTF-8", "UTF-8", errors="ignore")
        asked = self._graph(questions)  # (B, None)
        truncated = asked.row_lengths() > self._question_length
        asked = first_of_rows(asked, self._question_length)
        pieces, begins, ends = self._graph.with_offsets(contexts)  # (B, None) each; bytes
        windows = windows_of(asked.row_lengths(), pieces.row_lengths(), self._length, self._stride)
        start, end = self._logits(asked, pieces, windows)
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

    def _logits(self, asked, pieces, windows: Windows):
        """Start and end logits of all windows: (W, T) float32 each."""
        begins = tf.gather(pieces.row_starts(), windows.row) + windows.first
        positions = tf.ragged.range(begins, begins + windows.count)  # (W, None)
        context = positions.with_values(tf.gather(pieces.flat_values, positions.flat_values))
        inputs = pack_rows_in_graph(self._vocabulary, tf.gather(asked, windows.row), context, self._length)
        used = tf.reduce_max(tf.concat([windows.column + windows.count + 1, [3]], 0))
        outputs = self._model({name: values[:, :used] for name, values in inputs.items()}, training=False)
        return tf.cast(outputs["start_logits"], tf.float32), tf.cast(outputs["end_logits"], tf.float32)


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
