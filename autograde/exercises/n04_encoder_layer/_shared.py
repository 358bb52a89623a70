"""Inputs and helpers shared by the exercises of notebook 04."""

import numpy as np

from autograde.exercises.draws import Random, attention_weights, normal
from autograde.exercises.spec import Case, Forbidden

LIBRARY = Forbidden(
    "In this exercise you build it yourself; afterwards you may use either.",
    ("bertlab.layers", "bertlab.models", "keras_hub"),
)
READY_NORMS = ("keras.layers.LayerNormalization", "keras.layers.RMSNormalization", "keras.layers.UnitNormalization")
READY_GELU = ("keras.ops.gelu", "keras.activations.gelu", "tensorflow.nn.gelu")


SEED = 11  # seed of a call with dropout; its inputs are drawn as usual


def scale_and_offset(rng: Random, d: int) -> tuple[np.ndarray, np.ndarray]:
    return 1 + normal(rng, d, size=0.4), normal(rng, d, size=0.5)


def norm_weights(rng: Random, d: int) -> dict:
    return dict(zip(("gamma", "beta"), scale_and_offset(rng, d)))


def network_parameters(rng: Random, d_e: int, d_mlp: int) -> tuple[np.ndarray, ...]:
    return (
        normal(rng, d_e, d_mlp, size=d_e**-0.5),
        normal(rng, d_mlp, size=0.5),
        normal(rng, d_mlp, d_e, size=d_mlp**-0.5),
        normal(rng, d_e, size=0.5),
    )


def network_weights(rng: Random, hidden: int, inner: int) -> dict:
    names = ("inner/kernel", "inner/bias", "outer/kernel", "outer/bias")
    return dict(zip(names, network_parameters(rng, hidden, inner)))


def away_from_zero(rng: Random, *shape: int) -> np.ndarray:
    return (rng.choice([-1, 1], size=shape) * rng.uniform(0.5, 2, size=shape)).astype("float32")


def layer_weights(rng: Random, hidden: int, inner: int) -> dict:
    weights = {f"attention/{role}": array for role, array in attention_weights(rng, hidden).items()}
    weights |= {f"feed_forward/{role}": array for role, array in network_weights(rng, hidden, inner).items()}
    for name in ("attention_norm", "output_norm"):
        weights |= {f"{name}/{role}": array for role, array in norm_weights(rng, hidden).items()}
    return weights


def layer_case(rng: Random, x, mask=None, **keywords) -> Case:
    keywords |= {} if mask is None else {"attention_mask": mask}
    config = {"num_heads": 2, "intermediate_size": 10, "dropout": 0.5}
    return Case((x,), keywords, layer_weights(rng, x.shape[-1], inner=10), config, seed=SEED)


def silenced(case: Case, *parts: str) -> Case:
    """The same case with sub-layers that return zeros: "attention", "feed_forward" or both."""
    last = {"attention": "attention/out/", "feed_forward": "feed_forward/outer/"}
    quiet = tuple(last[part] for part in parts)
    weights = {role: array * 0 if role.startswith(quiet) else array for role, array in case.weights.items()}
    return Case(case.arguments, case.keywords, weights, case.config, seed=case.seed)


def inputs_of_layer(rng: Random) -> list[Case]:
    return [layer_case(rng, normal(rng, 2, 5, 8))]
