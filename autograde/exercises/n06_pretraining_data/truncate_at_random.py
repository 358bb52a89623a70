"""Shortens the longer of two lists, token by token, each from a random end, to `room` tokens together."""

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import (
    LIBRARY,
    binomial,
    chancy,
    obeying,
    own_lists,
    tokens,
)
from autograde.exercises.spec import Exercise, Part, Trial, mistake, random_function
from autograde.judging.rules import lengths_after


def too_long(rng: Random) -> list[Trial]:
    a, b = int(rng.integers(8, 12)), int(rng.integers(3, 6))
    return [
        obeying(rng, "truncated", tokens(rng, a), tokens(rng, b), a + b - 3),
        obeying(rng, "truncated", tokens(rng, b), tokens(rng, a), a + b - 4),
        obeying(rng, "truncated", tokens(rng, 9), tokens(rng, 6), 9),
        obeying(rng, "truncated", tokens(rng, b), tokens(rng, a), a + b + 2, note="fits already"),
        obeying(rng, "truncated", tokens(rng, 5), tokens(rng, 5), 9),
        own_lists(rng, tokens(rng, b), tokens(rng, a), a + b),
        own_lists(rng, tokens(rng, 3), tokens(rng, 6), 7), own_lists(rng, tokens(rng, 6), tokens(rng, 3), 7),
        *edges(rng),
    ]  # fmt: skip


def edges(rng: Random) -> list[Trial]:
    """An empty list, a limit of 0, two equally long lists of which much is removed."""
    sizes = [(0, 6, 4), (5, 0, 3), (3, 4, 0), (7, 7, 6), (1, 1, 1)]
    return [obeying(rng, "truncated", tokens(rng, a), tokens(rng, b), room, calls=31) for a, b, room in sizes]


def long_texts(rng: Random) -> list[Trial]:
    """A document of many tokens beside a short one."""
    return [obeying(rng, "truncated", tokens(rng, 300), tokens(rng, 40), 125, calls=5)]


def from_either_end(rng: Random) -> list[Trial]:
    a, b, taken = 9, 3, 5
    first = {f"{k} from the front of A": (1, binomial(taken, k, 0.5)) for k in range(taken + 1)}
    second = {f"{k} from the front of B": (1, binomial(taken, k, 0.5)) for k in range(taken + 1)}
    return [
        chancy(rng, "truncated", first, tokens(rng, a), tokens(rng, b), a + b - taken),
        chancy(rng, "truncated", second, tokens(rng, b), tokens(rng, a), a + b - taken),
        from_both(rng, 6, 6, 8),
    ]


def from_both(rng: Random, a: int, b: int, room: int) -> Trial:
    """Both lists lose tokens, independently of each other."""
    taken = [size - left for size, left in zip((a, b), lengths_after(a, b, room))]
    first, second = ([binomial(n, k, 0.5) for k in range(n + 1)] for n in taken)
    rates = {
        f"{k} from the front of A, {m} from the front of B": (1, one * other)
        for k, one in enumerate(first) for m, other in enumerate(second)
    }  # fmt: skip
    return chancy(rng, "truncated", rates, tokens(rng, a), tokens(rng, b), room)


def from_both_at_other_sizes(rng: Random) -> list[Trial]:
    return [from_both(rng, 8, 5, 7)]


EXERCISE = Exercise(
    probe=random_function(),
    returns="tuple",
    parts=(
        Part("the longer one must be shortened", 2, too_long, hidden=long_texts),
        Part("front or end by chance", 1, from_either_end,
            "over many calls front and end are not chosen with probability ½ each, independently for each token",
            hidden=from_both_at_other_sizes),
    ),
    forbidden=LIBRARY,
    hints=(
        "Remove one token at a time, until both fit. Which list loses it? From which end?",
        "The longer one loses the token. If they are equally long, the second does.",
        "Draw for each token: `del x[0]` removes from the front, `x.pop()` from the end. Work on copies.",
    ),
    misconceptions=(
        mistake("always-from-the-end", "rng.random() < 0.5", "rng.random() < 0",
            hint="You remove all tokens at the end, as in notebook 01. Here each removal is at the front or the "
                 "end, at random."),
        mistake("always-from-the-front", "rng.random() < 0.5", "rng.random() < 1",
            hint="You remove all tokens at the front. Each removal must be at the front or the end, at random."),
        mistake("one-coin-for-all",
            "    while len", "    coin = rng.random()\n    while len",
            "if rng.random() < 0.5", "if coin < 0.5",
            hint="One draw decides for all tokens: all leave at the front or all at the end. Draw for each."),
        mistake("tie-shortens-the-first", "len(first) > len(second)", "len(first) >= len(second)",
            hint="If both are equally long you shorten the first. The published script removes the token from the "
                 "second."),
        mistake("second-only", "first if len(first) > len(second) else second", "second",
            hint="You shorten only B. In each step the longer one must lose a token."),
    ),
)  # fmt: skip
