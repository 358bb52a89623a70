"""The features of a pair of sentences, from their largest states."""

import numpy as np

from autograde.exercises.nP_before_transformers._shared import some_real
from autograde.exercises.writing import Case, Exercise, Part, Random, Same, Trial, draws, mistake, normal, values


def pair_features(x, x_real, y, y_real):
    u, v = (
        [rows[real == 1].max(axis=0) for rows, real in zip(states, reals)]
        for states, reals in ((x, x_real), (y, y_real))
    )
    u, v = np.array(u), np.array(v)
    return np.concatenate([u, v, np.maximum(u - v, v - u), u * v], axis=1)


def ones(axis: str):
    return lambda rng, sizes: np.ones((sizes["batch"], sizes[axis]), "int32")


def some(axis: str):
    return lambda rng, sizes: some_real(rng, sizes["batch"], sizes[axis])


BY_HAND = Case(([[[1, 5], [3, 2]]], [[1, 1]], [[[4, 0], [2, -1]]], [[1, 1]]), note="by hand")
INPUTS = draws(__name__, BY_HAND, x_real=ones("tokens"), y_real=ones("other_tokens"))
PADDED = draws(__name__, x_real=some("tokens"), y_real=some("other_tokens"), scale={"x": 2, "y": 2})


def padding(rng: Random) -> list[Trial]:
    """All numbers are negative, so that a 0 would be the largest, or below −2000; more padding changes nothing."""
    x, y = -np.abs(normal(rng, 2, 3, 4)) - 1, -np.abs(normal(rng, 2, 2, 4)) - 1
    x_real, y_real = some_real(rng, 2, 3), some_real(rng, 2, 2)
    more = np.concatenate([x, 9 + normal(rng, 2, 2, 4)], axis=1).astype("float32"), np.pad(x_real, ((0, 0), (0, 2)))
    pair = Case((x, x_real, y, y_real)), Case((*more, y, y_real))
    far_below = Case((1000 * x - 1000, x_real, 1000 * y - 1000, y_real))
    return [
        Trial(pair[:1]), Trial((far_below,)), Trial(pair, (Same((0, 0, (0, 1)), (1, 0, (0, 1))),)),
        *(Trial((case,)) for case in PADDED(rng)), *PADDED.gradients(rng),
    ]  # fmt: skip


EXERCISE = Exercise(
    reference=pair_features,
    in_graph=True,
    parts=(
        values(2, INPUTS),
        Part("padding", 1, padding, "padding must not count, also where all real numbers are negative, and gradients "
            "must pass through", hidden=lambda rng: [Trial((case,)) for case in PADDED.hidden(rng)]),
    ),
    facts=lambda case: {"d": case.arguments[0].shape[-1]},
    hints=(
        "Pooling first: from (batch, tokens, d) to (batch, d), the largest of each number over the real words.",
        "What number can padding have, so that it is never the largest? `ops.where` puts it there.",
        "`ops.concatenate([u, v, ops.abs(u - v), u * v], axis=-1)`: four blocks of d numbers.",
    ),
    misconceptions=(
        mistake("padding-is-zero",
            "ops.where(ops.equal(x_real, 1)[..., None], x, -np.inf)", "x * ops.cast(x_real, x.dtype)[..., None]",
            "ops.where(ops.equal(y_real, 1)[..., None], y, -np.inf)", "y * ops.cast(y_real, y.dtype)[..., None]",
            hint="Your padding becomes 0, and where all real numbers are negative 0 is the largest. Put −∞ there."),
        mistake("padding-counted",
            "ops.where(ops.equal(x_real, 1)[..., None], x, -np.inf)", "x",
            "ops.where(ops.equal(y_real, 1)[..., None], y, -np.inf)", "y",
            hint="Padding can be the largest in yours: x_real and y_real are not used."),
        mistake("difference-with-a-sign", "ops.abs(u - v)", "u - v",
            hint="You leave out the absolute value: |u − v| is the same for the pair (u, v) and (v, u)."),
        mistake("dot-product", "u * v]", "ops.sum(u * v, axis=-1, keepdims=True)]",
            hint="You multiply and add up. The last block keeps the {d} products, one for each number."),
        mistake("mean-pooled",
            "ops.max(ops.where(ops.equal(x_real, 1)[..., None], x, -np.inf), axis=1)",
            "ops.einsum('btd,bt->bd', x, ops.cast(x_real, x.dtype))"
            " / ops.sum(ops.cast(x_real, x.dtype), axis=1, keepdims=True)",
            "ops.max(ops.where(ops.equal(y_real, 1)[..., None], y, -np.inf), axis=1)",
            "ops.einsum('btd,bt->bd', y, ops.cast(y_real, y.dtype))"
            " / ops.sum(ops.cast(y_real, y.dtype), axis=1, keepdims=True)",
            hint="You take the mean over the words. InferSent's best model takes the largest value of each number."),
        mistake("product-before-difference", "ops.abs(u - v), u * v", "u * v, ops.abs(u - v)",
            hint="The last two blocks are exchanged: first |u − v|, then the product."),
        mistake("largest-of-a-word",
            "x, -np.inf), axis=1)", "x, -np.inf), axis=2)", "y, -np.inf), axis=1)", "y, -np.inf), axis=2)",
            hint="You take the largest number of each word. Take the largest over the words, axis 1, for each of "
                 "the {d} numbers."),
    ),
)  # fmt: skip
