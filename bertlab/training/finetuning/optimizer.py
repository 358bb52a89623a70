"""The optimizer of fine-tuning: AdamW whose rate can fall from the head down to the embeddings.

A low layer learnt general features in pre-training and should change little; the head is random. Layer-wise
decay multiplies the rate by `decay` at each step down (Howard and Ruder 2018, section 3.2, "discriminative
fine-tuning"; for BERT Sun et al. 2019, section 5.3.4, who find 0.95 best). Freezing is its extreme case.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.training.recipes.optimizer import PreparedGradients, is_decayed


@keras.saving.register_keras_serializable("bertlab")
class LayerwiseAdamW(PreparedGradients, keras.optimizers.Adam):
    """Adam with decoupled weight decay and a factor on the learning rate of each variable.

    Args:
        factors: one for each trainable variable, in the order of `model.trainable_variables`.
        decays: whether weight decay pulls at each of them, likewise.
        decay: the decay itself; in each step a variable loses decay · rate of its value, as in AdamW.
    """

    def __init__(self, factors: list[float], decays: list[bool], decay: float = 0.01, **options):
        super().__init__(learning_rate=0.0, **options)
        self.factors, self.decays, self.decay = list(factors), list(decays), decay

    def update_step(self, gradient, variable, learning_rate):
        index = self._get_variable_index(variable)
        rate = ops.cast(learning_rate, variable.dtype) * self.factors[index]
        if self.decays[index]:
            self.assign_sub(variable, variable * rate * self.decay)
        super().update_step(gradient, variable, rate)

    def get_config(self):
        own = {"factors": self.factors, "decays": self.decays, "decay": self.decay}
        return {name: value for name, value in super().get_config().items() if name != "learning_rate"} | own


def finetuning_optimizer(model, weight_decay: float, layer_decay: float) -> LayerwiseAdamW:
    """The optimizer for a model of `bertlab.models` with a head, or for one around it with the same `config`.

    Its `learning_rate` is set before every step.
    """
    variables = model.trainable_variables
    return LayerwiseAdamW(
        factors=[layer_decay ** steps_below_head(v.path, model.config.num_layers) for v in variables],
        decays=[is_decayed(v) for v in variables],
        decay=weight_decay,
        beta_2=0.999,
        epsilon=1e-6,
        global_clipnorm=1.0,
    )


def steps_below_head(path: str, num_layers: int) -> int:
    """0 for the head and the pooler, 1 for the last layer, num_layers + 1 for the embeddings."""
    if "backbone/embeddings/" in path:
        return num_layers + 1
    if "/layer_" in path:
        return num_layers - int(path.split("/layer_")[1].split("/")[0])
    return 0


def freeze(model, layers: int | None) -> None:
    """Keeps the embeddings and the first `layers` encoder layers as they are; None freezes nothing.

    Raises ConfigError where the model has fewer layers.
    """
    if layers is None:
        return
    if not 0 <= layers <= model.config.num_layers:
        raise ConfigError(f"frozen_layers must lie between 0 and the model's {model.config.num_layers}, not {layers}")
    model.backbone.embeddings.trainable = False
    for layer in model.backbone.encoder.layers_[:layers]:
        layer.trainable = False
