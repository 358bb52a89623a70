"""The number of parameters of a GPT."""

import math

from autograde.exercises.writing import Case, Exercise, Forbidden, Random, cases, mistake, values


def gpt_count(vocab_size, hidden_size, num_layers, max_positions, pre_norm=True):
    """The shape of every weight, and the total number of their elements."""
    wide = 4 * hidden_size
    one = [(hidden_size, 3 * hidden_size), (3 * hidden_size,), (hidden_size, hidden_size), (hidden_size,)]
    one += [(hidden_size, wide), (wide,), (wide, hidden_size), (hidden_size,), *[(hidden_size,)] * 4]
    shapes = [(vocab_size, hidden_size), (max_positions, hidden_size), *one * num_layers]
    return sum(map(math.prod, shapes)) + 2 * hidden_size * pre_norm


def size(rng: Random) -> tuple[int, ...]:
    return int(rng.integers(30, 99)), int(rng.integers(4, 20)), int(rng.integers(2, 7)), int(rng.integers(10, 29))


def small(rng: Random) -> list[Case]:
    return [Case(size(rng)), Case(size(rng))]


PUBLISHED = [
    Case((50_257, 768, 12, 1024), note="GPT-2"),
    Case((50_257, 1600, 48, 1024), note="GPT-2 XL"),
]


def post_norm(rng: Random) -> list[Case]:
    return [Case((40_478, 768, 12, 512, False), note="GPT"), Case(size(rng), {"pre_norm": False}),
            Case(size(rng), {"pre_norm": True})]  # fmt: skip


EXERCISE = Exercise(
    reference=gpt_count,
    returns="int",
    parts=(
        values(1, small, hidden=lambda rng: [Case(size(rng)) for _ in range(3)]),
        cases("GPT-2's own sizes", 1, lambda rng: PUBLISHED, "wrong number for GPT-2",
            lambda rng: [Case((50_257, 1024 + 64 * int(rng.integers(8)), 24, 1024))]),
        cases("without the last LayerNorm", 1, post_norm, "wrong number for a GPT, which is post-LN"),
    ),
    forbidden=Forbidden("In this exercise you count yourself."),
    hints=(
        "Go down the table line by line: one variable for each line, added up at the end.",
        "A layer is an encoder layer of notebook 04: 12·H² + 13·H. Around them are two tables, of V rows and of P.",
        "pre_norm adds one LayerNorm, 2·H, once and not for each layer.",
    ),
    misconceptions=(
        mistake("no-last-norm", "2 * h if pre_norm else 0", "0",
            hint="The LayerNorm after the last layer is missing: in pre-LN the sum of all layers has never been "
                 "normalised."),
        mistake("last-norm-always", "2 * h if pre_norm else 0", "2 * h",
            hint="You count the last LayerNorm for GPT, too. It is post-LN: its last layer ends with a LayerNorm "
                 "already."),
        mistake("table-counted-twice",
            "tables = (vocab_size + max_positions) * h", "tables = (2 * vocab_size + max_positions) * h",
            hint="You count the table of the vocabulary twice. The logits use its transpose: the same numbers."),
        mistake("as-bert", "tables = (vocab_size + max_positions) * h",
            "tables = (vocab_size + max_positions + 2) * h + 2 * h",
            hint="You count segments and a LayerNorm of the embeddings, as in BERT. GPT has neither."),
        mistake("with-pooler", "last_norm = ", "last_norm = h * h + h + ",
            hint="You count a pooler. GPT has none: it predicts the next token, and classifies nothing."),
        mistake("with-cross-attention",
            "layer = attention + network + 2 * 2 * h", "layer = 2 * attention + network + 3 * 2 * h",
            hint="You count cross-attention and its LayerNorm. GPT is called a decoder, but there is no source: each "
                 "layer has self-attention and the network."),
        mistake("no-positions", "(vocab_size + max_positions) * h", "vocab_size * h",
            hint="The table of positions is missing: P × H learned numbers."),
        mistake("no-biases", "4 * (h * h + h)", "4 * h * h", "(h * 4 * h + 4 * h) + (4 * h * h + h)", "8 * h * h",
            hint="The biases are missing: a Dense a → b has a·b + b parameters."),
    ),
)  # fmt: skip
