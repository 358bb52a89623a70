"""One example of BERT's input."""

from autograde.exercises.n01_wordpiece._shared import (
    ENDINGS,
    SPECIAL,
    WHOLE_TOKENIZERS,
    WORDS,
    pieces_of,
    shuffled,
    stems_and_endings,
)
from autograde.exercises.n01_wordpiece.truncate_pair import truncate_pair
from autograde.exercises.writing import Case, Exercise, Random, cases, composed, mistake, result_of, values


def pack(first, second, vocabulary, length):
    if second is None:
        groups = [["[CLS]", *first[: length - 2], "[SEP]"], []]
    else:
        first, second = truncate_pair(first, second, length - 3)
        groups = [["[CLS]", *first, "[SEP]"], [*second, "[SEP]"]]
    row = [(vocabulary[piece], segment, 1) for segment, group in enumerate(groups) for piece in group]
    row += [(vocabulary["[PAD]"], 0, 0)] * (length - len(row))
    token_ids, token_type_ids, attention_mask = map(list, zip(*row))
    return {"token_ids": token_ids, "token_type_ids": token_type_ids, "attention_mask": attention_mask}


def vocabulary_of_packing(rng: Random) -> dict[str, int]:
    """Special tokens with any id except 0, which a word has; one id as large as in multilingual BERT."""
    pieces = [*SPECIAL, *WORDS, *("##" + ending for ending in ENDINGS)]
    numbers = {piece: number for number, piece in enumerate(shuffled(rng, pieces), start=3)}
    return numbers | {WORDS[0]: 0, "[SEP]": 119_546}


def rows_to_pack(rng: Random) -> list[Case]:
    vocabulary = vocabulary_of_packing(rng)
    a, b = pieces_of(rng, int(rng.integers(2, 4))), pieces_of(rng, int(rng.integers(3, 5)))
    return [
        Case((a, b, vocabulary, 12)),
        Case((a, None, vocabulary, 8)),
        Case((b, a, vocabulary, len(a) + len(b) + 3)),
        Case((b, None, vocabulary, len(b) + 2)),
        Case((a, [], vocabulary, 9)),
        Case(([], b, vocabulary, 9)),
        Case(([], None, vocabulary, 4)),
        Case((a, b, vocabulary_of_packing(rng), 12)),  # the same texts, another vocabulary
        Case((b, b, vocabulary, 20)),
        Case((110 * a, 110 * b, vocabulary, 800)),  # more positions than BERT has
        Case((300 * a, None, vocabulary, 1000)),
    ]


def rows_too_long(rng: Random) -> list[Case]:
    vocabulary = vocabulary_of_packing(rng)
    a, b = pieces_of(rng, int(rng.integers(5, 8))), pieces_of(rng, int(rng.integers(3, 5)))
    return [
        Case((a, b, vocabulary, 9)),
        Case((b, a, vocabulary, 8)),
        Case((a, None, vocabulary, 5)),
        Case((a, None, vocabulary, len(a) + 1)),
        Case((a, b, vocabulary, len(a) + len(b) + 2)),
        Case((a, [], vocabulary, 5)),
        Case((b, b, vocabulary, 8)),
        Case((a, b, vocabulary, 3)),  # no position for a text
        Case((a, None, vocabulary, 2)),
    ]


def any_rows(rng: Random) -> list[Case]:
    vocabulary, made = vocabulary_of_packing(rng), []
    for _ in range(6):
        a, b = (pieces_of(rng, int(length)) for length in rng.integers(0, 12, size=2))
        made += [Case((a, second, vocabulary, int(rng.integers(3, 24)))) for second in (b, None)]
    return made


def texts_to_rows(rng: Random) -> list[Case]:
    """From two texts to rows: the tokens are those of `tokenize`; both rows are made before one is read."""
    vocabulary, stem, endings = stems_and_endings(rng)
    first, second = (f"{stem}{ending} {stem} xyz" for ending in endings[:2])
    return [
        composed(
            ("tokenize", Case((first, vocabulary))),
            ("tokenize", Case((second, vocabulary))),
            ("pack", Case((result_of(0), result_of(1), vocabulary, int(rng.integers(7, 14))))),
            ("pack", Case((result_of(1), None, vocabulary, 9))),
        )
    ]


EXERCISE = Exercise(
    reference=pack,
    returns="dict",
    parts=(
        values(2, rows_to_pack),
        cases("long texts", 2, rows_too_long, "special tokens must stay; only the texts are shortened",
            lambda rng: any_rows(rng) + texts_to_rows(rng)),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "First make one list of the tokens with the special tokens; then a list of segments of the same length.",
        "One text may have `length - 2` tokens, two texts together `length - 3`. Shorten before you join.",
        "Pad each list up to `length`: with the id of [PAD], 0 and 0. The id of [PAD] need not be 0.",
    ),
    misconceptions=(
        mistake("three-reserved-for-one-text", "first[: length - 2]", "first[: length - 3]",
            hint="You keep three places free for a single text. It needs two: one [CLS] and one [SEP]."),
        mistake("first-sep-in-second-segment",
            "[0] * (len(first) + 2) + [1] * (len(second) + 1)", "[0] * (len(first) + 1) + [1] * (len(second) + 2)",
            hint="The first [SEP] is in segment 1 in your result. It ends the first text and belongs to it."),
        mistake("padding-seen", "[1] * len(pieces) + [0] * padding", "[1] * length",
            hint="Your mask is 1 on padding as well. It must be 0 there, so that BERT ignores padding."),
        mistake("mask-inverted", "[1] * len(pieces) + [0] * padding", "[0] * len(pieces) + [1] * padding",
            hint="Your mask is 1 on padding and 0 on tokens. 1 means: attend to this token."),
        mistake("padding-in-second-segment", "segments + [0] * padding", "segments + segments[-1:] * padding",
            hint="Your padding continues the last segment. Its segment must be 0."),
        mistake("no-last-separator",
            '"[SEP]", *second, "[SEP]"]', '"[SEP]", *second]',
            "[1] * (len(second) + 1)", "[1] * len(second)",
            hint="The second text has no [SEP] at its end. Each text ends with one."),
        mistake("separator-cut-off",
            "*first[: length - 2]", "*first",
            "        first, second = truncate_pair(first, second, length - 3)\n", "",
            "    padding = length - len(pieces)",
            "    pieces, segments = pieces[:length], segments[:length]\n    padding = length - len(pieces)",
            hint="You truncate after joining, so the last [SEP] is lost. Shorten the texts before you join them."),
        mistake("no-room-for-special-pieces",
            "first[: length - 2]", "first[:length]",
            "truncate_pair(first, second, length - 3)", "truncate_pair(first, second, length)",
            hint="Your result can be longer than `length`: the special tokens need two or three positions."),
        mistake("padding-is-zero", '[vocabulary["[PAD]"]] * padding', "[0] * padding",
            hint="You pad with 0. Use the id of [PAD], which can be any number in this vocabulary."),
        mistake("two-reserved-for-a-pair", "length - 3)", "length - 2)",
            hint="You subtract two special tokens from the length of a pair. It has three: [CLS] and two [SEP]."),
        mistake("nothing-reserved-for-a-pair", "length - 3)", "length)",
            hint="You shorten a pair to `length` tokens, and then the special tokens do not fit. Subtract them before "
                 "you shorten."),
        mistake("single-text-not-shortened", "*first[: length - 2]", "*first",
            hint="You do not shorten a single text. It must lose its end too if it does not fit with its two special "
                 "tokens."),
        mistake("last-sep-in-first-segment", "[1] * (len(second) + 1)", "[1] * len(second) + [0]",
            hint="The last [SEP] is in segment 0 in your result. It ends the second text and belongs to it."),
        mistake("empty-text-taken-for-none", "if second is None:", "if not second:",
            hint="You treat an empty second text as if there were none. An empty list is a text and has its own "
                 "[SEP]; only None means one text."),
    ),
)  # fmt: skip
