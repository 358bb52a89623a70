"""BERT's optimizer: Adam with decoupled weight decay, except for LayerNorms and biases; and Muon.

Source: Devlin et al. 2019, appendix A.2; Loshchilov and Hutter 2019 for the decoupling. Muon: Jordan et al. 2024,
"Muon: An optimizer for hidden layers in neural networks"; Liu et al. 2025, "Muon is Scalable for LLM Training".
"""

import inspect

import keras
from keras import ops

from bertlab.common.errors import MissingDependencyError
from bertlab.training.recipes.gradients import FewKernels, SummedRows

PUBLISHED = {"weight_decay": 0.01, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-6, "global_clipnorm": 1.0}
NOT_DECAYED = ("bias", "gamma", "beta")  # the last part of a variable's path


def is_decayed(variable) -> bool:
    """Whether weight decay pulls this variable towards zero: all except biases and LayerNorm's γ and β.

    The three vectors that `layers.RelativeAttention` adds to its queries are called biases, but are decayed, as in
    XLNet's training: AdamWeightDecayOptimizer in model_utils.py of zihangdai/xlnet includes them by name.
    """
    return variable.path.split("/")[-1] not in NOT_DECAYED


@keras.saving.register_keras_serializable("bertlab")
class AdamW(FewKernels, SummedRows, keras.optimizers.AdamW):
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
    optimizer = type("Muon", (FewKernels, SummedRows, made), {})(
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


def optimizer_of(recipe, learning_rate, model: keras.Model) -> keras.optimizers.Optimizer:
    """The optimizer that a recipe (`PretrainingSettings`) asks for."""
    options = {name: getattr(recipe, name) for name in ("weight_decay", "beta_1", "beta_2", "epsilon")}
    options["global_clipnorm"] = recipe.clip_norm
    if recipe.optimizer == "muon":
        return muon(learning_rate, model, **options)
    return adamw(learning_rate, model, bias_correction=recipe.bias_correction, **options)
