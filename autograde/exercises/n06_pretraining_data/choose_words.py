"""Positions to predict, ascending: whole words, at most `count` tokens, until no other word fits."""

from collections import Counter
from itertools import permutations
from math import factorial

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import LIBRARY, chancy, mostly_in_front, obeying, with_neighbours
from autograde.exercises.spec import Exercise, Part, Trial, mistake, random_function


def positions_of_words(rng: Random, sizes: list[int]) -> list[list[int]]:
    """Words of the given sizes after [CLS], in a random order, with a [SEP] between the second and the third."""
    words, position = [], 1
    for size in rng.permutation(sizes):
        position += len(words) == 2
        words.append(list(range(position, position + int(size))))
        position += int(size)
    return words


def choices(sizes: list[int], count: int) -> dict[str, float]:
    """The probability of each choice of words, in which all orders are equally likely: by trying all orders."""
    found: Counter[tuple[int, ...]] = Counter()
    for order in permutations(range(len(sizes))):
        left, taken = count, []
        for index in order:
            if sizes[index] <= left:
                left -= sizes[index]
                taken.append(index)
        found[tuple(sorted(taken))] += 1
    return {" ".join(map(str, taken)): n / factorial(len(sizes)) for taken, n in found.items()}


def all_orders(rng: Random, sizes: list[int], count: int) -> Trial:
    words = positions_of_words(rng, sizes)
    drawn = choices([len(word) for word in words], count)
    rates = {f"words {taken}": (1, probability) for taken, probability in drawn.items()}
    for index in range(len(words)):
        chosen = sum(probability for taken, probability in drawn.items() if str(index) in taken.split())
        rates[f"word {index}"] = (1, min(chosen, 1.0))
    return chancy(rng, "chosen words", rates, words, count)


def words_to_choose(rng: Random) -> list[Trial]:
    """Some of few words; one of 300 long words and the only short one; and some of 28, which have so many choices that
    two draws without `rng` never agree by luck."""
    many = [1] * 10 + [2] * 12 + [3] * 6
    return [
        obeying(rng, "chosen words", positions_of_words(rng, [1, 1, 2, 2, 3, 4]), 5),
        obeying(rng, "chosen words", positions_of_words(rng, many), 11, calls=5),
        obeying(rng, "chosen words", positions_of_words(rng, [5] * 300 + [1]), 6, calls=7),
        obeying(rng, "chosen words", positions_of_words(rng, [1, 2, 3, 3, 4]), int(rng.integers(4, 6))),
    ]


def every_word(rng: Random) -> list[Trial]:
    """Words of one length; and words of several lengths, of which the short ones fit more often; two and many words."""
    many = {"mostly in the first half": (1, mostly_in_front(120, 16)), "two neighbours": (1, with_neighbours(120, 16))}
    return [
        all_orders(rng, [2] * 6, 6), all_orders(rng, [1, 1, 2, 3, 4], 5), all_orders(rng, [1, 1], 1),
        chancy(rng, "chosen words", many, positions_of_words(rng, [1] * 120), 16),
    ]  # fmt: skip


def every_word_of_other_lengths(rng: Random) -> list[Trial]:
    return [all_orders(rng, [1, 2, 2, 3, 3, 5], 6)]


def nothing_fits(rng: Random) -> list[Trial]:
    """Words that are all too long; and words that all fit, exactly and with tokens to spare; no words; a count of 0."""
    sizes = (([3, 4, 3], 2), ([3, 1, 2], 6), ([2, 2], 9), ([], 4), ([1, 2], 0))
    rows = [(positions_of_words(rng, of), count) for of, count in sizes]
    return [obeying(rng, "chosen words", words, count, calls=11) for words, count in rows]


EXERCISE = Exercise(
    probe=random_function(),
    returns="list",
    parts=(
        Part("whole words that fit", 1.5, words_to_choose),
        Part("all orders alike", 1, every_word,
            "over many calls some words, or some words together, come far too often or too rarely",
            hidden=every_word_of_other_lengths),
        Part("nothing or everything fits", 0.5, nothing_fits,
            "if every word is too long, choose none; if all fit, choose all"),
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
            hint="Words remain that would still fit, as if you stopped at the first word that is too long. Skip it and "
                 "continue."),
        mistake("one-word-too-many", "len(positions) + len(word) <= count", "len(positions) < count",
            hint="You test whether there is any space left, but not how much: the last word may exceed `count`."),
        mistake("last-word-torn",
            "if len(positions) + len(word) <= count:", "if True:",
            "positions.extend(word)", "positions.extend(word[: count - len(positions)])",
            hint="You choose only a part of a word. The other half then reveals it: take a word whole, or skip it."),
        mistake("words-counted",
            "rng.permutation(len(words))", "rng.permutation(len(words))[:count]",
            "if len(positions) + len(word) <= count:", "if True:",
            hint="You choose `count` words. `count` is a number of tokens: a word of three tokens counts three."),
        mistake("short-words-first", "rng.permutation(len(words))",
            "sorted(rng.permutation(len(words)), key=lambda index: len(words[index]))",
            hint="You take the short words first. Every order of the words is equally likely; a long word that comes "
                 "first is taken."),
        mistake("from-the-left", "rng.permutation(len(words))", "range(len(words))",
            hint="You take the words from left to right. Then the same ones are predicted every time: draw the order."),
    ),
)  # fmt: skip
