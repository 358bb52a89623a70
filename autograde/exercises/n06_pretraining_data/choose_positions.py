"""Draws `count` different positions to predict, without special tokens; ascending."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import CLS, LIBRARY, PAD, SEP, chancy, obeying, tokens
from autograde.exercises.spec import Exercise, Part, Trial, mistake, random_function


def row(rng: Random, first: int, second: int, padding: int) -> list[int]:
    """[CLS] A [SEP] B [SEP] [PAD] …, with repeated tokens."""
    pieces = tokens(rng, 3)
    drawn = [pieces[index] for index in rng.permutation(np.arange(first + second) % 3)]
    return [CLS, *drawn[:first], SEP, *drawn[first:], SEP, *[PAD] * padding]


def rows_to_choose_from(rng: Random) -> list[Trial]:
    special = [CLS, SEP, PAD]
    trials = [(row(rng, 3, 4, 2), 3), (row(rng, 4, 3, 3), int(rng.integers(4, 6)))]
    return [obeying(rng, "chosen positions", ids, special, count) for ids, count in trials]


def every_position(rng: Random) -> list[Trial]:
    ids = row(rng, 4, 4, 1)
    rates = {f"position {place}": (1, 3 / 8) for place in (1, 2, 3, 4, 6, 7, 8, 9)}
    return [chancy(rng, "chosen positions", rates, ids, [CLS, SEP, PAD], 3)]


def more_than_there_are(rng: Random) -> list[Trial]:
    return [obeying(rng, "chosen positions", row(rng, 2, 1, 2), [CLS, SEP, PAD], 5, calls=10)]


EXERCISE = Exercise(
    probe=random_function(),
    returns="list",
    parts=(
        Part("regular tokens only", 1, rows_to_choose_from),
        Part("all with the same probability", 1, every_position, "over 300 calls some positions come far too often"),
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
        mistake("dropped-afterwards",
            " if token not in special_ids", "",
            "for t in chosen)", "for t in chosen if token_ids[t] not in special_ids)",
            hint="You draw among all positions and remove the special ones afterwards: too few remain. Remove them "
                 "before the draw."),
        mistake("first-place-of-the-token", "int(t) for t in chosen", "token_ids.index(token_ids[t]) for t in chosen",
            hint="You draw tokens and then look up their positions. `index` finds only the first one; a word that "
                 "occurs again later is never chosen. Draw positions."),
        mistake("tokens-returned", "int(t) for t in chosen", "token_ids[t] for t in chosen",
            hint="These are ids. Return the positions."),
    ),
)  # fmt: skip
