"""The tokens of a few short texts, one word after the other: tables of NumPy would cost more than they save.

One call normalizes a whole text, one cuts it into words, and `longest_match` cuts the words that are not tokens. So the
first lines of a new tokenizer take hardly longer than later ones, and a long first text is cut here, too.
"""

import re

from bertlab.tokenizers.wordpiece.characters import plain_characters
from bertlab.tokenizers.wordpiece.longest_match import LongestMatch
from bertlab.tokenizers.wordpiece.unicode import DROPPED, WHITESPACE

FEW_CHARS = 1 << 13  # in a call: below it, plain Python is faster than NumPy
FIRST_CHARS = 8  # for each token of the vocabulary: NumPy's tables pay only behind so many characters of longer calls

# `str.split` also cuts at these control characters, but BERT drops them: "a\x0bb" is one word.
BLANKS_TO_DROP = sorted(char for char in DROPPED if char.isspace())
_DROPPED_BLANKS = re.compile("[" + "".join(BLANKS_TO_DROP) + "]")
ASCII_WORD = re.compile("[0-9A-Za-z]+|[^0-9A-Za-z ]")
_ASCII_CONTROLS = {ord(char): None for char in DROPPED if char.isascii()} | dict.fromkeys(map(ord, WHITESPACE), " ")


def split_chunks(text: str) -> list[str]:
    """The parts of a text between blanks."""
    return _DROPPED_BLANKS.sub("", text).split()


class FewTexts:
    """Adds the tokens of texts to lists, by the rules of one `WordPieceTokenizer`.

    Attributes:
        plain: the normal form of each character.   match: cuts words into tokens.
    """

    def __init__(self, tokenizer):
        self._basic, vocabulary = tokenizer.basic, tokenizer.vocabulary
        self._lowercase = self._basic.lowercase
        self.plain = plain_characters(self._lowercase, self._basic.strip_accents, self._basic.split_cjk)
        self.match = LongestMatch(vocabulary.own, tokenizer.max_chars_per_word)
        self._first_chars = FIRST_CHARS * len(vocabulary)

    def are_few(self, chars: int) -> bool:
        """Whether so many characters are cut here: few in a call, and at first many, until NumPy's tables pay."""
        if chars < FEW_CHARS:
            return True
        self._first_chars -= chars
        return self._first_chars >= 0

    def add(self, text: str, ids: list[int]) -> None:
        """Adds the tokens of a text without special tokens to a list."""
        words = self._words(text)
        if words is None:  # the readable form must decide, but hardly ever about more than one chunk
            words = [word for chunk in split_chunks(text) for word in self.texts(chunk)]
        self.match.add(words, ids)

    def texts(self, chunk: str) -> list[str]:
        """The words of a chunk."""
        words = self._words(chunk)
        return [word.text for word in self._basic.words(chunk)] if words is None else words

    def _words(self, text: str) -> list[str] | None:
        """The words of a text; None where the readable form must decide."""
        if not text.isascii():
            return self.plain.words(text)
        if not text.isprintable():
            text = text.translate(_ASCII_CONTROLS)
        return ASCII_WORD.findall(text.lower() if self._lowercase else text)
