"""The tokens of words that were not seen before, fast: dictionaries instead of a search through the vocabulary.

The same as `WordPieceTokenizer.words` and `split_word`, to the last code point; those are the readable form.
"""

from collections.abc import Iterable

from bertlab.wordpiece.special import SPECIAL_TOKENS
from bertlab.wordpiece.unicode import COMBINING_CLASS, PUNCTUATION, is_cjk

_IDEOGRAPHS = range(0x4E00, 0x9FA6)  # assigned since Unicode 1.1, without case, marks or another normal form
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

    Filled when a character is first met, by the readable form. A character whose normal form depends on its neighbours
    (a final sigma, a mark that is sorted among others) becomes `IN_CONTEXT`.
    """

    def __init__(self, basic):
        super().__init__()
        self._basic = basic

    def words(self, chunk: str) -> list[str] | None:
        """The words of a chunk of text; None where the readable form must decide."""
        translated = chunk.translate(self)
        return None if IN_CONTEXT in translated else translated.split()

    def __missing__(self, code: int) -> str:
        plain = self._basic.split_cjk and code in _IDEOGRAPHS
        self[code] = form = f" {chr(code)} " if plain else self._form(chr(code))
        return form

    def _form(self, char: str) -> str:
        words = [word.text for word in self._basic.words(char)]
        text = "".join(words)
        is_sorted = self._basic.strip_accents and any(COMBINING_CLASS.get(part, 0) for part in text)
        if is_sorted or (self._basic.lowercase and char == "Σ") or any(map(str.isspace, text)):
            return IN_CONTEXT
        alone = self._basic.split_cjk and is_cjk(char)
        return "".join(f" {word} " if alone or word in PUNCTUATION else word for word in words)
