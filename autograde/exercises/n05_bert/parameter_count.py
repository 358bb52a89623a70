"""The number of parameters of a BERT of this size."""

import math

from autograde.exercises.writing import Case, Exercise, Forbidden, Random, cases, mistake, values


def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    """The shape of every weight, and the total number of their elements."""
    square, vector = (hidden_size, hidden_size), (hidden_size,)
    shapes = [(rows, hidden_size) for rows in (vocab_size, max_positions, num_segments)] + [vector] * 2
    one = [square, vector] * 4 + [vector] * 4
    one += [(hidden_size, intermediate_size), (intermediate_size,), (intermediate_size, hidden_size), vector]
    shapes += one * num_layers + [square, vector]
    if pretraining_heads:
        shapes += [square, vector, vector, vector, (vocab_size,), (hidden_size, 2), (2,)]
    return sum(math.prod(shape) for shape in shapes)


BASE = {"vocab_size": 30522, "hidden_size": 768, "num_layers": 12, "num_heads": 12, "intermediate_size": 3072}
LARGE = {"vocab_size": 30522, "hidden_size": 1024, "num_layers": 24, "num_heads": 16, "intermediate_size": 4096}


def size(rng: Random) -> tuple[int, ...]:
    """V, H, L, A and F of some small BERT; F is not 4 · H."""
    heads = int(rng.integers(2, 5))
    hidden = heads * int(rng.integers(2, 5))
    return int(rng.integers(30, 99)), hidden, int(rng.integers(2, 6)), heads, 4 * hidden + int(rng.integers(1, 9))


def small_sizes(rng: Random) -> list[Case]:
    return [*(Case(size(rng)) for _ in range(2)), *unusual_sizes(rng)]


def many_sizes(rng: Random) -> list[Case]:
    return [Case(size(rng)) for _ in range(3)]


def published_sizes(rng: Random) -> list[Case]:
    return [
        Case(tuple(BASE.values()), note="BERT-base"),
        Case(tuple(LARGE.values()), note="BERT-large"),
        Case(size(rng), {"max_positions": int(rng.integers(20, 99)), "num_segments": int(rng.integers(3, 9))}),
    ]


def with_heads(rng: Random) -> list[Case]:
    """With the heads, alone and together with other tables."""
    other = {"max_positions": int(rng.integers(20, 99)), "num_segments": 1, "pretraining_heads": True}
    return [
        Case(size(rng), {"pretraining_heads": True}), Case(tuple(BASE.values()), {"pretraining_heads": True}),
        Case(size(rng), other), Case(size(rng), other | {"pretraining_heads": False}),
    ]  # fmt: skip


def unusual_sizes(rng: Random) -> list[Case]:
    """No layer at all; one head; a network that is narrower than its input; more parameters than int32 can count."""
    return [
        Case((int(rng.integers(30, 99)), 8, 0, 2, 20)), Case((int(rng.integers(30, 99)), 9, 1, 1, 5)),
        Case((7, 6, 4, 3, 6, 4, 3, True)), Case((300_000, 8192, 48, 64, 32_768)),
    ]  # fmt: skip


EXERCISE = Exercise(
    reference=parameter_count,
    returns="int",
    parts=(
        values(2, small_sizes, hidden=many_sizes),
        cases("BERT's own sizes", 1, published_sizes, "wrong number for Base, Large or other tables"),
        cases("with the heads", 1, with_heads, "wrong number with the pre-training heads"),
    ),
    forbidden=Forbidden("In this exercise you count yourself."),
    hints=(
        "Go down the table line by line and write one variable per line; add them up at the end.",
        "A Dense a → b is a·b + b; a LayerNorm of width H is 2·H. The number of heads changes nothing: they share H.",
        "Check a line alone: attention is 4·(H² + H) per layer, the pooler H² + H, and only the layers are "
        "multiplied by L.",
    ),
    misconceptions=(
        mistake("no-bias-of-the-pairs", "nsp_head = 2 * h + 2", "nsp_head = 2 * h",
            hint="The head for pairs has a bias, too: one number for each of its two results."),
        mistake("biases-forgotten",
            "4 * (h * h + h)", "4 * h * h",
            "(h * f + f) + (f * h + h)", "2 * h * f",
            "pooler = h * h + h", "pooler = h * h",
            "(h * h + h) + norm", "h * h + norm",
            "2 * h + 2", "2 * h",
            hint="The biases of the Dense layers are missing: a Dense a → b has a·b + b parameters."),
        mistake("heads-multiplied", "4 * (h * h + h)", "num_heads * 4 * (h * h + h)",
            hint="You count the attention once for each head. The heads share the four H × H matrices among them: "
                 "each head has H / A columns."),
        mistake("no-output-projection", "4 * (h * h + h)", "3 * (h * h + h)",
            hint="You count three Dense layers of attention: query, key and value. The fourth mixes the heads (W_o, "
                 "b_o)."),
        mistake("one-norm-per-layer", "feed_forward + norm\n", "feed_forward\n",
            hint="One LayerNorm per layer is missing: lines 7 and 9 have one each."),
        mistake("norm-has-one-vector", "norm = 2 * h", "norm = h", hint="A LayerNorm has two vectors, γ and β."),
        mistake("pooler-forgotten", "+ num_layers * layer + pooler", "+ num_layers * layer",
            hint="The pooler is missing: one more Dense H → H. (It belongs to the model, not to the heads.)"),
        mistake("always-four-times", "f = hidden_size, intermediate_size", "f = hidden_size, 4 * hidden_size",
            hint="You used 4·H for the width inside the feed-forward network. That is true for the published sizes; "
                 "here use `intermediate_size`."),
        mistake("table-counted-twice", "+ norm + vocab_size", "+ norm + vocab_size + vocab_size * h",
            hint="With the heads you count the token table a second time. It is tied: the MLM head uses the "
                 "existing table and adds only one bias per token."),
        mistake("always-two-segments", "max_positions + num_segments)", "max_positions + 2)",
            hint="You count two segments always. Use `num_segments`."),
        mistake("always-512-positions", "max_positions + num_segments)", "512 + num_segments)",
            hint="You count 512 positions always. Use `max_positions`."),
        mistake("no-norm-in-the-head", "(h * h + h) + norm + vocab_size", "(h * h + h) + vocab_size",
            hint="The LayerNorm of the MLM head is missing: γ and β, 2·H numbers."),
        mistake("no-norm-of-the-embeddings", "num_segments) * h + norm", "num_segments) * h",
            hint="The LayerNorm of the embeddings is missing: γ and β, 2·H numbers."),
    ),
)  # fmt: skip
