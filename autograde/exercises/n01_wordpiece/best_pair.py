"""The pair of neighbours to merge, by one of three rules."""

import math

from autograde.exercises.n01_wordpiece._shared import (
    WHOLE_TOKENIZERS,
    best_pair,
    count_pairs,
    exact_scores,
    in_letters,
    partly_merged,
    some,
    token_counts,
)
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values

RULES = ("count", "ratio", "gain")
KEY = "(-score(pair), -counts[pair], pair)"
BELOW = "counts[pair] / (singles[pair[0]] * singles[pair[1]])"


def rounded_otherwise(spelled, rule):
    """The scores as a sum of logarithms, or divided by one count after the other."""
    singles, scores = token_counts(spelled), {}
    for (left, right), count in count_pairs(spelled).items():
        one, other = singles[left], singles[right]
        logarithm = math.log(count) + math.log(singles.total()) - math.log(one) - math.log(other)
        scores[left, right] = {"count": count, "ratio": count / one / other, "gain": count * logarithm}[rule]
    return scores


def is_clear(spelled, rule, min_count=1) -> bool:
    """Whether one pair is the best, by more than rounding."""
    counts, scores = count_pairs(spelled), exact_scores(spelled, rule)
    often = sorted((float(scores[pair]) for pair in counts if counts[pair] >= min_count), reverse=True)
    return len(often) > 1 and often[0] - often[1] > 1e-9 * abs(often[0])


def mistaken_gains(spelled) -> list[tuple]:
    """The choices of five wrong gains: without its count, without the logarithm, N of words, no N, N of pairs."""
    counts, ratios = count_pairs(spelled), exact_scores(spelled, "ratio")
    total, words, places = token_counts(spelled).total(), sum(count for _, count in spelled), sum(counts.values())
    rules = (
        lambda pair: math.log(total * ratios[pair]),
        lambda pair: counts[pair] * ratios[pair],
        lambda pair: counts[pair] * math.log(words * ratios[pair]),
        lambda pair: counts[pair] * math.log(ratios[pair]),
        lambda pair: counts[pair] * math.log(places * ratios[pair]),
    )
    return [max(counts, key=rule) for rule in rules]


def drawn_words(rng: Random, letters: str, number: int) -> list:
    """Words of three to six of these letters, some with a merged token, a few frequent ones; and single letters."""
    words = []
    for _ in range(number):
        pieces = in_letters("".join(rng.choice(list(letters), size=int(rng.integers(3, 7)))))
        if rng.random() < 0.4:
            pieces[1:3] = [pieces[1] + pieces[2][2:]]
        words.append((pieces, max(1, int(2 + rng.pareto(1) * 8) % 997)))
    return [*words, ([letters[0]], int(rng.integers(20, 60))), ([letters[1]], int(rng.integers(20, 60)))]


def three_choices(rng: Random, number: int = 9, mistake: int = 0) -> list[Case]:
    """The same words with each rule, which choose three different pairs, and not the pair of a mistaken gain."""
    while True:
        spelled = drawn_words(rng, "".join(some(rng, "abcdeghiklmnoprst", 5)), number)
        if len({best_pair(spelled, rule) for rule in RULES}) == 3 and all(is_clear(spelled, rule) for rule in RULES):
            if mistaken_gains(spelled)[mistake] != best_pair(spelled, "gain"):
                return [Case((spelled, rule)) for rule in RULES]


def words_with_a_best_pair(rng: Random) -> list[Case]:
    return [case for mistake in (0, 1, 1, 2, 2, 3, 4) for case in three_choices(rng, mistake=mistake)]


def longer_lists(rng: Random) -> list[Case]:
    return [case for number in (14, 20) for case in three_choices(rng, number)]


def _spelled(words: dict[str, int]) -> list:
    return [(in_letters(word), count) for word, count in words.items()]


def rare_pairs(rng: Random) -> list[Case]:
    """A limit that changes the choice, one that a pair just reaches, one that none reaches; no words; one token.

    Tokens that occur often enough in a pair that does not; gains below 0 only.
    """
    found = []
    while len(found) < 4:
        spelled, rule = three_choices(rng)[1 + len(found) % 2].arguments
        chosen = count_pairs(spelled)[best_pair(spelled, rule)]
        if is_clear(spelled, rule, chosen + 1):
            found += [Case((spelled, rule), {"min_count": chosen + more}) for more in (0, 1)]
    a, b, c, d, e, f = some(rng, "abcdefghijklm", 6)
    # (a, ##b) is often enough in all words together
    once = _spelled(dict.fromkeys((c + d, a + b, e + a + b, a + b + f), 1))
    found.append(Case((once, "ratio"), {"min_count": 2}))
    texts = {a + b: 2, a: 1, d + b: 1, d: 5, e + f: 5, e: 5}  # (a, ##b) is rarer than its tokens
    found.append(Case((_spelled(texts), "ratio"), {"min_count": 3}))
    texts = {a + b: 2, a: 30, c + b: 1, d + b: 1, e + b: 1, a + f: 2, c + f: 1}  # log 0.54 for ab, log 0.90 for af
    found.append(Case((_spelled(texts), "gain"), {"min_count": 2}))
    known = [partly_merged(rng)[0].arguments[0], [(["a"], 7)], []]
    return [*found, *(Case((spelled, rule), {"min_count": 10**6}) for spelled in known[:1] for rule in RULES),
            *(Case((spelled, rule)) for spelled in known[1:] for rule in RULES)]  # fmt: skip


def equal_ratios(rng: Random) -> Case:
    """Two ratios of 1 / m whose last digits differ in the wrong way if one divides by one count after the other."""
    a, b, c, d = some(rng, "abcdefghijklm", 4)
    while True:
        few, more, m = sorted(int(count) for count in rng.integers(3, 200, size=3))
        if few < more < m and more / m / more < few / m / few and more / more / m == few / few / m:
            texts = [([a, "##" + b], few), ([a], m - few), ([c, "##" + d], more), ([c], m - more)]
            return Case((texts, "ratio"))


def ties(rng: Random) -> list[Case]:
    """Pairs of equal scores: the right one comes later in the text, and is never the first in order; and two scores
    that are equal only if they are rounded."""
    a, b, c, d, e = sorted(some(rng, "abcdefghijklm", 5))
    often = int(rng.integers(3, 9))
    same_count = {c + d: often, a + b: often}
    other_count = {a + b: often - 1, e + b: 1, e: 20, c + d: often}  # 1 / often for ab and for cd
    marked = {b + c: often, a + d + e: often}  # the mark counts in the order: ("##d", "##e") is the first
    same_left = {a + c: often, a + b: often, a + d: often}
    nearly = {c + d: 10**6, a + b: 10**6 + 1}  # no tie: 1e-6 is more than 1 / 1,000,001, with cd, which is rarer
    texts = [(same_count, RULES), (other_count, ("ratio",)), (marked, ("count",)), (same_left, ("count",)),
             (nearly, ("ratio",)), ({a + d: often, a + b + c: often}, ("count",))]  # fmt: skip
    # (a, ##d) is before (ac, ##d), though acd is before ad
    merged = [([a + c, "##" + d], often), ([a, "##" + d], often)]
    spelled = [Case((_spelled(words), rule)) for words, rules in texts for rule in rules]
    return [*spelled, *(Case((merged, rule)) for rule in RULES), equal_ratios(rng)]


EXERCISE = Exercise(
    reference=best_pair,
    returns="tuple",
    parts=(
        values(2, words_with_a_best_pair, hidden=longer_lists),
        cases("rare pairs", 1, rare_pairs,
            "pairs that occur fewer than min_count times are never chosen; () if no pair is left"),
        cases("ties", 1, ties, "of equal scores the more frequent pair must win, then the first in order"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "You need the counts of the pairs, which you have, of the single tokens, and of all tokens together.",
        "The count of a token is the number of times it is in a word times the number of times the word occurs.",
        "`min` with a tuple as key compares element by element: use the negative score, the negative count, then the "
        "pair. Remove rare pairs first; `default=()` is for an empty list.",
    ),
    misconceptions=(
        mistake("always-by-count", 'if rule == "gain" else counts[pair]', 'if rule == "" else counts[pair]',
            'if rule == "ratio":', 'if rule == "":',
            hint="You take the most frequent pair by every rule. That is `count`; the other two compare the pair with "
                 "its tokens."),
        mistake("total-forgotten", "math.log(total * ratio)", "math.log(ratio)",
            hint="The logarithm of the bare ratio is negative, since N is missing in it: N n(ab) / (n(a) n(b))."),
        mistake("gain-without-its-count", "counts[pair] * math.log(total * ratio)", "math.log(total * ratio)",
            hint="Your gain is the logarithm alone, which chooses as the ratio does. Multiply it by n(ab)."),
        mistake("gain-without-logarithm", "math.log(total * ratio)", "total * ratio",
            hint="You multiply the count by the ratio itself. The gain has its logarithm."),
        mistake("total-of-words", "total = sum(singles.values())", "total = sum(count for _, count in spelled)",
            hint="Your N counts words. It is the number of all tokens: the sum of n(a) over all a."),
        mistake("total-of-pairs", "total = sum(singles.values())", "total = sum(counts.values())",
            hint="Your N counts pairs. It is the number of all tokens: the sum of n(a) over all a."),
        mistake("divided-twice", BELOW, "counts[pair] / singles[pair[0]] / singles[pair[1]]",
            hint="You divide by one count, and then by the other. Each division rounds, so equal ratios may differ in "
                 "their last digit."),
        mistake("joiner-not-counted", "singles[piece] = singles.get(piece, 0) + count",
            'singles[piece.removeprefix("##")] = singles.get(piece.removeprefix("##"), 0) + count', BELOW,
            'counts[pair] / (singles[pair[0].removeprefix("##")] * singles[pair[1].removeprefix("##")])',
            hint="You count a token with ## and the same one without as one token. They are two tokens of the "
                 "vocabulary: count each as it is written."),
        mistake("sum-below", BELOW, "counts[pair] / (singles[pair[0]] + singles[pair[1]])",
            hint="You divide by the sum of the two counts. The denominator is their product."),
        mistake("left-only", BELOW, "counts[pair] / singles[pair[0]]",
            hint="You divide by the left token's count only: that is the probability of b after a. Divide by the "
                 "right count too."),
        mistake("tokens-counted-per-word",
            "singles[piece] = singles.get(piece, 0) + count", "singles[piece] = singles.get(piece, 0) + 1",
            hint="You count single tokens once per different word. A word that occurs 10 times adds 10 to its tokens."),
        mistake("places-in-pairs", "        for piece in pieces:\n",
            "        for piece in [piece for pair in zip(pieces, pieces[1:]) for piece in pair]:\n",
            hint="You count a token once for every pair that it is in: twice in the middle of a word, once at its "
                 "end, never when alone. Count the tokens themselves."),
        mistake("the-worst", "return min(often", "return max(often",
            hint="You return the pair with the lowest score. The highest wins; `min` needs the negative score."),
        mistake("rare-pairs-chosen", "[pair for pair in counts if counts[pair] >= min_count]", "list(counts)",
            hint="You also choose pairs that occur less often than `min_count`. Remove them first."),
        mistake("only-the-winner-tested", "[pair for pair in counts if counts[pair] >= min_count]", "list(counts)",
            f"return min(often, key=lambda pair: {KEY}, default=())",
            f"best = min(often, key=lambda pair: {KEY}, default=())\n"
            "    return best if best and counts[best] >= min_count else ()",
            hint="You return () when the pair with the highest score is too rare. The best of the pairs that occur "
                 "often enough is still there."),
        mistake("more-than-the-minimum", "counts[pair] >= min_count", "counts[pair] > min_count",
            hint="You never choose a pair that occurs exactly `min_count` times. Only pairs that occur less often are "
                 "too rare."),
        mistake("first-come", KEY, "-score(pair)",
            hint="Of equal scores you take the pair that came first in the text. The rule: the one that occurs more "
                 "often, then the first in the order of (left, right)."),
        mistake("counts-forgotten-in-ties", KEY, "(-score(pair), pair)",
            hint="Of equal scores you take the first in order at once. Before that, the pair that occurs more often "
                 "wins."),
        mistake("last-in-order", f"min(often, key=lambda pair: {KEY}",
            "max(often, key=lambda pair: (score(pair), counts[pair], pair)",
            hint="Of equal scores and counts you take the last in the order of (left, right). The rule takes the "
                 "first."),
    ),
)  # fmt: skip
