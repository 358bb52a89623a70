"""The number of tokens that a training reads, and of the operations that it needs."""

from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values

BASE = Case(([(900_000, 128), (100_000, 512)], 256, 12, 768), note="BERT-Base")


def tokens_and_flops(phases, batch, num_layers, hidden_size):
    """Counted token by token: products of a token with the matrices, and with all tokens of its sequence."""
    tokens, flops = 0, 0
    for steps, length in phases:
        matrices = 4 * hidden_size * hidden_size + 2 * hidden_size * (4 * hidden_size)
        scores_and_sums = 2 * hidden_size * length
        read = steps * batch * length
        tokens += read
        flops += read * num_layers * 3 * 2 * (matrices + scores_and_sums)
    return tokens, flops


def one_phase(rng: Random) -> list[Case]:
    """The example of the text; all four sizes different; a single step; one layer."""
    drawn = [int(number) for number in rng.choice(range(2, 30), 4, replace=False)]
    return [
        Case(([(1, 3)], 2, 1, 2), note="the example above"), Case(([tuple(drawn[:2])], 5, drawn[2], 4 * drawn[3])),
        Case(([(1_500, 32)], 64, 2, 128)), Case(([(25_000, 512)], 4096, 1, 64)),
    ]  # fmt: skip


def several_phases(rng: Random) -> list[Case]:
    """BERT's two; three; short ones last."""
    lengths = [int(number) for number in rng.choice(range(8, 600), 3, replace=False)]
    return [
        BASE,
        Case(([(int(rng.integers(2, 99)), length) for length in lengths], 8, 3, 32)),
        Case(([(5, 64), (9, 8)], 4, 2, 16)),
    ]


def more_phases(rng: Random) -> list[Case]:
    return [Case(([(int(rng.integers(2, 999)), int(rng.integers(8, 999))) for _ in range(6)], 32, 24, 1024))]


EXERCISE = Exercise(
    probe=plain_function(),
    reference=tokens_and_flops,
    returns="anything",
    parts=(
        values(2, one_phase),
        cases("several phases", 1, several_phases,
            "each phase has its own length: its tokens and its attention must be counted with that", more_phases),
    ),
    hints=(
        "For each phase: how many tokens does it read? Then: what does one token cost at this length?",
        "One token and one layer: 72 H² for the matrices, 12 H ℓ for attention.",
        "tokens = steps · batch · length; flops = tokens · L · (72 H² + 12 H · length). Add both up over the phases.",
    ),
    misconceptions=(
        mistake("every-step-a-long-one",
            "read = steps * batch * length", "read = steps * batch * max(longest for _, longest in phases)",
            hint="You count every step as one of the longest. That is how the paper gets its 40 epochs: most steps "
                 "have short sequences."),
        mistake("batch-forgotten", "read = steps * batch * length", "read = steps * length",
            hint="A step reads a whole batch of sequences."),
        mistake("sequences-for-tokens", "read = steps * batch * length", "read = steps * batch",
            hint="You count sequences. Each has `length` tokens."),
        mistake("forward-only", "(72 * hidden_size**2 + 12 * hidden_size * length)",
            "(24 * hidden_size**2 + 4 * hidden_size * length)",
            hint="That is the forward pass alone. The backward pass costs twice as much again: three times in all."),
        mistake("products-without-sums", "(72 * hidden_size**2 + 12 * hidden_size * length)",
            "(36 * hidden_size**2 + 6 * hidden_size * length)",
            hint="A weight costs two operations, one product and one sum: your number is half of it."),
        mistake("attention-left-out", " + 12 * hidden_size * length", "",
            hint="You count the matrices only, 6 operations for each parameter. Each token is also compared with all "
                 "tokens of its sequence: + 12 H ℓ."),
        mistake("attention-of-the-sequence", "12 * hidden_size * length", "12 * hidden_size * length**2",
            hint="ℓ² is the number of scores in a whole *sequence*. One token has ℓ scores; the number of tokens is "
                 "multiplied in afterwards."),
        mistake("one-layer", "read * num_layers *", "read *",
            hint="That is one layer; there are `num_layers`."),
        mistake("operations-of-64-bits", "return tokens, flops", "return tokens, (flops + 2**63) % 2**64 - 2**63",
            hint="Right for small trainings. BERT-Base needs more operations than NumPy's 64-bit integers can count; "
                 "Python's `int` has no limit."),
        mistake("last-phase-only", "flops += read", "flops = read",
            hint="Your operations are those of the last phase. Add them up."),
    ),
)  # fmt: skip
