"""Rows of BERT's input inside a TensorFlow graph: `encoding.pack_rows` on ragged tensors. B texts, T = max_length."""

import tensorflow as tf

from bertlab.tokenizers.wordpiece.encoding import max_text_length
from bertlab.tokenizers.wordpiece.vocabulary import Vocabulary


def pack_rows_in_graph(
    vocabulary: Vocabulary, a: tf.RaggedTensor, b: tf.RaggedTensor | None, max_length: int
) -> dict[str, tf.Tensor]:
    """[CLS] a [SEP] or [CLS] a [SEP] b [SEP], cut and padded to max_length; a and b are (B, None) int32.

    Returns input_ids, token_type_ids and attention_mask, each (B, T) int32.
    """
    rows = a.nrows()
    cls, sep = tf.fill([rows, 1], vocabulary.cls_id), tf.fill([rows, 1], vocabulary.sep_id)
    if b is None:
        ids = tf.concat([cls, first_of_rows(a, max_text_length(max_length, specials=2)), sep], 1)  # (B, None)
        types = tf.zeros_like(ids)
    else:
        kept_a, kept_b = _truncated_lengths(a.row_lengths(), b.row_lengths(), max_text_length(max_length, specials=3))
        first = tf.concat([cls, first_of_rows(a, kept_a), sep], 1)
        second = tf.concat([first_of_rows(b, kept_b), sep], 1)
        ids = tf.concat([first, second], 1)
        types = tf.concat([tf.zeros_like(first), tf.ones_like(second)], 1)
    shape = [None, max_length]
    return {
        "input_ids": ids.to_tensor(vocabulary.pad_id, shape=shape),
        "token_type_ids": types.to_tensor(0, shape=shape),
        "attention_mask": tf.ones_like(ids).to_tensor(0, shape=shape),
    }


def first_of_rows(ragged: tf.RaggedTensor, lengths: tf.Tensor | int) -> tf.RaggedTensor:
    """The first lengths[i] values of each row i, or all if it has fewer."""
    starts = ragged.row_starts()
    kept = tf.ragged.range(starts, starts + tf.minimum(ragged.row_lengths(), tf.cast(lengths, tf.int64)))
    return kept.with_values(tf.gather(ragged.values, kept.values))


def _truncated_lengths(length_a: tf.Tensor, length_b: tf.Tensor, budget: int) -> tuple[tf.Tensor, tf.Tensor]:
    """As `encoding.truncated_lengths`: tokens are taken off the longer text, off b if both are equally long."""
    kept_b = tf.minimum(length_b, tf.maximum(tf.cast(budget // 2, tf.int64), budget - length_a))
    return tf.minimum(length_a, budget - kept_b), kept_b
