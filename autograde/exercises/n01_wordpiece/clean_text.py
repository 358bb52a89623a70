"""Replaces white space by plain spaces, deletes invisible characters, and isolates Chinese characters."""

import re
import unicodedata

from autograde.exercises.draws import Random
from autograde.exercises.n01_wordpiece._shared import (
    CHINESE,
    LINE_ENDS,
    UNSEEN_FORMATS,
    WHOLE_TOKENIZERS,
    WIDE_BLANKS,
    WORDS,
    in_words,
    inside,
    pick,
    shuffled,
    some,
)
from autograde.exercises.spec import Case, Exercise, cases, mistake, values

CHINESE_RANGES = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f])"
)


def clean_text(text):
    text = re.sub(r"[\t\n\r]", " ", text).replace("\ufffd", "")
    kinds = [(character, unicodedata.category(character)) for character in text]
    text = "".join(" " if kind == "Zs" else character for character, kind in kinds if kind not in ("Cc", "Cf"))
    return CHINESE_RANGES.sub(r" \1 ", text)


UNSEEN_CONTROLS = ("\x00", "\x07", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f", "\x85", "\ufffd")
OTHER_FORMATS = ("\u0600", "\u061c", "\u180e", "\u2066", "\U000e0041")  # of other blocks
# The first and the last assigned character of each block.
RARE_CHINESE = ("\u3400\u4db5\u4e00\u9fef\uf900\ufad9\U00020000\U0002a6d6\U0002a700\U0002b734\U0002b740\U0002b81d"
                "\U0002b820\U0002cea1\U0002f800\U0002fa1d")  # fmt: skip
KANA_AND_HANGUL = ("ひらがな", "カタカナ", "한국어", "공연은")
# Also signs before, between and behind the blocks.
NOT_CHINESE = ("、。", "々〇", "「」", "ㄅㄆ", "ไทย", "שלום", "हिन्दी", "\u2e80\u2f00\u4dc0\U0002ceb0\U00030000")
KEPT = (
    "\u2028",
    "\u2029",
    "\ue000",
    "\u0378",
    "\ufffc",
    "e\u0301",
    "€",
    "-",
    "\U0001f600",
)  # line separators, private use, unassigned, a mark, symbols: no row of the table


def untidy_text(rng: Random) -> list[Case]:
    """Every kind of space, control and format character; spaces in a row and at both ends stay."""
    one, two, three = some(rng, WORDS, 3)
    first = f"{one}\t{inside(rng, two, pick(rng, UNSEEN_FORMATS))} {inside(rng, three, pick(rng, UNSEEN_CONTROLS))}\n"
    blanks = "".join(f"{pick(rng, WORDS)}{blank}" for blank in shuffled(rng, [*LINE_ENDS, *WIDE_BLANKS]))
    return [
        Case((first,)),
        Case(("  " + blanks + pick(rng, WORDS) + "   " + pick(rng, WORDS) + "\n\n",)),
        Case((f"{one}\t{two}\x07{three}    U.S.\r\n",)),  # ASCII alone
        Case((in_words(rng, UNSEEN_CONTROLS),)),
        Case((in_words(rng, (*UNSEEN_FORMATS, *OTHER_FORMATS)),)),
        Case((in_words(rng, KEPT),)),
        Case(("",)),
    ]


def many_scripts(rng: Random) -> list[Case]:
    chinese = "".join(some(rng, CHINESE, 3))
    mixed = shuffled(rng, [pick(rng, WORDS), chinese, *KANA_AND_HANGUL])
    return [
        Case((" ".join(mixed) + pick(rng, CHINESE),)),
        Case((in_words(rng, RARE_CHINESE),)),
        Case((" ".join(shuffled(rng, list(NOT_CHINESE))),)),
        Case((repeated_chinese(rng),)),
    ]


def repeated_chinese(rng: Random) -> str:
    """The same characters several times, beside each other and apart."""
    one, two = some(rng, CHINESE, 2)
    return f"{one}{one} {pick(rng, WORDS)}{two}{one}{two}"


def side_by_side(rng: Random, more: tuple[str, ...] = ()) -> list[Case]:
    """Characters of all kinds without words between them."""
    kinds = [*LINE_ENDS, *WIDE_BLANKS, *UNSEEN_FORMATS, *UNSEEN_CONTROLS, *KEPT, *more, " "]
    return [Case(("".join(shuffled(rng, kinds)),)), Case(("".join(some(rng, kinds, 9)) * 2,))]


def scripts_side_by_side(rng: Random) -> list[Case]:
    twice = shuffled(rng, 2 * [*CHINESE, *RARE_CHINESE])
    return [*side_by_side(rng, more=(*RARE_CHINESE, *NOT_CHINESE)), Case(("".join(twice),))]


EXERCISE = Exercise(
    reference=clean_text,
    returns="str",
    parts=(
        values(2, untidy_text, hidden=side_by_side),
        cases("scripts", 1, many_scripts,
            "each Chinese character gets one space more before and behind it, also beside other spaces; other scripts "
            "must not change", scripts_side_by_side),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Go through the text character by character. Each becomes a space, nothing, itself, or itself between spaces.",
        "Test in this order: does it become a space? must it be deleted? is it Chinese? Tab and line ends are `Cc` "
        "too.",
        "`unicodedata.category(character)` returns the two letters of the table; `in` compares with several of them.",
    ),
    misconceptions=(
        mistake("line-end-of-windows", "for character in text:", 'for character in text.replace("\\r\\n", "\\n"):',
            hint="You make one space of a line end of Windows, \\r\\n. It has two characters, and each becomes a "
                 "space."),
        mistake("line-ends-dropped", 'character in "\\t\\n\\r" or category == "Zs"', 'category == "Zs"',
            hint="Tab and line ends have disappeared, so the words beside them run together. They have category Cc, "
                 "but they separate words: test for them first and make them a space."),
        mistake("unseen-becomes-blank", "            continue", '            cleaned.append(" ")',
            hint="Invisible characters become spaces in your text and split words in two. Delete them: a soft "
                 "hyphen inside a word must not split it."),
        mistake("format-characters-kept", '("Cc", "Cf")', '("Cc",)',
            hint="You delete control characters (Cc), but not format characters (Cf): soft hyphen, zero-width space "
                 "and byte order mark are still there, invisible."),
        mistake("blanks-of-other-widths", 'character in "\\t\\n\\r" or category == "Zs"', 'character in "\\t\\n\\r"',
            hint="Spaces of other widths (category Zs: no-break, ideographic …) are unchanged. They must all become "
                 "plain spaces."),
        mistake("every-script-without-case", "elif is_chinese(character)", 'elif category == "Lo"',
            hint="You isolate every letter that has no case, also kana and Hangul. Only Chinese characters are "
                 "separate words; use `is_chinese`."),
        mistake("one-block-only", "elif is_chinese(character)", 'elif "\\u4e00" <= character <= "\\u9fff"',
            hint="Only the first block counts as Chinese in your version. Rarer characters are in seven more "
                 "blocks, some beyond U+FFFF: `is_chinese` tests them all."),
        mistake("every-blank-by-python", 'character in "\\t\\n\\r" or category == "Zs"', "character.isspace()",
            hint="`isspace` returns True for more characters than the table: other control characters, such as the "
                 "vertical tab, and line separators. Use the table's two rows."),
        mistake("replacement-character-kept", ' or character == "\\ufffd"', "",
            hint="The character U+FFFD is still there. Its category is neither Cc nor Cf, so it needs a test of its "
                 "own."),
    ),
)  # fmt: skip
