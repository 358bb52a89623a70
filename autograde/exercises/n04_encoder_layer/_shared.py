"""Inputs and helpers shared by the exercises of notebook 04."""

from dataclasses import replace

import numpy as np

from autograde.exercises.draws import Random, attention_weights, normal, some_seen, with_zeros
from autograde.exercises.spec import Case, Dropped, Forbidden, Slopes, Trial

LIBRARY = Forbidden(
    "In this exercise you build it yourself. In other exercises you may use the ready-made one.",
)
READY_NORMS = (
    "keras.layers.LayerNormalization",
    "keras.layers.RMSNormalization",
    "keras.layers.UnitNormalization",
    "keras.layers.GroupNormalization",
    "keras.layers.BatchNormalization",
    "keras.ops.layer_normalization",
    "keras.ops.rms_normalization",
)
READY_GELU = ("keras.ops.gelu", "keras.activations.gelu", "tensorflow.nn.gelu")

BOTH_NORMS = ("attention_norm", "output_norm")
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


def layer_case(rng: Random, x, mask=None, heads=2, inner=10, dropout: dict | None = None, **keywords) -> Case:
    """dropout: the constructor's argument of this name, if it is given one."""
    keywords |= {} if mask is None else {"attention_mask": mask}
    config = {"num_heads": heads, "intermediate_size": inner} | ({"dropout": 0.5} if dropout is None else dropout)
    return Case((x,), keywords, layer_weights(rng, x.shape[-1], inner), config, seed=SEED)


ADDED = {"attention": "that attention adds to x", "feed_forward": "that the network adds to x"}


def shown_by_signs(case: Case, part: str, layers: int = 1, which: int = -1) -> Case:
    """The same case with x = 0 and one sub-layer, of the last layer or another, that returns ones.

    γ = 1, β = 0: behind the LayerNorms a number is negative where dropout has made it 0, otherwise positive.
    """
    one = {"attention": "attention/out/bias", "feed_forward": "feed_forward/outer/bias"}[part]
    weights = {}
    for role, array in case.weights.items():
        weights[role] = np.full_like(array, role.endswith("/gamma"))
        if role == one:
            np.split(weights[role], layers)[which][:] = 1
    return replace(case, arguments=(np.zeros_like(case.arguments[0]),), weights=weights)


def dropped_by_signs(case: Case, part: str, rate: float, layers: int = 1, which: int = -1) -> Trial:
    """The sub-layer's result goes through dropout of this rate. (A layer may have a seed of its own.)"""
    of = ADDED[part] + (f" in layer {which % layers + 1}" if layers > 1 else "")
    return Trial((shown_by_signs(case, part, layers, which),), (Dropped(rate, signs=True, of=of),))


def shown_by_one_unit(case: Case) -> Case:
    """The same case with x = 0, attention that returns 0, and a network with one inner unit.

    The network returns equal numbers. If dropout acts on the inner unit, all of a token become 0 together. `case` has
    an inner size of 1.
    """
    weights = {role: np.full_like(array, role.endswith("/gamma")) for role, array in case.weights.items()}
    for role in ("feed_forward/inner/bias", "feed_forward/outer/kernel"):
        weights[role][:] = 1
    return replace(case, arguments=(np.zeros_like(case.arguments[0]),), weights=weights)


def small_inputs(case: Case) -> Case:
    """The same case with numbers so small that another ε in either LayerNorm changes the result, also 10⁻¹⁰."""
    small = ("attention/out/", "attention_norm/", "feed_forward/outer/")
    weights = {role: array / 10_000 if role.startswith(small) else array for role, array in case.weights.items()}
    return replace(case, arguments=(case.arguments[0] / 10_000,), weights=weights)


def any_layers(rng: Random) -> list[Case]:
    """Other sizes."""
    heads, d, batch, tokens, inner = (int(size) for size in rng.integers(1, 6, size=5))
    return [layer_case(rng, normal(rng, batch, tokens, 2 * heads * d), heads=heads, inner=inner)]


def any_masked_layers(rng: Random) -> list[Case]:
    """Other sizes, with a mask in which queries may also see nothing."""
    heads, d, batch, tokens, inner = (int(size) for size in rng.integers(1, 6, size=5))
    x, mask = normal(rng, batch, tokens + 1, 2 * heads * d), rng.random((batch, tokens + 1, tokens + 1)) < 0.6
    return [layer_case(rng, x, mask, heads=heads, inner=inner)]


def masks_of_layer(rng: Random) -> list[Case]:
    """A mask for all queries, one for each, and queries that may see nothing."""
    nothing = some_seen(rng, 2, 4, 4)
    nothing[0, 1], nothing[1] = False, False
    masks = (some_seen(rng, 2, 1, 4), nothing)
    return [layer_case(rng, normal(rng, 2, 4, 6), mask=mask) for mask in masks]


def mask_in_training(rng: Random) -> Case:
    """With a rate of 0, so that nothing is dropped."""
    return layer_case(rng, normal(rng, 2, 3, 4), some_seen(rng, 2, 1, 3), dropout={"dropout": 0.0}, training=True)


def silenced(case: Case, *parts: str) -> Case:
    """The same case with sub-layers that return zeros: "attention", "feed_forward" or both."""
    last = {"attention": "attention/out/", "feed_forward": "feed_forward/outer/"}
    quiet = tuple(last[part] for part in parts)
    weights = {role: array * 0 if role.startswith(quiet) else array for role, array in case.weights.items()}
    return Case(case.arguments, case.keywords, weights, case.config, seed=case.seed)


def nothing_to_add(case: Case, norms: tuple[str, ...] = ("attention_norm",)) -> Case:
    """The same case with vectors 1, −1, 1, −1, … and sub-layers that return 0 for them, exactly.

    So dropout has no effect where it belongs, behind the sub-layers, but shows in front of them and on the sums.
    norms: those that get γ = 1 and β = 0, because a sub-layer reads their result.
    """
    weights = dict(case.weights)
    for role, array in case.weights.items():
        if role in ("attention/value/kernel", "feed_forward/inner/kernel"):
            weights[role] = np.repeat(array[:1], len(array), axis=0)
        elif role.endswith("/bias") or role in [f"{norm}/beta" for norm in norms]:
            weights[role] = 0 * array
        elif role in [f"{norm}/gamma" for norm in norms]:
            weights[role] = np.ones_like(array)
    x = (-1) ** np.arange(case.arguments[0].shape[-1]) + 0 * case.arguments[0]
    return replace(case, arguments=(x.astype("float32"),), weights=weights)


def slopes(rng: Random, case: Case) -> Slopes:
    """The gradients of x and of a weight in each part: a layer or a stack of them can be trained."""
    roles = ("attention/query/kernel", "attention_norm/gamma", "feed_forward/inner/kernel", "output_norm/beta")
    x = case.arguments[0]
    directions = {0: normal(rng, *x.shape)} | {role: normal(rng, *case.weights[role].shape) for role in roles}
    return Slopes(normal(rng, *x.shape), directions)


def inputs_of_layer(rng: Random) -> list[Case]:
    """Also another number of heads, a token of zeros, small numbers, an earlier call with another batch and mask
    and fewer tokens."""
    return [
        layer_case(rng, normal(rng, 2, 5, 8)),
        layer_case(rng, with_zeros(normal(rng, 1, 3, 6)), heads=3, inner=7, training=False),
        small_inputs(layer_case(rng, normal(rng, 2, 3, 4))),
        replace(layer_case(rng, normal(rng, 3, 6, 4)), first=(normal(rng, 2, 2, 4), some_seen(rng, 2, 1, 2))),
    ]
