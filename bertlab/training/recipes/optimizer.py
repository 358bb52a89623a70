"""BERT's optimizer: Adam with decoupled weight decay, except for LayerNorms and biases; and Muon.

Source: Devlin et al. 2019, appendix A.2; Loshchilov and Hutter 2019 for the decoupling. Muon: Jordan et al. 2024,
"Muon: An optimizer for hidden layers in neural networks"; Liu et al. 2025, "Muon is Scalable for LLM Training".
"""

import inspect
from collections import defaultdict

import keras
from keras import ops

from bertlab.common.devices import on_jax_gpu
from bertlab.common.errors import MissingDependencyError
from bertlab.training.recipes.schedule import InverseRoot, WarmupLinearDecay

PUBLISHED = {"weight_decay": 0.01, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-6, "global_clipnorm": 1.0}
NOT_DECAYED = ("bias", "gamma", "beta")  # the last part of a variable's path


def is_decayed(variable) -> bool:
    """Whether weight decay pulls this variable towards zero: all except biases and LayerNorm's γ and β.

    The three vectors that `layers.RelativeAttention` adds to its queries are called biases, but are decayed, as in
    XLNet's training: AdamWeightDecayOptimizer in model_utils.py of zihangdai/xlnet includes them by name.
    """
    return variable.path.split("/")[-1] not in NOT_DECAYED


class PreparedGradients:
    """A part of an optimizer of Keras that prepares the gradients: rows are added up, and small kernels joined.

    On TensorFlow the gradient of a lookup has an entry for each time that a row was read. Keras 3 takes each entry for
    itself in the norm to clip by and in Adam's second moment: Σ g² in place of (Σ g)². Here a row has one gradient, as
    on JAX and PyTorch, and as in the update of a batch in several parts. Adam's moments are dense anyway.

    On a GPU with JAX the gradients of all vectors of one size are one array. BERT-Base has 131 vectors: biases, γ and
    β. XLA makes a kernel for the update of each one and another for its part of the norm to clip by, and each takes
    longer to start than to compute; it joins kernels that read the same array. The norm is added up in another order
    than in Keras; all else is the same.
    """

    def apply(self, grads, trainable_variables=None):
        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf

            grads = [gradient if gradient is None else tf.convert_to_tensor(gradient) for gradient in grads]
        return super().apply(grads, trainable_variables)

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


@keras.saving.register_keras_serializable("bertlab")
class AdamW(PreparedGradients, keras.optimizers.AdamW):
    """Keras's AdamW, exact for tables that a batch reads in the same row several times."""


@keras.saving.register_keras_serializable("bertlab")
class UncorrectedAdamW(AdamW):
    """AdamW without bias correction: both moments start from 0 and are too small in the first steps.

    That is what BERT was trained with: optimization.py of google-research/bert leaves Adam's bias correction out.
    The first update then is (1 − β₁) / √(1 − β₂) ≈ 3.2 times as long as the corrected one, for β₁ 0.9 and β₂ 0.999.
    """

    def update_step(self, gradient, variable, learning_rate):
        rate = ops.cast(learning_rate, variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        index = self._get_variable_index(variable)
        first, second = self._momentums[index], self._velocities[index]
        self.assign_add(first, (gradient - first) * (1 - self.beta_1))
        self.assign_add(second, (ops.square(gradient) - second) * (1 - self.beta_2))
        self.assign_sub(variable, rate * first / (ops.sqrt(second) + self.epsilon))


def adamw(learning_rate, model: keras.Model, *, bias_correction: bool = True, **changes) -> keras.optimizers.Optimizer:
    """AdamW with the published settings, for the variables of `model`, whose weights must exist already.

    learning_rate: a number or a schedule. bias_correction: False for the published script's Adam. changes: to the
    other settings, see `PUBLISHED`.
    """
    optimizer_class = AdamW if bias_correction else UncorrectedAdamW
    return _without_decay(optimizer_class(learning_rate, **PUBLISHED | changes), model)


def muon(learning_rate, model: keras.Model, **changes) -> keras.optimizers.Optimizer:
    """Muon for the matrices of the encoder, AdamW for all other weights; arguments as in `adamw`.

    Muon replaces the gradient of a matrix by an orthogonal matrix near it, so that all directions are trained alike.
    Its steps are scaled to the usual size of Adam's (Liu et al. 2025, section 2.2): the same learning rate fits both.

    Raises MissingDependencyError if the installed Keras is too old.
    """
    made = getattr(keras.optimizers, "Muon", None)
    if made is None or "rms_rate" not in inspect.signature(made).parameters:
        raise MissingDependencyError(
            f"Keras {keras.__version__} is too old for muon: install a newer one, or choose adamw"
        )
    options = PUBLISHED | changes
    optimizer = type("Muon", (PreparedGradients, made), {})(
        learning_rate,
        adam_beta_1=options.pop("beta_1"),
        adam_beta_2=options.pop("beta_2"),
        adam_weight_decay=options["weight_decay"],
        exclude_layers=[r"^(?!.*\bencoder(_\d+)?/)", r"_bias$"],  # all outside the encoder, and biases
        **options,
    )
    return _without_decay(optimizer, model)


def _without_decay(optimizer, model: keras.Model):
    """The optimizer, told which variables it does not decay."""
    optimizer.exclude_from_weight_decay(var_list=[v for v in model.trainable_variables if not is_decayed(v)])
    return optimizer


def optimizer_of(recipe, model: keras.Model) -> keras.optimizers.Optimizer:
    """The optimizer, and its learning rate over time, that a recipe (`PretrainingSettings`) asks for."""
    if recipe.schedule == "inverse-root":
        rate = InverseRoot(recipe.learning_rate, recipe.warmup_steps)
    else:
        rate = WarmupLinearDecay(recipe.learning_rate, recipe.steps, recipe.warmup_steps, recipe.stable_steps)
    options = {name: getattr(recipe, name) for name in ("weight_decay", "beta_1", "beta_2", "epsilon")}
    options["global_clipnorm"] = recipe.clip_norm
    if recipe.optimizer == "muon":
        return muon(rate, model, **options)
    return adamw(rate, model, bias_correction=recipe.bias_correction, **options)
