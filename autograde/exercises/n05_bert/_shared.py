"""Inputs and helpers shared by the exercises of notebook 05."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.writing import Case, Forbidden, HandsOn, OwnWeights, Random, Slopes, Trial, normal

WHOLE_BERT = Forbidden("In this exercise you assemble BERT yourself, from the layers of your earlier notebooks.")


def dense_weights(rng: Random, name: str, inside: int, outside: int) -> dict[str, np.ndarray]:
    kernel = normal(rng, inside, outside, size=1.2 * inside**-0.5)
    return {f"{name}/kernel": kernel, f"{name}/bias": normal(rng, outside, size=0.5)}


def norm_weights(rng: Random, name: str, width: int) -> dict[str, np.ndarray]:
    return {f"{name}/gamma": 1 + normal(rng, width, size=0.3), f"{name}/beta": normal(rng, width, size=0.3)}


def encoder_weights(rng: Random, layers: int, hidden: int, between: int) -> dict[str, np.ndarray]:
    """The weights of all layers, those of one kind side by side along the last axis."""
    kernels = {"feed_forward/inner/kernel": (hidden, between), "feed_forward/outer/kernel": (between, hidden)}
    weights = {}
    for role in roles.IN_A_LAYER:
        if role.endswith("kernel"):
            rows, columns = kernels.get(role, (hidden, hidden))
            array = normal(rng, rows, layers * columns, size=1.2 * rows**-0.5)
        else:
            width = between if role == "feed_forward/inner/bias" else hidden
            array = normal(rng, layers * width, size=0.3) + np.float32(role.endswith("gamma"))
        weights[f"layers/{role}"] = array
    return weights


def final_weights(rng: Random, d_e: int, vocabulary: int, prefix: str = "") -> dict[str, np.ndarray]:
    weights = dense_weights(rng, "dense", d_e, d_e) | norm_weights(rng, "norm", d_e)
    weights["unembedding"] = normal(rng, d_e, vocabulary, size=d_e**-0.5)
    return {prefix + name: array for name, array in weights.items()}


def before_the_norm_small(case: Case) -> Case:
    """The same call with numbers of about 0.001 before LayerNorm: a variance of 4e-7, where an ε of 1e-8 shows."""
    small = {name: array * np.float32(1e-3) for name, array in case.weights.items() if name.startswith("dense/")}
    return replace(case, weights=case.weights | small)


def token_ids(rng: Random, *shape: int, vocabulary: int = 9) -> np.ndarray:
    return rng.integers(0, vocabulary, shape).astype("int32")


def own_weights(case: Case) -> list[Trial]:
    """The layer has no other weights than the case's, and hands on what `**kwargs` holds."""
    return [Trial((case,), (HandsOn(), OwnWeights()))]


def in_training(case: Case) -> Trial:
    """The same call inside of a model that is being trained: this layer has no dropout of its own."""
    return Trial((replace(case, keywords={"training": True}, seed=1),))


def slopes(rng: Random, case: Case, *of: str | int, result: tuple[int, ...], item: int | None = None) -> Slopes:
    """The gradients of some weights and arguments. result: the shape of the output."""
    shapes = {name: (case.arguments if type(name) is int else case.weights)[name].shape for name in of}
    return Slopes(normal(rng, *result), {name: normal(rng, *shape) for name, shape in shapes.items()}, item=item)


SILENT = {  # weights that are 0 in parts that return zeros
    "embeddings": ("embeddings/norm/gamma", "embeddings/norm/beta"),
    "encoder": tuple(f"layers/{name}/{weight}" for name in ("attention/out", "feed_forward/outer")
                     for weight in ("kernel", "bias")),
}  # fmt: skip


def silenced(weights: dict[str, np.ndarray], *parts: str) -> dict[str, np.ndarray]:
    """The same weights, but the embeddings, or all sub-layers of the encoder, return zeros."""
    silent = [role for part in parts for role in SILENT[part]]
    return {role: 0 * array if role in silent else array for role, array in weights.items()}


FINAL_ROLES = roles.dense("dense") | roles.norm("norm") | {"unembedding": ["unembedding", "unembedding.kernel"]}
LOADERS = Forbidden("In this exercise you load a checkpoint yourself.")
