"""BERT's published tokenization rules, written a second time for the tests with Python's own Unicode functions.

Nothing of `bertlab` is used here. The frozen tables are those of Unicode 14.0, which is Python 3.11's.
"""

import unicodedata

UNICODE_OF_THE_TABLES = "14.0.0"
CHINESE = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
           (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]  # fmt: skip


def clean(text: str) -> str:
    kept = []
    for char in text:
        category = unicodedata.category(char)
        if char in " \t\n\r" or category == "Zs":
            kept.append(" ")
        elif char != "\ufffd" and category not in ("Cc", "Cf"):
            kept.append(char)
    return "".join(kept)


def isolate_chinese(text: str) -> str:
    return "".join(f" {c} " if any(low <= ord(c) <= high for low, high in CHINESE) else c for c in text)


def strip_accents(token: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", token) if unicodedata.category(char) != "Mn")


def is_punctuation(char: str) -> bool:
    code = ord(char)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(char)[0] == "P"


def words(text: str, lowercase: bool = True, accents: bool | None = None, chinese: bool = True) -> list[str]:
    """accents: whether accents are stripped; None: the same as lowercase."""
    found = []
    cleaned = clean(text)
    for token in (isolate_chinese(cleaned) if chinese else cleaned).split():
        token = token.lower() if lowercase else token
        token = strip_accents(token) if (lowercase if accents is None else accents) else token
        found += "".join(f" {char} " if is_punctuation(char) else char for char in token).split()
    return found


def pieces(word: str, vocabulary: set[str], max_chars: int = 200) -> list[str]:
    if len(word) > max_chars:
        return ["[UNK]"]
    found, rest, prefix = [], word, ""
    while rest:
        candidates = [rest[:length] for length in range(len(rest), 0, -1) if prefix + rest[:length] in vocabulary]
        if not candidates:
            return ["[UNK]"]
        found.append(prefix + candidates[0])
        rest, prefix = rest[len(candidates[0]) :], "##"
    return found
