"""Scales gradients down to a common length of at most `max_norm`."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.spec import Case, Exercise, Forbidden, cases, composed, mistake, result_of, values


def clip_gradients(gradients, max_norm=1.0):
    length = np.linalg.norm(np.concatenate([np.ravel(gradient) for gradient in gradients]))
    factor = min(1.0, max_norm / length) if length else 1.0
    return [np.asarray(gradient * factor, "float32") for gradient in gradients]


def large_gradients(rng: Random) -> list[Case]:
    return [
        Case(([normal(rng, 3, 4), normal(rng, 4), normal(rng, 2, 2)],)),
        Case(([normal(rng, 5), normal(rng, 2, 3, size=0.2)], 0.5)),
        Case(([3 + normal(rng, 2, 2, 2), normal(rng, 1)], 4.0)),
        Case(([5 + normal(rng, 4)],)),
        Case(([100 * normal(rng, 3), np.array(-700, "float32"), np.zeros((2, 1), "float32")], 2.0)),
    ]


def other_gradients(rng: Random) -> list[Case]:
    """A single number; a tensor of zeros beside a long one; many tensors."""
    return [
        Case(([normal(rng, 2, 3) for _ in range(7)], 0.3)),
        Case(([np.array(7, "float32"), normal(rng, 2), np.zeros((2, 3), "float32")], 2.0)),
    ]


def clipped_twice(rng: Random) -> list[Case]:
    """A list whose first tensor is the result of `gather_positions`, clipped, and clipped again to less."""
    positions = rng.integers(0, 4, size=(2, 3)).astype("int32")
    return [
        composed(
            ("gather-positions", Case((1 + normal(rng, 2, 4, 3), positions))),
            ("clip-gradients", Case(([result_of(0), normal(rng, 5)], 2.0))),
            ("clip-gradients", Case((result_of(1), 0.5))),
        )
    ]


def small_gradients(rng: Random) -> list[Case]:
    """Shorter than 1, and shorter than another maximum; and nothing but zeros."""
    zeros = [np.zeros((2, 2), "float32"), np.zeros(3, "float32")]
    return [
        Case(([normal(rng, 3, 4, size=0.05), normal(rng, 4, size=0.05)],)), Case(([1 + normal(rng, 3, size=0.1)], 5.0)),
        Case((zeros,)), Case(([np.array([0.3, 0.4], "float32")], 0.6)), Case(([np.array([[3.0]], "float32")], 8.0)),
    ]  # fmt: skip


EXERCISE = Exercise(
    reference=clip_gradients,
    returns="list",
    in_graph=True,
    parts=(
        values(2, large_gradients, hidden=other_gradients),
        cases("short gradients", 1, small_gradients, "gradients that are short enough must not change", clipped_twice),
    ),
    forbidden=Forbidden(
        "In this exercise you write it yourself. In other exercises you may use the ready-made one.",
        ("tensorflow.clip_by_global_norm", "tensorflow.clip_by_norm"),
    ),
    hints=(
        "Think of all gradients as one long vector g, with one length.",
        "Its length is the root of the sum of *all* squares, over all tensors of the list.",
        "Use one factor for all: max_norm / max(length, max_norm). It is 1 if nothing has to be clipped.",
    ),
    misconceptions=(
        mistake("each-tensor-by-itself",
            "    length = ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))\n"
            "    factor = max_norm / ops.maximum(length, max_norm)\n"
            "    return [gradient * factor for gradient in gradients]",
            "    clipped = []\n"
            "    for gradient in gradients:\n"
            "        length = ops.sqrt(ops.sum(ops.square(gradient)))\n"
            "        clipped.append(gradient * max_norm / ops.maximum(length, max_norm))\n"
            "    return clipped",
            hint="You clip each tensor by its own length. Then large ones shrink and small ones do not, and the "
                 "direction changes. Use one length and one factor."),
        mistake("each-number-by-itself", "gradient * factor for", "ops.clip(gradient, -max_norm, max_norm) for",
            hint="You clip single numbers at ±{max_norm}. Limit the length of the whole vector, so that its direction "
                 "stays."),
        mistake("always-stretched", "ops.maximum(length, max_norm)", "length",
            hint="You scale every gradient to length {max_norm}, short ones too. Clipping only shortens: near a "
                 "minimum the steps must be able to become small."),
        mistake("no-root", "ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))",
            "sum(ops.sum(ops.square(gradient)) for gradient in gradients)",
            hint="You divide by the sum of squares. The length is its root."),
        mistake("lengths-added", "ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))",
            "sum(ops.sqrt(ops.sum(ops.square(gradient))) for gradient in gradients)",
            hint="You add the lengths of the tensors. Lengths do not add, but their squares do (Pythagoras)."),
        mistake("always-to-one", "max_norm / ops.maximum(length, max_norm)", "1.0 / ops.maximum(length, 1.0)",
            hint="Your limit is always 1. It must be the argument `max_norm`; 1 is only its default value."),
        mistake("absolute-values", "ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))",
            "sum(ops.sum(ops.abs(gradient)) for gradient in gradients)",
            hint="You divide by the sum of the absolute values. The length is the root of the sum of the squares."),
        mistake("mean-of-the-squares", "ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))",
            "ops.sqrt(ops.mean(ops.concatenate([ops.reshape(ops.square(gradient), (-1,)) for gradient in gradients])))",
            hint="You take the root of the *mean* of the squares, which is shorter. The length is the root of their "
                 "sum."),
        mistake("mean-of-each-tensor", "ops.sum(ops.square(gradient))", "ops.mean(ops.square(gradient))",
            hint="You take the mean of each tensor's squares. The length is the root of the *sum* of all squares."),
    ),
    facts=lambda case: {"max_norm": case.arguments[1] if len(case.arguments) > 1 else 1.0},
)  # fmt: skip
