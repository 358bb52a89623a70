"""Inputs, references and helpers shared by the exercises of notebook 13."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.numpy_bert import below, dense, masked_attention, multi_head_attention, norm
from autograde.exercises.writing import Case, Dropped, Forbidden, Random, Trial, attention_weights, normal

WRITE_IT = Forbidden("In this exercise you build the decoder yourself, from the parts of your earlier notebooks.")

SUB_LAYERS = {  # name → the bias that is added to its result, and what dropout acts on
    "attention": ("attention/out/bias", "that self-attention adds to x"),
    "cross_attention": ("cross_attention/out/bias", "that cross-attention adds to x"),
    "feed_forward": ("feed_forward/outer/bias", "that the network adds to x"),
}


# --- references: float64, independent of the library ---


def cross_attention(z, h, attention_mask=None, training=None, *, weights, config):
    """A loop over slices of the shared matrices."""
    q, k, v = dense(z, weights, "query"), dense(h, weights, "key"), dense(h, weights, "value")
    mask = np.ones((1, 1, h.shape[1]), bool) if attention_mask is None else attention_mask
    slices = np.split(np.arange(z.shape[-1]), config["num_heads"])
    heads = [masked_attention(q[..., one], k[..., one], v[..., one], mask) for one in slices]
    return dense(np.concatenate(heads, axis=-1), weights, "out")


def relu_network(x, weights):
    return dense(np.maximum(dense(x, weights, "inner"), 0), weights, "outer")


def encoder_layer(x, mask, *, weights, config):
    """An encoder layer with ReLU."""
    x = norm(x + multi_head_attention(x, mask, weights=below(weights, "attention"), config=config), weights,
             "attention_norm")  # fmt: skip
    return norm(x + relu_network(x, below(weights, "feed_forward")), weights, "output_norm")


def decoder_layer(x, h, source_mask=None, training=None, *, weights, config):
    """Without dropout, also in training."""
    own = np.tril(np.ones((1, x.shape[1], x.shape[1]), bool))
    x = norm(x + multi_head_attention(x, own, weights=below(weights, "attention"), config=config), weights,
             "attention_norm")  # fmt: skip
    crossed = cross_attention(x, h, source_mask, weights=below(weights, "cross_attention"), config=config)
    x = norm(x + crossed, weights, "cross_norm")
    return norm(x + relu_network(x, below(weights, "feed_forward")), weights, "output_norm")


# --- weights and cases ---


def layer_weights(rng: Random, names: dict, hidden: int, inner: int) -> dict[str, np.ndarray]:
    """Weights for the roles of a layer."""
    shapes = {"inner/kernel": (hidden, inner), "inner/bias": (inner,), "outer/kernel": (inner, hidden)}
    weights, kinds = {}, attention_weights(rng, hidden)
    for role in names:
        part, _, kind = role.partition("/")
        if part.endswith("attention"):
            weights[role] = normal(rng, *kinds[kind].shape, size=1.2 * hidden**-0.5)
        elif part.endswith("norm"):
            weights[role] = normal(rng, hidden, size=0.4) + np.float32(kind == "gamma")
        else:
            shape = shapes.get(kind, (hidden,))
            weights[role] = normal(rng, *shape, size=1.2 * shape[0] ** -0.5 if len(shape) > 1 else 0.5)
    return weights


def decoder_case(
    rng: Random, batch: int = 2, tokens: int = 4, source_tokens: int = 5, hidden: int = 6, heads: int = 2,
    inner: int = 7, mask=None, dropout: dict | None = None, **keywords,
) -> Case:  # fmt: skip
    """One call of a decoder layer. dropout: the constructor's argument of this name, if it is given one."""
    x, h = normal(rng, batch, tokens, hidden), normal(rng, batch, source_tokens, hidden)
    keywords |= {} if mask is None else {"source_mask": mask}
    config = {"num_heads": heads, "intermediate_size": inner} | ({"dropout": 0.5} if dropout is None else dropout)
    return Case((x, h), keywords, layer_weights(rng, roles.DECODER_LAYER, hidden, inner), config, seed=13)


def silenced(case: Case, under: str = "") -> Case:
    """All sub-layers whose roles begin with `under` return zeros: dropout of their results changes nothing."""
    quiet = tuple(f"{under}{name}" for name in ("attention/out/", "cross_attention/out/", "feed_forward/outer/"))
    return replace(case, weights={role: 0 * a if role.startswith(quiet) else a for role, a in case.weights.items()})


def dropped_by_signs(case: Case, part: str, rate: float) -> Trial:
    """The result of one sub-layer goes through dropout of this rate.

    x = 0, and this sub-layer alone returns ones: behind the LayerNorms, with γ = 1 and β = 0, a number is negative
    where dropout has made it 0.
    """
    role, of = SUB_LAYERS[part]
    weights = {
        name: np.full_like(array, name.endswith("/gamma") or name == role) for name, array in case.weights.items()
    }
    silent = replace(case, arguments=(0 * case.arguments[0], case.arguments[1]), weights=weights)
    return Trial((silent,), (Dropped(rate, signs=True, of=of),))
