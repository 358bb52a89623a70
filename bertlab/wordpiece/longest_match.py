"""The tokens of words that were not seen before, fast: dictionaries instead of a search through the vocabulary.

The same as `WordPieceTokenizer.words` and `split_word`, to the last code point; those are the readable form.
"""

from collections.abc import Iterable
from itertools import pairwise

from bertlab.wordpiece.special import SPECIAL_TOKENS
from bertlab.wordpiece.unicode import (
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

_IDEOGRAPHS = range(0x4E00, 0x9FA6)  # assigned since Unicode 1.1, without case, marks or another normal form
_SYLLABLES = range(0xAC00, 0xD7A4)  # Korean
_RULED = (
    WHITESPACE | DROPPED | PUNCTUATION | NONSPACING_MARKS | LOWERCASE.keys() | COMBINING_CLASS.keys() | decomposable()
)
_CAPITAL_SIGMA = "Σ"
_NOT_DECIDING = CASE_IGNORABLE | DROPPED
IN_CONTEXT = "\0"  # stands for a character whose normal form depends on others; a text's own \0 is dropped


class LongestMatch:
    """Greedy longest match. A table gives the length of the longest token that begins with three characters.

    Args:
        pieces: the vocabulary's tokens, by id.   max_chars: longer words are [UNK].   unk_id: the id of [UNK].
    """

    def __init__(self, pieces: Iterable[str], max_chars: int, unk_id: int):
        self.max_chars, self.unknown_id = max_chars, unk_id
        self._first, self._later = {}, {}  # text → id, of tokens that begin a word and of those that continue it
        for number, piece in enumerate(pieces):
            self._first[piece] = number
            if piece.startswith("##") and len(piece) > 2:
                self._later[piece[2:]] = number
        self._special = {token: [self._first[token]] for token in SPECIAL_TOKENS}
        self._reach_first, self._reach_later = _reach(self._first), _reach(self._later)

    def ids(self, word: str) -> list[int]:
        """The ids of a word's tokens."""
        length = len(word)
        if length > self.max_chars:
            return self._special.get(word) or [self.unknown_id]
        ids, start, table, reach = [], 0, self._first, self._reach_first
        while start < length:
            end = start + reach.get(word[start : start + 3], 2)
            if end > length:
                end = length
            while (number := table.get(word[start:end])) is None:
                end -= 1
                if end == start:
                    return [self.unknown_id]
            ids.append(number)
            start, table, reach = end, self._later, self._reach_later
        return ids


def _reach(table: dict[str, int]) -> dict[str, int]:
    """The length of the longest text for each beginning of three characters; without an entry it is two at most."""
    reach: dict[str, int] = {}
    for text in table:
        if len(text) > 2 and reach.get(text[:3], 0) < len(text):
            reach[text[:3]] = len(text)
    return reach


class PlainCharacters(dict):
    """For `str.translate`: a character's normal form, with spaces around what is a word by itself.

    Filled when a character is first met, by the readable form if any of its rules applies; all Chinese characters or
    all Korean syllables together. A character whose normal form depends on its neighbours (a mark that is sorted among
    others) becomes `IN_CONTEXT`.
    """

    def __init__(self, basic):
        super().__init__()
        self._basic = basic

    def words(self, text: str) -> list[str] | None:
        """The words of a text; None where the readable form must decide."""
        if _CAPITAL_SIGMA in text and self._basic.lowercase:
            text = _with_small_sigmas(text)
        translated = text.translate(self)
        return None if IN_CONTEXT in translated else translated.split()

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code in _IDEOGRAPHS:
            alone = self._basic.split_cjk
            self.update((other, f" {chr(other)} " if alone else chr(other)) for other in _IDEOGRAPHS)
        elif code in _SYLLABLES:
            cut = self._basic.strip_accents
            self.update((other, decompose(chr(other)) if cut else chr(other)) for other in _SYLLABLES)
        elif char in WHITESPACE:
            self[code] = " "
        else:
            self[code] = self._form(char) if char in _RULED or is_cjk(char) else char
        return self[code]

    def _form(self, char: str) -> str:
        words = [word.text for word in self._basic.words(char)]
        text = "".join(words)
        is_sorted = self._basic.strip_accents and any(COMBINING_CLASS.get(part, 0) for part in text)
        if is_sorted or (self._basic.lowercase and char == _CAPITAL_SIGMA) or any(map(str.isspace, text)):
            return IN_CONTEXT
        alone = self._basic.split_cjk and is_cjk(char)
        return "".join(f" {word} " if alone or word in PUNCTUATION else word for word in words)


def _with_small_sigmas(text: str) -> str:
    """Each Σ as ς or σ where its two neighbours decide (see `basic.lower_sigma`), else as it is."""
    parts = text.split(_CAPITAL_SIGMA)
    last = len(parts) - 2
    found = [parts[0]]
    for place, (before, behind) in enumerate(pairwise(parts)):
        one_before = before[-1:] or (_CAPITAL_SIGMA if place else "")
        one_behind = behind[:1] or (_CAPITAL_SIGMA if place < last else "")
        found += [_small_sigma(one_before, one_behind), behind]
    return "".join(found)


def _small_sigma(before: str, behind: str) -> str:
    """ς or σ between two characters, or Σ if they do not decide; an empty one is an end of the text."""
    if before in _NOT_DECIDING or behind in _NOT_DECIDING:
        return _CAPITAL_SIGMA
    return "ς" if before in CASED and behind not in CASED else "σ"
