"""BERT's optimizer: Adam with decoupled weight decay, which spares LayerNorms and biases.

Source: Devlin et al. 2019, appendix A.2; Loshchilov and Hutter 2019 for the decoupling.
"""

import keras

NOT_DECAYED = ("bias", "gamma", "beta")  # the last part of a variable's path


def is_decayed(variable) -> bool:
    """Whether weight decay pulls this variable towards zero: every one but biases and LayerNorm's γ and β."""
    return variable.path.split("/")[-1] not in NOT_DECAYED


def adamw(
    learning_rate,
    model: keras.Model,
    *,
    weight_decay: float = 0.01,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    epsilon: float = 1e-6,
    global_clipnorm: float | None = 1.0,
) -> keras.optimizers.Optimizer:
    """AdamW with the published settings, for the variables of `model`, whose weights must exist already.

    learning_rate: a number or a schedule.
    """
    optimizer = keras.optimizers.AdamW(
        learning_rate,
        weight_decay=weight_decay,
        beta_1=beta_1,
        beta_2=beta_2,
        epsilon=epsilon,
        global_clipnorm=global_clipnorm,
    )
    optimizer.exclude_from_weight_decay(var_list=[v for v in model.trainable_variables if not is_decayed(v)])
    return optimizer
