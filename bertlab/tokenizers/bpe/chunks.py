"""The two steps before merging: text is cut into chunks, and a chunk's bytes are written as 256 visible characters.

    "It's 10 °C"  →  It | 's | Ġ10 | ĠÂ° | C        (Ġ is a space; ° is two bytes in UTF-8)

Source: `encoder.py` of openai/gpt-2 (Radford et al. 2019, section 2.2). The categories of characters are frozen at
Unicode 16.0 (categories.json), since those of Python change with every version.
"""

import json
import re
from functools import cache
from pathlib import Path

_CATEGORIES = json.loads((Path(__file__).parent / "categories.json").read_text(encoding="ascii"))
SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # Unicode's White_Space
SPACE_CHARACTER = "Ġ"  # a space, written as a visible character


def _class_of(ranges: str) -> str:
    """ "61-63 78" → the inside of a character class: a-c and x."""
    bounds = ([int(code, 16) for code in part.split("-")] for part in ranges.split())
    return "".join("-".join(f"\\U{code:08x}" for code in bound) for bound in bounds)


_LETTER, _NUMBER = _class_of(_CATEGORIES["letter"]), _class_of(_CATEGORIES["number"])
# English endings; letters, numbers or other characters, each with the space before them; spaces. Of several spaces
# before a word, the last one belongs to the word.
CHUNK = re.compile(
    f"'(?:[sdmt]|re|ve|ll)| ?[{_LETTER}]+| ?[{_NUMBER}]+| ?[^{SPACE}{_LETTER}{_NUMBER}]+|"
    f"[{SPACE}]+(?![^{SPACE}])|[{SPACE}]+"
)


@cache
def byte_characters() -> tuple[str, ...]:
    """The character that stands for each of the 256 bytes.

    A byte that is a visible character of Latin-1 stands for itself; the others, in order, are the characters from
    U+0100.

    Example:
        >>> byte_characters()[ord("a")], byte_characters()[ord(" ")]
        ('a', 'Ġ')
    """
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256, 512))
    return tuple(chr(byte if byte in visible else next(others)) for byte in range(256))


@cache
def bytes_of_characters() -> dict[str, int]:
    """The inverse of `byte_characters`."""
    return {character: byte for byte, character in enumerate(byte_characters())}


def to_characters(text: str) -> str:
    """The bytes of a text in UTF-8, each as its character. A lone surrogate, which UTF-8 does not have, is U+FFFD.

    Example:
        >>> to_characters(" né")
        'ĠnÃ©'
    """
    return as_utf8(text).decode("latin-1").translate(_translation())


def as_utf8(text: str) -> bytes:
    """A text as bytes; a lone surrogate, which no UTF-8 file contains, becomes U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode("utf-8")


@cache
def _translation() -> dict[int, str]:
    return dict(enumerate(byte_characters()))


def split_chunks(text: str) -> list[str]:
    """The chunks of a text; together they are the text.

    Example:
        >>> split_chunks("It's  10 °C")
        ['It', "'s", ' ', ' 10', ' °', 'C']
    """
    return CHUNK.findall(text)
