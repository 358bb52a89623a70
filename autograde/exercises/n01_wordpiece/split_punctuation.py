"""Splits a word before and after every punctuation character."""

import re
import unicodedata

from autograde.exercises.n01_wordpiece._shared import WHOLE_TOKENIZERS, WORDS, pick, shuffled, some
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values


def is_punctuation(character):
    return bool(re.match(r"[!-/:-@\[-`{-~]", character)) or unicodedata.category(character)[0] == "P"


def split_punctuation(word):
    return "".join(f" {character} " if is_punctuation(character) else character for character in word).split()


ASCII_SYMBOLS = "$+<=>^`|~"
ASCII_MARKS = ".,!?'-:;()[]/&%#@*\"_"
WIDE_MARKS = "“”„«»‘’—–‐…¿¡。、「」·§¶‿！，︰،؟٪।־՞\U00010100"  # of many blocks
OTHER_SYMBOLS = "€©×°™¬÷≤＋´¨⁄\U0001f600\u200d\x07\x7f"  # also an emoji, a format and two control characters
NO_SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZßéλж中²½٣ʰⅧ\u0301\u093f\u20dd"


def punctuated_words(rng: Random) -> list[Case]:
    one, two = some(rng, WORDS, 2)
    return [
        Case((f"{one}{pick(rng, ASCII_MARKS)}{pick(rng, 'st')}{pick(rng, ASCII_MARKS)}",)),
        Case((f"{pick(rng, ASCII_MARKS)}{one}{pick(rng, ASCII_MARKS) * 3}{two}",)),
        Case((one,)),
        Case((between_letters(rng, ASCII_MARKS),)),
        Case(("7".join(["", *shuffled(rng, list(ASCII_MARKS)), ""]),)),
        Case(("".join(shuffled(rng, list(ASCII_MARKS))),)),
        Case((pick(rng, ASCII_MARKS),)),
        Case(("",)),
        Case(("U.S.",)),
        Case((f"{one}_{two}.",)),
        *(Case((word,)) for word in ("don't.", f"{one}-{two}")),
    ]


def between_letters(rng: Random, marks: str) -> str:
    """All of these characters, letters or digits between them."""
    return "".join(pick(rng, "abcxyz019") * int(rng.integers(1, 3)) + mark for mark in shuffled(rng, list(marks)))


def symbols_in_words(rng: Random) -> list[Case]:
    one, two = some(rng, WORDS, 2)
    return [
        Case((pick(rng, ASCII_SYMBOLS).join([one, two, ""]) + str(rng.integers(1, 99)),)),
        Case((between_letters(rng, ASCII_SYMBOLS),)),
        Case((between_letters(rng, WIDE_MARKS) + two,)),
        Case((between_letters(rng, OTHER_SYMBOLS),)),
        Case(("".join(shuffled(rng, list(NO_SYMBOLS))),)),
        Case((f"{one}’s–{two}",)),
    ]


def all_kinds_together(rng: Random) -> list[Case]:
    characters = shuffled(rng, list(2 * ASCII_MARKS + 2 * ASCII_SYMBOLS + WIDE_MARKS + OTHER_SYMBOLS + NO_SYMBOLS))
    return [Case(("".join(characters),)), Case(("".join(characters[:12]),))]


EXERCISE = Exercise(
    reference=split_punctuation,
    returns="list",
    parts=(
        values(2, punctuated_words),
        cases("symbols", 1, symbols_in_words,
            "another set of punctuation is expected: all of Unicode's and the ASCII symbols; no spaces, no control "
            "characters", all_kinds_together),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Write `is_punctuation` first and try it on . $ “ € and a. Then the loop: collect, and split where it "
        "returns True.",
        "ASCII symbols are between `!` and `~`; all of them except letters and digits count. Beyond ASCII the "
        "category decides.",
        "At a punctuation character store the collected text, then the character itself, and start a new part. At "
        "the end store the rest. Skip empty parts.",
    ),
    misconceptions=(
        mistake("unicode-alone", 'return ascii_symbol or unicodedata.category(character).startswith("P")',
            'return unicodedata.category(character).startswith("P")',
            hint="You use only the Unicode category. In Unicode `$ + < = > ^ | ~` and the backtick are symbols; in "
                 "BERT all ASCII symbols are punctuation."),
        mistake("ascii-alone",
            'return ascii_symbol or unicodedata.category(character).startswith("P")', "return ascii_symbol",
            hint="Only ASCII counts in your version. “ ” — … ¿ 。 are punctuation too: their category begins with P."),
        mistake("every-symbol", 'return ascii_symbol or unicodedata.category(character).startswith("P")',
            'return ascii_symbol or unicodedata.category(character)[0] in "PS"',
            hint="€, ©, × and ° are separate words in your result. Beyond ASCII only category P counts, not S."),
        mistake("thrown-away", "parts += [current, character]", "parts.append(current)",
            hint="You delete the punctuation. Each punctuation character must become its own word: a question mark "
                 "carries meaning."),
        mistake("runs-stay-together", "        if is_punctuation(character):\n"
            "            parts += [current, character]\n"
            '            current = ""\n'
            "        else:\n"
            "            current += character",
            "        if current and is_punctuation(character) != is_punctuation(current[-1]):\n"
            "            parts.append(current)\n"
            '            current = ""\n'
            "        current += character",
            hint="Adjacent punctuation characters stay together in your result. Each of them is a word of its own: "
                 "/// becomes three words."),
        mistake("empty-parts", "return [part for part in parts if part]", "return parts",
            hint="Your parts include empty strings, where two punctuation characters meet or a word ends with one."),
    ),
)  # fmt: skip
