"""Notebook 01, exercises 1.1 to 1.4: text into words."""

from autograde.exercises import n01_draws as draws
from autograde.exercises import n01_references as right
from autograde.exercises.n01_common import BUILD_IT, MODULE, NOTEBOOK, WHOLE_TOKENIZERS
from autograde.exercises.spec import Exercise, Misconception, cases, function, values

CLEAN_TEXT = Exercise(
    id="clean-text",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.1",
    title="Clean text",
    minutes=6,
    lines="",
    names=("clean_text",),
    arguments=("text",),
    probe=function("clean_text"),
    reference=right.clean_text,
    returns="str",
    parts=(
        values(2, draws.untidy_text),
        cases("scripts", 1, draws.many_scripts, "Chinese characters stand alone, other scripts stay as they are"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Go through the text character by character. Each becomes a blank, nothing, itself, or itself between blanks.",
        "Ask in this order: is it a blank? must it go? is it Chinese? Tab and line ends are `Cc` too.",
        "`unicodedata.category(character)` gives the two letters of the table; `in` compares with several of them.",
    ),
    misconceptions=(
        Misconception(
            "line-ends-dropped",
            (
                "Tab and line ends have vanished, and the words beside them run together. They are of category Cc, "
                "but they separate words: ask for them first and make them a blank."
            ),
            (('character in "\\t\\n\\r" or category == "Zs"', 'category == "Zs"'),),
        ),
        Misconception(
            "unseen-becomes-blank",
            (
                "Characters that nobody sees become blanks in your text, and so cut words in two. They become nothing: "
                "a soft hyphen inside a word must not split it."
            ),
            (("            continue", '            cleaned.append(" ")'),),
        ),
        Misconception(
            "format-characters-kept",
            (
                "You drop control characters (Cc), but not format characters (Cf): soft hyphen, zero-width blank and "
                "byte order mark are still there, unseen."
            ),
            (('("Cc", "Cf")', '("Cc",)'),),
        ),
        Misconception(
            "blanks-of-other-widths",
            "Blanks of other widths (category Zs: no-break, ideographic …) are still what they were. All become plain.",
            (('character in "\\t\\n\\r" or category == "Zs"', 'character in "\\t\\n\\r"'),),
        ),
        Misconception(
            "every-script-without-case",
            (
                "You isolate every letter that has no case, kana and Hangul too. Only Chinese characters are a word "
                "each; the rule is `is_chinese`."
            ),
            (("elif is_chinese(character)", 'elif category == "Lo"'),),
        ),
        Misconception(
            "one-block-only",
            (
                "Only the first block counts as Chinese in your text. Rarer characters live in seven more, some beyond "
                "U+FFFF: `is_chinese` knows them all."
            ),
            (("elif is_chinese(character)", 'elif "\\u4e00" <= character <= "\\u9fff"'),),
        ),
    ),
)

STRIP_ACCENTS = Exercise(
    id="strip-accents",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.2",
    title="Lower case, no accents",
    minutes=5,
    lines="",
    names=("strip_accents",),
    arguments=("text",),
    probe=function("strip_accents"),
    reference=right.strip_accents,
    returns="str",
    parts=(
        values(2, draws.accented_text),
        cases("other scripts", 1, draws.other_scripts, "the rule is about categories and holds in every script"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Three steps, one line each: lower case, decomposition, leaving characters out.",
        '`unicodedata.normalize` with the form "NFD" takes letters and accents apart.',
        "Keep a character unless its category is exactly Mn. Join what you keep, and do nothing more to it.",
    ),
    misconceptions=(
        Misconception(
            "only-ascii-kept",
            "You kept ASCII and nothing else: ø, ß and whole scripts are gone. Only marks of category Mn are left out.",
            (
                (
                    'return "".join(character for character in taken_apart if unicodedata.category(character) != "Mn")',
                    'return taken_apart.encode("ascii", "ignore").decode("ascii")',
                ),
            ),
        ),
        Misconception(
            "not-taken-apart",
            "NFC puts letter and accent together, so there is no mark to leave out. NFD takes them apart.",
            (('"NFD"', '"NFC"'),),
        ),
        Misconception(
            "rewritten",
            (
                "NFKD does more than take accents off: it also rewrites ligatures, raised digits and signs (x² becomes "
                "x2). BERT uses the canonical form, NFD."
            ),
            (('"NFD"', '"NFKD"'),),
        ),
        Misconception(
            "capitals-kept",
            "The accents are off, but capitals are still there. An uncased vocabulary knows lower case only.",
            (("text.lower()", "text"),),
        ),
        Misconception(
            "case-folded",
            "`casefold` goes further than lower case: ß becomes ss. BERT lower-cases, and ß stays.",
            (("text.lower()", "text.casefold()"),),
        ),
        Misconception(
            "every-mark",
            "You leave out every mark. Spacing ones (Mc) are vowels in Hindi and many scripts: only Mn goes.",
            (('unicodedata.category(character) != "Mn"', 'unicodedata.category(character)[0] != "M"'),),
        ),
        Misconception(
            "put-together-again",
            (
                "Afterwards you put the rest together again (NFC). That is reasonable, and not what BERT does: "
                "Korean syllables stay in their letters."
            ),
            (
                (
                    'return "".join(character for character in taken_apart if unicodedata.category(character) != "Mn")',
                    'kept = [c for c in taken_apart if unicodedata.category(c) != "Mn"]\n'
                    '    return unicodedata.normalize("NFC", "".join(kept))',
                ),
            ),
        ),
    ),
)

SPLIT_PUNCTUATION = Exercise(
    id="split-punctuation",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.3",
    title="Punctuation stands alone",
    minutes=7,
    lines="",
    names=("split_punctuation",),
    arguments=("word",),
    probe=function("split_punctuation"),
    reference=right.split_punctuation,
    returns="list",
    parts=(
        values(2, draws.punctuated_words),
        cases("symbols", 1, draws.symbols_in_words, "which characters are punctuation does not follow Unicode alone"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Write `is_punctuation` first and try it on . $ “ € and a. Then the loop: collect, and cut where it says True.",
        "ASCII runs from `!` to `~`; what is there and is no letter or digit counts. Beyond, the category decides.",
        (
            "At a punctuation character put away what is collected, then the character by itself, and begin anew. At "
            "the end put away what is left. Parts without text do not count."
        ),
    ),
    misconceptions=(
        Misconception(
            "unicode-alone",
            (
                "You ask Unicode alone. To Unicode `$ + < = > ^ | ~` and the backtick are symbols; BERT treats all "
                "of ASCII's as punctuation."
            ),
            (
                (
                    'return ascii_symbol or unicodedata.category(character).startswith("P")',
                    'return unicodedata.category(character).startswith("P")',
                ),
            ),
        ),
        Misconception(
            "ascii-alone",
            "Only ASCII counts in your version. “ ” — … ¿ 。 are punctuation too: their category begins with P.",
            (('return ascii_symbol or unicodedata.category(character).startswith("P")', "return ascii_symbol"),),
        ),
        Misconception(
            "every-symbol",
            "€, ©, × and ° stand alone in your result. Beyond ASCII only category P counts, not S.",
            (
                (
                    'return ascii_symbol or unicodedata.category(character).startswith("P")',
                    'return ascii_symbol or unicodedata.category(character)[0] in "PS"',
                ),
            ),
        ),
        Misconception(
            "thrown-away",
            "The punctuation is gone. It becomes words of its own: a question mark is worth reading.",
            (("parts += [current, character]", "parts.append(current)"),),
        ),
        Misconception(
            "runs-stay-together",
            "Punctuation that stands together stays together in your result. Every character is a word: . . .",
            (
                (
                    "        if is_punctuation(character):\n            parts += [current, character]\n"
                    '            current = ""\n        else:\n            current += character',
                    "        if current and is_punctuation(character) != is_punctuation(current[-1]):\n"
                    '            parts.append(current)\n            current = ""\n        current += character',
                ),
            ),
        ),
        Misconception(
            "empty-parts",
            "There are empty strings among your parts, where two punctuation characters meet or a word ends with one.",
            (("return [part for part in parts if part]", "return parts"),),
        ),
    ),
)

BASIC_TOKENIZE = Exercise(
    id="basic-tokenize",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.4",
    title="The basic tokenizer",
    minutes=3,
    lines="",
    names=("basic_tokenize",),
    arguments=("text",),
    probe=function("basic_tokenize"),
    reference=right.basic_tokenize,
    returns="list",
    parts=(
        values(1, draws.sentences),
        cases("cased and uncased", 1, draws.sentences_in_both_cases, "`lower_case` decides about case and accents"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Four steps, three of which you have written. The text's words go through the last two one by one.",
        "`str.split()` without an argument cuts at any run of blanks and leaves no empty words.",
        "Each word gives a list of parts. Add the parts to the result, not the list.",
    ),
    misconceptions=(
        Misconception(
            "always-lower",
            "`lower_case=False` changes nothing in your version. A cased vocabulary keeps capitals and accents.",
            (
                (
                    "        if lower_case:\n            word = strip_accents(word)",
                    "        word = strip_accents(word)",
                ),
            ),
        ),
        Misconception(
            "accents-kept",
            "You lower-case but leave the accents on. Uncased means both: use `strip_accents`.",
            (("word = strip_accents(word)", "word = word.lower()"),),
        ),
        Misconception(
            "cases-swapped",
            "You swapped the two: text is lower-cased when `lower_case` is False, and left alone when it is True.",
            (("if lower_case:", "if not lower_case:"),),
        ),
        Misconception(
            "punctuation-not-split",
            "Punctuation still hangs on your words. The last step, `split_punctuation`, is missing.",
            (("words += split_punctuation(word)", "words.append(word)"),),
        ),
        Misconception(
            "not-cleaned",
            "The text was not cleaned: unseen characters hide inside words, Chinese characters stick to others.",
            (("clean_text(text).split()", "text.split()"),),
        ),
    ),
)
