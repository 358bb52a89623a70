"""Character properties for the tokenizer, from one frozen Unicode version.

Python's own `str.lower` and `unicodedata` change with every Python; the table beside this module does not
(scripts/make_unicode_tables.py wrote it). Sets hold single characters, mappings lead from a character to a string.
"""

import json
from bisect import bisect_right
from pathlib import Path

_TABLES = json.loads((Path(__file__).parent / "unicode_tables.json").read_text(encoding="ascii"))

UNICODE_VERSION: str = _TABLES["unicode_version"]

# The blocks of Chinese characters in google-research/bert, `_is_chinese_char`; the Japanese and Korean alphabets
# are not among them, because their words are written with more than one character.
CJK_RANGES = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_CJK_BOUNDS = sorted(bound for first, last in CJK_RANGES for bound in (first, last + 1))  # inside, outside, inside …


def _set(ranges: str) -> frozenset[str]:
    """ "61-63 78" → the characters a, b, c and x."""
    bounds = ([int(code, 16) for code in part.split("-")] for part in ranges.split())
    return frozenset(chr(code) for bound in bounds for code in range(bound[0], bound[-1] + 1))


def _mapping(pairs: str) -> dict[str, str]:
    """ "e9:65+301" → {"é": "e" and the accent}."""
    split = (pair.split(":") for pair in pairs.split())
    return {chr(int(source, 16)): "".join(chr(int(code, 16)) for code in target.split("+")) for source, target in split}


DROPPED = _set(_TABLES["dropped"])  # control and format characters, U+FFFD
WHITESPACE = _set(_TABLES["whitespace"])
PUNCTUATION = _set(_TABLES["punctuation"])
NONSPACING_MARKS = _set(_TABLES["nonspacing_mark"])  # category Mn: accents, many vowel signs
CASED = _set(_TABLES["cased"])
CASE_IGNORABLE = _set(_TABLES["case_ignorable"])
LOWERCASE = _mapping(_TABLES["lowercase"])
COMBINING_CLASS = {char: int(number) for number, ranges in _TABLES["combining_class"].items() for char in _set(ranges)}

_DECOMPOSITION = _mapping(_TABLES["decomposition"])
_FIRST_HANGUL, _LAST_HANGUL = "\uac00", "\ud7a3"


def is_cjk(char: str) -> bool:
    """Whether this is a Chinese character, which BERT makes a word of its own."""
    return bisect_right(_CJK_BOUNDS, ord(char)) % 2 == 1


def decompose(char: str) -> str:
    """The canonical decomposition (NFD) of one character: é → e and U+0301, 한 → its three letters."""
    if _FIRST_HANGUL <= char <= _LAST_HANGUL:
        return _decompose_hangul(char)
    return _DECOMPOSITION.get(char, char)


def decomposable() -> set[str]:
    """All characters that `decompose` changes."""
    return {*_DECOMPOSITION, *map(chr, range(ord(_FIRST_HANGUL), ord(_LAST_HANGUL) + 1))}


def _decompose_hangul(syllable: str) -> str:
    """19 initial consonants × 21 vowels × (27 final consonants or none), in order (Unicode, section 3.12)."""
    rest, final = divmod(ord(syllable) - ord(_FIRST_HANGUL), 28)
    initial, vowel = divmod(rest, 21)
    letters = chr(0x1100 + initial) + chr(0x1161 + vowel)
    return letters + chr(0x11A7 + final) if final else letters
