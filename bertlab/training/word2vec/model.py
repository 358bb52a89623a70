"""The two models of word2vec with negative sampling.

A word w has two vectors: v_w where it is read, and u_w where it is predicted. With K negatives n drawn for a word w,

    skip-gram   −log σ(u_w · v_c) − Σ_n log σ(−u_n · v_c)     for each word c of the window
    cbow        the same with the mean of the window's v_c in place of v_c

(Mikolov et al. 2013b, equation 4, and 2013a, sections 3.1 and 3.2). As in word2vec's program, skip-gram predicts the
word in the middle from each of its neighbours: over a text every pair comes in both directions.

Letters: P positions, W the largest window, K negatives, V vocabulary, D dimensions.
"""

import keras
from keras import ops

from bertlab.training.word2vec.settings import KINDS

SKIP_GRAM, CBOW = KINDS


@keras.saving.register_keras_serializable("bertlab")
class Word2Vec(keras.Model):
    """The vectors of V words, and the loss that they are learned with.

    Args:
        vocab_size: V.   word_size: D.   kind: skip-gram or cbow.

    Weights: `words` (V, D), the vectors that are kept, drawn from ±1/(2D); `predicted` (V, D), zero at first.

    Call: a batch of `bertlab.training.word2vec.examples` → the scores u · v: (P, 2W, 1 + K), of cbow (P, 1, 1 + K).

    Example:
        >>> model = Word2Vec(vocab_size=9, word_size=4)
        >>> batch = {"context": [[3, 5]], "context_weights": [[1.0, 1.0]], "targets": [[4, 8, 7]]}
        >>> tuple(model({name: ops.array(values) for name, values in batch.items()}).shape)
        (1, 2, 3)
    """

    def __init__(self, vocab_size: int, word_size: int, kind: str = SKIP_GRAM, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size, self.word_size, self.kind = vocab_size, word_size, kind
        shape, small = (vocab_size, word_size), 0.5 / word_size
        drawn = keras.initializers.RandomUniform(-small, small)
        self.words = self.add_weight(name="words", shape=shape, initializer=drawn)
        self.predicted = self.add_weight(name="predicted", shape=shape, initializer="zeros")
        self.built = True

    def call(self, batch, training=False):
        read = ops.take(self.words, batch["context"], axis=0)  # (P, 2W, D)
        if self.kind == CBOW:
            weights = batch["context_weights"]
            total = ops.maximum(ops.sum(weights, axis=1), 1.0)[:, None]
            read = (ops.einsum("pwd,pw->pd", read, weights) / total)[:, None]  # (P, 1, D)
        predicted = ops.take(self.predicted, batch["targets"], axis=0)  # (P, 1 + K, D)
        return ops.einsum("pwd,pkd->pwk", read, predicted)

    def pairs(self, batch):
        """The weight of each prediction of a true word: (P, 2W); of cbow (P, 1), 0 for a position without a window."""
        weights = ops.convert_to_tensor(batch["context_weights"])
        return weights if self.kind == SKIP_GRAM else ops.max(weights, axis=1, keepdims=True)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The sum over all predictions of true words. The sum, not the mean: a word's step is not smaller in a batch
        with more of the others."""
        target_weights = ops.convert_to_tensor(x["target_weights"])
        weights = self.pairs(x)[:, :, None] * target_weights[:, None, :]  # (P, 2W or 1, 1 + K)
        is_true = ops.arange(ops.shape(y_pred)[-1]) == 0
        return ops.sum(weights * ops.softplus(ops.where(is_true, -y_pred, y_pred)))  # −log σ(s) = log(1 + e⁻ˢ)

    def get_config(self):
        own = {"vocab_size": self.vocab_size, "word_size": self.word_size, "kind": self.kind}
        return super().get_config() | own


@keras.saving.register_keras_serializable("bertlab")
class TableAdagrad(keras.optimizers.Adagrad):
    """Adagrad (Duchi et al. 2011) whose step of a row follows from the sum of the row's gradients.

    On TensorFlow the gradient of a lookup has an entry for each time that a row was read. Keras's Adagrad takes each
    entry for itself: it adds the squares of the entries, instead of the square of their sum, and a row that was read n
    times moves by up to √n times the learning rate. Here the entries of a row are added first, as in the dense
    gradients of JAX and PyTorch.

    Example:
        optimizer = TableAdagrad(learning_rate=0.2)
    """

    def apply(self, grads, trainable_variables=None):
        if keras.backend.backend() == "tensorflow":
            grads = [_with_rows_once(gradient) for gradient in grads]
        return super().apply(grads, trainable_variables)


def _with_rows_once(gradient):
    """The same gradient with one entry for each row; a dense one as it is."""
    import tensorflow as tf

    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, numbers = tf.unique(gradient.indices)  # (R,), (entries,)
    sums = tf.math.unsorted_segment_sum(gradient.values, numbers, tf.size(rows))  # (R, D)
    return tf.IndexedSlices(sums, rows, gradient.dense_shape)
