"""The counting half of the learner: text of any size → how often each word occurs.

The slow part would be to run the exact basic tokenizer over the whole text. It works on each whitespace-separated
chunk by itself, so its result does not depend on the chunk's position: we count the *distinct chunks* of each block of
text, and tokenize each of those once (43 MB of novels hold 7.9 million chunks, 0.24 million of them distinct).
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

from bertlab.common.errors import ConfigError, DataError
from bertlab.common.progress import bar
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer
from bertlab.tokenizers.wordpiece.fast import ChunkTable, FastWords, chunks_of

BLOCK = 1 << 22  # characters counted at a time
MAX_LINE_PART = 1 << 26  # bytes without any space or line end: no text looks like that


# --- reading ---


def read_texts(paths: Iterable[str | Path]) -> Iterator[str]:
    """Yields the text of UTF-8 files in blocks of about 4 MB that end where a line (or, in a huge line, a word) ends.

    Raises DataError, naming file and line, for text that is not UTF-8 or holds NUL bytes.
    """
    for path in paths:
        try:
            with open(path, "rb") as file:
                for line, block in _blocks(file, path):
                    yield _decode(block, path, line)
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _blocks(file, path) -> Iterator[tuple[int, bytes]]:
    """Yields blocks of whole lines, or of whole words, each with the number of its first line."""
    line, rest = 1, b""
    while read := file.read(BLOCK):
        block = rest + read
        end = block.rfind(b"\n") + 1 or block.rfind(b" ") + 1
        if not end and len(block) > MAX_LINE_PART:
            raise DataError(f"{path} line {line}: {len(block):,} bytes without a space; expected UTF-8 text")
        if end:
            yield line, block[:end]
            line += block.count(b"\n", 0, end)
        rest = block[end:]
    if rest:
        yield line, rest


def _decode(block: bytes, path, first_line: int) -> str:
    """block as text. Raises DataError, naming the line."""
    nul = block.find(b"\0")
    if nul >= 0:
        line = first_line + block.count(b"\n", 0, nul)
        raise DataError(f"{path} line {line}: contains a NUL byte; expected UTF-8 text: convert UTF-16 first")
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + block.count(b"\n", 0, error.start)
        raise DataError(
            f"{path} line {line}: not UTF-8 (byte 0x{block[error.start]:02x}: {error.reason}); "
            "convert the file first, for example with iconv"
        ) from None


def _batches(texts: Iterable[str]) -> Iterator[str]:
    """Joins short texts to blocks worth a trip to another process."""
    batch, length = [], 0
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"text {number}: expected a string, found {type(text).__name__}; see read_texts for files")
        try:
            text.isascii() or text.encode("utf-8")
        except UnicodeEncodeError as error:  # half a UTF-16 pair is no character and could not be written to vocab.txt
            raise DataError(
                f"text {number}, character {error.start}: a lone surrogate (U+{ord(text[error.start]):04X}); "
                "decode the bytes as UTF-8 without errors='surrogateescape'"
            ) from None
        batch.append(text)
        length += len(text)
        if length >= BLOCK:
            yield "\n".join(batch)
            batch, length = [], 0
    if batch:
        yield "\n".join(batch)


# --- counting ---


def count_words(
    texts: Iterable[str],
    *,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    workers: int = 1,
    max_words: int | None = None,
    characters: int | None = None,
    progress: bool = True,
) -> Counter:
    """Counts the words of `texts` as BERT's basic tokenizer splits them.

    texts: any iterable of strings, read once, a few MB at a time; `read_texts` makes one of files.
    lowercase, strip_accents: as for the tokenizer that will use the vocabulary.
    workers: processes that count; the result is the same for any number. With more than one, a script needs the usual
        ``if __name__ == "__main__":``.
    max_words: bound on memory. When more distinct words are held, those seen once are forgotten, then those seen
        twice, and so on until at most half of `max_words` are left: counts of rare words then are too low. None:
        exact, memory grows with the number of distinct words (about 100 bytes each).
    characters: about how many characters `texts` hold, for the progress bar's estimate of the time left.
    Returns a Counter: word → count.
    Raises DataError for items that are no strings; ConfigError for settings that make no sense.
    """
    if isinstance(texts, str):
        raise ConfigError("texts must be an iterable of strings, not one string: wrap it in a list")
    if workers < 1:
        raise ConfigError(f"workers must be at least 1, not {workers}")
    if max_words is not None and max_words < 1:
        raise ConfigError(f"max_words must be at least 1, not {max_words}")
    words = Counter()
    total = None if characters is None else characters / 1e6
    with bar("Counting words (MB)", total) if progress else nullcontext() as running:
        for size, of_block in _count_blocks(_batches(texts), workers, lowercase, strip_accents):
            words.update(of_block)
            if running:
                running.advance(size / 1e6)
            if max_words is not None and len(words) > max_words:
                _forget_rare(words, max_words // 2)
    return words


def _count_blocks(blocks: Iterable[str], workers: int, *rules) -> Iterator[tuple[int, dict[str, int]]]:
    """`_count_block` of each, in order; never holds more than a few blocks (`Executor.map` takes them all)."""
    if workers == 1:
        yield from (_count_block(block, *rules) for block in blocks)
        return
    # "spawn": a forked copy of a process in which TensorFlow's threads run can hang
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        try:
            running = deque()
            for block in blocks:
                running.append(pool.submit(_count_block, block, *rules))
                if len(running) > 2 * workers:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except BrokenProcessPool:
            raise ConfigError(
                f"one of the {workers} counting processes stopped unexpectedly; in a script, put the commands under "
                '`if __name__ == "__main__":`; if memory ran out, use fewer workers (workers=1 needs no process)'
            ) from None


def _count_block(text: str, *rules) -> tuple[int, dict[str, int]]:
    """The length of a text and its words with their counts. rules: of the `BasicTokenizer`."""
    words, words_of = {}, _table(*rules)
    for chunk, count in Counter(chunks_of(text)).items():
        for word in words_of[chunk]:
            words[word] = words.get(word, 0) + count
    return len(text), words


@lru_cache(maxsize=1)  # one for all blocks that a process counts
def _table(*rules) -> ChunkTable:
    return ChunkTable(FastWords(BasicTokenizer(*rules)))


def _forget_rare(words: Counter, kept: int) -> None:
    """Deletes the words seen once, then those seen twice … until at most `kept` are left."""
    for least in sorted(set(words.values())):
        for word in [word for word, count in words.items() if count == least]:
            del words[word]
        if len(words) <= kept:
            return
