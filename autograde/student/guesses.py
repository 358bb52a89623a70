"""A guess before a picture, shown beside the result. Nothing is graded; an empty guess shows nothing.

my_guess = "0.5"
show_guess(my_guess, measured)      your guess: 0.5   measured: 0.083
"""


def show_guess(guess, measured, *, what: str = "") -> None:
    """Prints a guess beside what was measured, or nothing if the guess is empty.

    measured: a number, or a text. what: which of several quantities it is.
    """
    if str(guess).strip():
        shown = f"{measured:.3g}" if isinstance(measured, float) else measured
        print(f"{what + ': ' if what else ''}your guess: {str(guess).strip()}   measured: {shown}")
