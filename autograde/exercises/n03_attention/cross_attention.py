"""Attention of the tokens of one sequence to those of another."""

from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION
from autograde.exercises.numpy_bert import scores, softmax
from autograde.exercises.writing import Case, Exercise, Part, Random, Same, Trial, draws, mistake, sized, values

INPUTS = draws(
    __name__,
    sized(front=(2,), zeros="z"),
    sized(zeros="h"),
    sized(other_tokens=600),
    sized(scale={"z": 30, "h": 30}),  # large scores
    scale={"w_q": 0.7, "w_k": 0.7},
)


def cross(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    return softmax(scores(z @ w_q + b_q, h @ w_k + b_k)) @ (h @ w_v + b_v)


def order_of_the_other(rng: Random) -> list[Trial]:
    """The other sequence's order has no effect: its tokens are a set."""
    z, h, *parameters = INPUTS.case(rng, tokens=3, other_tokens=5).arguments
    pair = (Case((z, h, *parameters)), Case((z, h[rng.permutation(5)], *parameters)))
    return [Trial(pair, (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]


EXERCISE = Exercise(
    reference=cross,
    parts=(
        values(2, INPUTS),
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
