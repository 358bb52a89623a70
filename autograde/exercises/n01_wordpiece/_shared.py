"""Inputs and helpers shared by the exercises of notebook 01."""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np

from autograde.exercises.writing import Case, Forbidden, Random

WHOLE_TOKENIZERS = Forbidden(
    "In this exercise you write the tokenizer yourself.",
    (
        "bertlab.tokenizers.wordpiece",
        "bertlab.tokenizers.wordpiece.BasicTokenizer",  # by name, so that they are also detected when they run
        "bertlab.tokenizers.wordpiece.WordPieceTokenizer",
        "bertlab.tokenizers.wordpiece.basic.BasicTokenizer.words",
        "bertlab.tokenizers.wordpiece.basic.split_punctuation",
        "bertlab.tokenizers.wordpiece.basic.strip_accents",
        "bertlab.tokenizers.wordpiece.encoding.pack_rows",
        "bertlab.tokenizers.wordpiece.learner.learn_pieces",
        "bertlab.tokenizers.wordpiece.tokenizer.WordPieceTokenizer.split_word",
        "tensorflow_text",
        "transformers",
        "tokenizers",
        "keras_hub",
    ),
)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def count_pairs(spelled):
    counts = Counter()
    for pieces, count in spelled:
        for pair in pairwise(pieces):
            counts[pair] += count
    return dict(counts)


def token_counts(spelled):
    singles = Counter()
    for pieces, count in spelled:
        singles.update({piece: count * pieces.count(piece) for piece in set(pieces)})
    return singles


def exact_scores(spelled, rule):
    """The score of every pair by a rule, ratios as fractions."""
    singles = token_counts(spelled)
    total = singles.total()
    scores = {}
    for (left, right), count in count_pairs(spelled).items():
        ratio = Fraction(count, singles[left] * singles[right])
        scores[left, right] = {"count": count, "ratio": ratio, "gain": count * math.log(total * ratio)}[rule]
    return scores


def best_pair(spelled, rule, min_count=1, scores=exact_scores):
    """scores: exact ones, or the same with different rounding."""
    counts, ranked = count_pairs(spelled), scores(spelled, rule)
    often = [pair for pair in counts if counts[pair] >= min_count]
    if not often:
        return ()
    best = max(ranked[pair] for pair in often)
    often = [pair for pair in often if ranked[pair] == best]
    largest = max(counts[pair] for pair in often)
    return min(pair for pair in often if counts[pair] == largest)


def merge_pair(pair, spelled):
    return [(_merged(pair, list(pieces)), count) for pieces, count in spelled]


def _merged(pair, pieces):
    for index in range(len(pieces) - 1):
        if (pieces[index], pieces[index + 1]) == tuple(pair):
            return [*pieces[:index], pair[0] + pair[1][2:], *_merged(pair, pieces[index + 2 :])]
    return pieces


WORDS = ("robin", "daisy", "hammer", "river", "bank", "tree", "stake", "width", "orders", "makers", "branch", "garden")
LINE_ENDS = ("\t", "\n", "\r", "\r\n")
WIDE_BLANKS = ("\u00a0", "\u1680", *map(chr, range(0x2000, 0x200B)), "\u202f", "\u205f", "\u3000")  # all of Zs
UNSEEN_FORMATS = ("\u00ad", "\u200b", "\u200d", "\u200f", "\u202a", "\u2060", "\ufeff")
CHINESE = "中文字典山水書"
ACCENTED = ("Zoë", "CAFÉ", "naïve", "Ångström", "piñata", "garçon", "Dvořák", "Kraków")


def pick(rng: Random, options):
    """One of several."""
    return options[int(rng.integers(len(options)))]


def some(rng: Random, options, number: int) -> list:
    """Several different ones, in random order."""
    return [options[int(index)] for index in rng.permutation(len(options))[:number]]


def inside(rng: Random, word: str, inserted: str) -> str:
    """A word with a text inserted, neither at its beginning nor at its end."""
    index = int(rng.integers(1, len(word)))
    return word[:index] + inserted + word[index:]


def in_words(rng: Random, characters) -> str:
    """All of these characters, each inside a word of its own."""
    return " ".join(inside(rng, pick(rng, WORDS), character) for character in shuffled(rng, list(characters)))


def shuffled(rng: Random, items: list) -> list:
    return some(rng, items, len(items))


STEMS = ("play", "work", "snow", "walk", "farm", "paint")
ENDINGS = ("ing", "er", "ed", "s")


def numbered(rng: Random, pieces: list[str]) -> dict[str, int]:
    """A vocabulary of these tokens, special tokens first, the others in random order."""
    return {piece: number for number, piece in enumerate([*SPECIAL, *shuffled(rng, pieces)])}


def stems_and_endings(rng: Random, more=()) -> tuple[dict, str, list[str]]:
    """A vocabulary with the stems and endings of its words."""
    stem, other = some(rng, STEMS, 2)
    endings = some(rng, ENDINGS, 3)
    pieces = [stem, other, stem[:2], stem[0], "##" + stem[2:], "##" + endings[0][0]]
    pieces += ["##" + ending for ending in endings] + list(more)
    return numbered(rng, list(dict.fromkeys(pieces))), stem, endings


def in_letters(word: str) -> list[str]:
    return [word[0], *("##" + letter for letter in word[1:])]


def counted(rng: Random, words: list[str]) -> list[tuple[list[str], int]]:
    """Words in letters, each with a count of at least two, no two counts alike."""
    counts = rng.permutation(np.arange(2, 20))[: len(words)]
    return [(in_letters(word), int(count)) for word, count in zip(words, counts)]


def syllables(rng: Random) -> tuple[str, str, str]:
    return tuple(pick(rng, consonants) + pick(rng, "aeiou") for consonants in ("bdg", "klm", "prt"))


def repeating_words(rng: Random) -> list[str]:
    """Words that share neighbours; one has the same neighbours twice."""
    one, two, three = syllables(rng)
    return [one + two, two + one + two + one, three + one + two, one + three, three]


def spelled_words(rng: Random) -> list[Case]:
    """Also a word with a pair in both orders, a token with different neighbours in one word, and large counts."""
    one, two, _ = syllables(rng)
    twice = counted(rng, ["s" + one + one, "s" + one[0] + two[0] + one[0] + "x"])
    often = [(in_letters(word), int(rng.integers(50_000, 90_000))) for word in (one, one + two)]
    words = [counted(rng, repeating_words(rng)[:3]) + twice, counted(rng, repeating_words(rng)), often]
    return [Case((spelled,)) for spelled in words]


def partly_merged(rng: Random) -> list[Case]:
    """Neighbours that are merged already, in both orders; one token; the same token three times in a row; characters
    that mean something in regular expressions; no word."""
    one, two, three = syllables(rng)
    words = counted(rng, [one + two + three, "x"])
    rest = [([one, "##" + two, "##" + three[0], "##" + three[1]], 3), ([two, "##" + one, "##" + two], 5)]
    rest += [([one], int(rng.integers(2, 9))), (["x", *3 * ["##" + two]], 4), ([three, "##" + one], 1)]
    rest += [(["x", "##" + one, "##" + two, "##" + one], 6), (in_letters("x.yby+(\\"), 7)]
    return [Case((words + rest,)), Case((rest[2:3],)), Case(([],))]


def many_words(rng: Random) -> list[Case]:
    """A longer list, with larger counts, in any order."""
    one, two, three = syllables(rng)
    parts = [one, two, three, one + two, three[0]]
    words = ["".join(shuffled(rng, parts)[: int(rng.integers(1, 5))]) for _ in range(12)]
    spelled = [(in_letters(word), int(rng.integers(1, 500))) for word in dict.fromkeys(words)]
    return [Case((shuffled(rng, [*spelled, *partly_merged(rng)[0].arguments[0]]),))]


def pieces_of(rng: Random, number: int) -> list[str]:
    """This many tokens, first and continuation tokens."""
    known = [*WORDS, *("##" + ending for ending in ENDINGS)]
    return [pick(rng, known) for _ in range(number)]
