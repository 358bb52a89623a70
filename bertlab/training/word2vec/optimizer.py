"""Adagrad for tables of which an update changes few rows."""

import keras


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
