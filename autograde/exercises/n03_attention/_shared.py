"""Inputs and helpers shared by the exercises of notebook 03."""

import numpy as np

from autograde.exercises.writing import Case, Draws, Forbidden, Random, Same, Trial, normal

WHOLE_ATTENTION = Forbidden(
    "In this exercise you build attention yourself.",
    (
        "keras.layers.MultiHeadAttention",
        "keras.layers.Attention",
        "keras.layers.GroupQueryAttention",
        "keras.layers.AdditiveAttention",
        "keras.ops.dot_product_attention",
    ),
)


def head_parameters(rng: Random, d_x: int, d_attn: int, d_out: int) -> tuple[np.ndarray, ...]:
    """w_q, b_q, w_k, b_k, w_v, b_v of one head."""
    widths = (d_attn, d_attn, d_out)
    return tuple(part for width in widths for part in (normal(rng, d_x, width, size=0.7), normal(rng, width)))


def shuffled(inputs: Draws):
    """Shuffling the tokens shuffles the outputs: nothing here depends on the position of a token."""

    def trials(rng: Random) -> list[Trial]:
        x, *others = inputs.case(rng, front=(2,), tokens=6).arguments
        order, everyone = tuple(map(int, rng.permutation(6))), (0, 1, 2, 3, 4, 5)
        pair = (Case((x, *others)), Case((x[..., list(order), :], *others)))
        return [Trial(pair, (Same((1, -2, everyone), (0, -2, order)),))]

    return trials


LIBRARY_MASKS = Forbidden("In this exercise you write the mask.", WHOLE_ATTENTION.names)
