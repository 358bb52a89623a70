"""Draws `count` different positions to predict, without special tokens; ascending."""

from itertools import combinations
from math import comb

import numpy as np

from autograde.exercises.n06_pretraining_data._shared import (
    CLS,
    LIBRARY,
    MASK,
    OTHER_CLS,
    OTHER_PAD,
    OTHER_SEP,
    PAD,
    SEP,
    UNK,
    chancy,
    mostly_in_front,
    obeying,
    pair_rates,
    tokens,
    with_neighbours,
)
from autograde.exercises.writing import Exercise, Part, Random, Trial, mistake, random_function


def row(rng: Random, first: int, second: int, padding: int, special=(CLS, SEP, PAD)) -> list[int]:
    """[CLS] A [SEP] B [SEP] [PAD] …, with repeated tokens."""
    pieces = tokens(rng, 3)
    drawn = [pieces[index] for index in rng.permutation(np.arange(first + second) % 3)]
    cls, sep, pad = special
    return [cls, *drawn[:first], sep, *drawn[first:], sep, *[pad] * padding]


def rows_to_choose_from(rng: Random) -> list[Trial]:
    """With the ids of the published vocabulary, and with those of another; none at all. Twelve of fifty have so many
    choices that two draws without `rng` never agree by luck."""
    others = (OTHER_CLS, OTHER_SEP, OTHER_PAD)
    return [
        obeying(rng, "chosen positions", row(rng, 3, 4, 2), [CLS, SEP, PAD], 3),
        obeying(rng, "chosen positions", row(rng, 30, 20, 3), [CLS, SEP, PAD], 12, calls=5),
        obeying(rng, "chosen positions", row(rng, 4, 3, 3, others), list(others), int(rng.integers(4, 6))),
        obeying(rng, "chosen positions", row(rng, 3, 2, 0), [PAD, SEP, CLS], 0, calls=7),
    ]


def all_alike(rng: Random, ids: list[int], special: list[int], count: int) -> Trial:
    """Each position, each two and each whole choice has the same probability."""
    positions = [position for position, token in enumerate(ids) if token not in special]
    n = len(positions)
    rates = {f"position {position}": (1, count / n) for position in positions}
    rates |= pair_rates("positions", positions, count * (count - 1) / (n * (n - 1)))
    rates |= {f"all of {' '.join(map(str, some))}": (1, 1 / comb(n, count)) for some in combinations(positions, count)}
    return chancy(rng, "chosen positions", rates, ids, special, count)


def every_position(rng: Random) -> list[Trial]:
    """In a pair of segments, in a row without any special token, in the shortest row and in a long one.

    Ids of regular tokens lie below, between and above those of the special ones; one is [UNK], one
    is [MASK]. Three of seven have 35
    choices, so few that one which never comes is noticed in every draw.
    """
    low, high = (int(number) for number in (rng.integers(1, 5), rng.integers(104, 150)))
    first, second = [low, UNK, high, low], [high, *tokens(rng, 1), low]
    return [
        all_alike(rng, [CLS, *first, SEP, *second, SEP, PAD], [CLS, SEP, PAD], 3),
        all_alike(rng, [*tokens(rng, 2), MASK, *tokens(rng, 2)], [CLS, SEP, PAD], 2),
        all_alike(rng, [CLS, *tokens(rng, 2), SEP], [CLS, SEP, PAD], 1),
        few_of_many(rng),
    ]


def few_of_many(rng: Random) -> Trial:
    """No half of a long row comes first more often, as by a shuffle that exchanges each element with any other; nor do
    neighbours come together more or less often."""
    rates = {"mostly in the first half": (1, mostly_in_front(120, 16)), "two neighbours": (1, with_neighbours(120, 16))}
    return chancy(rng, "chosen positions", rates, row(rng, 60, 60, 2), [CLS, SEP, PAD], 16)


def every_position_of_a_longer_row(rng: Random) -> list[Trial]:
    special = [OTHER_PAD, OTHER_CLS, OTHER_SEP]
    return [all_alike(rng, row(rng, 6, 4, 2, (OTHER_CLS, OTHER_SEP, OTHER_PAD)), special, 2)]


def more_than_there_are(rng: Random) -> list[Trial]:
    """Fewer regular tokens than requested, also in a row of 40, exactly as many, and none."""
    special = [CLS, SEP, PAD]
    rows = [(row(rng, 2, 1, 2), 5), (row(rng, 2, 2, 1), 4), ([CLS, SEP, SEP, PAD], 2), (row(rng, 20, 20, 3), 50)]
    return [obeying(rng, "chosen positions", ids, special, count, calls=11) for ids, count in rows]


EXERCISE = Exercise(
    probe=random_function(),
    returns="list",
    parts=(
        Part("regular tokens only", 1, rows_to_choose_from),
        Part("all with the same probability", 1, every_position,
            "over many calls some positions, or some positions together, come far too often or too rarely",
            hidden=every_position_of_a_longer_row),
        Part("fewer than requested", 1, more_than_there_are, "if there are fewer regular tokens, take all of them"),
    ),
    forbidden=LIBRARY,
    hints=(
        "First: which positions may be chosen at all? Then draw among those.",
        "A position is an index, 0, 1, 2 …, not the id at that index: the same id may occur several times.",
        "`rng.choice` has an argument that prevents drawing the same position twice. And there may be fewer than "
        "`count`.",
    ),
    misconceptions=(
        mistake("special-tokens-too", " if token not in special_ids", "",
            hint="You choose special tokens as well. [CLS], [SEP] and [PAD] have fixed positions: there is nothing "
                 "to learn."),
        mistake("with-replacement", "replace=False", "replace=True",
            hint="The same position occurs twice. Draw without replacement, so that you get `count` different ones."),
        mistake("the-first-ones",
            "rng.choice(allowed, size=min(count, len(allowed)), replace=False)", "allowed[:count]",
            hint="You take the first `count` regular tokens every time. Then the rest of the sentence is never "
                 "predicted."),
        mistake("one-stretch", "chosen = rng.choice(allowed, size=min(count, len(allowed)), replace=False)",
            "n = min(count, len(allowed))\n"
            "    start = int(rng.integers(len(allowed) - n + 1))\n"
            "    chosen = allowed[start : start + n]",
            hint="Your positions always lie side by side. Draw each one: all choices have the same probability."),
        mistake("dropped-afterwards",
            " if token not in special_ids", "",
            "for t in chosen)", "for t in chosen if token_ids[t] not in special_ids)",
            hint="You draw among all positions and remove the special ones afterwards: too few remain. Remove them "
                 "before the draw."),
        mistake("first-place-of-the-token", "int(t) for t in chosen", "token_ids.index(token_ids[t]) for t in chosen",
            hint="You draw tokens and then look up their positions. `index` finds only the first one; a word that "
                 "occurs again later is never chosen. Draw positions."),
        mistake("order-of-the-draw", "sorted(int(t) for t in chosen)", "[int(t) for t in chosen]",
            hint="Your positions are in the order in which they were drawn. They must be ascending."),
        mistake("tokens-returned", "int(t) for t in chosen", "token_ids[t] for t in chosen",
            hint="These are ids. Return the positions."),
    ),
)  # fmt: skip
