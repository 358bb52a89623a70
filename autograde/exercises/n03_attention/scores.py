"""Scaled dot products of every query with every key."""

from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION
from autograde.exercises.numpy_bert import scores
from autograde.exercises.writing import Case, Exercise, Part, Random, Same, Trial, draws, mistake, sized, values

INPUTS = draws(
    __name__,
    sized(front=(2,), tokens=5, other_tokens=5, d_attn=16),
    sized(tokens=2, other_tokens=90, d_attn=70),
    sized(scale={"q": 40, "k": 40}),  # scores of a thousand and more
)


def each_query_alone(rng: Random) -> list[Trial]:
    """A query's row does not depend on the other queries; gradients pass through."""
    q, k = INPUTS.case(rng, tokens=6, other_tokens=4).arguments
    return [
        Trial((Case((q, k)), Case((q[[4, 1]], k))), (Same((0, -2, (4, 1)), (1, -2, (0, 1))),)),
        *INPUTS.gradients(rng),
    ]


EXERCISE = Exercise(
    reference=scores,
    parts=(
        values(2, INPUTS),
        Part("each query independently", 1, each_query_alone,
            "a query's row must not depend on the other queries, nor on the number of keys, and gradients must pass "
            "through"),
    ),
    forbidden=WHOLE_ATTENTION,
    facts=lambda case: {
        "d": case.arguments[0].shape[-1],
        "root": f"{case.arguments[0].shape[-1] ** 0.5:g}",
        "tokens": case.arguments[0].shape[-2],
        "keys": case.arguments[1].shape[-2],
    },
    hints=(
        "A dot product of two rows is a sum over their d_attn numbers. Which axis disappears, which two remain?",
        "A matrix product sums over the last axis of the left and the last but one of the right: transpose the keys "
        "in these two axes.",
        "`ops.swapaxes(k, -1, -2)` transposes every matrix of a batch. Then divide by the square root of the size "
        "of the last axis of q.",
    ),
    misconceptions=(
        mistake("unscaled", "products / d_attn**0.5", "products",
            hint="This is the result before dividing by √d_attn (√{d} = {root}). Look at line 5 again."),
        mistake("divided-by-d", "d_attn**0.5", "d_attn",
            hint="You divided by d_attn = {d} itself; line 5 has its square root, {root}. The variance of a sum of "
                 "{d} products is {d}, its typical size √{d}."),
        mistake("divided-by-length", "d_attn = q.shape[-1]", "d_attn = q.shape[-2]",
            hint="You divided by the root of the number of tokens, √{tokens}. The sum runs over the d_attn = {d} "
                 "numbers of a vector, so use that number."),
        mistake("divided-by-number-of-keys", "d_attn = q.shape[-1]", "d_attn = k.shape[-2]",
            hint="You divided by the root of the number of keys, √{keys}. The sum runs over the d_attn = {d} numbers "
                 "of a vector, so use that number."),
        mistake("multiplied-by-root", "products / d_attn", "products * d_attn",
            hint="You multiplied by √{d}. Scaling must make the scores smaller: divide."),
        mistake("not-turned", "ops.swapaxes(k, -1, -2)", "k",
            hint="The result must be tokens × tokens: transpose one of the two, only in its last two axes."),
        mistake("keys-ask-queries", "ops.matmul(q, ops.swapaxes(k, -1, -2))", "ops.matmul(k, ops.swapaxes(q, -1, -2))",
            hint="Your matrix is transposed: its row t belongs to key t. It must belong to query t. Queries go left, "
                 "keys right: Q Kᵀ."),
    ),
)  # fmt: skip
