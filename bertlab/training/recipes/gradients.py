"""Prepares gradients for the optimizers: the rows of a table alike on each backend, vectors for a fast update."""

from collections import defaultdict

import keras
from keras import ops

from bertlab.common.devices import on_jax_gpu


class SummedRows:
    """A part of an optimizer of Keras: adds up the gradients of a table's row before it clips them or squares them.

    On TensorFlow the gradient of a lookup has an entry for each time that a row was read. Keras 3 takes each entry for
    itself in the norm to clip by and in Adam's second moment: Σ g² in place of (Σ g)². Here a row has one gradient, as
    on JAX and PyTorch, and as in the update of a batch in several parts. Adam's moments are dense anyway.
    """

    def apply(self, grads, trainable_variables=None):
        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf

            grads = [gradient if gradient is None else tf.convert_to_tensor(gradient) for gradient in grads]
        return super().apply(grads, trainable_variables)


class FewKernels:
    """A part of an optimizer of Keras: on a GPU with JAX, puts the gradients of all vectors of one size into one array.

    BERT-Base has 131 vectors: biases, γ and β. XLA makes a kernel for the update of each one and another for its part
    of the norm to clip by, and each takes longer to start than to compute. XLA joins kernels that read the same array.
    The norm is added up in another order than in Keras; all else is the same.
    """

    def _clip_gradients(self, grads):
        if self.clipnorm or self.clipvalue or not self.global_clipnorm or not on_jax_gpu():
            return super()._clip_gradients(grads)
        arrays, locations = joined_vectors(grads)
        norm = norm_of(arrays)
        # As in Keras: a norm that is infinite or NaN makes all gradients NaN.
        scale = self.global_clipnorm / ops.maximum(norm, self.global_clipnorm) + (norm - norm)
        arrays = [array * scale for array in arrays]
        return [arrays[number] if row is None else arrays[number][row] for number, row in locations]


def joined_vectors(gradients: list) -> tuple[list, list[tuple]]:
    """Puts the vectors of one size into one array (N, size).

    Returns all arrays, and for each gradient the number of its array and the row in it; None if it is the whole array.
    """
    by_shape = defaultdict(list)
    for number, gradient in enumerate(gradients):
        is_vector = len(gradient.shape) == 1
        by_shape[(gradient.shape[0], gradient.dtype) if is_vector else number].append(number)
    arrays, locations = [], {}
    for numbers in by_shape.values():
        whole = len(gradients[numbers[0]].shape) != 1
        locations |= {number: (len(arrays), None if whole else row) for row, number in enumerate(numbers)}
        arrays.append(gradients[numbers[0]] if whole else ops.stack([gradients[number] for number in numbers]))
    return arrays, [locations[number] for number in range(len(gradients))]


def norm_of(arrays: list):
    """The norm of all arrays together: that of the norms of their rows. XLA makes one kernel of it for each array."""
    arrays = [ops.reshape(ops.cast(array, "float32"), (-1, *array.shape[-1:])) for array in arrays]
    rows = [ops.sqrt(ops.sum(ops.square(array), axis=-1)) if array.ndim > 1 else array for array in arrays]
    return ops.sqrt(ops.sum(ops.square(ops.concatenate(rows))))
