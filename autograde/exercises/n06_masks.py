"""Notebook 06, exercises 6.1 to 6.4: which tokens are predicted, and what stands in their place."""

from autograde.exercises import n06_draws as draws
from autograde.exercises.n06_common import BUILD_IT, LIBRARY, NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, Part, cases, plain_function, random_function, values

MASK_EACH = Exercise(
    id="mask-each",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.1",
    title="Each token on its own",
    minutes=8,
    lines="ETraining, lines 5–7",
    names=("mask_each",),
    arguments=("token_ids", "mask_id", "p"),
    probe=random_function("mask_each"),
    reference=None,
    returns="tuple",
    parts=(
        Part("masks and positions", 1, draws.masked_one_by_one),
        Part(
            "each with probability p", 1, draws.independent,
            "over 300 calls the numbers of masks are not those of independent draws with probability p",
        ),
        Part("p of 0 and 1", 1, draws.all_or_nothing, "p = 1 masks every token, p = 0 none"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "Go through the tokens one by one. For each: draw, decide, write down.",
        "`rng.random()` is uniform between 0 and 1. How likely is it to be below p?",
        "Start from a copy of the ids and an empty list of positions; the draw belongs inside the loop.",
    ),
    misconceptions=(
        Misconception(
            "fixed-number",
            (
                "You mask the same number of tokens every time. In lines 5 and 6 each token is drawn on its own, so "
                "now and then none is masked, or all. (A fixed number is BERT's rule: the next exercise.)"
            ),
            (
                ("if rng.random() < p:", "if t in drawn:"),
                ("positions = []", "positions, n = [], len(masked)\n    drawn = rng.permutation(n)[: round(p * n)]"),
            ),
        ),
        Misconception(
            "kept-with-p",
            "You keep a token with probability p and mask the others. Line 6: the mask comes with probability p.",
            (("rng.random() < p", "rng.random() >= p"),),
        ),
        Misconception(
            "one-draw-for-all",
            "One draw decides for the whole sentence: all masked or none. Each token needs a draw of its own.",
            (("positions = []", "positions = []\n    draw = rng.random()"), ("if rng.random() < p", "if draw < p")),
        ),
        Misconception(
            "counted-from-one",
            "Your positions count from 1, as the lecture's T̃ does. In Python the first token is number 0.",
            (("positions.append(t)", "positions.append(t + 1)"),),
        ),
        Misconception(
            "places-of-the-kept",
            "The positions are those of the tokens that stayed. T̃ holds the masked ones: there the loss is taken.",
            (("            positions.append(t)", "        else:\n            positions.append(t)"),),
        ),
    ),
)  # fmt: skip

NUMBER_OF_PREDICTIONS = Exercise(
    id="number-of-predictions",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.2",
    title="How many predictions",
    minutes=5,
    lines="",
    names=("number_of_predictions",),
    arguments=("tokens", "most", "share"),
    probe=plain_function("number_of_predictions"),
    reference=draws.number_of_predictions,
    returns="int",
    parts=(
        values(0.5, draws.usual_lengths),
        cases("short rows", 0.5, draws.short_rows, "even the shortest row has one prediction"),
        cases("long rows", 0.5, draws.long_rows, "never more than `most`"),
        cases("ties", 0.5, draws.ties, "4.5 is rounded to 4 and 1.5 to 2: Python's `round` takes the even neighbour"),
    ),
    hints=(
        "Three steps: 15 % of the tokens, rounded; at least one; at most `most`.",
        "`max(1, …)` is at least one, `min(most, …)` at most `most`.",
        "Use Python's own `round`, and nothing before it that cuts off the decimals.",
    ),
    misconceptions=(
        Misconception(
            "cut-off",
            "`int` cuts the decimals off: 9.6 becomes 9. The published script rounds to the nearest number.",
            (("round(share * tokens)", "int(share * tokens)"),),
        ),
        Misconception(
            "rounded-up",
            "You round up. The published script rounds to the nearest number: 19.2 becomes 19.",
            (("round(share * tokens)", "int(np.ceil(share * tokens))"),),
        ),
        Misconception(
            "half-rounded-up",
            "Right but for ties: 4.5 becomes 5 with you. Python 3's `round` takes the even neighbour, 4.",
            (("round(share * tokens)", "int(share * tokens + 0.5)"),),
        ),
        Misconception(
            "none-in-short-rows",
            "A row of three tokens gets no prediction, so nothing can be learnt from it. At least one.",
            (("max(1, round(share * tokens))", "round(share * tokens)"),),
        ),
        Misconception(
            "no-cap",
            "`most` does not count. The arrays of a batch have room for `most` predictions, no more.",
            (("min(most, max(1, round(share * tokens)))", "max(1, round(share * tokens))"),),
        ),
        Misconception(
            "special-tokens-not-counted",
            (
                "You take 15 % of the tokens without [CLS] and the two [SEP]. The published script counts them here "
                "(only choosing them is forbidden)."
            ),
            (("share * tokens", "share * (tokens - 3)"),),
        ),
    ),
)

CHOOSE_POSITIONS = Exercise(
    id="choose-positions",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.3",
    title="Which positions",
    minutes=8,
    lines="",
    names=("choose_positions",),
    arguments=("token_ids", "special_ids", "count"),
    probe=random_function("choose_positions"),
    reference=None,
    returns="list",
    parts=(
        Part("regular tokens only", 1, draws.rows_to_choose_from),
        Part(
            "all equally likely", 1, draws.every_position,
            "over 300 calls some positions come far more often than others",
        ),
        Part("fewer than asked for", 1, draws.more_than_there_are, "where there are fewer regular tokens, all of them"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "First: which positions may be chosen at all? Then draw among those.",
        "A position is a place, 0, 1, 2 …, not the id that stands there: an id may stand in several places.",
        "`rng.choice` can be kept from drawing the same thing twice. And there may be fewer than `count`.",
    ),
    misconceptions=(
        Misconception(
            "special-tokens-too",
            "You choose special tokens as well. [CLS], [SEP] and [PAD] stand in fixed places: nothing is learnt there.",
            ((" if token not in special_ids", ""),),
        ),
        Misconception(
            "with-replacement",
            "The same position comes up twice. Draw without putting back, so that `count` different ones come out.",
            (("replace=False", "replace=True"),),
        ),
        Misconception(
            "the-first-ones",
            "You take the first `count` regular tokens every time. The rest of the sentence would never be predicted.",
            (("rng.choice(allowed, size=min(count, len(allowed)), replace=False)", "allowed[:count]"),),
        ),
        Misconception(
            "dropped-afterwards",
            (
                "You draw among all positions and throw the special ones away afterwards: too few are left. Leave them "
                "out before the draw."
            ),
            (
                (" if token not in special_ids", ""),
                ("for t in chosen)", "for t in chosen if token_ids[t] not in special_ids)"),
            ),
        ),
        Misconception(
            "first-place-of-the-token",
            (
                "You draw tokens and then look up where they stand. `index` finds the first place only; a word that "
                "comes again later is never chosen. Draw places."
            ),
            (("int(t) for t in chosen", "token_ids.index(token_ids[t]) for t in chosen"),),
        ),
        Misconception(
            "tokens-returned",
            "These are the ids that stand there. The positions are asked for: where, not what.",
            (("int(t) for t in chosen", "token_ids[t] for t in chosen"),),
        ),
    ),
)  # fmt: skip

MASK_TOKENS = Exercise(
    id="mask-tokens",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.4",
    title="80, 10, 10",
    minutes=10,
    lines="",
    names=("mask_tokens",),
    arguments=("token_ids", "positions", "mask_id", "replacements"),
    probe=random_function("mask_tokens"),
    reference=None,
    returns="list",
    parts=(
        Part("only the chosen ones", 1, draws.rows_to_mask),
        Part("80, 10, 10", 2, draws.fates, "over 300 calls the shares are not 80, 10 and 10 %, each token on its own"),
        Part(
            "every replacement", 1, draws.every_replacement,
            "over 300 calls some replacements come far more often than others",
        ),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "One draw per chosen token is enough: cut the range from 0 to 1 into 0.8, 0.1 and 0.1.",
        "Which draws mean [MASK]? Which mean another token? For the rest there is nothing to do.",
        "Start from a copy. Compare one and the same draw with 0.8, then with 0.9.",
    ),
    misconceptions=(
        Misconception(
            "always-the-mask",
            "Every chosen token becomes [MASK]. In fine-tuning it never occurs: 10 % become another token, 10 % stay.",
            (("fate = rng.random()", "fate = 0.0"),),
        ),
        Misconception(
            "none-unchanged",
            "80, 20, 0: what is not masked is always replaced. Half of these are to stay as they are.",
            (("elif fate < 0.9:", "else:"),),
        ),
        Misconception(
            "none-replaced",
            "80, 0, 20: no token becomes another one. Then whatever is not [MASK] could be trusted to be right.",
            (("elif fate < 0.9:", "elif fate < 0.8:"),),
        ),
        Misconception(
            "second-draw",
            (
                "80, 2, 18: you draw a second time and compare with 0.1, but only one in five gets that far. 10 % of "
                "all is half of the rest."
            ),
            (("elif fate < 0.9:", "elif rng.random() < 0.1:"),),
        ),
        Misconception(
            "one-fate-for-all",
            "One draw decides for all chosen tokens of the row: they share their fate. Draw inside the loop.",
            (
                ("    for t in positions:", "    fate = rng.random()\n    for t in positions:"),
                ("        fate = rng.random()\n", ""),
            ),
        ),
        Misconception(
            "place-in-the-list",
            "You put the *place* of a replacement into the row, a number from 0 up. Look up which id stands there.",
            (("int(rng.choice(replacements))", "int(rng.integers(len(replacements)))"),),
        ),
        Misconception(
            "every-token",
            "You go through all tokens of the row. Only those at `positions` were chosen; the others stay.",
            (("for t in positions:", "for t in range(len(token_ids)):"),),
        ),
    ),
)  # fmt: skip
