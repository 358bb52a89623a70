"""Low-rank adapters: LoRA (Hu et al. 2022, "LoRA: Low-Rank Adaptation of Large Language Models", section 4).

A frozen kernel W gets a trained addition of low rank:

    x W  →  x W + (α / r) · x A B        A (H, r), B (r, H)

B begins as zeros, so that the model begins as it was. As in the paper's experiments, queries and values are adapted
(section 4.2). In the end the addition is put into the kernel, and the saved model is an ordinary one. Keras's own
`enable_lora` does the arithmetic; where a family's kernel has an axis for the heads, (H, A, d), it makes A (H, A, r)
and B (r, d): rank r in each head.

Letters: H hidden size, r rank, A heads, d head size.
"""

import math
from collections.abc import Collection

import keras
import numpy as np
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.families import check_attends
from bertlab.families.names import BACKBONE
from bertlab.training.runs.state import value_of

ADAPTED = ("query", "value")  # names of the layers, in every attention


def add_adapters(model: keras.Model, rank: int, alpha: float | None = None) -> None:
    """Adds adapters to the queries and values of a model of `bertlab.models` with a head. alpha: α; None: the rank.

    Raises ConfigError for a rank that is larger than the kernels and for a model without attention.
    """
    check_attends(model.config)
    for layer in _dense_layers(model):
        smallest = min(layer.kernel.shape[0], layer.kernel.shape[-1])
        if rank > smallest:
            raise ConfigError(f"lora_rank: expected at most {smallest}, the rank of {layer.path}; got {rank}")
        layer.enable_lora(rank, lora_alpha=alpha)


def train_adapters_alone(model: keras.Model, pretrained: Collection[str]) -> None:
    """Freezes every weight of the backbone but the adapters. pretrained: paths of the weights that were loaded.

    A backbone's weight that was not, such as a new pooler, is trained with the head.
    """
    adapters = {id(variable) for variable in adapters_of(model)}
    for variable in model.weights:
        is_kept = variable.path.startswith(f"{BACKBONE}/") and variable.path in pretrained
        if is_kept and id(variable) not in adapters:
            variable.trainable = False


def adapters_of(model: keras.Model) -> list[keras.Variable]:
    """The matrices A and B of all adapters."""
    return [each for layer in _adapted(model) for each in (layer.lora_kernel_a, layer.lora_kernel_b)]


def merged(model: keras.Model, plain: keras.Model) -> keras.Model:
    """`plain`, a model of the same kind without adapters, with the weights of `model` and its adapters in the kernels.

    The sum is computed in float32, also where the model computes in 16 bits.
    """
    additions = {}
    for layer in _adapted(model):
        added = np.matmul(value_of(layer.lora_kernel_a), value_of(layer.lora_kernel_b))
        additions[f"{layer.path}/kernel"] = layer.lora_alpha / layer.lora_rank * added
    own = {variable.path: variable for variable in model.weights}
    for variable in plain.weights:
        variable.assign(value_of(own[variable.path]) + additions.pop(variable.path, 0))
    assert not additions, f"no kernels for {list(additions)}"
    return plain


def put_merged(model: keras.Model, plain: keras.Model) -> None:
    """The inverse of `merged`: gives `model` the weights of a plain one, and adapters that add nothing."""
    own = {variable.path: variable for variable in model.weights}
    for variable in plain.weights:
        own[variable.path].assign(value_of(variable))
    for layer in _adapted(model):
        layer.lora_kernel_b.assign(ops.zeros_like(layer.lora_kernel_b))


def summary(model: keras.Model) -> str:
    """A sentence for the user with the number of weights that are trained."""
    layers, groups = _adapted(model), (adapters_of(model), model.trainable_variables, model.weights)
    added, trained, total = (sum(math.prod(variable.shape) for variable in group) for group in groups)
    return (
        f"adapters of rank {layers[0].lora_rank} on {len(layers)} kernels have {added:,} weights; with the head "
        f"{trained:,} of {total:,} are trained ({trained / total:.2%})"
    )


def _dense_layers(model) -> list[keras.layers.Layer]:
    return [getattr(layer.attention, name) for layer in model.backbone.encoder.layers_ for name in ADAPTED]


def _adapted(model) -> list[keras.layers.Layer]:
    return [layer for layer in _dense_layers(model) if layer.lora_enabled]
