"""The batch form: the same tokens as the readable form, for many texts at once.

A few short texts are cut word by word (see `few_texts`). A longer block of texts costs one split into chunks, one
dictionary lookup per chunk in a table (see `chunk_tables`), and NumPy for the rest. The tables are emptied when they
are large, so memory use is limited.
"""

import re
from collections.abc import Iterable, Iterator
from threading import Lock

import numpy as np

from bertlab.tokenizers.wordpiece.chunk_tables import ChunkTable, OffsetChunkTable
from bertlab.tokenizers.wordpiece.encoding import Ragged, RaggedEncoding
from bertlab.tokenizers.wordpiece.few_texts import BLANKS_TO_DROP, FewTexts, split_chunks
from bertlab.tokenizers.wordpiece.unicode import CJK_RANGES, WHITESPACE

BLOCK_CHARS = 1 << 22  # texts are worked through in blocks of about this many characters

_CJK = "".join(f"{chr(first)}-{chr(last)}" for first, last in CJK_RANGES)
_BLANKS = re.escape("".join(sorted(WHITESPACE)))
_CHUNK = re.compile(f"[^{_BLANKS}]+")
_CHUNK_OR_CJK = re.compile(f"[{_CJK}]|[^{_BLANKS}{_CJK}]+")


class BatchTokenizer:
    """Encodes many texts with the rules of one `WordPieceTokenizer`; reached through its `encode_batch`."""

    def __init__(self, tokenizer):
        self._few = FewTexts(tokenizer)
        self._whole, self._index = tokenizer.whole, tokenizer.vocabulary.index
        self._table = ChunkTable(tokenizer, self._few)
        self._offset_table = OffsetChunkTable(tokenizer)
        self._split_cjk = tokenizer.split_cjk
        self._lock = Lock()  # several threads may share one tokenizer

    def encode(self, texts: Iterable[str], special_tokens: bool) -> Ragged:
        """Ids of all texts, one row for each."""
        if texts.__class__ is list and (chars := sum(map(len, texts))) < BLOCK_CHARS:  # one block, without a copy
            return self._encode_block(texts, chars, special_tokens)
        parts = [self._encode_block(block, sum(map(len, block)), special_tokens) for block in _blocks(texts)]
        if len(parts) == 1:
            return parts[0]
        lengths = [np.diff(part.row_splits) for part in parts]
        return Ragged(_concatenate([part.values for part in parts], np.int32), _row_splits(lengths))

    def _encode_block(self, texts: list[str], chars: int, special_tokens: bool) -> Ragged:
        if chars == 0:  # blank lines
            return Ragged(np.zeros(0, np.int32), np.zeros(len(texts) + 1, np.int64))
        if self._few.are_few(chars):
            return self._encode_few(texts, special_tokens)
        counts, chunks = self._split_all(texts, special_tokens)
        with self._lock:
            indices, sizes = self._table.indices(self._table.numbers(chunks))
            values = np.frombuffer(self._table.ids, np.int32)[indices]
            self._table.limit()
        return Ragged(values, _row_splits([_sum_groups(sizes, counts)]))

    def _encode_few(self, texts: list[str], special_tokens: bool) -> Ragged:
        """Ids of a few short texts, one row for each."""
        ids, ends, few = [], [0], self._few
        with self._lock:
            for text in texts:
                if special_tokens or self._whole:
                    for part, _, token in self._whole.split(text, special_tokens):
                        few.add(part, ids) if token is None else ids.append(self._index(token))
                else:
                    few.add(text, ids)
                ends.append(len(ids))
        return Ragged(np.fromiter(ids, np.int32, len(ids)), np.fromiter(ends, np.int64, len(ends)))

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
        """The number of chunks of each text, (rows,); all chunks."""
        counts, chunks = [], []
        plain = not special_tokens and not self._whole and not _has_dropped_blanks(texts)
        for text in texts:
            before = len(chunks)
            chunks += text.split() if plain else self._split(text, special_tokens)
            counts.append(len(chunks) - before)
        return counts, chunks

    def _split(self, text: str, special_tokens: bool) -> list:
        """The chunks of a text; a token that is read as a whole is a tuple (token, its length in the text)."""
        if not special_tokens and not self._whole:
            return split_chunks(text)
        chunks = []
        for part, _, token in self._whole.split(text, special_tokens):
            chunks += split_chunks(part) if token is None else [(token, len(part))]
        return chunks

    def _split_with_starts(self, text: str, special_tokens: bool) -> Iterator[tuple]:
        """(chunk, its position in the text)."""
        pattern = _CHUNK_OR_CJK if self._split_cjk and not text.isascii() else _CHUNK
        for part, start, token in self._whole.split(text, special_tokens):
            if token is None:
                yield from ((match[0], start + match.start()) for match in pattern.finditer(part))
            else:
                yield (token, len(part)), start


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
    return any(char in joined for char in BLANKS_TO_DROP)


def _sum_groups(sizes: np.ndarray, counts: list[int]) -> np.ndarray:
    """Sums of the first counts[0] sizes, of the next counts[1] and so on: (chunks,) → (rows,)."""
    total = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.cumsum(np.array(counts, np.int64))
    return total[ends] - total[ends - np.array(counts, np.int64)]


def _count_before(sizes: np.ndarray, counts: list[int]) -> np.ndarray:
    """The sum of the sizes before each chunk in its row: (chunks,) → (chunks,)."""
    before = np.cumsum(sizes) - sizes
    counts = np.array(counts, np.int64)
    row_starts = (np.cumsum(counts) - counts)[counts > 0]
    return before - np.repeat(before[row_starts], counts[counts > 0])


def _row_splits(lengths: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(_concatenate(lengths, np.int64))])


def _concatenate(arrays: list[np.ndarray], dtype) -> np.ndarray:
    return np.concatenate(arrays).astype(dtype, copy=False)
