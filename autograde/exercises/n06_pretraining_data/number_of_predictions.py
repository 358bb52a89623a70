"""The number of predicted tokens in one example."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values


def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return int(min(max_predictions, max(1, np.rint(share * tokens))))


def usual_lengths(rng: Random) -> list[Case]:
    """Lengths, of which three are drawn: one is rounded down, one up, none is a tie.

    Numbers just above a half, which is a tie for an answer that rounds twice; shares that are no whole percents, and
    one that is slightly less than its percents in floating point.
    """
    beyond = {n: 0.15 * n % 1 for n in range(12, 110)}
    down = [n for n, part in beyond.items() if 0.04 < part < 0.46]
    up = [n for n, part in beyond.items() if 0.54 < part < 0.96]
    drawn = rng.choice(down), rng.choice(up), rng.choice([*down, *up])
    return [
        Case((64, 20)),
        *(Case((int(n), 20)) for n in drawn),
        Case((80, 40), {"share": 0.4}),
        Case((24, 76), {"share": 1.0}),
        *(Case((n, 20)) for n in (17, int(rng.choice([57, 97])), 20 * int(rng.integers(1, 6)) + 3)),
        Case((8 * int(rng.integers(20, 30)), 60), {"share": 0.125}),
        Case((100 * int(rng.integers(2, 5)), 200), {"share": 0.29}),
        Case((1000 * int(rng.integers(2, 5)), 2000), {"share": 0.1234}),
    ]


def defaults(rng: Random) -> list[Case]:
    """`max_predictions` is 20 if nothing else is given, also of a very long row; both other arguments by position."""
    alone = (int(rng.integers(150, 300)),), (int(rng.integers(600, 900)),), (60,)
    rows = *alone, (50, 9, 0.1), (2 * int(rng.integers(30, 45)), 76, 0.5)
    return [Case(arguments) for arguments in rows]


def short_rows(rng: Random) -> list[Case]:
    return [Case((1, 20)), Case((3, 20)), Case((int(rng.integers(4, 8)), 20)), Case((40, 20), {"share": 0.0})]


def long_rows(rng: Random) -> list[Case]:
    """Also with more tokens than BERT has positions, and more predictions than BERT makes."""
    return [
        Case((512, 20)), Case((512, 76)), Case((int(rng.integers(60, 120)), int(rng.integers(3, 8)))),
        Case((2048, 400)), Case((int(rng.integers(4, 9)) * 1000, 2000)), Case((9, 1)),
    ]  # fmt: skip


def ties(rng: Random) -> list[Case]:
    """Halves above an even and above an odd number."""
    return [Case((30, 20)), Case((10, 20)), Case((70, 20)), Case((50, 20))]


def other_ties(rng: Random) -> list[Case]:
    return [Case((90, 20)), Case((110, 20)), Case((5, 20), {"share": 0.5}), Case((7, 20), {"share": 0.5})]


EXERCISE = Exercise(
    probe=plain_function(),
    reference=number_of_predictions,
    returns="int",
    parts=(
        values(0.5, lambda rng: usual_lengths(rng) + defaults(rng)),
        cases("short rows", 0.5, short_rows, "even the shortest sequence needs one prediction"),
        cases("long rows", 0.5, long_rows, "never more than `max_predictions`"),
        cases("ties", 0.5, ties, "4.5 must be rounded to 4 and 1.5 to 2: Python's `round` takes the even neighbour",
            other_ties),
    ),
    hints=(
        "Three steps: 15 % of the tokens, rounded; at least one; at most `max_predictions`.",
        "`max(1, …)` is at least one, `min(max_predictions, …)` at most `max_predictions`.",
        "Use Python's own `round`, and do not truncate the number before it.",
    ),
    misconceptions=(
        mistake("half-rounded-down", "round(share * tokens)", "int(np.ceil(share * tokens - 0.5))",
            hint="Right except for ties: your 1.5 becomes 1. Python 3's `round` takes the even neighbour, 2."),
        mistake("always-fifteen-percent", "share * tokens", "0.15 * tokens",
            hint="You take 15 % always. Use `share`."),
        mistake("cut-off", "round(share * tokens)", "int(share * tokens)",
            hint="`int` truncates: 9.6 becomes 9. The published script rounds to the nearest number."),
        mistake("rounded-up", "round(share * tokens)", "int(np.ceil(share * tokens))",
            hint="You round up. The published script rounds to the nearest number: 19.2 becomes 19."),
        mistake("half-rounded-up", "round(share * tokens)", "int(share * tokens + 0.5)",
            hint="Right except for ties: your 4.5 becomes 5. Python 3's `round` takes the even neighbour, 4."),
        mistake("none-in-short-rows", "max(1, round(share * tokens))", "round(share * tokens)",
            hint="A sequence of three tokens gets no prediction, so nothing can be learned from it. Predict at "
                 "least one."),
        mistake("no-cap", "min(max_predictions, max(1, round(share * tokens)))", "max(1, round(share * tokens))",
            hint="`max_predictions` has no effect. More predictions do not fit into the arrays of a batch."),
        mistake("special-tokens-not-counted", "share * tokens", "share * (tokens - 3)",
            hint="You take 15 % of the tokens without [CLS] and the two [SEP]. The published script counts them "
                 "here, although it never chooses them."),
    ),
)  # fmt: skip
