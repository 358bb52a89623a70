"""Tables of chunks of text, which are looked up instead of cut when they come again.

The tokens of a chunk between two spaces never depend on the text around it, and the same chunks occur again and again:
"the" is one chunk in twenty. Chunks that are not in the table are cut all at once (see `many_words`).
"""

from array import array
from functools import cached_property
from itertools import repeat

import numpy as np

from bertlab.tokenizers.wordpiece.basic import Word
from bertlab.tokenizers.wordpiece.encoding import range_indices
from bertlab.tokenizers.wordpiece.few_texts import ASCII_WORD, FewTexts
from bertlab.tokenizers.wordpiece.many_words import ManyWords, slices

FEW_CHUNKS = 1 << 9  # new ones: below it, plain Python is faster than NumPy
TABLE_CHUNKS = 1 << 18  # the table is emptied when it holds more chunks, about 50 MB
MAX_CHUNK_LENGTH = 128  # longer ones are unlikely to come again: not kept


class ChunkTable(dict):
    """chunk → its number; `ids` holds the tokens of all chunks, one chunk after the other.

    Looking up a chunk that is not there cuts it into tokens and adds it (`dict.__missing__`).
    """

    def __init__(self, tokenizer, few: FewTexts):
        super().__init__()
        self._tokenizer, self._few = tokenizer, few
        self._empty()

    @cached_property
    def _many(self) -> ManyWords:
        pieces = self._tokenizer.vocabulary.own.pieces
        return ManyWords(self._few.plain, self._few.match, self._tokenizer.split_cjk, pieces)

    def _empty(self) -> None:
        self.clear()
        self.ids = array("i")  # of each token
        self._splits = array("q", [0])  # chunk n has the tokens from _splits[n] to _splits[n + 1]

    def limit(self) -> None:
        """Empties the table if it has grown too large; numbers looked up before are void then."""
        if len(self._splits) > TABLE_CHUNKS or len(self.ids) > 4 * TABLE_CHUNKS:
            self._empty()

    def numbers(self, chunks: list) -> np.ndarray:
        """The number of each chunk, (chunks,) int32."""
        numbers = np.fromiter(map(self.get, chunks, repeat(-1)), np.int32, len(chunks))
        indices = np.flatnonzero(numbers < 0)
        if len(indices):
            missing = list(map(chunks.__getitem__, indices.tolist()))
            added = self._add_all(dict.fromkeys(missing))
            numbers[indices] = np.fromiter(map(added.__getitem__, missing), np.int32, len(missing))
        return numbers

    def _add_all(self, chunks: dict) -> dict:
        """Adds chunks that are not there; their numbers, also of those that are too long to be kept."""
        special = [chunk for chunk in chunks if isinstance(chunk, tuple)]
        if len(special) == len(chunks) or len(chunks) < FEW_CHUNKS or self._few.are_few(sum(map(len, chunks))):
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
        for index in in_context:
            del added[chunks[index]]
        short = max(map(len, chunks)) <= MAX_CHUNK_LENGTH
        self.update(added if short else {chunk: n for chunk, n in added.items() if len(chunk) <= MAX_CHUNK_LENGTH})
        return added | {chunks[index]: self[chunks[index]] for index in in_context}

    def indices(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The places in `ids` of these chunks' tokens, (tokens,); the number of tokens of each chunk, (chunks,)."""
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
        ids = []
        if isinstance(chunk, tuple):
            ids.append(self._tokenizer.vocabulary.index(chunk[0]))
        else:
            self._few.match.add(self._few.texts(chunk), ids)
        self.ids.extend(ids)


class OffsetChunkTable(ChunkTable):
    """The same with the offsets of each token and the number of its word, both counted within the chunk."""

    def __init__(self, tokenizer):
        super().__init__(tokenizer, None)

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

    def _words(self, chunk) -> list[Word]:
        if isinstance(chunk, tuple):
            return [Word(chunk[0], range(chunk[1]))]
        if chunk.isascii() and chunk.isprintable():  # most chunks; the rules for ASCII fit into one expression
            lowered = chunk.lower() if self._tokenizer.lowercase else chunk
            return [Word(match[0], range(*match.span())) for match in ASCII_WORD.finditer(lowered)]
        return self._tokenizer.basic.words(chunk)
