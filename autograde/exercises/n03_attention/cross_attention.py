"""Attention of the tokens of one sequence to those of another."""

from autograde.exercises.draws import Random, normal, with_zeros
from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION, head_parameters
from autograde.exercises.numpy_bert import scores, softmax
from autograde.exercises.spec import Case, Exercise, Part, Same, Trial, mistake, values


def cross(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    return softmax(scores(z @ w_q + b_q, h @ w_k + b_k)) @ (h @ w_v + b_v)


def two_sequences(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 3, 6), normal(rng, 5, 6), *head_parameters(rng, 6, 4, 2))),
        Case((with_zeros(normal(rng, 2, 4, 6)), with_zeros(normal(rng, 2, 4, 6), 1), *head_parameters(rng, 6, 3, 5))),
        Case((normal(rng, 2, 5, 4), normal(rng, 2, 3, 4), *head_parameters(rng, 4, 2, 4))),
        Case((normal(rng, 1, 2, 1, 5), normal(rng, 1, 2, 4, 5), *head_parameters(rng, 5, 3, 2))),
        Case((normal(rng, 2, 1, 2, 3, 2), normal(rng, 2, 1, 2, 1, 2), *head_parameters(rng, 2, 1, 3))),
        Case((normal(rng, 1, 3), normal(rng, 600, 3), *head_parameters(rng, 3, 2, 2))),
        Case((30 * normal(rng, 3, 4), 30 * normal(rng, 2, 4), *head_parameters(rng, 4, 3, 3))),  # large scores
    ]


def other_shapes(rng: Random) -> list[Case]:
    tokens, others, d_x, d_attn, d_out = (int(size) for size in rng.integers(1, 9, size=5))
    return [
        Case((normal(rng, *front, tokens, d_x), normal(rng, *front, others, d_x),
              *head_parameters(rng, d_x, d_attn, d_out)))
        for front in ((), (1,), (2, 3))
    ]  # fmt: skip


def order_of_the_other(rng: Random) -> list[Trial]:
    """The other sequence's order has no effect: its tokens are a set."""
    z, h, *parameters = normal(rng, 3, 6), normal(rng, 5, 6), *head_parameters(rng, 6, 4, 2)
    pair = (Case((z, h, *parameters)), Case((z, h[rng.permutation(5)], *parameters)))
    return [Trial(pair, (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]


EXERCISE = Exercise(
    reference=cross,
    parts=(
        values(2, two_sequences, hidden=other_shapes),
        Part("the other sequence is a set", 1, order_of_the_other,
            "the order of the other sequence's tokens must not matter"),
    ),
    forbidden=WHOLE_ATTENTION,
    hints=(
        "Start from your `attention`. Which of Q, K and V come from z, which from h?",
        "The result has one row per token of z: the queries come from z.",
        "Keys and values describe the same tokens, so they come from the same sequence, h.",
    ),
    misconceptions=(
        mistake("roles-exchanged",
            "ops.matmul(z, w_q)", "ops.matmul(h, w_q)",
            "ops.matmul(h, w_k)", "ops.matmul(z, w_k)",
            "ops.matmul(h, w_v)", "ops.matmul(z, w_v)",
            hint="Your queries come from h and your keys from z. The output has a row per token of z: queries from "
                 "z, keys and values from h."),
        mistake("values-of-the-asker", "ops.matmul(h, w_v)", "ops.matmul(z, w_v)",
            hint="Your values come from z. Keys and values describe the same tokens: both come from h."),
        mistake("keys-of-the-asker", "ops.matmul(h, w_k)", "ops.matmul(z, w_k)",
            hint="Your keys come from z, so z is compared with itself. Keys and values both come from h."),
        mistake("other-never-read",
            "ops.matmul(h, w_k)", "ops.matmul(z, w_k)",
            "ops.matmul(h, w_v)", "ops.matmul(z, w_v)",
            hint="h is never used: this is self-attention of z. Keys and values come from h."),
    ),
)  # fmt: skip
