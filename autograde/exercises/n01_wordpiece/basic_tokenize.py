"""Splits a text into words."""

from autograde.exercises.draws import Random
from autograde.exercises.n01_wordpiece._shared import (
    ACCENTED,
    CHINESE,
    LINE_ENDS,
    SPECIAL,
    UNSEEN_FORMATS,
    WHOLE_TOKENIZERS,
    WIDE_BLANKS,
    WORDS,
    inside,
    pick,
    shuffled,
    some,
)
from autograde.exercises.n01_wordpiece.clean_text import KEPT, clean_text
from autograde.exercises.n01_wordpiece.split_punctuation import split_punctuation
from autograde.exercises.n01_wordpiece.strip_accents import (
    COMPATIBLE,
    GREEK,
    HANGUL,
    NO_ACCENT,
    SPACING_MARKS,
    strip_accents,
)
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def basic_tokenize(text, lower_case=True):
    normalize = strip_accents if lower_case else str
    return [part for word in clean_text(text).split() for part in split_punctuation(normalize(word))]


def sentence(rng: Random) -> str:
    """Capitals, an accent, punctuation, a wide space, an invisible and a Chinese character."""
    one, two = some(rng, WORDS, 2)
    odd = inside(rng, two, pick(rng, UNSEEN_FORMATS))
    parts = [pick(rng, ACCENTED) + pick(rng, "'’") + "s", one.title() + pick(rng, ",;!"), pick(rng, CHINESE) + odd]
    return " ".join(shuffled(rng, parts)) + pick(rng, LINE_ENDS + WIDE_BLANKS) + f"${rng.integers(2, 99)}."


def plain_sentence(rng: Random) -> str:
    """ASCII alone: capitals, abbreviations, punctuation."""
    one, two = some(rng, WORDS, 2)
    return f"{one.title()}{pick(rng, ',;!')} U.S. {one}_{two}\x07x {two.upper()}-{rng.integers(2, 99)}."


def order_of_steps(rng: Random) -> str:
    """Words whose result depends on the order of the steps.

    A vertical tab separates words for `split`, but is deleted by cleaning; ≠ and the Greek varia are no punctuation
    until they are decomposed into = and a mark, and into a backtick; a mark after a punctuation character, or alone,
    leaves nothing; a Σ in front of a deleted character is not at the end of its word.
    """
    one, two, three, four = some(rng, WORDS, 4)
    words = [f"{one}\x0b{two}", f"{three}≠{rng.integers(2, 99)}", f"α\u1fef{four}", f"{one}!\u0301", "\u0301",
             f"{two}{pick(rng, CHINESE)}{three}", f"{four}\u3000{one}", f"{one}\u2028{one}", *SPECIAL,
             "ΟΔΟΣ\x01ΟΙ"]  # fmt: skip
    return "  ".join(shuffled(rng, words))


def sentences(rng: Random) -> list[Case]:
    texts = [sentence(rng), sentence(rng), order_of_steps(rng), "  ", "", plain_sentence(rng)]
    return [Case((text,)) for text in texts]


def sentences_in_both_cases(rng: Random) -> list[Case]:
    texts = (sentence(rng), order_of_steps(rng), plain_sentence(rng))
    return [Case((text,), {"lower_case": lower_case}) for text in texts for lower_case in (False, True)]


def all_words(rng: Random) -> list[Case]:
    """Every difficult word of the exercises before, in both cases."""
    words = shuffled(
        rng, [*ACCENTED, *NO_ACCENT, *GREEK, *SPACING_MARKS, *HANGUL, *COMPATIBLE, *KEPT, order_of_steps(rng)]
    )
    text = "".join(word + pick(rng, LINE_ENDS + WIDE_BLANKS) for word in words)
    return [Case((text,), {"lower_case": lower_case}) for lower_case in (False, True)]


EXERCISE = Exercise(
    reference=basic_tokenize,
    returns="list",
    parts=(
        values(1, sentences),
        cases("cased and uncased", 1, sentences_in_both_cases, "`lower_case` must control case and accents", all_words),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "There are four steps, three of which you have written. The last two are applied to each word of the text.",
        "`str.split()` without an argument splits at any white space and leaves no empty words.",
        "Each word gives a list of parts. Add the parts to the result, not the list.",
    ),
    misconceptions=(
        mistake("always-lower",
            "        if lower_case:\n            word = strip_accents(word)", "        word = strip_accents(word)",
            hint="`lower_case=False` has no effect in your version. A cased vocabulary keeps capitals and accents."),
        mistake("accents-kept", "word = strip_accents(word)", "word = word.lower()",
            hint="You convert to lower case, but keep the accents. Uncased means both: use `strip_accents`."),
        mistake("cases-swapped", "if lower_case:", "if not lower_case:",
            hint="You swapped the two cases: your text is lower case when `lower_case` is False, and unchanged when "
                 "it is True."),
        mistake("punctuation-not-split", "words += split_punctuation(word)", "words.append(word)",
            hint="Punctuation is still attached to your words. The last step, `split_punctuation`, is missing."),
        mistake("not-cleaned", "clean_text(text).split()", "text.split()",
            hint="The text was not cleaned: invisible characters are inside words, Chinese characters are attached "
                 "to others."),
        mistake("lists-appended", "words += split_punctuation(word)", "words.append(split_punctuation(word))",
            hint="Your result contains a list for each word. Add the parts of each word to one list."),
        mistake("split-at-plain-spaces", "clean_text(text).split()", 'clean_text(text).split(" ")',
            hint="You split only at plain spaces. Some white space is still there after cleaning, such as line "
                 "separators: split at any white space."),
    ),
)  # fmt: skip
