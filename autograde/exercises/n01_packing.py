"""Notebook 01, exercises 1.11 and 1.12: pieces into BERT's input."""

from autograde.exercises import n01_draws as draws
from autograde.exercises import n01_references as right
from autograde.exercises.n01_common import BUILD_IT, MODULE, NOTEBOOK, WHOLE_TOKENIZERS
from autograde.exercises.spec import Exercise, Misconception, cases, function, values

TRUNCATE_PAIR = Exercise(
    id="truncate-pair",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.11",
    title="Make room",
    minutes=5,
    lines="",
    names=("truncate_pair",),
    arguments=("first", "second", "room"),
    probe=function("truncate_pair"),
    reference=right.truncate_pair,
    returns="tuple",
    parts=(
        values(2, draws.lists_to_shorten),
        cases("ties", 1, draws.equally_long, "equally long, the second one loses a piece"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "One piece at a time: as long as there are too many, look which list is longer now.",
        "Work on copies: the lists belong to whoever called you.",
        "Only where the first is strictly longer does it lose a piece; in every other case the second one does.",
    ),
    misconceptions=(
        Misconception(
            "tie-shortens-the-first",
            "Where both are equally long you shorten the first. The rule shortens the second.",
            (("len(first) > len(second) else", "len(first) >= len(second) else"),),
        ),
        Misconception(
            "cut-from-the-front",
            "You take pieces off the beginning. Texts lose their end.",
            (("longer.pop()", "longer.pop(0)"),),
        ),
        Misconception(
            "second-only",
            "You shorten the second text until it fits, or is empty. Whichever is longer at that moment loses a piece.",
            (
                (
                    "longer = first if len(first) > len(second) else second",
                    "longer = second if second else first",
                ),
            ),
        ),
        Misconception(
            "in-turn",
            "You shorten both in turn, whatever their length. The longer one goes first, until both are equally long.",
            (
                (
                    "    while len(first) + len(second) > room:\n"
                    "        longer = first if len(first) > len(second) else second\n        longer.pop()\n",
                    "    longer, other = second, first\n    while len(first) + len(second) > room:\n"
                    "        if longer:\n            longer.pop()\n        longer, other = other, longer\n",
                ),
            ),
        ),
        Misconception(
            "half-each",
            "You give half of the room to each. A short text leaves its rest to the other.",
            (
                (
                    "    while len(first) + len(second) > room:\n"
                    "        longer = first if len(first) > len(second) else second\n        longer.pop()\n"
                    "    return first, second",
                    "    half = room // 2\n    return first[: room - half], second[:half]",
                ),
            ),
        ),
        Misconception(
            "shorter-shortened",
            "You shorten the shorter text. It is the longer one that can spare a piece.",
            (("len(first) > len(second) else", "len(first) < len(second) else"),),
        ),
    ),
)

PACK = Exercise(
    id="pack",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.12",
    title="Pack",
    minutes=8,
    lines="",
    names=("pack",),
    arguments=("first", "second", "vocabulary", "length"),
    probe=function("pack"),
    reference=right.pack,
    returns="dict",
    parts=(
        values(2, draws.rows_to_pack),
        cases("too long", 2, draws.rows_too_long, "special pieces keep their places; the texts are shortened"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "First the pieces with their special ones, in one list; then a list of segments of the same length.",
        "One text leaves room for `length - 2` pieces, two texts for `length - 3`. Shorten before you put together.",
        "Padding is as long as what is missing to `length`: [PAD]'s number, 0 and 0. [PAD]'s number need not be 0.",
    ),
    misconceptions=(
        Misconception(
            "first-sep-in-second-segment",
            "The first [SEP] is in segment 1 in your rows. It closes the first text and belongs to it.",
            (("[0] * (len(first) + 2) + [1] * (len(second) + 1)", "[0] * (len(first) + 1) + [1] * (len(second) + 2)"),),
        ),
        Misconception(
            "padding-seen",
            "Your mask is 1 on padding as well. It tells BERT where not to look.",
            (("[1] * len(pieces) + [0] * padding", "[1] * length"),),
        ),
        Misconception(
            "mask-inverted",
            "Your mask is 1 on padding and 0 on pieces. 1 means: look here.",
            (("[1] * len(pieces) + [0] * padding", "[0] * len(pieces) + [1] * padding"),),
        ),
        Misconception(
            "padding-in-second-segment",
            "Padding goes on with the last segment in your rows. Its segment is 0.",
            (("segments + [0] * padding", "segments + segments[-1:] * padding"),),
        ),
        Misconception(
            "no-last-separator",
            "The second text has no [SEP] at its end. Each text is closed by one.",
            (
                ('"[SEP]", *second, "[SEP]"]', '"[SEP]", *second]'),
                ("[1] * (len(second) + 1)", "[1] * len(second)"),
            ),
        ),
        Misconception(
            "separator-cut-off",
            "You cut the row when everything is together, and the last [SEP] falls off. Shorten the texts before.",
            (
                ("*first[: length - 2]", "*first"),
                ("        first, second = truncate_pair(first, second, length - 3)\n", ""),
                (
                    "    padding = length - len(pieces)",
                    "    pieces, segments = pieces[:length], segments[:length]\n    padding = length - len(pieces)",
                ),
            ),
        ),
        Misconception(
            "no-room-for-special-pieces",
            "Your rows can be longer than `length`: the special pieces need two or three of its places.",
            (
                ("first[: length - 2]", "first[:length]"),
                ("truncate_pair(first, second, length - 3)", "truncate_pair(first, second, length)"),
            ),
        ),
        Misconception(
            "padding-is-zero",
            "You pad with the number 0. It is [PAD]'s number that is wanted, whatever it is in this vocabulary.",
            (('[vocabulary["[PAD]"]] * padding', "[0] * padding"),),
        ),
    ),
)
