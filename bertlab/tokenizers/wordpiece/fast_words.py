"""From text to words, fast: the same as `basic`, to the last code point; that is the readable form.

A *chunk* is the text between two blanks. Its words never depend on the text around it, and the same chunks come again
and again ("the" is one in twenty), so what is made of them is kept in tables.
"""

import re
from collections.abc import Callable
from functools import cache

from bertlab.tokenizers.wordpiece.basic import BasicTokenizer
from bertlab.tokenizers.wordpiece.unicode import (
    CASE_IGNORABLE,
    CASED,
    COMBINING_CLASS,
    DROPPED,
    LOWERCASE,
    NONSPACING_MARKS,
    PUNCTUATION,
    WHITESPACE,
    decompose,
    is_cjk,
)

TABLE_CHUNKS = 1 << 18  # a table is emptied when it has so many, about 50 MB
MAX_CHUNK_LENGTH = 128  # longer ones are unlikely to come again: not kept
ASCII_WORD = re.compile("[0-9A-Za-z]+|[^0-9A-Za-z]")
# `str.split` also cuts at these control characters, but BERT drops them: "a\x0bb" is one word.
_DROPPED_BLANKS = re.compile("[" + "".join(sorted(char for char in DROPPED if char.isspace())) + "]")
_IN_CONTEXT = "\0"  # stands for a character whose normal form depends on others; a text's own \0 is dropped
_CAPITAL_SIGMA = "Σ"


def chunks_of(text: str) -> list[str]:
    """The parts of a text between blanks."""
    return _DROPPED_BLANKS.sub("", text).split()


class ChunkTable(dict):
    """chunk → what `make` makes of it, when the chunk is first asked for.

    Values must not be changed. The table may be emptied at any time, so several threads can use it.
    """

    def __init__(self, make: Callable):
        super().__init__()
        self._make = make

    def __missing__(self, chunk):
        made = self._make(chunk)
        if len(self) >= TABLE_CHUNKS:
            self.clear()
        if len(chunk) <= MAX_CHUNK_LENGTH:
            self[chunk] = made
        return made


class FastWords:
    """Cuts chunks into words by the rules of a `BasicTokenizer`."""

    def __init__(self, basic: BasicTokenizer):
        self._basic = basic
        self._forms = character_forms(basic.lowercase, basic.strip_accents, basic.split_cjk)

    def __call__(self, chunk: str) -> list[str]:
        """The words of a chunk."""
        if chunk.isascii() and chunk.isprintable():
            return ASCII_WORD.findall(chunk.lower() if self._basic.lowercase else chunk)
        text = chunk
        if _CAPITAL_SIGMA in text and self._basic.lowercase:
            text = re.sub(_CAPITAL_SIGMA, lambda match: _small_sigma(chunk, match.start()), text)
        text = text.translate(self._forms)
        if _IN_CONTEXT in text:
            return [word.text for word in self._basic.words(chunk)]
        return text.split()


@cache
def character_forms(lowercase: bool, strip_accents: bool, split_cjk: bool) -> "CharacterForms":
    """One table for all tokenizers with these settings: the forms do not depend on the vocabulary."""
    return CharacterForms(BasicTokenizer(lowercase, strip_accents, split_cjk))


class CharacterForms(dict):
    """A table for `str.translate`: a character's normal form, with spaces around what is a word by itself.

    A character whose normal form depends on its neighbours (a mark that is sorted among others) becomes `_IN_CONTEXT`.
    """

    def __init__(self, basic: BasicTokenizer):
        super().__init__()
        self._basic = basic

    def __missing__(self, code: int) -> str:
        self[code] = form = self._form(chr(code))
        return form

    def _form(self, char: str) -> str:
        """The normal form by the rules of `basic` for a character alone."""
        text = LOWERCASE.get(char, char) if self._basic.lowercase else char
        if self._basic.strip_accents:
            text = "".join([part for part in "".join(map(decompose, text)) if part not in NONSPACING_MARKS])
            if not COMBINING_CLASS.keys().isdisjoint(text):
                return _IN_CONTEXT
        if char in WHITESPACE or char in DROPPED:
            return " " if char in WHITESPACE else ""
        if any(map(str.isspace, text)):
            return _IN_CONTEXT
        if self._basic.split_cjk and is_cjk(char):
            return f" {text} "
        return "".join([f" {part} " if part in PUNCTUATION else part for part in text])


def _small_sigma(text: str, index: int) -> str:
    """ς or σ for a capital sigma: see `basic.lower_sigma`."""
    return "ς" if _deciding(text, index, 1) not in CASED and _deciding(text, index, -1) in CASED else "σ"


def _deciding(text: str, index: int, step: int) -> str:
    """The next character in this direction that decides about a Σ; "" at an end of the text."""
    index += step
    while 0 <= index < len(text) and (text[index] in CASE_IGNORABLE or text[index] in DROPPED):
        index += step
    return text[index] if 0 <= index < len(text) else ""
