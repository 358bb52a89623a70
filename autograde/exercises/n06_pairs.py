"""Notebook 06, exercises 6.7 and 6.8: pairs of segments."""

from autograde.exercises import n06_draws as draws
from autograde.exercises.n06_common import BUILD_IT, LIBRARY, NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, Part, random_function

MAKE_PAIR = Exercise(
    id="make-pair",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.7",
    title="Next or not",
    minutes=10,
    lines="",
    names=("make_pair",),
    arguments=("documents", "document", "sentence"),
    probe=random_function("make_pair"),
    reference=None,
    returns="tuple",
    parts=(
        Part("A, B and the label", 2, draws.pairs),
        Part("half and half", 1, draws.half_and_half, "over 300 calls the labels are not half and half"),
        Part(
            "any other document", 1, draws.any_other_document,
            "over 300 calls B comes from some documents, or some places in them, far more often than from others",
        ),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "First toss the coin, then look for B.",
        "For the second kind: leave A's own document out *before* you draw, then draw a sentence of what you drew.",
        "0 says IsNext. A sentence of another document has the label 1.",
    ),
    misconceptions=(
        Misconception(
            "labels-swapped",
            "Your labels are the other way round. In the published code 0 is IsNext and 1 is NotNext.",
            (
                ("documents[document][sentence + 1], 0", "documents[document][sentence + 1], 1"),
                ("other[int(rng.integers(len(other)))], 1", "other[int(rng.integers(len(other)))], 0"),
            ),
        ),
        Misconception(
            "own-document-too",
            "A B that is not next may come from A's own document with you. Draw among the *other* documents.",
            ((" if d != document", ""),),
        ),
        Misconception(
            "own-document-only",
            "Your B always comes from A's document. NotNext takes it from another one: the topic changes.",
            (("other = documents[int(rng.choice(others))]", "other = documents[document]"),),
        ),
        Misconception(
            "the-next-document",
            "NotNext always takes the document that follows. Draw it: each other one is as likely.",
            (("int(rng.choice(others))", "others[document % len(others)]"),),
        ),
        Misconception(
            "opening-sentence",
            "B is always the first sentence of its document. A first sentence shows that it is one: draw any.",
            (("int(rng.integers(len(other)))", "0"),),
        ),
        Misconception(
            "always-next",
            "Every pair is IsNext. A question with only one answer teaches nothing: toss a coin.",
            (("rng.random() < 0.5", "rng.random() < 1"),),
        ),
    ),
)  # fmt: skip

TRUNCATE = Exercise(
    id="truncate-at-random",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.8",
    title="Too long",
    minutes=8,
    lines="",
    names=("truncate_at_random",),
    arguments=("first", "second", "room"),
    probe=random_function("truncate_at_random"),
    reference=None,
    returns="tuple",
    parts=(
        Part("the longer one is shortened", 2, draws.too_long),
        Part(
            "from either end", 1, draws.from_either_end,
            "over 300 calls the tokens do not leave from the front and the end as tosses of a coin would have it",
        ),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "One token at a time, until both fit. Which one loses it? From which end?",
        "The longer one loses the token. If they are equally long, the second.",
        "A coin for each token: `del x[0]` takes from the front, `x.pop()` from the end. Work on copies.",
    ),
    misconceptions=(
        Misconception(
            "always-from-the-end",
            "All tokens leave at the end, as in notebook 01. Here a coin decides for each: front or end.",
            (("rng.random() < 0.5", "rng.random() < 0"),),
        ),
        Misconception(
            "always-from-the-front",
            "All tokens leave at the front. A coin decides for each token: front or end.",
            (("rng.random() < 0.5", "rng.random() < 1"),),
        ),
        Misconception(
            "one-coin-for-all",
            "One coin decides for all tokens: they leave all at the front or all at the end. Toss it for each.",
            (
                ("    while len", "    coin = rng.random()\n    while len"),
                ("if rng.random() < 0.5", "if coin < 0.5"),
            ),
        ),
        Misconception(
            "tie-shortens-the-first",
            "Where both are equally long you shorten the first. The published script takes the token from the second.",
            (("len(first) > len(second)", "len(first) >= len(second)"),),
        ),
        Misconception(
            "second-only",
            "You shorten B only. The longer one loses the token, whichever it is at that moment.",
            (("first if len(first) > len(second) else second", "second"),),
        ),
    ),
)  # fmt: skip
