"""Inputs of notebook 01. Chance chooses words, counts and places; what tells the mistakes apart is always there.

Only characters whose category is the same in every Unicode version since 2010 are drawn, since Python's tables change.
"""

import numpy as np

from autograde.exercises import n01_references as right
from autograde.exercises.spec import Case

Random = np.random.Generator

WORDS = ("robin", "daisy", "hammer", "river", "bank", "tree", "stake", "width", "orders", "makers", "branch", "garden")
LINE_ENDS = ("\t", "\n", "\r\n")
WIDE_BLANKS = ("\u00a0", "\u2003", "\u3000")
UNSEEN_CONTROLS = ("\x00", "\x07", "\x7f", "\ufffd")
UNSEEN_FORMATS = ("\u00ad", "\u200b", "\u200d", "\ufeff")
CHINESE = "中文字典山水書"
RARE_CHINESE = ("\u3400", "\uf900", "\U00020000", "\U0002f800")
KANA_AND_HANGUL = ("ひらがな", "カタカナ", "한국어", "공연은")
ACCENTED = ("Zoë", "CAFÉ", "naïve", "Ångström", "piñata", "garçon", "Dvořák", "Kraków")
NO_ACCENT = ("Øre", "Straße", "Łódź", "ʻOkina", "Мир")
GREEK = ("ΟΔΟΣ", "ΛΟΓΟΣ")
COMPATIBLE = ("\ufb01ne", "x²", "№")  # a ligature, a raised digit, a sign: NFKD would rewrite them
SPACING_MARKS = ("कि", "हिन्दी")  # Devanagari: vowels that take room beside vowels that do not
HANGUL = ("공연은", "끝났어", "개막을")
ASCII_SYMBOLS = "$+<=>^`|~"
ASCII_MARKS = ".,!?'-:;()[]/&%#@*\"_"
WIDE_MARKS = "“”—…¿。"
OTHER_SYMBOLS = "€©×°"


def pick(rng: Random, options):
    """One of several."""
    return options[int(rng.integers(len(options)))]


def some(rng: Random, options, number: int) -> list:
    """Several different ones, in random order."""
    return [options[int(index)] for index in rng.permutation(len(options))[:number]]


def inside(rng: Random, word: str, inserted: str) -> str:
    """A word with something in it, neither at its beginning nor at its end."""
    place = int(rng.integers(1, len(word)))
    return word[:place] + inserted + word[place:]


def shuffled(rng: Random, items: list) -> list:
    return some(rng, items, len(items))


# --- text ---


def untidy_text(rng: Random) -> list[Case]:
    one, two, three, four = some(rng, WORDS, 4)
    first = f"{one}\t{inside(rng, two, pick(rng, UNSEEN_FORMATS))} {inside(rng, three, pick(rng, UNSEEN_CONTROLS))}\n"
    blanks = "".join(word + pick(rng, kind) for word, kind in zip(some(rng, WORDS, 3), [LINE_ENDS, *2 * [WIDE_BLANKS]]))
    unseen = "".join(inside(rng, four, pick(rng, kind)) for kind in (UNSEEN_FORMATS, UNSEEN_CONTROLS))
    return [Case((first,)), Case((blanks + unseen,)), Case(("",))]


def many_scripts(rng: Random) -> list[Case]:
    chinese = "".join(some(rng, CHINESE, 3))
    mixed = shuffled(rng, [pick(rng, WORDS), chinese, *some(rng, KANA_AND_HANGUL, 2)])
    rare = inside(rng, pick(rng, WORDS), pick(rng, RARE_CHINESE))
    return [Case((" ".join(mixed) + pick(rng, CHINESE),)), Case((f"{rare} {pick(rng, KANA_AND_HANGUL)}",))]


def accented_text(rng: Random) -> list[Case]:
    apart = inside(rng, pick(rng, WORDS), "\u0301")
    german = " ".join(["Straße", pick(rng, ("Øre", "Мир")), *some(rng, ACCENTED, 2)])
    return [
        Case((" ".join(some(rng, ACCENTED, 2)),)),
        Case((" ".join([apart, pick(rng, COMPATIBLE), pick(rng, NO_ACCENT)]),)),
        Case((german,)),
        Case((f"{pick(rng, GREEK)} İZMIR",)),
    ]


def other_scripts(rng: Random) -> list[Case]:
    return [Case((pick(rng, HANGUL),)), Case((" ".join(shuffled(rng, list(SPACING_MARKS))),))]


def punctuated_words(rng: Random) -> list[Case]:
    one, two = some(rng, WORDS, 2)
    return [
        Case((f"{one}{pick(rng, ASCII_MARKS)}{pick(rng, 'st')}{pick(rng, ASCII_MARKS)}",)),
        Case((f"{pick(rng, ASCII_MARKS)}{one}{pick(rng, ASCII_MARKS) * 3}{two}",)),
        Case((one,)),
    ]


def symbols_in_words(rng: Random) -> list[Case]:
    one, two, three = some(rng, WORDS, 3)
    return [
        Case((pick(rng, ASCII_SYMBOLS).join([one, two, ""]) + str(rng.integers(1, 99)),)),
        Case((pick(rng, "“¿") + one + pick(rng, "—…。") + two,)),
        Case((three + pick(rng, OTHER_SYMBOLS) + str(rng.integers(1, 99)),)),
    ]


def sentence(rng: Random) -> str:
    """Capitals, an accent, punctuation, an odd blank, something unseen and a Chinese character."""
    one, two = some(rng, WORDS, 2)
    odd = inside(rng, two, pick(rng, UNSEEN_FORMATS))
    parts = [pick(rng, ACCENTED) + pick(rng, "'’") + "s", one.title() + pick(rng, ",;!"), pick(rng, CHINESE) + odd]
    return " ".join(shuffled(rng, parts)) + pick(rng, LINE_ENDS + WIDE_BLANKS) + f"${rng.integers(2, 99)}."


def sentences(rng: Random) -> list[Case]:
    return [Case((sentence(rng),)), Case((sentence(rng),)), Case(("  ",))]


def sentences_in_both_cases(rng: Random) -> list[Case]:
    return [Case((sentence(rng),), {"lower_case": lower_case}) for lower_case in (False, True)]


# --- pieces ---

STEMS = ("play", "work", "snow", "walk", "farm", "paint")
ENDINGS = ("ing", "er", "ed", "s")


def numbered(rng: Random, pieces: list[str]) -> dict[str, int]:
    """A vocabulary of these pieces, special ones in front, the others in random order."""
    return {piece: number for number, piece in enumerate([*right.SPECIAL, *shuffled(rng, pieces)])}


def stems_and_endings(rng: Random, more=()) -> tuple[dict, str, list[str]]:
    """A vocabulary, the stem and the endings from which words for it can be made."""
    stem, other = some(rng, STEMS, 2)
    endings = some(rng, ENDINGS, 3)
    pieces = [stem, other, stem[:2], stem[0], "##" + stem[2:], "##" + endings[0][0]]
    pieces += ["##" + ending for ending in endings] + list(more)
    return numbered(rng, list(dict.fromkeys(pieces))), stem, endings


def words_to_cut(rng: Random) -> list[Case]:
    vocabulary, stem, endings = stems_and_endings(rng)
    letter = pick(rng, "xz")
    return [
        Case((stem + endings[0], vocabulary)),
        Case((stem + endings[1] + endings[0], vocabulary)),
        Case((stem, vocabulary)),
        Case((stem + endings[0] + letter + endings[1], vocabulary)),
        Case((letter + stem, vocabulary)),
    ]


def greedy_traps(rng: Random) -> list[Case]:
    """Words that could be spelled in pieces, but not by taking the longest one first; and the other way round."""
    a, b, c, d = some(rng, "abcdefgh", 4)
    trap = numbered(rng, [a, a + b, "##" + b + c, "##" + d])
    two_ways = numbered(rng, [a, a + b, "##" + b + c + d, "##" + b, "##" + c, "##" + d, "##" + c + d])
    return [Case((a + b + c + d, trap)), Case((a + b + c + d, two_ways))]


def long_words(rng: Random) -> list[Case]:
    letter = pick(rng, "abc")
    vocabulary = numbered(rng, [letter * 3, "##" + letter * 40, "##" + letter])
    return [Case((letter * length, vocabulary)) for length in (200, 201)]


def texts_to_cut(rng: Random) -> list[Case]:
    vocabulary, stem, endings = stems_and_endings(rng, more=["zoe", "!", "."])
    one, two = f"{stem.title()}{endings[0]} zoë{pick(rng, '.!')}", f"{stem}{endings[1]}{pick(rng, '.!')} {stem}xyz"
    return [Case((f"{one} {two}", vocabulary)), Case((f"{two} {one}", vocabulary)), Case(("", vocabulary))]


def cased_texts(rng: Random) -> list[Case]:
    vocabulary, stem, endings = stems_and_endings(rng, more=["Zoë", "."])
    return [
        Case((f"Zoë {stem}{endings[0]} {stem.title()}.", vocabulary), {"lower_case": lower}) for lower in (False, True)
    ]


# --- learning ---


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
    return [Case((counted(rng, repeating_words(rng)[:3]),)), Case((counted(rng, repeating_words(rng)),))]


def partly_merged(rng: Random) -> list[Case]:
    """Words in which some neighbours are one piece already, and one word of a single letter."""
    one, two, three = syllables(rng)
    words = counted(rng, [one + two + three, "x"])
    rest = [([one, "##" + two, "##" + three[0], "##" + three[1]], 3), ([two, "##" + one, "##" + two], 5)]
    return [Case((words + rest,))]


def pairs_to_merge(rng: Random) -> list[Case]:
    words = repeating_words(rng)
    spelled = counted(rng, words)
    first, twice = in_letters(words[0]), in_letters(words[1])
    return [
        Case((tuple(first[:2]), spelled[:3])),
        Case((tuple(first[1:3]), spelled)),
        Case((tuple(twice[-2:]), spelled)),
    ]


def awkward_merges(rng: Random) -> list[Case]:
    """The same letter many times; and pieces that merely end or begin like those of the pair."""
    a, b, c = some(rng, "abdegilmn", 3)
    same = [(in_letters(a * 4), 3), (in_letters(c + a * 5), 2), (in_letters(b + c), 4)]
    alike = [([c + a, "##" + b], 4), ([a, "##" + b + c], 2), ([a, "##" + b, "##" + a, "##" + b], 3)]
    return [Case((("##" + a, "##" + a), same)), Case(((a, "##" + b), alike))]


def rounded_twice(spelled):
    """Scores divided by one count after the other: what a student may write as well."""
    scores = right.exact_scores(spelled)
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    counts = right.count_pairs(spelled)
    return {(a, b): counts[a, b] / singles[a] / singles[b] for a, b in scores}


def robust(word_counts: dict, size: int, least: int) -> bool:
    """Whether rounding decides nothing."""
    exact = right.learn_vocabulary(word_counts, size, least)
    return exact == right.learn_vocabulary(word_counts, size, least, scores=rounded_twice)


def learning_case(rng: Random, merges: int, least: int, lowest: int) -> Case:
    """Words from a few syllables, with counts from `lowest` to 9; drawn again where rounding would decide."""
    while True:
        parts = [pick(rng, "bdgklm") + pick(rng, "aeiou") + pick(rng, ("", "n", "s")) for _ in range(4)]
        words = dict.fromkeys("".join(some(rng, parts, int(rng.integers(1, 4)))) for _ in range(7))
        word_counts = {word: int(rng.integers(lowest, 10)) for word in words}
        size = right.fixed_size(word_counts) + merges
        if len(word_counts) > 4 and all(robust(word_counts, size, count) for count in {1, least}):
            without = right.learn_vocabulary(word_counts, size, 1)
            if least <= lowest or without != right.learn_vocabulary(word_counts, size, least):
                return Case((word_counts, size), {"min_count": least})


def words_to_learn_from(rng: Random) -> list[Case]:
    return [learning_case(rng, merges=4, least=2, lowest=2), learning_case(rng, merges=9, least=2, lowest=2)]


def rare_pairs(rng: Random) -> list[Case]:
    rare = learning_case(rng, merges=6, least=5, lowest=1)
    few = {"ab": int(rng.integers(2, 9)), "c": int(rng.integers(2, 9))}
    return [rare, Case((few, 40), {"min_count": 2})]


def ties(rng: Random) -> list[Case]:
    """Pairs of equal scores. What the rule chooses comes later in the text, and is neither time the first in order."""
    a, b, c, d, e = sorted(some(rng, "abcdefghijklm", 5))
    often = int(rng.integers(3, 9))
    same_count = {c + d: often, a + b: often}  # 1 / often each
    other_count = {a + b: often - 1, e + b: 1, e: 20, c + d: often}  # 1 / often for ab and for cd
    return [Case((words, right.fixed_size(words) + 1), {"min_count": 2}) for words in (same_count, other_count)]


# --- packing ---


def pieces_of(rng: Random, number: int) -> list[str]:
    """That many pieces, beginnings and goings-on."""
    known = [*WORDS, *("##" + ending for ending in ENDINGS)]
    return [pick(rng, known) for _ in range(number)]


def lists_to_shorten(rng: Random) -> list[Case]:
    longer, shorter = int(rng.integers(7, 10)), int(rng.integers(2, 4))
    a, b = pieces_of(rng, longer), pieces_of(rng, shorter)
    return [Case((a, b, longer + shorter - 2)), Case((b, a, longer + shorter - 3)), Case((b, a, 40))]


def equally_long(rng: Random) -> list[Case]:
    length = int(rng.integers(4, 7))
    alike = [Case((pieces_of(rng, length), pieces_of(rng, length), 2 * length - cut)) for cut in (1, 2, 3)]
    return [*alike, Case((pieces_of(rng, length), pieces_of(rng, 2 * length), 2 * length - 1))]


def vocabulary_of_packing(rng: Random) -> dict[str, int]:
    """Special pieces somewhere among the others, none with number 0."""
    pieces = [*right.SPECIAL, *WORDS, *("##" + ending for ending in ENDINGS)]
    return {piece: number for number, piece in enumerate(shuffled(rng, pieces), start=3)}


def rows_to_pack(rng: Random) -> list[Case]:
    vocabulary = vocabulary_of_packing(rng)
    a, b = pieces_of(rng, int(rng.integers(2, 4))), pieces_of(rng, int(rng.integers(3, 5)))
    return [Case((a, b, vocabulary, 12)), Case((a, None, vocabulary, 8)), Case((b, a, vocabulary, len(a) + len(b) + 3))]


def rows_too_long(rng: Random) -> list[Case]:
    vocabulary = vocabulary_of_packing(rng)
    a, b = pieces_of(rng, int(rng.integers(5, 8))), pieces_of(rng, int(rng.integers(3, 5)))
    return [Case((a, b, vocabulary, 9)), Case((b, a, vocabulary, 8)), Case((a, None, vocabulary, 5))]
