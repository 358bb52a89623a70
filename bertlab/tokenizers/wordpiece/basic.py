"""From text to words, as BERT's published tokenizer does it, one readable step after the other.

    clean       control and format characters and U+FFFD vanish
    chunk       text is cut at whitespace; every Chinese character becomes a chunk of its own
    normalize   uncased vocabularies: lower case, then accents are taken off their letters and thrown away
    split       every punctuation character becomes a word of its own

Each character travels as a pair (character, position in the original text), so that a token can tell where it came
from even though normalizing changes the number of characters. Source of the rules: `tokenization.py` in
google-research/bert (Devlin et al. 2019); Unicode is frozen, see `bertlab.tokenizers.wordpiece.unicode`.
"""

from collections.abc import Iterator
from typing import NamedTuple

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

Chars = list[tuple[str, int]]  # characters with their positions in the original text


class Word(NamedTuple):
    """A normalized word and, for each of its characters, the position of the character it came from."""

    text: str
    positions: list[int]


class BasicTokenizer:
    """Cuts text into the words that WordPiece then cuts into tokens.

    lowercase: lower-case every character (uncased vocabularies).
    strip_accents: decompose (NFD) and drop nonspacing marks; None: the same as `lowercase`.
    split_cjk: make each Chinese character a word.

    Example:
        >>> [word.text for word in BasicTokenizer().words("Zoë's house")]
        ['zoe', "'", 's', 'house']
    """

    def __init__(self, lowercase: bool = True, strip_accents: bool | None = None, split_cjk: bool = True):
        self.lowercase = lowercase
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.split_cjk = split_cjk

    def words(self, text: str) -> list[Word]:
        """The words of a text, in order: "Zoë's" → zoe, ', s."""
        return [word for chunk in self._chunks(text) for word in split_punctuation(self._normalize(chunk))]

    def normal_form(self, text: str) -> tuple[str, list[int]]:
        """The text as its words are normalized, white space as spaces; the position of each of its characters."""
        chars, chunk = [], []
        for position, char in enumerate(text):
            if char in WHITESPACE:
                chars += [*self._normalize(chunk), (" ", position)]
                chunk = []
            elif char not in DROPPED:
                chunk.append((char, position))
        chars += self._normalize(chunk)
        return "".join(char for char, _ in chars), [position for _, position in chars]

    def _chunks(self, text: str) -> Iterator[Chars]:
        chunk = []
        for position, char in enumerate(text):
            if char in DROPPED:
                continue
            is_single = self.split_cjk and is_cjk(char)
            if chunk and (is_single or char in WHITESPACE):
                yield chunk
                chunk = []
            if is_single:
                yield [(char, position)]
            elif char not in WHITESPACE:
                chunk.append((char, position))
        if chunk:
            yield chunk

    def _normalize(self, chunk: Chars) -> Chars:
        if self.lowercase:
            chunk = lower(chunk)
        if self.strip_accents:
            chunk = strip_accents(chunk)
        return chunk


def lower(chunk: Chars) -> Chars:
    """Lower case of every character: one becomes one, except İ, which becomes i and a dot (U+0307)."""
    result = []
    for index, (char, position) in enumerate(chunk):
        lowered = lower_sigma(chunk, index) if char == "Σ" else LOWERCASE.get(char, char)
        result += [(part, position) for part in lowered]
    return result


def lower_sigma(chunk: Chars, index: int) -> str:
    """ς at the end of a word, σ elsewhere: a cased letter comes before it and none after it (Unicode, table 3-17).

    Punctuation such as the apostrophe, accents and modifiers between them are ignored.
    """
    before = next((char for char, _ in chunk[index - 1 :: -1] if char not in CASE_IGNORABLE), "") if index else ""
    behind = next((char for char, _ in chunk[index + 1 :] if char not in CASE_IGNORABLE), "")
    return "ς" if before in CASED and behind not in CASED else "σ"


def strip_accents(chunk: Chars) -> Chars:
    """Canonical decomposition (NFD), then without the nonspacing marks: é → e, ç → c; but ø and ß stay."""
    decomposed = [(part, position) for char, position in chunk for part in decompose(char)]
    return [(char, position) for char, position in canonical_order(decomposed) if char not in NONSPACING_MARKS]


def canonical_order(chars: Chars) -> Chars:
    """Sorts each run of combining characters by combining class, as NFD demands (Unicode, section 3.11)."""
    result, run = [], []
    for char in chars:
        if COMBINING_CLASS.get(char[0], 0):
            run.append(char)
        else:
            result += [*_in_order(run), char]
            run = []
    return result + _in_order(run)


def _in_order(run: Chars) -> Chars:
    return sorted(run, key=lambda char: COMBINING_CLASS[char[0]])


def split_punctuation(chunk: Chars) -> Iterator[Word]:
    """Every punctuation character is a word, and so is the text between two of them."""
    text, positions = "", []
    for char, position in chunk:
        if char not in PUNCTUATION:
            text += char
            positions.append(position)
            continue
        if text:
            yield Word(text, positions)
        yield Word(char, [position])
        text, positions = "", []
    if text:
        yield Word(text, positions)


def lone_form(char: str, lowercase: bool, strip_accents: bool, split_cjk: bool) -> str:
    """The form of a character between any others, with spaces around what is a word by itself; marks are kept.

    Σ, and combining characters that are not in order, have others beside some neighbours.
    """
    if char in WHITESPACE or char in DROPPED:
        return " " if char in WHITESPACE else ""
    text = LOWERCASE.get(char, char) if lowercase else char
    if strip_accents:
        text = "".join(map(decompose, text))
    if split_cjk and is_cjk(char):
        return f" {text} "
    return "".join([f" {part} " if part in PUNCTUATION else part for part in text])
