"""Writes unicode_tables.json of the WordPiece tokenizer: its character properties, frozen at Unicode 14.0.

Every Python brings its own Unicode version, so `str.lower` and `unicodedata` would split the same text into other
tokens after an upgrade. Unicode 14.0 is that of Python 3.11, the oldest Python we support; run this script with it:

    python3.11 scripts/make_unicode_tables.py

Sets of characters are written as ranges of hexadecimal code points ("0-8 e-1f ad"), mappings as "from:to" with the
code points of a longer result joined by "+" ("130:69+307").
"""

import json
import sys
import unicodedata
from pathlib import Path

UNICODE_VERSION = "14.0.0"
TABLES = Path(__file__).parents[1] / "bertlab" / "wordpiece" / "unicode_tables.json"
CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)  # taken apart by arithmetic, not by a table


def ranges(characters) -> str:
    """Sorted characters as ranges: "abcx" → "61-63 78"."""
    runs = []
    for code in map(ord, characters):
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return " ".join(f"{first:x}" if first == last else f"{first:x}-{last:x}" for first, last in runs)


def mapping(pairs) -> str:
    """(character, text) pairs: "é" → "e" + accent is "e9:65+301"."""
    return " ".join(f"{ord(char):x}:" + "+".join(f"{ord(c):x}" for c in text) for char, text in pairs)


def is_dropped(char: str) -> bool:
    """Control and format characters and U+FFFD, as `_clean_text` of google-research/bert drops them."""
    return char == "\ufffd" or (unicodedata.category(char) in ("Cc", "Cf") and char not in "\t\n\r")


def is_whitespace(char: str) -> bool:
    """Characters that `_is_whitespace` turns into a space, or at which `str.split` splits (U+2028, U+2029)."""
    return not is_dropped(char) and (unicodedata.category(char) == "Zs" or char.isspace())


def is_punctuation(char: str) -> bool:
    """ASCII symbols count as punctuation; elsewhere Unicode's categories P* do."""
    ascii_symbol = "!" <= char <= "~" and not char.isalnum()
    return ascii_symbol or unicodedata.category(char).startswith("P")


# The rule of the final sigma (Unicode, table 3-17) needs two properties that `unicodedata` does not show, but
# `str.lower` does: ΑΣ ends in ς, unless a cased letter follows, with any case-ignorable characters between them.


def is_cased(char: str) -> bool:
    """Cased and not case-ignorable: directly after Σ it makes the sigma a medial one."""
    return ("ΑΣ" + char).lower()[1] == "σ"


def is_case_ignorable(char: str) -> bool:
    """The rule looks through this character: Σ, then it, then a letter is a medial sigma."""
    return ("ΑΣ" + char + "Α").lower()[1] == "σ" and not is_cased(char)


def decompositions():
    for char in CHARACTERS:
        decomposed = unicodedata.normalize("NFD", char)
        if decomposed != char and ord(char) not in HANGUL_SYLLABLES:
            yield char, decomposed


def combining_classes() -> dict[str, str]:
    by_class = {}
    for char in CHARACTERS:
        if unicodedata.combining(char):
            by_class.setdefault(unicodedata.combining(char), []).append(char)
    return {str(number): ranges(by_class[number]) for number in sorted(by_class)}


def main() -> None:
    if unicodedata.unidata_version != UNICODE_VERSION:
        sys.exit(f"This Python has Unicode {unicodedata.unidata_version}; the tables are frozen at {UNICODE_VERSION}: "
                 "run the script with Python 3.11")  # fmt: skip
    tables = {
        "unicode_version": UNICODE_VERSION,
        "dropped": ranges(filter(is_dropped, CHARACTERS)),
        "whitespace": ranges(filter(is_whitespace, CHARACTERS)),
        "punctuation": ranges(filter(is_punctuation, CHARACTERS)),
        "nonspacing_mark": ranges(c for c in CHARACTERS if unicodedata.category(c) == "Mn"),
        "cased": ranges(filter(is_cased, CHARACTERS)),
        "case_ignorable": ranges(filter(is_case_ignorable, CHARACTERS)),
        "lowercase": mapping((c, c.lower()) for c in CHARACTERS if c.lower() != c),
        "decomposition": mapping(decompositions()),
        "combining_class": combining_classes(),
    }
    TABLES.write_text(json.dumps(tables, indent=1) + "\n", encoding="ascii")
    print(f"{TABLES.name}: {TABLES.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
