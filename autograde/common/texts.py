"""Text, lists and dicts in messages: every character visible, long values shortened.

A combining accent, a zero-width space or a decomposed Korean letter look like something else, or like nothing, on a
screen; here they are written as `\\u0301`.
"""

import itertools
import json
import unicodedata

LONGEST_TEXT = 60  # characters of a string that is shown
LONGEST_ROW = 100  # characters of a list or dict that is shown
_TURN = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_KOREAN_LETTERS = ("\u1100", "\u11ff")  # neighbours are drawn as one syllable


def visible(value) -> str:
    """`repr` with an escape for each character that is invisible or combines with its neighbour."""
    if type(value) is str:
        return "".join(map(_visible_character, repr(value)))
    if type(value) in (list, tuple):
        inner = ", ".join(map(visible, value))
        return f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(value) == 1)})"
    if type(value) is dict:
        return "{" + ", ".join(f"{visible(key)}: {visible(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _visible_character(character: str) -> str:
    hides = unicodedata.category(character)[0] == "M" or _KOREAN_LETTERS[0] <= character <= _KOREAN_LETTERS[1]
    return f"\\u{ord(character):04x}" if hides else character


def controls(character: str) -> bool:
    """Whether a character moves a terminal's cursor, colours, begins a line, or turns the direction of writing."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _TURN


def one_line(text: str) -> str:
    """Text of a stranger for one line of a terminal, with an escape for each such character."""
    return "".join(repr(character)[1:-1] if controls(character) else character for character in text)


def json_without_controls(text: str) -> str:
    """JSON of several lines in which such characters are written as JSON's own escapes."""
    return "".join(json.dumps(one)[1:-1] if controls(one) and one != "\n" else one for one in text)


def short(value, longest: int = LONGEST_TEXT) -> str:
    """The visible form, cut at its end."""
    text = visible(_beginning(value, longest))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _beginning(value, max_items: int):
    """A value without what a text of `max_items` characters cannot show: to write all of it can take seconds."""
    if type(value) is str:
        return value[: max_items + 1]
    if type(value) in (list, tuple):
        return type(value)(_beginning(item, max_items) for item in value[: max_items + 1])
    if type(value) is dict:
        found = itertools.islice(value.items(), max_items + 1)
        return {_beginning(key, max_items): _beginning(item, max_items) for key, item in found}
    return value


def first_difference(one: str, other: str) -> int:
    """The index of the first different character; the length of the shorter string if the other begins with it."""
    indices = range(min(len(one), len(other)))
    return next((index for index in indices if one[index] != other[index]), len(indices))


def around(text: str, index: int) -> str:
    """The part of a string around one character, with … where text is left out."""
    half = LONGEST_TEXT // 2
    start, end = max(0, index - half), index + half
    return "…" * (start > 0) + visible(text[start:end]) + "…" * (end < len(text))


def article(kind: str) -> str:
    """The name of a type with its article: "a list", "an array", "nothing"."""
    if kind in ("nothing", "...", "another object"):
        return kind
    kind = {"str": "string", "int": "whole number", "float": "number", "bool": "truth value"}.get(kind, kind)
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def row(items, index: int = 0, longest: int = LONGEST_ROW) -> str:
    """A list on one line; of a long one the part with the item at `index`."""
    shown = [short(item) for item in items[: index + longest + 1]]
    start = 0
    while start < index and len(", ".join(shown[start : index + 1])) > longest // 2:
        start += 1
    end = start
    while end < len(shown) and len(", ".join(shown[start : end + 1])) <= longest:
        end += 1
    end = max(end, min(start + 1, len(shown)))
    return "[" + "…, " * (start > 0) + ", ".join(shown[start:end]) + ", …" * (end < len(shown)) + "]"
