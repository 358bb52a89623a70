"""Positions to predict, ascending: whole words, at most `count` tokens, as many words as fit."""

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import LIBRARY, chancy, obeying
from autograde.exercises.spec import Exercise, Part, Trial, mistake, random_function


def places_of_words(rng: Random, sizes: list[int]) -> list[list[int]]:
    """Words of the given sizes after [CLS], in a random order."""
    words, place = [], 1
    for size in rng.permutation(sizes):
        words.append(list(range(place, place + int(size))))
        place += int(size)
    return words


def words_to_choose(rng: Random) -> list[Trial]:
    return [
        obeying(rng, "chosen words", places_of_words(rng, [1, 1, 2, 2, 3, 4]), 5),
        obeying(rng, "chosen words", places_of_words(rng, [1, 2, 3, 3, 4]), int(rng.integers(4, 6))),
    ]


def every_word(rng: Random) -> list[Trial]:
    rates = {f"word {index}": (1, 1 / 2) for index in range(6)}
    return [chancy(rng, "chosen words", rates, places_of_words(rng, [2] * 6), 6)]


def nothing_fits(rng: Random) -> list[Trial]:
    return [obeying(rng, "chosen words", places_of_words(rng, [3, 4, 3]), 2, calls=10)]


EXERCISE = Exercise(
    probe=random_function(),
    returns="list",
    parts=(
        Part("whole words that fit", 1.5, words_to_choose),
        Part("all with the same probability", 1, every_word, "over 300 calls some words come far too often"),
        Part("nothing fits", 0.5, nothing_fits, "if every word is too long, choose none"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Put the words into a random order, then take one after the other.",
        "Before you take a word, count: would there be more than `count` tokens with it?",
        "Skip a word that is too long and continue: a shorter one after it may still fit.",
    ),
    misconceptions=(
        mistake("stops-at-the-first-that-does-not-fit", "            positions.extend(word)",
            "            positions.extend(word)\n"
            "        else:\n"
            "            break",
            hint="You stop at the first word that is too long. Skip it and continue: a shorter one may still fit."),
        mistake("one-word-too-many", "len(positions) + len(word) <= count", "len(positions) < count",
            hint="You test whether there is any space left, but not how much: the last word may exceed `count`."),
        mistake("last-word-torn",
            "if len(positions) + len(word) <= count:", "if True:",
            "positions.extend(word)", "positions.extend(word[: count - len(positions)])",
            hint="You cut the last word so that it fits. Then half of a word is masked, and the other half reveals "
                 "it."),
        mistake("words-counted",
            "rng.permutation(len(words))", "rng.permutation(len(words))[:count]",
            "if len(positions) + len(word) <= count:", "if True:",
            hint="You choose `count` words. `count` is a number of tokens: a word of three tokens counts three."),
        mistake("from-the-left", "rng.permutation(len(words))", "range(len(words))",
            hint="You take the words from left to right. Then the same ones are predicted every time: draw the order."),
    ),
)  # fmt: skip
