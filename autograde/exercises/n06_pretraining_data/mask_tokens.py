"""The model's input: each chosen token becomes [MASK] (80 %), another token (10 %) or stays (10 %)."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import CLS, LIBRARY, MASK, SEP, chancy, obeying, tokens
from autograde.exercises.spec import Exercise, Part, Trial, mistake, random_function


def rows_to_mask(rng: Random) -> list[Trial]:
    inner = [int(place) for place in rng.choice(np.arange(1, 9), 4, replace=False)]
    first = [CLS, *tokens(rng, 4), SEP, *tokens(rng, 3), SEP]
    replacements = tokens(rng, 40)
    return [
        obeying(rng, "replaced", first, sorted(set(inner) - {5}), MASK, replacements),
        obeying(rng, "replaced", [CLS, *replacements[:6], SEP], [2, 4], MASK, replacements),
    ]


def fates(rng: Random) -> list[Trial]:
    ids = [CLS, *range(2001, 2009), SEP]
    replacements, chosen = tokens(rng, 4), [1, 2, 4, 5, 8]
    rates = {"masked": (5, 0.8), "another": (5, 0.1), "unchanged": (5, 0.1), "all masked": (1, 0.8**5)}
    return [chancy(rng, "replaced", rates, ids, chosen, MASK, replacements)]


def every_replacement(rng: Random) -> list[Trial]:
    ids, replacements = [CLS, *range(2001, 2009), SEP], tokens(rng, 3)
    rates = {f"replaced by {token}": (8, 0.1 / 3) for token in replacements}
    return [chancy(rng, "replaced", rates, ids, list(range(1, 9)), MASK, replacements)]


EXERCISE = Exercise(
    probe=random_function(),
    returns="list",
    parts=(
        Part("only the chosen ones", 1, rows_to_mask),
        Part("80, 10, 10", 2, fates, "over 300 calls the fractions are not 80, 10 and 10 %, independently for each "
                                     "token"),
        Part("every replacement", 1, every_replacement,
            "over 300 calls some replacements come far more often than others"),
    ),
    forbidden=LIBRARY,
    hints=(
        "One draw per chosen token is enough: divide the range from 0 to 1 into 0.8, 0.1 and 0.1.",
        "Which draws mean [MASK]? Which mean another token? For the rest there is nothing to do.",
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
        mistake("every-token", "for t in positions:", "for t in range(len(token_ids)):",
            hint="You change all tokens. Only those at `positions` were chosen; the others stay."),
    ),
)  # fmt: skip
