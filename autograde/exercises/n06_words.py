"""Notebook 06, exercises 6.5 and 6.6: whole-word masking."""

from autograde.exercises import n06_draws as draws
from autograde.exercises.n06_common import BUILD_IT, LIBRARY, NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, Part, cases, plain_function, random_function, values

WHOLE_WORDS = Exercise(
    id="whole-words",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.5",
    title="Which pieces belong together",
    minutes=8,
    lines="",
    names=("whole_words",),
    arguments=("pieces",),
    probe=plain_function("whole_words"),
    reference=draws.whole_words,
    returns="list",
    parts=(
        values(2, draws.rows_of_words),
        cases("cut words", 1, draws.cut_words, "a word never runs across [CLS] or [SEP]"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "A piece that begins with ## goes on with the word before it; any other regular piece begins a new one.",
        "Go from left to right with a growing list of words; `words[-1]` is the one that may still go on.",
        "Before you lengthen the last word, ask whether it really ends right before this piece.",
    ),
    misconceptions=(
        Misconception(
            "each-piece-alone",
            "Every piece is a word of its own in your result. Pieces with ## go on with the word before them.",
            (('piece.startswith("##") and words and words[-1][-1] == t - 1', "False"),),
        ),
        Misconception(
            "special-tokens-too",
            "[CLS], [SEP] or [PAD] count as words in your result. They are never predicted: leave them out.",
            (("if piece in SPECIAL:", "if False:"),),
        ),
        Misconception(
            "across-the-separator",
            (
                "A word runs across [SEP]: what truncation left of a word joins the last word of the other segment. "
                "A word's places are neighbours."
            ),
            ((" and words[-1][-1] == t - 1", ""),),
        ),
        Misconception(
            "split-words-only",
            "You list words of several pieces only. A word of a single piece is a whole word as well.",
            (("return words", "return [word for word in words if len(word) > 1]"),),
        ),
        Misconception(
            "counted-without-special-tokens",
            "Your positions do not count the special tokens. A position is a place in the row, [CLS] being number 0.",
            (
                (
                    "for t, piece in enumerate(pieces):",
                    "for t, piece in enumerate([piece for piece in pieces if piece not in SPECIAL]):",
                ),
            ),
        ),
    ),
)

CHOOSE_WORDS = Exercise(
    id="choose-words",
    notebook=NOTEBOOK,
    kept_in="data",
    number="6.6",
    title="Whole words only",
    minutes=8,
    lines="",
    names=("choose_words",),
    arguments=("words", "count"),
    probe=random_function("choose_words"),
    reference=None,
    returns="list",
    parts=(
        Part("whole words that fit", 1.5, draws.words_to_choose),
        Part("all equally likely", 1, draws.every_word, "over 300 calls some words come far more often than others"),
        Part("nothing fits", 0.5, draws.nothing_fits, "where every word is too long, none is chosen"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "Bring the words into a random order, then take one after the other.",
        "Before you take a word, count: would there be more than `count` pieces with it?",
        "A word that is too long is left out, and you go on: a shorter one behind it may still fit.",
    ),
    misconceptions=(
        Misconception(
            "stops-at-the-first-that-does-not-fit",
            "You stop at the first word that is too long. Leave it out and go on: a shorter one may still fit.",
            (
                (
                    "            positions.extend(word)",
                    "            positions.extend(word)\n        else:\n            break",
                ),
            ),
        ),
        Misconception(
            "one-word-too-many",
            "You look whether there is room, but not for how much: the last word may go over `count`.",
            (("len(positions) + len(word) <= count", "len(positions) < count"),),
        ),
        Misconception(
            "last-word-torn",
            "You cut the last word so that it fits. Then half of a word is hidden, and the other half gives it away.",
            (
                ("if len(positions) + len(word) <= count:", "if True:"),
                ("positions.extend(word)", "positions.extend(word[: count - len(positions)])"),
            ),
        ),
        Misconception(
            "words-counted",
            "You choose `count` words. 15 % is meant in pieces: a word of three pieces counts three.",
            (
                ("rng.permutation(len(words))", "rng.permutation(len(words))[:count]"),
                ("if len(positions) + len(word) <= count:", "if True:"),
            ),
        ),
        Misconception(
            "from-the-left",
            "You take the words from left to right. The same ones would be predicted every time: draw the order.",
            (("rng.permutation(len(words))", "range(len(words))"),),
        ),
    ),
)
