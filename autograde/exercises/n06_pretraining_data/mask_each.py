"""Masks each token with probability p, independently: lines 5-7 of ETraining."""

from autograde.exercises.n06_pretraining_data._shared import (
    CLS,
    LIBRARY,
    MASK,
    OTHER_MASK,
    PAD,
    SEP,
    binomial,
    chancy,
    obeying,
    own_lists,
    pair_rates,
    tokens,
)
from autograde.exercises.writing import Exercise, Part, Random, Trial, mistake, random_function


def masked_one_by_one(rng: Random) -> list[Trial]:
    share = float(rng.choice([0.2, 0.25, 0.3]))
    example = obeying(rng, "each masked", [21, 11987, 5438], 50001, 0.5, note="the lecture's example")
    one, other = tokens(rng, 2)
    return [
        example, obeying(rng, "each masked", tokens(rng, 8), OTHER_MASK, share),
        obeying(rng, "each masked", [one, other, one, one, other], OTHER_MASK, 0.5, note="tokens that occur twice"),
        own_lists(rng, tokens(rng, 3), MASK, 0.0),
    ]  # fmt: skip


def one_token(rng: Random) -> list[Trial]:
    return [obeying(rng, "each masked", tokens(rng, 1), OTHER_MASK, 0.5)]


def independently(rng: Random, ids: list[int], p: float = 0.15) -> Trial:
    """p has more than one decimal, so that an answer that rounds p to one decimal fails."""
    length = len(ids)
    rates = {"masked": (length, p)} | {f"position {position}": (1, p) for position in range(length)}
    rates |= {f"{k} masked": (1, binomial(length, k, p)) for k in range(length + 1)}
    return chancy(rng, "each masked", rates | pair_rates("positions", range(length), p * p), ids, MASK, p)


def independent(rng: Random) -> list[Trial]:
    """Each position and each two of them, also of a token that occurs several times and of special tokens."""
    one, other = tokens(rng, 2)
    few = independently(rng, [other, one, one, other, one])
    return [independently(rng, [CLS, other, one, SEP, one, PAD], float(rng.choice([0.25, 0.3]))), few, seldom(rng)]


def seldom(rng: Random) -> Trial:
    """A probability of less than one percent, so that an answer that rounds p to whole percents fails."""
    return chancy(rng, "each masked", {"masked": (50, 0.002)}, tokens(rng, 50), MASK, 0.002, calls=307)


def independent_in_a_long_text(rng: Random) -> list[Trial]:
    one, *others = tokens(rng, 7)
    return [independently(rng, [*others, one, one, one], 0.35)]


def all_or_nothing(rng: Random) -> list[Trial]:
    """All in a longer text, so that an answer that masks up to a certain number of tokens fails."""
    return [
        chancy(rng, "each masked", {f"position {t}": (1, p) for t in range(n)}, tokens(rng, n), MASK, p, calls=calls)
        for p, n, calls in ((1.0, 42, 2), (0.0, 4, 23))
    ]


EXERCISE = Exercise(
    probe=random_function(),
    returns="tuple",
    parts=(
        Part("masks and positions", 1, masked_one_by_one, hidden=one_token),
        Part("each with probability p", 1, independent,
            "over many calls the numbers of masks do not match independent draws with probability p",
            hidden=independent_in_a_long_text),
        Part("p of 0 and 1", 1, all_or_nothing, "p = 1 masks every token, p = 0 none"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Go through the tokens one by one. For each: draw, decide, store.",
        "`rng.random()` is uniform between 0 and 1. How likely is it to be below p?",
        "Start from a copy of the ids and an empty list of positions; the draw belongs inside the loop.",
    ),
    misconceptions=(
        mistake("fixed-number",
            "if rng.random() < p:", "if t in drawn:",
            "positions = []", "positions, n = [], len(masked)\n    drawn = rng.permutation(n)[: round(p * n)]",
            hint="You mask the same number of tokens every time. In lines 5 and 6 each token is drawn "
                 "independently, so sometimes none is masked, or all. (A fixed number is BERT's rule: the next "
                 "exercise.)"),
        mistake("kept-with-p", "rng.random() < p", "rng.random() >= p",
            hint="You keep a token with probability p and mask the others. Line 6: mask it with probability p."),
        mistake("one-draw-for-all",
            "positions = []", "positions = []\n    draw = rng.random()",
            "if rng.random() < p", "if draw < p",
            hint="One draw decides for the whole sentence: all masked or none. Draw for each token."),
        mistake("counted-from-one", "positions.append(t)", "positions.append(t + 1)",
            hint="Your positions count from 1, as the lecture's T̃ does. In Python the first token has index 0."),
        mistake("place-of-the-first",
            "positions.append(t)", "positions.append(token_ids.index(token_ids[t]))",
            hint="You look a position up by its token (`index`), which finds the first of equal tokens. Store the "
                 "number of the position that you are at."),
        mistake("places-of-the-kept",
            "            positions.append(t)", "        else:\n            positions.append(t)",
            hint="You return the positions of the unchanged tokens. T̃ contains the masked ones: there the loss is "
                 "computed."),
    ),
)  # fmt: skip
