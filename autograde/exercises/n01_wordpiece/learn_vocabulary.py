"""Learns a vocabulary as a list of tokens; the index of a token in the list is its id."""

from autograde.exercises.draws import Random
from autograde.exercises.n01_wordpiece._shared import SPECIAL, WHOLE_TOKENIZERS, count_pairs, exact_scores, pick, some
from autograde.exercises.n01_wordpiece.merge_pair import merge_pair
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def fixed_size(word_counts):
    """The number of tokens before the first merge."""
    return len(learn_vocabulary(word_counts, 0))


def learn_vocabulary(word_counts, size, min_count=2, scores=exact_scores, order=None):
    """scores: exact ones, or the same with different rounding. order: another key for the last rule for ties."""
    first = sorted(set("".join(word_counts)))
    later = sorted(set("".join(word for word in word_counts if len(word) > 1)))
    pieces = [*SPECIAL, *first, *("##" + character for character in later)]
    spelled = [([word[0]] + ["##" + c for c in word[1:]], count) for word, count in word_counts.items()]
    while len(pieces) < size:
        ranked = scores(spelled)
        counts = count_pairs(spelled)
        often = [pair for pair in ranked if counts[pair] >= min_count]
        if not often:
            break
        best = max(ranked[pair] for pair in often)
        often = [pair for pair in often if ranked[pair] == best]
        largest = max(counts[pair] for pair in often)
        pair = min((pair for pair in often if counts[pair] == largest), key=order)
        spelled = merge_pair(pair, spelled)
        if pair[0] + pair[1][2:] not in pieces:
            pieces.append(pair[0] + pair[1][2:])
    return pieces


def rounded_twice(spelled):
    """Scores divided by one count after the other, as a student may write them."""
    scores = exact_scores(spelled)
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    counts = count_pairs(spelled)
    return {(a, b): counts[a, b] / singles[a] / singles[b] for a, b in scores}


OTHER_ORDERS = (lambda pair: pair[0] + pair[1][2:], lambda pair: pair[0])  # the new token, the left one alone


def robust(word_counts: dict, size: int, least: int, ties: bool) -> bool:
    """Whether rounding cannot change the result, nor, without ties, another order of equal pairs."""
    exact = learn_vocabulary(word_counts, size, least)
    others = [] if ties else [learn_vocabulary(word_counts, size, least, order=order) for order in OTHER_ORDERS]
    return all(exact == other for other in (learn_vocabulary(word_counts, size, least, scores=rounded_twice), *others))


def learning_case(rng: Random, merges: int, least: int, lowest: int, ties: bool = False) -> Case:
    """Words of a few syllables, with counts from `lowest` to 9; drawn again if it is not robust.

    ties: whether the last rule for ties may decide, which is for its own part.
    """
    while True:
        parts = [pick(rng, "bdgklm") + pick(rng, "aeiou") + pick(rng, ("", "n", "s")) for _ in range(4)]
        words = dict.fromkeys("".join(some(rng, parts, int(rng.integers(1, 4)))) for _ in range(7))
        word_counts = {word: int(rng.integers(lowest, 10)) for word in words}
        size = fixed_size(word_counts) + merges
        if len(word_counts) > 4 and all(robust(word_counts, size, count, ties) for count in {1, least}):
            without = learn_vocabulary(word_counts, size, 1)
            if least <= lowest or without != learn_vocabulary(word_counts, size, least):
                return Case((word_counts, size), {"min_count": least})


def words_to_learn_from(rng: Random) -> list[Case]:
    """Drawn words have equal scores in most draws, so pairs that are equal in score and count are in each of them.

    Neither the order of the text, forwards or backwards, nor that of its sorted words gives both right pairs.
    """
    a, b, c, d, e = sorted(some(rng, "abcdefghijklm", 5))
    at_the_limit = Case(({c + d: int(rng.integers(3, 9)), a + b: 2}, 40), {"min_count": 2})
    equal = {c + d: 5, a + b: 5}
    marked = {a + d + e: 5, b + c: 5}  # ("##d", "##e") is the first
    first_in_order = [Case((words, fixed_size(words) + 1), {"min_count": 2}) for words in (equal, marked)]
    return [learning_case(rng, merges, least=2, lowest=2) for merges in (4, 9)] + [at_the_limit, *first_in_order]


def rare_pairs(rng: Random) -> list[Case]:
    rare = learning_case(rng, merges=6, least=5, lowest=1)
    few = {"ab": int(rng.integers(2, 9)), "c": int(rng.integers(2, 9))}
    a, b, c, d, e, f, g = some(rng, "abcdefghijklm", 7)
    least = int(rng.integers(3, 7))
    limit = {e + f: least - 1, c + d: least + 3, a + b: least, g: 9}  # the pair at the limit has the highest score
    usual = {e + f: 1, c + d: 5, a + b: 2}  # the same for the usual limit, 2
    return [
        rare,
        Case((few, 40), {"min_count": 2}),
        Case((limit, 40), {"min_count": least}),
        Case((usual, 40)),
        Case((usual, 40), {"min_count": 1}),
        Case((usual, fixed_size(usual)), {"min_count": 1}),  # nothing to merge
        Case((usual, fixed_size(usual) + 1), {"min_count": 9}),
        Case(({}, 40)),
        rare_words(rng),
        *tokens_that_exist(rng),
        signs_in_words(rng),
    ]


def rare_words(rng: Random) -> Case:
    """Words that occur once, with a pair that occurs often enough in all of them together."""
    a, b, c, d, e, f = some(rng, "abcdefghijklm", 6)
    return Case(({c + d: 1, a + b: 1, e + a + b: 1, a + b + f: 1}, 40), {"min_count": 2})


def tokens_that_exist(rng: Random) -> list[Case]:
    """The word "##a" is merged to the token ##a, which exists already: with space left over, and at the limit."""
    a, b, c = some(rng, "abcdefghijklm", 3)
    words = {"##" + a: int(rng.integers(5, 9)), b + a: 3, c + a + b: 2}
    signs = {a + "###": 3, "#" + a * 3: 5, "###": 3}  # the spelling changes also where the token exists
    return [*(Case((words, fixed_size(words) + more)) for more in (40, 2, 3)), Case((signs, 40))]


def signs_in_words(rng: Random) -> Case:
    """A right token with two # behind its mark, of which only the mark goes: a and #### give a##."""
    a = pick(rng, "abcdefghijklm")
    return Case(({a + "##": 3, a: int(rng.integers(9, 20))}, 40))


def longer_lists(rng: Random) -> list[Case]:
    return [learning_case(rng, merges=14, least=2, lowest=2)]


def longer_lists_of_rare_pairs(rng: Random) -> list[Case]:
    """Also without a limit, and two # inside of a word."""
    a, b, c = some(rng, "abcdefghijklm", 3)
    often = int(rng.integers(30, 40))
    signs = {b + "##" + c: 4, b: often, a + c: often + 1, a: 5}  # the first merges give #### and, with b, b##
    drawn = [learning_case(rng, merges, least, lowest=1) for merges, least in ((40, 3), (14, 1))]
    return [*drawn, Case((signs, 60))]


def ties(rng: Random) -> list[Case]:
    """Pairs of equal scores: the right one comes later in the text, and is never the first in order. And two scores
    that are equal only if they are rounded."""
    a, b, c, d, e = sorted(some(rng, "abcdefghijklm", 5))
    often = int(rng.integers(3, 9))
    same_count = {c + d: often, a + b: often}  # 1 / often each
    other_count = {a + b: often - 1, e + b: 1, e: 20, c + d: often}  # 1 / often for ab and for cd
    marked = {b + c: often, a + d + e: often}  # the mark counts in the order: ("##d", "##e") is the first
    longer = {a + d + d: 4, a + c + d: 4}  # (a, ##d) is before (ac, ##d), although add is after acd
    same_left = {a + c: often, a + b: often, a + d: often}
    left_first = Case((longer, fixed_size(longer) + 3), {"min_count": 2})
    nearly = {c + d: 10**6, a + b: 10**6 + 1}  # no tie: 1e-6 is more than 1 / 1,000,001, with cd, which is rarer
    drawn = (same_count, other_count, marked, nearly, same_left)
    one_merge = [Case((words, fixed_size(words) + 1), {"min_count": 2}) for words in drawn]
    return [*one_merge, left_first]


def longer_ties(rng: Random) -> list[Case]:
    return [learning_case(rng, merges, least=2, lowest=2, ties=True) for merges in (9, 14)]


EXERCISE = Exercise(
    reference=learn_vocabulary,
    returns="list",
    parts=(
        values(2, words_to_learn_from, hidden=longer_lists),
        cases("rare pairs", 1, rare_pairs,
            "min_count is for pairs, not for words: merge no pair seen less often; stop when there are no others, or "
            "with `size` different tokens; of a right token only the ## in front goes",
            longer_lists_of_rare_pairs),
        cases("ties", 1, ties, "of equal scores the more frequent pair must win, then the first in order",
            longer_ties),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Begin with the special tokens, the alphabet, and all words spelled in letters. Then loop.",
        "Count and score again in every iteration: a merge changes the counts of its neighbours.",
        "`min` with a tuple as key compares element by element: use the negative score, the negative count, then "
        "the pair. Remove rare pairs first, and stop when no pair is left.",
    ),
    misconceptions=(
        mistake("most-frequent-first", "(-scores[pair], -counts[pair], pair)", "(-counts[pair], pair)",
            hint="You merge the most frequent pair: that is byte-pair encoding. WordPiece takes the pair with the "
                 "highest score."),
        mistake("first-come", "min(candidates, key=lambda pair: (-scores[pair], -counts[pair], pair))",
            "max(candidates, key=lambda pair: scores[pair])",
            hint="Of equal scores you take the pair that came first in the text. The rule: the one that occurs more "
                 "often, then the first in the order of (left, right)."),
        mistake("counts-forgotten-in-ties", "(-scores[pair], -counts[pair], pair)", "(-scores[pair], pair)",
            hint="Of equal scores you take the first in order at once. Before that, the pair that occurs more often "
                 "wins."),
        mistake("last-in-order", "min(candidates, key=lambda pair: (-scores[pair], -counts[pair], pair))",
            "max(candidates, key=lambda pair: (scores[pair], counts[pair], pair))",
            hint="Of equal scores and counts you take the last in the order of (left, right). The rule takes the "
                 "first."),
        mistake("scored-once",
            "    while len(pieces) < size:\n"
            "        counts, scores = count_pairs(spelled), pair_scores(spelled)\n"
            "        candidates = [pair for pair in counts if counts[pair] >= min_count]\n",
            "    counts, scores = count_pairs(spelled), pair_scores(spelled)\n"
            "    candidates = [pair for pair in counts if counts[pair] >= min_count]\n"
            "    while len(pieces) < size:\n",
            "        spelled = merge_pair((left, right), spelled)", "        candidates.remove((left, right))",
            hint="You score the pairs once, before the first merge. A merge makes new neighbours: score in every "
                 "iteration."),
        mistake("rare-pairs-merged", "[pair for pair in counts if counts[pair] >= min_count]", "list(counts)",
            hint="You also merge pairs that occur less often than `min_count`. Remove them before you choose."),
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
        mistake("more-than-the-minimum", "counts[pair] >= min_count", "counts[pair] > min_count",
            hint="You do not merge pairs that occur exactly `min_count` times. Only pairs that occur less often are "
                 "too rare."),
        mistake("minimum-always-two", "counts[pair] >= min_count", "counts[pair] >= 2",
            hint="Your minimum is always 2. Use the argument `min_count`; 2 is only its default value."),
        mistake("stops-at-a-known-token",
            "        if merged not in pieces:\n            pieces.append(merged)",
            "        if merged in pieces:\n            break\n        pieces.append(merged)",
            hint="You stop when a merge gives a token that is already in the list. Do not add it again, but continue "
                 "with the next merge."),
    ),
)  # fmt: skip
