"""Converts a text to lower case and removes the accents of its letters."""

import unicodedata

from autograde.exercises.n01_wordpiece._shared import ACCENTED, WHOLE_TOKENIZERS, WORDS, inside, pick, shuffled, some
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values


def strip_accents(text):
    marks = {ord(character): None for character in unicodedata.normalize("NFD", text)}
    marks = {code: None for code in marks if unicodedata.category(chr(code)) == "Mn"}
    return unicodedata.normalize("NFD", text.lower()).translate(marks | {0x307: None})  # İ lowers to i and U+0307


NO_ACCENT = ("Øre", "Straße", "Łódź", "ʻOkina", "Мир", "´", "^", "a\u20dd", "a\u200db")  # also signs like accents
GREEK = ("ΟΔΟΣ", "ΛΟΓΟΣ")
COMPATIBLE = ("\ufb01ne", "x²", "№")  # a ligature, a superscript digit, a sign: NFKD would rewrite them
SPACING_MARKS = ("कि", "हिन्दी")  # Devanagari: spacing and nonspacing vowels
OTHER_MARKS = (
    "שָׁלוֹם",
    "مُحَمَّد",
    "が",
    "й",
    "ế",
    "कु",
    "นั้น",
    "❤\ufe0f",
    "\U00011013\U00011038",
)  # of other scripts, of any combining class; two on a letter
OTHER_SIGNS = ("2≠3", "a≮b", "\u1fef")  # no letters, but NFD rewrites them
HANGUL = ("공연은", "끝났어", "개막을")


def accented_text(rng: Random) -> list[Case]:
    apart = inside(rng, pick(rng, WORDS), "\u0301\u0323")
    return [
        Case((" ".join(some(rng, ACCENTED, 2)),)),
        Case((" ".join([apart, *shuffled(rng, list(COMPATIBLE))]),)),
        Case((" ".join(shuffled(rng, [*NO_ACCENT, *OTHER_SIGNS, *some(rng, ACCENTED, 2)])),)),
        Case((f"{pick(rng, GREEK)} İZMIR {pick(rng, GREEK)}",)),
        Case((pick(rng, GREEK) + "!",)),
        Case((f" \u0301{pick(rng, WORDS).upper()}  {pick(rng, WORDS)}-{rng.integers(10, 99)}!\n",)),
        Case((f"{pick(rng, WORDS).title()} U.S. {pick(rng, WORDS).upper()}^",)),  # ASCII alone
        Case(("",)),
    ]


def other_scripts(rng: Random) -> list[Case]:
    return [
        Case((pick(rng, HANGUL),)),
        Case((" ".join(shuffled(rng, list(SPACING_MARKS))),)),
        Case((" ".join(shuffled(rng, list(OTHER_MARKS))),)),
    ]


def side_by_side(rng: Random, more: tuple[str, ...] = ()) -> list[Case]:
    words = [*NO_ACCENT, *OTHER_SIGNS, *GREEK, *COMPATIBLE, *ACCENTED, *more]
    return [Case((" ".join(shuffled(rng, words)),)), Case((" ".join(some(rng, words, 5)).upper(),))]


def scripts_side_by_side(rng: Random) -> list[Case]:
    return side_by_side(rng, more=(*SPACING_MARKS, *OTHER_MARKS, *HANGUL))


EXERCISE = Exercise(
    reference=strip_accents,
    returns="str",
    parts=(
        values(2, accented_text, hidden=side_by_side),
        cases("other scripts", 1, other_scripts, "the rule uses categories and must work in every script",
            scripts_side_by_side),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "There are three steps, one line each: lower case, decomposition, deleting characters.",
        '`unicodedata.normalize` with the form "NFD" separates letters and accents.',
        "Keep a character unless its category is exactly Mn. Join the kept characters and change nothing else.",
    ),
    misconceptions=(
        mistake("only-ascii-kept",
            'return "".join(character for character in taken_apart if unicodedata.category(character) != "Mn")',
            'return taken_apart.encode("ascii", "ignore").decode("ascii")',
            hint="You kept only ASCII: ø, ß and whole scripts are gone. Delete only marks of category Mn."),
        mistake("not-taken-apart", '"NFD"', '"NFC"',
            hint="NFC combines letter and accent, so there are no marks to delete. NFD separates them."),
        mistake("rewritten", '"NFD"', '"NFKD"',
            hint="NFKD does more than separate accents: it also rewrites ligatures, superscript digits and signs "
                 "(x² becomes x2). BERT uses the canonical form, NFD."),
        mistake("capitals-kept", "text.lower()", "text",
            hint="The accents are gone, but capitals are still there. An uncased vocabulary contains only lower case."),
        mistake("case-folded", "text.lower()", "text.casefold()",
            hint="`casefold` does more than lower case: ß becomes ss. BERT uses lower case, and ß stays."),
        mistake("every-mark", 'unicodedata.category(character) != "Mn"', 'unicodedata.category(character)[0] != "M"',
            hint="You delete every mark. Delete only Mn: neither spacing marks (Mc), which are vowels in Hindi and "
                 "many other scripts, nor enclosing ones (Me)."),
        mistake("put-together-again",
            'return "".join(character for character in taken_apart if unicodedata.category(character) != "Mn")',
            'kept = [c for c in taken_apart if unicodedata.category(c) != "Mn"]\n'
            '    return unicodedata.normalize("NFC", "".join(kept))',
            hint="Afterwards you compose the characters again (NFC). That is reasonable, but BERT does not do it: "
                 "Korean syllables stay decomposed."),
        mistake("marks-deleted-first",
            'taken_apart = unicodedata.normalize("NFD", text.lower())', "text = text.lower()",
            'return "".join(character for character in taken_apart if unicodedata.category(character) != "Mn")',
            'kept = "".join(character for character in text if unicodedata.category(character) != "Mn")\n'
            '    return unicodedata.normalize("NFD", kept)',
            hint="You delete the marks before you decompose. At that time most accents are still part of their "
                 "letters: decompose first."),
        mistake("lowered-one-by-one", "text.lower()", '"".join(character.lower() for character in text)',
            hint="You convert each character alone. Python must see the whole text: a Σ at the end of a word becomes "
                 "ς, any other Σ becomes σ."),
    ),
)  # fmt: skip
