"""The WordPiece score of every pair of neighbours."""

from autograde.exercises.n01_wordpiece._shared import WHOLE_TOKENIZERS, exact_scores, partly_merged, spelled_words
from autograde.exercises.spec import Exercise, cases, mistake, values


def pair_scores(spelled):
    return {pair: float(score) for pair, score in exact_scores(spelled).items()}


EXERCISE = Exercise(
    reference=pair_scores,
    returns="dict",
    parts=(
        values(2, spelled_words),
        cases("tokens of any length", 1, partly_merged, "a token counts at every position, also if it is a whole word"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "You need two kinds of counts: of the pairs, which you have, and of the single tokens.",
        "The count of a token is the number of times it is in a word times the number of times the word occurs.",
        "The denominator is a product of two counts, of the left token and of the right one.",
    ),
    misconceptions=(
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
    ),
)  # fmt: skip
