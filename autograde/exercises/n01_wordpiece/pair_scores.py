"""The WordPiece score of every pair of neighbours."""

from autograde.exercises.draws import Random
from autograde.exercises.n01_wordpiece._shared import (
    WHOLE_TOKENIZERS,
    exact_scores,
    many_words,
    partly_merged,
    some,
    spelled_words,
)
from autograde.exercises.spec import Case, Exercise, Part, Reference, Trial, mistake, values


def pair_scores(spelled):
    return {pair: float(score) for pair, score in exact_scores(spelled).items()}


def otherwise(together: int, left: int, right: int, total: int) -> tuple[float, ...]:
    """The same ratio, rounded more than once."""
    return (
        together / left / right,
        together * (1 / (left * right)),
        together / total / (left / total * (right / total)) / total,
    )


def equal_ratios(rng: Random) -> list[Trial]:
    """Pairs whose ratio has another last digit if one rounds more than once."""
    while True:
        a, b, c, d = some(rng, "abcdefgh", 4)
        n, m, k = (int(count) for count in rng.integers(2, 90, size=3))
        spelled = [([a, "##" + b], n), ([a, "##" + d], m), ([c, "##" + b], k)]
        counts = ((n, n + m, n + k), (m, n + m, m), (k, k, n + k))
        differ = [[value != x / (y * z) for value in otherwise(x, y, z, 2 * (n + m + k))] for x, y, z in counts]
        if all(map(any, zip(*differ))):
            return [Trial((Case((spelled,)),), (Reference(exact=True),))]


def other_words(rng: Random) -> list[Trial]:
    return [Trial((case,)) for case in partly_merged(rng)] + equal_ratios(rng)


EXERCISE = Exercise(
    reference=pair_scores,
    returns="dict",
    parts=(
        values(2, spelled_words),
        Part("tokens of any length", 1, other_words,
            "a token counts at every position, also if it is a whole word; divide once, by the product",
            hidden=lambda rng: [Trial((case,)) for case in many_words(rng)]),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "You need two kinds of counts: of the pairs, which you have, and of the single tokens.",
        "The count of a token is the number of times it is in a word times the number of times the word occurs.",
        "The denominator is a product of two counts, of the left token and of the right one.",
    ),
    misconceptions=(
        mistake("joiner-not-counted",
            "singles[piece] = singles.get(piece, 0)",
            'singles[piece.removeprefix("##")] = singles.get(piece.removeprefix("##"), 0)',
            "(singles[left] * singles[right])",
            '(singles[left.removeprefix("##")] * singles[right.removeprefix("##")])',
            hint="You count a token with ## and the same one without as one token. They are two tokens of the "
                 "vocabulary: count each as it is written."),
        mistake("frequency", "together / (singles[left] * singles[right])", "float(together)",
            hint="These are the counts of the pairs, as in byte-pair encoding. WordPiece divides by the counts of "
                 "both tokens."),
        mistake("sum-below", "singles[left] * singles[right]", "singles[left] + singles[right]",
            hint="You divide by the sum of the two counts. The denominator is their product."),
        mistake("left-only", "(singles[left] * singles[right])", "singles[left]",
            hint="You divide by the left token's count only: that is the probability of b after a. Divide by the "
                 "right count too."),
        mistake("pieces-counted-per-word", "singles.get(piece, 0) + count", "singles.get(piece, 0) + 1",
            hint="You count single tokens once per different word. A word that occurs 10 times adds 10 to its tokens."),
        mistake("divided-only-once",
            "together / (singles[left] * singles[right])", "together / singles[left] * singles[right]",
            hint="You divide by the first factor and multiply by the second: Python reads a / b * c as (a / b) · c. "
                 "Put the product in brackets."),
        mistake("places-in-pairs", "        for piece in pieces:\n",
            "        for piece in [piece for pair in zip(pieces, pieces[1:]) for piece in pair]:\n",
            hint="You count a token once for every pair that it is in: twice in the middle of a word, once at its "
                 "end, never when alone. Count the tokens themselves."),
        mistake("pieces-once-per-word", "for piece in pieces:", "for piece in set(pieces):",
            hint="You count a token that occurs twice in a word only once for this word. Count every occurrence."),
    ),
)  # fmt: skip
