"""The model's input: each chosen token becomes [MASK] (80 %), a random token (10 %) or stays (10 %)."""

import numpy as np

from autograde.exercises.n06_pretraining_data._shared import (
    CLS,
    LIBRARY,
    MASK,
    OTHER_MASK,
    SEP,
    UNK,
    binomial,
    chancy,
    obeying,
    own_lists,
    pair_rates,
    tokens,
)
from autograde.exercises.writing import Exercise, Part, Random, Trial, mistake, random_function


def rows_to_mask(rng: Random) -> list[Trial]:
    """Two rows with chosen tokens, one in which the same token is chosen and not chosen, and one without any."""
    inner = [int(position) for position in rng.choice(np.arange(1, 9), 4, replace=False)]
    first = [CLS, *tokens(rng, 4), SEP, *tokens(rng, 3), SEP]
    one, *replacements = tokens(rng, 41)
    return [
        obeying(rng, "replaced", first, sorted(set(inner) - {5}), MASK, replacements),
        obeying(rng, "replaced", [CLS, *replacements[:6], SEP], [2, 4], OTHER_MASK, replacements),
        obeying(rng, "replaced", [CLS, one, one, SEP, one, one, SEP], [2, 4], MASK, replacements),
        obeying(rng, "replaced", first, [], MASK, replacements, calls=3),
        own_lists(rng, first, [1], MASK, replacements),
    ]


def other_rows(rng: Random) -> list[Trial]:
    """The same token in chosen and in other positions; all chosen."""
    one, *replacements = tokens(rng, 5)
    return [
        obeying(rng, "replaced", [CLS, one, one, one, SEP, one, SEP], [2, 5], MASK, replacements),
        obeying(rng, "replaced", [one] * 4, [0, 1, 2, 3], OTHER_MASK, replacements),
    ]


def outcomes_of(rng: Random, ids: list[int], chosen: list[int]) -> Trial:
    """The outcomes of all chosen tokens, each, each two, and their number. The order of `chosen` means nothing."""
    n = len(chosen)
    rates = {"masked": (n, 0.8), "replaced by another token": (n, 0.1), "unchanged": (n, 0.1)}
    for outcome, probability in (("masked", 0.8), ("replaced by another token", 0.1), ("unchanged", 0.1)):
        rates |= {f"{outcome} at {position}": (1, probability) for position in chosen}
        rates |= pair_rates(f"{outcome} at", sorted(chosen), probability**2)
    rates |= {f"{k} masked": (1, binomial(n, k, 0.8)) for k in range(n + 1)}
    rates |= {f"{k} replaced": (1, binomial(n, k, 0.1)) for k in range(n + 1)}
    return chancy(rng, "replaced", rates, ids, chosen, MASK, tokens(rng, 4))


def outcomes(rng: Random) -> list[Trial]:
    ids = [2001, 3, 2001, 2001, UNK, 2004, 2005, 2001]  # one token at several chosen positions; 3 and [UNK] are regular
    return [outcomes_of(rng, [CLS, *ids, SEP], [4, 1, 8, 2, 5])]


def outcomes_of_few(rng: Random) -> list[Trial]:
    return [outcomes_of(rng, [CLS, 2001, 2002, SEP], [1, 2]), outcomes_of(rng, list(range(2001, 2009)), [0, 3, 7])]


def every_replacement(rng: Random) -> list[Trial]:
    """Each replacement, also at one position; whether two tokens of a row get the same one; a token drawn as its own
    replacement.

    Rows are long enough that two are replaced in 40 % of them: one fate for all, which replaces in 10 %, never passes.
    """
    n, replacements = 14, tokens(rng, 3)
    ids, chosen = [CLS, *range(2001, 2001 + n), SEP], list(range(1, 1 + n))
    rates = {f"replaced by {token}": (n, 0.1 / 3) for token in replacements}
    rates |= {f"replaced by {token} at {chosen[-1]}": (1, 0.1 / 3) for token in replacements}
    two = 1 - binomial(n, 0, 0.1) - binomial(n, 1, 0.1)  # two or more are replaced
    rates |= {"first two replaced by the same": (1, two / 3), "first two replaced by others": (1, two * 2 / 3)}
    itself = {"replaced by another token": (4, 0.05), "unchanged": (4, 0.15)}
    return [
        chancy(rng, "replaced", rates, ids, chosen, MASK, replacements),
        chancy(rng, "replaced", itself, [CLS, *replacements[:1] * 4, SEP], [1, 2, 3, 4], MASK, replacements[:2]),
    ]


EXERCISE = Exercise(
    probe=random_function(),
    returns="list",
    parts=(
        Part("only the chosen ones", 1, rows_to_mask, hidden=other_rows),
        Part("80, 10 and 10 %", 2, outcomes,
            "over many calls the fractions are not 80, 10 and 10 %, independently for each token",
            hidden=outcomes_of_few),
        Part("every replacement", 1, every_replacement,
            "over many calls some replacement, or two replacements in one row of tokens, come far too often or too "
            "rarely"),
    ),
    forbidden=LIBRARY,
    hints=(
        "One draw per chosen token is enough: divide the range from 0 to 1 into 0.8, 0.1 and 0.1.",
        "Which draws mean [MASK]? Which mean a random token? For the rest there is nothing to do.",
        "Start from a copy. Compare one and the same draw with 0.8, then with 0.9.",
    ),
    misconceptions=(
        mistake("always-the-mask", "fate = rng.random()", "fate = 0.0",
            hint="Every chosen token becomes [MASK]. In fine-tuning [MASK] never occurs: 10 % must become another "
                 "token, 10 % must stay."),
        mistake("none-unchanged", "elif fate < 0.9:", "else:",
            hint="80, 20, 0: you always replace tokens that are not masked. Half of these must stay."),
        mistake("none-replaced", "elif fate < 0.9:", "elif fate < 0.8:",
            hint="80, 0, 20: no token becomes another one. Then the model could trust every token that is not [MASK]."),
        mistake("second-draw", "elif fate < 0.9:", "elif rng.random() < 0.1:",
            hint="80, 2, 18: you draw a second time and compare with 0.1, but only one token in five gets that far. "
                 "10 % of all is half of the rest."),
        mistake("one-fate-for-all",
            "    for t in positions:", "    fate = rng.random()\n    for t in positions:",
            "        fate = rng.random()\n", "",
            hint="One draw decides for all chosen tokens. Draw inside the loop."),
        mistake("place-in-the-list", "int(rng.choice(replacements))", "int(rng.integers(len(replacements)))",
            hint="You use the *index* of a replacement, a number from 0 up, as the id. Look up the id at that index."),
        mistake("one-replacement-for-all",
            "int(rng.choice(replacements))", "other",
            "    for t in positions:", "    other = int(rng.choice(replacements))\n    for t in positions:",
            hint="All tokens of a row that become another one become the same. Draw a replacement for each."),
        mistake("fixed-numbers",
            "fate = rng.random()", "fate = fates.pop()",
            "    for t in positions:",
            "    fates = [(place + 0.5) / len(positions) for place in rng.permutation(len(positions))]\n"
            "    for t in positions:",
            hint="Your numbers of masked and of replaced tokens never vary. Each chosen token has a draw of its own, "
                 "independent of the others."),
        mistake("every-token", "for t in positions:", "for t in range(len(token_ids)):",
            hint="Tokens everywhere change. Only those at `positions` were chosen; the others stay."),
    ),
)  # fmt: skip
