"""The batch form: the same tokens as the readable form, for many texts at once.

The tokens of a chunk of text between two spaces never depend on the text around it, and the same chunks occur again
and again: "the" is one chunk in twenty. So a table stores the tokens of each chunk, and a text costs one split, one
dictionary lookup per chunk, and NumPy for the rest. Chunks that are not in the table are cut all at once (see
`many_words`). The table is emptied when it is large, so memory use is limited.
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import repeat
from threading import Lock

import numpy as np

from bertlab.wordpiece.basic import Word
from bertlab.wordpiece.encoding import Ragged, RaggedEncoding, range_indices
from bertlab.wordpiece.longest_match import LongestMatch, PlainCharacters
from bertlab.wordpiece.many_words import ManyWords, slices
from bertlab.wordpiece.special import SPECIAL_TOKENS, split_special_tokens
from bertlab.wordpiece.unicode import CJK_RANGES, DROPPED, WHITESPACE

BLOCK_CHARS = 1 << 22  # texts are worked through in blocks of about this many characters
TABLE_CHUNKS = 1 << 18  # the table is emptied when it holds more chunks, about 50 MB
FEW_CHARS = 1 << 11  # below it, plain Python is faster than NumPy
SEEN = 1 << 18  # marks for words that have occurred once
MAX_CHUNK_LENGTH = 128  # longer ones are unlikely to come again: not kept

_SPECIAL_CHUNKS = [(token,) for token in SPECIAL_TOKENS]
_CJK = "".join(f"{chr(first)}-{chr(last)}" for first, last in CJK_RANGES)
_BLANKS = re.escape("".join(sorted(WHITESPACE)))
# `str.split` also cuts at these control characters, but BERT drops them: "a\x0bb" is one word.
_BLANKS_TO_DROP = sorted(char for char in DROPPED if char.isspace())
_DROPPED_BLANKS = re.compile("[" + "".join(_BLANKS_TO_DROP) + "]")
_CHUNK = re.compile(f"[^{_BLANKS}]+")
_CHUNK_OR_CJK = re.compile(f"[{_CJK}]|[^{_BLANKS}{_CJK}]+")
_ASCII_WORD = re.compile("[0-9A-Za-z]+|[^0-9A-Za-z]")
_ASCII_WORD_OF_A_TEXT = re.compile("[0-9A-Za-z]+|[^0-9A-Za-z ]")


class BatchTokenizer:
    """Encodes many texts with the rules of one `WordPieceTokenizer`; reached through its `encode_batch`."""

    def __init__(self, tokenizer):
        self._table = ChunkTable(tokenizer)
        self._offset_table = OffsetChunkTable(tokenizer)
        self._few = FewChunks(self._table, tokenizer.lowercase)
        self._split_cjk = tokenizer.split_cjk
        self._lock = Lock()  # several threads may share one tokenizer

    def encode(self, texts: Iterable[str], special_tokens: bool) -> Ragged:
        """Ids of all texts, one row for each."""
        values, lengths = [], []
        for block in _blocks(texts):
            chars = sum(map(len, block))
            if chars < FEW_CHARS:
                rows = self._encode_few(block, special_tokens)
                if chars < BLOCK_CHARS and not values:  # the only block
                    return rows
                values.append(rows.values)
                lengths.append(np.diff(rows.row_splits))
                continue
            counts, chunks = self._split_all(block, special_tokens)
            with self._lock:
                indices, sizes = self._table.indices(self._table.numbers(chunks))
                values.append(np.frombuffer(self._table.ids, np.int32)[indices])
                self._table.limit()
            lengths.append(_sum_groups(sizes, counts))
        return Ragged(_concatenate(values, np.int32), _row_splits(lengths))

    def _encode_few(self, texts: list[str], special_tokens: bool) -> Ragged:
        """Ids of a few short texts, one row for each."""
        ids, ends, few = [], [0], self._few
        with self._lock:
            for text in texts:
                parts = split_special_tokens(text) if special_tokens else ((text, 0, False),)
                for part, _, special in parts:
                    if special:
                        ids += few[(part,)]
                    else:
                        few.add(part, ids)
                ends.append(len(ids))
            few.limit()
        return Ragged(np.array(ids, np.int32), np.array(ends, np.int64))

    def encode_with_offsets(self, texts: Iterable[str], special_tokens: bool) -> RaggedEncoding:
        """Ids, offsets and word numbers of all texts, one row for each."""
        values, offsets, word_ids, lengths = [], [], [], []
        table = self._offset_table
        for block in _blocks(texts):
            counts, chunks, starts = [], [], []
            for text in block:
                before = len(chunks)
                for chunk, start in self._split_with_starts(text, special_tokens):
                    chunks.append(chunk)
                    starts.append(start)
                counts.append(len(chunks) - before)
            with self._lock:
                numbers = table.numbers(chunks)  # (chunks,)
                indices, sizes = table.indices(numbers)
                values.append(np.frombuffer(table.ids, np.int32)[indices])
                spans = np.frombuffer(table.spans, np.int32).reshape(-1, 2)[indices]  # (tokens, 2)
                words = np.frombuffer(table.words, np.int32)[indices]  # (tokens,)
                word_counts = np.frombuffer(table.word_counts, np.int32)[numbers]  # (chunks,)
                table.limit()
            offsets.append(np.repeat(np.array(starts, np.int32), sizes)[:, None] + spans)  # (tokens, 2)
            word_ids.append(np.repeat(_count_before(word_counts, counts), sizes) + words)  # (tokens,)
            lengths.append(_sum_groups(sizes, counts))
        return RaggedEncoding(
            _concatenate(values, np.int32),
            _row_splits(lengths),
            _concatenate(offsets, np.int32).reshape(-1, 2),
            _concatenate(word_ids, np.int32),
        )

    def _split_all(self, texts: list[str], special_tokens: bool) -> tuple[list[int], list]:
        """How many chunks each text has, (rows,); all chunks."""
        counts, chunks = [], []
        plain = not special_tokens and not _has_dropped_blanks(texts)
        for text in texts:
            before = len(chunks)
            chunks += text.split() if plain else self._split(text, special_tokens)
            counts.append(len(chunks) - before)
        return counts, chunks

    def _split(self, text: str, special_tokens: bool) -> list:
        """The chunks of a text; a special token is a tuple that holds it."""
        if special_tokens:
            chunks = []
            for part, _, special in split_special_tokens(text):
                chunks += [(part,)] if special else self._split(part, False)
            return chunks
        return _DROPPED_BLANKS.sub("", text).split()

    def _split_with_starts(self, text: str, special_tokens: bool) -> Iterator[tuple]:
        """(chunk, its position in the text)."""
        if special_tokens:
            for part, start, special in split_special_tokens(text):
                inner = [((part,), 0)] if special else self._split_with_starts(part, False)
                yield from ((chunk, start + position) for chunk, position in inner)
        else:
            pattern = _CHUNK_OR_CJK if self._split_cjk and not text.isascii() else _CHUNK
            yield from ((match[0], match.start()) for match in pattern.finditer(text))


class ChunkTable(dict):
    """chunk → its number; `ids` holds the tokens of all chunks, one chunk after the other.

    Looking up a chunk that is not there cuts it into tokens and adds it (`dict.__missing__`).
    """

    def __init__(self, tokenizer):
        super().__init__()
        self._tokenizer = tokenizer
        self.word_ids = WordTable(tokenizer)
        self.plain = PlainCharacters(tokenizer.basic)
        self._empty()

    @cached_property
    def _many(self) -> ManyWords:
        pieces = self._tokenizer.vocabulary.pieces
        return ManyWords(self.plain, self.match, self._tokenizer.split_cjk, pieces)

    @property
    def match(self) -> LongestMatch:
        """Cuts words that are not in a table."""
        return self.word_ids.match

    def _empty(self) -> None:
        self.clear()
        self.word_ids.clear()
        self.ids = array("i")  # of each token
        self._splits = array("q", [0])  # chunk n has the tokens from _splits[n] to _splits[n + 1]

    def limit(self) -> None:
        """Empties the table if it has grown too large; numbers looked up before are void then."""
        if len(self._splits) > TABLE_CHUNKS or len(self.ids) > 4 * TABLE_CHUNKS:
            self._empty()

    def numbers(self, chunks: list) -> np.ndarray:
        """The number of each chunk, (chunks,) int32."""
        numbers = np.fromiter(map(self.get, chunks, repeat(-1)), np.int32, len(chunks))
        places = np.flatnonzero(numbers < 0)
        if len(places):
            missing = list(map(chunks.__getitem__, places.tolist()))
            added = self._add_all(dict.fromkeys(missing))
            numbers[places] = np.fromiter(map(added.__getitem__, missing), np.int32, len(missing))
        return numbers

    def _add_all(self, chunks: dict) -> dict:
        """Adds chunks that are not there; their numbers, also of those that are too long to be kept."""
        special = [token for token in _SPECIAL_CHUNKS if token in chunks]
        if len(special) == len(chunks) or sum(map(len, chunks)) < FEW_CHARS:
            return {chunk: self[chunk] for chunk in chunks}
        added = {token: self[token] for token in special}
        rest = [chunk for chunk in chunks if chunk not in added] if special else list(chunks)
        for part in slices(rest):
            added.update(self._add_slice(part))
        return added

    def _add_slice(self, chunks: list[str]) -> dict:
        first = len(self._splits) - 1
        try:
            ids, sizes, in_context = self._many.ids(chunks)
            self._splits.frombytes((len(self.ids) + np.cumsum(sizes)).tobytes())
            self.ids.frombytes(ids.tobytes())
        except BaseException:  # as above
            self._empty()
            raise
        added = dict(zip(chunks, range(first, first + len(chunks))))
        for place in in_context:
            del added[chunks[place]]
        short = max(map(len, chunks)) <= MAX_CHUNK_LENGTH
        self.update(added if short else {chunk: n for chunk, n in added.items() if len(chunk) <= MAX_CHUNK_LENGTH})
        return added | {chunks[place]: self[chunks[place]] for place in in_context}

    def indices(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where in `ids` the tokens of these chunks are, (tokens,); how many each chunk has, (chunks,)."""
        splits = np.frombuffer(self._splits, np.int64)
        starts = splits[numbers]
        sizes = splits[numbers + 1] - starts
        return range_indices(starts, sizes), sizes

    def __missing__(self, chunk) -> int:
        number = len(self._splits) - 1
        try:
            self._add(chunk)
        except BaseException:  # even an interrupt must not leave half a chunk behind
            self._empty()
            raise
        self._splits.append(len(self.ids))
        if len(chunk) <= MAX_CHUNK_LENGTH:
            self[chunk] = number
        return number

    def _add(self, chunk) -> None:
        words = self.texts(chunk)
        if len(words) == 1:  # remembered as a chunk; other words are likely to come again in other chunks
            self.ids.extend(self.match.ids(words[0]))
            return
        for word in words:
            self.ids.extend(self.word_ids[word])

    def texts(self, chunk) -> list[str]:
        """The words of a chunk."""
        if isinstance(chunk, tuple):
            return list(chunk)
        if chunk.isascii() and chunk.isprintable():
            lowered = chunk.lower() if self._tokenizer.lowercase else chunk
            return [lowered] if lowered.isalnum() else _ASCII_WORD.findall(lowered)
        words = self.plain.words(chunk)
        return [word.text for word in self._tokenizer.basic.words(chunk)] if words is None else words

    def _words(self, chunk) -> list[Word]:
        if isinstance(chunk, tuple):
            return [Word(chunk[0], range(len(chunk[0])))]
        if chunk.isascii() and chunk.isprintable():  # most chunks; the rules for ASCII fit into one expression
            lowered = chunk.lower() if self._tokenizer.lowercase else chunk
            return [Word(match[0], range(*match.span())) for match in _ASCII_WORD.finditer(lowered)]
        return self._tokenizer.basic.words(chunk)


class FewChunks(dict):
    """chunk → its tokens, for calls with little text: a list for each chunk costs more memory and less time.

    A text is normalized whole, and its words looked up in a table of words; only where that cannot be done is it cut
    into chunks. A word is kept in the table when it occurs the second time: to keep it takes as long as to cut it.
    """

    def __init__(self, table: ChunkTable, lowercase: bool):
        super().__init__()
        self._table, self._lowercase = table, lowercase
        self._words: dict[str, tuple[int, ...]] = {}
        self._seen = bytearray(SEEN)  # by hash: whether a word of this hash has occurred

    def add(self, text: str, ids: list[int]) -> None:
        """Adds the tokens of a text without special tokens to a list."""
        if not text.isascii():
            words = self._table.plain.words(text)
        else:
            lowered = text.lower() if self._lowercase else text
            words = _ASCII_WORD_OF_A_TEXT.findall(lowered) if text.isprintable() else None
        if words is not None:
            self._add_words(words, ids)
        else:
            for chunk in _DROPPED_BLANKS.sub("", text).split():
                ids += self[chunk]

    def _add_words(self, words: list[str], ids: list[int]) -> None:
        whole, known, seen, add = self._match.whole, self._words, self._seen, self._match.add
        for word in words:
            if (number := whole.get(word)) is not None:
                ids.append(number)
            elif (found := known.get(word)) is not None:
                ids += found
            else:
                before, mark = len(ids), hash(word) % SEEN
                add(word, ids)
                if not seen[mark]:
                    seen[mark] = 1
                elif len(word) <= MAX_CHUNK_LENGTH:
                    known[word] = tuple(ids[before:])

    @cached_property
    def _match(self) -> LongestMatch:
        return self._table.match

    def __missing__(self, chunk) -> list[int]:
        if chunk.__class__ is str and chunk.isalnum() and chunk.isascii():
            ids = self._match.ids(chunk.lower() if self._lowercase else chunk)
        else:
            words, known = self._table.texts(chunk), self._table.word_ids  # a mark or a character comes again
            ids = self._match.ids(words[0]) if len(words) == 1 else [token for word in words for token in known[word]]
        if len(chunk) <= MAX_CHUNK_LENGTH:
            self[chunk] = ids
        return ids

    def limit(self) -> None:
        """Empties the table if it has grown too large."""
        if max(len(self), len(self._words), len(self._table.word_ids)) > TABLE_CHUNKS // 4:
            self.clear()
            self._words.clear()
            self._table.word_ids.clear()
            self._seen = bytearray(SEEN)


class OffsetChunkTable(ChunkTable):
    """The same with the offsets of each token and the number of its word, both counted within the chunk."""

    def _add_all(self, chunks: dict) -> dict:
        return {chunk: self[chunk] for chunk in chunks}

    def _empty(self) -> None:
        super()._empty()
        self.spans = array("i")  # of each token: start and end
        self.words = array("i")  # of each token
        self.word_counts = array("i")  # of each chunk

    def _add(self, chunk) -> None:
        words = self._words(chunk)
        for number, word in enumerate(words):
            for piece, start, end in self._tokenizer.split_word_with_spans(word):
                self.ids.append(self._tokenizer.vocabulary.index(piece))
                self.spans.extend((start, end))
                self.words.append(number)
        self.word_counts.append(len(words))


class WordTable(dict):
    """word → the ids of its tokens; emptied together with the table of chunks."""

    def __init__(self, tokenizer):
        super().__init__()
        self._tokenizer = tokenizer

    @cached_property
    def match(self) -> LongestMatch:
        vocabulary = self._tokenizer.vocabulary
        return LongestMatch(vocabulary.pieces, self._tokenizer.max_chars_per_word, vocabulary.unk_id)

    def __missing__(self, word: str) -> list[int]:
        ids = self.match.ids(word)
        if len(word) <= MAX_CHUNK_LENGTH:
            self[word] = ids
        return ids


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    block, chars = [], 0
    for text in texts:
        block.append(text)
        chars += len(text)
        if chars >= BLOCK_CHARS:
            yield block
            block, chars = [], 0
    yield block


def _has_dropped_blanks(texts: list[str]) -> bool:
    joined = "\n".join(texts)
    return any(char in joined for char in _BLANKS_TO_DROP)


def _sum_groups(sizes: np.ndarray, counts: list[int]) -> np.ndarray:
    """Sums of the first counts[0] sizes, of the next counts[1] and so on: (chunks,) → (rows,)."""
    total = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.cumsum(np.array(counts, np.int64))
    return total[ends] - total[ends - np.array(counts, np.int64)]


def _count_before(sizes: np.ndarray, counts: list[int]) -> np.ndarray:
    """For each chunk the sum of the sizes before it in its row: (chunks,) → (chunks,)."""
    before = np.cumsum(sizes) - sizes
    counts = np.array(counts, np.int64)
    row_starts = (np.cumsum(counts) - counts)[counts > 0]
    return before - np.repeat(before[row_starts], counts[counts > 0])


def _row_splits(lengths: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(_concatenate(lengths, np.int64))])


def _concatenate(arrays: list[np.ndarray], dtype) -> np.ndarray:
    return np.concatenate(arrays).astype(dtype, copy=False)
