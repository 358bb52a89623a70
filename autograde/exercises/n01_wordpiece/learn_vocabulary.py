"""Learns a vocabulary as a list of tokens; the index of a token in the list is its id."""

from autograde.exercises.n01_wordpiece._shared import (
    SPECIAL,
    WHOLE_TOKENIZERS,
    best_pair,
    exact_scores,
    in_letters,
    merge_pair,
    pick,
    some,
)
from autograde.exercises.n01_wordpiece.best_pair import RULES, rounded_otherwise
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values


def fixed_size(word_counts):
    """The number of tokens before the first merge."""
    return len(learn_vocabulary(word_counts, 0, "count"))


def learn_vocabulary(word_counts, size, rule, min_count=2, scores=exact_scores):
    first = sorted(set("".join(word_counts)))
    later = sorted(set("".join(word for word in word_counts if len(word) > 1)))
    pieces = [*SPECIAL, *first, *("##" + character for character in later)]
    spelled = [(in_letters(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        pair = best_pair(spelled, rule, min_count, scores)
        if not pair:
            break
        spelled = merge_pair(pair, spelled)
        if pair[0] + pair[1][2:] not in pieces:
            pieces.append(pair[0] + pair[1][2:])
    return pieces


def learning_case(rng: Random, rule: str, merges: int, least: int, lowest: int) -> Case:
    """Words of a few syllables, with counts from `lowest` to 29; drawn again if rounding changes the result."""
    while True:
        parts = [pick(rng, "bdgklm") + pick(rng, "aeiou") + pick(rng, ("", "n", "s")) for _ in range(4)]
        words = dict.fromkeys("".join(some(rng, parts, int(rng.integers(1, 4)))) for _ in range(7))
        word_counts = {word: int(rng.integers(lowest, 30)) for word in words}
        size = fixed_size(word_counts) + merges
        learned = learn_vocabulary(word_counts, size, rule, least)
        is_robust = learned == learn_vocabulary(word_counts, size, rule, least, rounded_otherwise)
        limits = least == 1 or learned != learn_vocabulary(word_counts, size, rule, 1)
        if len(word_counts) > 4 and is_robust and limits:
            return Case((word_counts, size, rule), {"min_count": least})


def words_to_learn_from(rng: Random) -> list[Case]:
    return [learning_case(rng, rule, merges, least=1, lowest=2) for rule in RULES for merges in (4, 9)]


def rare_pairs(rng: Random) -> list[Case]:
    few = {"ab": int(rng.integers(2, 9)), "c": int(rng.integers(2, 9))}
    a, b, c, d, e, f = some(rng, "abcdefghijklm", 6)
    usual = {e + f: 1, c + d: 5, a + b: 2}  # for the usual limit, 2
    return [
        learning_case(rng, "ratio", merges=6, least=5, lowest=1),
        Case((few, 40, "count"), {"min_count": 2}),
        Case((usual, 40, "ratio")),
        Case((usual, 40, "ratio"), {"min_count": 1}),
        Case((usual, fixed_size(usual), "count"), {"min_count": 1}),  # nothing to merge
        Case((usual, fixed_size(usual) + 1, "gain"), {"min_count": 9}),
        Case(({}, 40, "count")),
        rare_words(rng),
        *tokens_that_exist(rng),
        signs_in_words(rng),
    ]


def rare_words(rng: Random) -> Case:
    """Words that occur once, with a pair that occurs often enough in all of them together."""
    a, b, c, d, e, f = some(rng, "abcdefghijklm", 6)
    return Case(({c + d: 1, a + b: 1, e + a + b: 1, a + b + f: 1}, 40, "ratio"), {"min_count": 2})


def tokens_that_exist(rng: Random) -> list[Case]:
    """Merges give tokens that exist already: the word "##a" gives ##a, with space left over and at the limit; [UNK]."""
    a, b, c = some(rng, "abcdefghijklm", 3)
    words = {"##" + a: int(rng.integers(5, 9)), b + a: 3, c + a + b: 2}
    signs = {a + "###": 3, "#" + a * 3: 5, "###": 3}  # the spelling changes also where the token exists
    found = [Case((words, fixed_size(words) + more, "ratio")) for more in (40, 2, 3)]
    return [*found, Case((signs, 40, "ratio")), Case(({"[UNK]": 3, a: 2}, 40, "count"))]


def signs_in_words(rng: Random) -> Case:
    """A right token with two # behind its mark, of which only the mark goes: a and #### give a##."""
    a = pick(rng, "abcdefghijklm")
    return Case(({a + "##": 3, a: int(rng.integers(9, 20))}, 40, "ratio"))


def longer_lists(rng: Random) -> list[Case]:
    return [learning_case(rng, rule, merges=14, least=1, lowest=2) for rule in RULES]


def longer_lists_of_rare_pairs(rng: Random) -> list[Case]:
    """Also two # inside of a word."""
    a, b, c = some(rng, "abcdefghijklm", 3)
    often = int(rng.integers(30, 40))
    signs = {b + "##" + c: 4, b: often, a + c: often + 1, a: 5}  # the first merges give #### and, with b, b##
    return [learning_case(rng, "ratio", merges=40, least=3, lowest=1), Case((signs, 60, "ratio"))]


EXERCISE = Exercise(
    reference=learn_vocabulary,
    returns="list",
    parts=(
        values(2, words_to_learn_from, hidden=longer_lists),
        cases("rare pairs", 1, rare_pairs,
            "min_count is for pairs, not for words; stop when no pair is left, or with `size` different tokens; of a "
            "right token only the ## in front goes",
            longer_lists_of_rare_pairs),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Begin with the special tokens, the alphabet, and all words spelled in letters. Then loop.",
        "Choose again in every iteration: a merge changes the counts of its neighbours.",
        "`best_pair` returns () when no pair is left: stop there. Its `min_count` is yours.",
    ),
    misconceptions=(
        mistake("always-by-ratio", "best_pair(spelled, rule, min_count)", 'best_pair(spelled, "ratio", min_count)',
            hint="You choose by the ratio for every rule. Hand `rule` on to `best_pair`."),
        mistake("joiner-inside", 'pair[0] + pair[1].removeprefix("##")', "pair[0] + pair[1]",
            hint="Your new token has ## in its middle. The mark belongs only at the beginning: the new token is what "
                 "`merge_pair` puts into the words."),
        mistake("rare-pairs-merged", "best_pair(spelled, rule, min_count)", "best_pair(spelled, rule)",
            hint="You also merge pairs that occur less often than `min_count`. Hand it on to `best_pair`."),
        mistake("size-without-the-rest", "while len(pieces) < size:", "for _ in range(size):",
            hint="You make `size` merges. `size` is the length of the whole list, including special tokens and "
                 "alphabet."),
        mistake("special-pieces-missing",
            "pieces = SPECIAL_PIECES + alphabet(word_counts)", "pieces = alphabet(word_counts)",
            "while len(pieces) < size:", "while len(pieces) + len(SPECIAL_PIECES) < size:",
            hint="The special tokens are missing. They come first: [PAD] gets id 0."),
        mistake("special-pieces-replaced",
            "pieces = SPECIAL_PIECES + alphabet(word_counts)", "pieces = alphabet(word_counts)",
            hint="The special tokens are missing, and you merge up to five times more instead. They come first, and "
                 "`size` includes them."),
        mistake("minimum-always-two", "best_pair(spelled, rule, min_count)", "best_pair(spelled, rule, 2)",
            hint="Your minimum is always 2. Use the argument `min_count`; 2 is only its default value."),
        mistake("known-token-added-again",
            "        if merged not in pieces:\n            pieces.append(merged)", "        pieces.append(merged)",
            hint="Your list has a token twice: a merge can give one that is already there. Merge it in the words all "
                 "the same."),
        mistake("stops-at-a-known-token",
            "        if merged not in pieces:\n            pieces.append(merged)",
            "        if merged in pieces:\n            break\n        pieces.append(merged)",
            hint="You stop when a merge gives a token that is already in the list. Do not add it again, but continue "
                 "with the next merge."),
    ),
)  # fmt: skip
