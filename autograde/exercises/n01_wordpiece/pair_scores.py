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
        cases("pieces of any length", 1, partly_merged, "a piece counts wherever it stands, alone in a word too"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Two counts are needed: of the pairs, which you have, and of the single pieces.",
        "A piece counts as often as it stands in a word times the number of times the word occurs.",
        "The bottom of the fraction is a product of two counts, of the left piece and of the right one.",
    ),
    misconceptions=(
        mistake("frequency", "together / (singles[left] * singles[right])", "float(together)",
            hint="These are the counts of the pairs: byte-pair encoding's choice. WordPiece divides by both pieces' "
                 "counts."),
        mistake("sum-below", "singles[left] * singles[right]", "singles[left] + singles[right]",
            hint="You divide by the sum of the two counts. The bottom of the fraction is their product."),
        mistake("left-only", "(singles[left] * singles[right])", "singles[left]",
            hint="You divide by the left piece's count alone: that is how probable b is after a. Divide by the "
                 "right's too."),
        mistake("pieces-counted-per-word", "singles.get(piece, 0) + count", "singles.get(piece, 0) + 1",
            hint="You count single pieces once per different word. A word that occurs 10 times brings its pieces 10 "
                 "times."),
        mistake("divided-only-once",
            "together / (singles[left] * singles[right])", "together / singles[left] * singles[right]",
            hint="You divide the product's first factor only: Python reads a / b * c as (a / b) · c. Put the product "
                 "in brackets."),
        mistake("places-in-pairs", "        for piece in pieces:\n",
            "        for piece in [piece for pair in zip(pieces, pieces[1:]) for piece in pair]:\n",
            hint="You count a piece once for every pair that it is in: twice in the middle of a word, once at its "
                 "end, never when alone. Count the pieces themselves."),
    ),
)  # fmt: skip
