"""The normal form of each character, looked up in a table: what `basic` does step by step, fast.

The same as `BasicTokenizer.words`, to the last code point; that is the readable form.
"""

import re
from functools import cache
from unicodedata import normalize

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
    decomposable,
    decompose,
    is_cjk,
)

_CHINESE = re.compile("[一-龥、。，：；？！ ]+")  # since Unicode 1.1, without case, marks or another normal form
_SYLLABLES = range(0xAC00, 0xD7A4)  # Korean; Python's own NFD is the same in all versions for these
_KOREAN = re.compile("[가-힣 -~]+")  # its syllables and printable ASCII
_KOREAN_WORD = re.compile("[0-9A-Za-zᄀ-ᇿ가-힣]+|[!-~]")  # whole, or as the letters of syllables
_RULED = {
    *WHITESPACE, *DROPPED, *PUNCTUATION, *NONSPACING_MARKS, *LOWERCASE, *COMBINING_CLASS,
    *(char for char in decomposable() if ord(char) not in _SYLLABLES),
}  # fmt: skip
# Accents to Arabic, kana, emoji: entered beforehand, in about 1 ms, since a first line would need many of them at once.
_COMMON = (*range(0x80, 0x700), *range(0x3000, 0x3100), *range(0x1F300, 0x1F650))
_COMMON_RULED = [code for code in _COMMON if chr(code) in _RULED]
_COMMON_AS_THEY_ARE = {code: chr(code) for code in _COMMON if chr(code) not in _RULED}
_CAPITAL_SIGMA = "Σ"
# Beside letters and spaces: most of them, decided without a search in the text around.
_SIGMA_WITHIN, _SIGMA_LAST = re.compile("Σ(?=[Α-ΡΣ-ώ])"), re.compile("Σ(?<=[Α-ΡΣ-ώ]Σ)(?= |\\Z)")
_NOT_DECIDING = CASE_IGNORABLE | DROPPED
IN_CONTEXT = "\0"  # stands for a character whose normal form depends on others; a text's own \0 is dropped


@cache
def plain_characters(lowercase: bool, strip_accents: bool, split_cjk: bool) -> "PlainCharacters":
    """One table for all tokenizers with these settings: the forms do not depend on the vocabulary."""
    return PlainCharacters(BasicTokenizer(lowercase, strip_accents, split_cjk))


class PlainCharacters(dict):
    """A table for `str.translate`: a character's normal form, with spaces around what is a word by itself.

    Filled when a character is first met, but for common ones. A character whose normal form depends on its neighbours
    (a mark that is sorted among others) becomes `IN_CONTEXT`.
    """

    def __init__(self, basic: BasicTokenizer):
        super().__init__()
        self._basic = basic
        self.update(_COMMON_AS_THEY_ARE)
        for code in _COMMON_RULED:
            self[code]

    def words(self, text: str) -> list[str] | None:
        """The words of a text; None where the readable form must decide."""
        if "、" <= text < "龦" and self._basic.split_cjk and _CHINESE.fullmatch(text):  # asks no table of thousands
            return list(text.replace(" ", ""))
        if "가" <= text < "\ud7a4" and _KOREAN.fullmatch(text):  # nor one with an entry for each of 11,172 syllables
            letters = normalize("NFD", text) if self._basic.strip_accents else text
            return _KOREAN_WORD.findall(letters.lower() if self._basic.lowercase else letters)
        if _CAPITAL_SIGMA in text and self._basic.lowercase:
            text = _with_small_sigmas(text)
        translated = text.translate(self)
        return None if IN_CONTEXT in translated else translated.split()

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code in _SYLLABLES:
            form = normalize("NFD", char) if self._basic.strip_accents else char
        elif char in _RULED:
            form = self._form(char)
        else:
            form = f" {char} " if self._basic.split_cjk and is_cjk(char) else char
        self[code] = form
        return form

    def _form(self, char: str) -> str:
        """The normal form by the rules of `basic` for a character alone."""
        text = LOWERCASE.get(char, char) if self._basic.lowercase else char
        if self._basic.strip_accents:
            text = "".join([part for part in "".join(map(decompose, text)) if part not in NONSPACING_MARKS])
            if not COMBINING_CLASS.keys().isdisjoint(text):
                return IN_CONTEXT
        if char in WHITESPACE or char in DROPPED:
            return " " if char in WHITESPACE else ""
        if (self._basic.lowercase and char == _CAPITAL_SIGMA) or any(map(str.isspace, text)):
            return IN_CONTEXT
        if self._basic.split_cjk and is_cjk(char):
            return f" {text} "
        return "".join([f" {part} " if part in PUNCTUATION else part for part in text])


def _with_small_sigmas(text: str) -> str:
    """Each Σ as ς or σ: see `basic.lower_sigma`. A blank is not cased, so a word's end decides like a text's."""
    text = _SIGMA_LAST.sub("ς", _SIGMA_WITHIN.sub("σ", text))
    if _CAPITAL_SIGMA not in text:
        return text
    return re.sub(_CAPITAL_SIGMA, lambda match: "ς" if _is_final(text, match.start()) else "σ", text)


def _is_final(text: str, index: int) -> bool:
    return _deciding(text, index, 1) not in CASED and _deciding(text, index, -1) in CASED


def _deciding(text: str, index: int, step: int) -> str:
    """The next character in this direction that decides about a Σ; "" at an end of the text."""
    index += step
    while 0 <= index < len(text) and text[index] in _NOT_DECIDING:
        index += step
    return text[index] if 0 <= index < len(text) else ""
