"""The fast form: the same tokens as the readable form (`basic`, `tokenizer`), for one text or many.

A *chunk* is the text between two blanks. Its words never depend on the text around it, and the same chunks come again
and again ("the" is one in twenty). So a text costs a split into chunks and a look-up of each in a table, whose entries
are the ids as bytes: joined, they are the text's ids. A chunk that is not in the table is cut into words (`FastWords`)
and these into tokens (`LongestMatch`).
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import accumulate

import numpy as np

from bertlab.tokenizers.wordpiece.basic import BasicTokenizer, Word, lone_form
from bertlab.tokenizers.wordpiece.encoding import Ragged, RaggedEncoding
from bertlab.tokenizers.wordpiece.unicode import (
    CASE_IGNORABLE,
    CASED,
    CJK_RANGES,
    COMBINING_CLASS,
    DROPPED,
    NONSPACING_MARKS,
    WHITESPACE,
)

TABLE_CHUNKS = 1 << 18  # a table is emptied when it has so many, about 50 MB
MAX_CHUNK_LENGTH = 128  # longer ones are unlikely to come again: not kept
ID_BYTES = array("i").itemsize
ASCII_WORD = re.compile("[0-9A-Za-z]+|[^0-9A-Za-z]")
# `str.split` also cuts at these control characters, but BERT drops them: "a\x0bb" is one word.
_DROPPED_BLANKS = re.compile("[" + "".join(sorted(char for char in DROPPED if char.isspace())) + "]")
_CJK = "".join(f"{chr(first)}-{chr(last)}" for first, last in CJK_RANGES)
_BLANKS = re.escape("".join(sorted(WHITESPACE)))
_CHUNK = re.compile(f"[^{_BLANKS}]+")
_CHUNK_OR_CJK = re.compile(f"[{_CJK}]|[^{_BLANKS}{_CJK}]+")
_IN_CONTEXT = "\0"  # stands for a character whose normal form depends on others; a text's own \0 is dropped
_CAPITAL_SIGMA = "Σ"


# === From text to words ===


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


class CharacterForms(dict):
    """A table for `str.translate`: a character's normal form, with spaces around what is a word by itself.

    A character whose normal form depends on its neighbours (a mark that is sorted among others) becomes `_IN_CONTEXT`.
    """

    def __init__(self, lowercase: bool, strip_accents: bool, split_cjk: bool):
        super().__init__()
        self._rules, self._strip_accents = (lowercase, strip_accents, split_cjk), strip_accents

    def __missing__(self, code: int) -> str:
        form = lone_form(chr(code), *self._rules)
        if self._strip_accents:
            form = "".join([part for part in form if part not in NONSPACING_MARKS])
            if not COMBINING_CLASS.keys().isdisjoint(form):
                form = _IN_CONTEXT
        if any(part.isspace() and part != " " for part in form):
            form = _IN_CONTEXT
        self[code] = form
        return form


character_forms = cache(CharacterForms)  # one for all tokenizers with these settings and any vocabulary


def _small_sigma(text: str, index: int) -> str:
    """ς or σ for a capital sigma: see `basic.lower_sigma`."""
    return "ς" if _deciding(text, index, 1) not in CASED and _deciding(text, index, -1) in CASED else "σ"


def _deciding(text: str, index: int, step: int) -> str:
    """The next character in this direction that decides about a Σ; "" at an end of the text."""
    index += step
    while 0 <= index < len(text) and (text[index] in CASE_IGNORABLE or text[index] in DROPPED):
        index += step
    return text[index] if 0 <= index < len(text) else ""


# === From words to tokens ===


class BatchTokenizer:
    """Encodes texts with the rules of one `WordPieceTokenizer`; reached through its `encode_batch`."""

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer
        self._words, self._match = FastWords(tokenizer.basic), LongestMatch(tokenizer)
        self._ids = ChunkTable(self._ids_of)
        self._spans = ChunkTable(self._spans_of)

    def encode(self, texts: Iterable[str], special_tokens: bool) -> Ragged:
        """Ids of all texts, one row for each."""
        ids, whole = self._ids.__getitem__, special_tokens or self._tokenizer.whole
        row = self._row_with_whole_tokens if whole else lambda text, _: b"".join(map(ids, chunks_of(text)))
        rows = [row(text, special_tokens) for text in texts]
        ends = np.fromiter(accumulate(map(len, rows), initial=0), np.int64, len(rows) + 1)
        return Ragged(np.frombuffer(bytearray().join(rows), np.int32), ends // ID_BYTES)

    def _row_with_whole_tokens(self, text: str, special_tokens: bool) -> bytes:
        row = []
        for part, _, token in self._tokenizer.whole.split(text, special_tokens):
            row += map(self._ids.__getitem__, chunks_of(part) if token is None else [(token, len(part))])
        return b"".join(row)

    def _ids_of(self, chunk: str | tuple[str, int]) -> bytes:
        """The ids of a chunk, or of a token that is read as a whole with its length in the text."""
        if isinstance(chunk, tuple):
            return array("i", [self._tokenizer.vocabulary.index(chunk[0])]).tobytes()
        ids = []
        for word in self._words(chunk):
            ids += self._match(word)
        return array("i", ids).tobytes()

    # === With offsets ===

    def encode_with_offsets(self, texts: Iterable[str], special_tokens: bool) -> RaggedEncoding:
        """Ids, offsets and word numbers of all texts, one row for each."""
        found, starts, row_ends = [], [], [0]  # of all chunks: their tokens, and their places in their texts
        for text in texts:
            for chunk, start in self._chunks_with_starts(text, special_tokens):
                if tokens := self._spans[chunk]:
                    found.append(tokens)
                    starts.append(start)
            row_ends.append(len(found))
        tokens = np.frombuffer(bytearray().join(found), np.int32).reshape(-1, 4)  # (tokens, 4): id, start, end, word
        ends = np.fromiter(accumulate(map(len, found), initial=0), np.int64, len(found) + 1) // (4 * ID_BYTES)
        words_before = np.concatenate([[0], np.cumsum(tokens[ends[1:] - 1, 3] + 1)])  # (chunks + 1,) in all texts
        row_ends = np.array(row_ends, np.int64)
        words_before_row = np.repeat(words_before[row_ends[:-1]], np.diff(row_ends))  # (chunks,)
        sizes = np.diff(ends)  # (chunks,)
        offsets = tokens[:, 1:3] + np.repeat(np.array(starts, np.int32), sizes)[:, None]  # (tokens, 2)
        word_ids = tokens[:, 3] + np.repeat(words_before[:-1] - words_before_row, sizes)  # (tokens,)
        return RaggedEncoding(tokens[:, 0].copy(), ends[row_ends], offsets, word_ids.astype(np.int32))

    def _chunks_with_starts(self, text: str, special_tokens: bool) -> Iterator[tuple[str | tuple[str, int], int]]:
        """(chunk, or a token that is read as a whole with its length; its place in the text)."""
        pattern = _CHUNK_OR_CJK if self._tokenizer.split_cjk and not text.isascii() else _CHUNK
        for part, start, token in self._tokenizer.whole.split(text, special_tokens):
            if token is None:
                yield from ((match[0], start + match.start()) for match in pattern.finditer(part))
            else:
                yield (token, len(part)), start

    def _spans_of(self, chunk: str | tuple[str, int]) -> bytes:
        """A chunk's tokens: of each its id, start and end in the chunk, and the number of its word in it."""
        rows, index = array("i"), self._tokenizer.vocabulary.index
        for number, word in enumerate(self._words_with_positions(chunk)):
            for piece, start, end in self._tokenizer.split_word_with_spans(word):
                rows.extend((index(piece), start, end, number))
        return rows.tobytes()

    def _words_with_positions(self, chunk: str | tuple[str, int]) -> list[Word]:
        if isinstance(chunk, tuple):
            return [Word(chunk[0], range(chunk[1]))]
        if chunk.isascii() and chunk.isprintable():  # most chunks; the rules for ASCII fit into one expression
            lowered = chunk.lower() if self._tokenizer.lowercase else chunk
            return [Word(match[0], range(*match.span())) for match in ASCII_WORD.finditer(lowered)]
        return self._tokenizer.basic.words(chunk)


class LongestMatch:
    """Greedy longest match: the same as `WordPieceTokenizer.split_word`, without asking for sizes that no token has."""

    def __init__(self, tokenizer):
        own = tokenizer.vocabulary.own
        self._max_chars, self._unknown, self._index = tokenizer.max_chars_per_word, [own.unk_id], own.ids
        longer: dict[str, set[int]] = {}  # two characters, behind ## or not → sizes of the longer tokens that begin so
        for piece in own.pieces:
            mark = "##" if piece.startswith("##") else ""
            sizes = longer.setdefault(piece[: len(mark) + 2], set())
            if (size := len(piece) - len(mark)) > 2:
                sizes.add(size)
        # → these sizes, and the id and size of the token to take if none of them fits
        index = own.ids
        self._starts = {
            start: (sorted(sizes, reverse=True), index.get(start, index.get(start[:-1])), 2 if start in own else 1)
            for start, sizes in longer.items()
        }

    def __call__(self, word: str) -> list[int]:
        """The ids of a word's tokens."""
        if len(word) > self._max_chars:
            return self._unknown
        index, starts = self._index, self._starts
        if (number := index.get(word)) is not None:
            return [number]
        ids, start, end, mark = [], 0, len(word), ""
        while start < end:
            if (found := starts.get(mark + word[start : start + 2])) is None:
                number, size = index.get(mark + word[start]), 1
            else:
                longer, number, size = found
                for more in longer:  # behind the word's end a slice is the rest of the word, which may be a token
                    if (other := index.get(mark + word[start : start + more])) is not None:
                        number, size = other, more
                        break
            if number is None:
                return self._unknown
            ids.append(number)
            start += size
            mark = "##"
        return ids
