"""Documents of any size as one file of ids: read once, then any part of it can be read at any time.

    FOLDER/ids.bin        int32: the ids of the words in their order, −1 between two paragraphs
    FOLDER/words.json     the words, most frequent first, and how often each is in the text
    FOLDER/left_out.json  reason → number of texts that could not be read

Rare words are left out, as in word2vec's program: the words on both sides of one become neighbours.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.common.errors import DataError
from bertlab.common.files import read_json, remove_files, write_atomically, write_json
from bertlab.data.documents import Document
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer
from bertlab.tokenizers.wordpiece.fast import ChunkTable, FastWords, chunks_of
from bertlab.training.word2vec.settings import Word2VecSettings

IDS, WORDS, RAW, LEFT_OUT = "ids.bin", "words.json", "raw.bin", "left_out.json"
BREAK = -1  # between two paragraphs: no window reaches across it
_RARE = -2
_TOGETHER = 1 << 20  # ids


@dataclass(frozen=True)
class StoredText:
    """A text as ids. words: V of them. counts: (V,) int64, how often each is in `ids`. ids: int32, on the disk."""

    words: list[str]
    counts: np.ndarray
    ids: np.ndarray


def store_text(documents: Iterable[Document], folder: Path, settings: Word2VecSettings, advance=lambda: None) -> None:
    """Writes the ids and words of documents. advance: called after each document.

    Raises DataError for a text with fewer than two words that are frequent enough.
    """
    folder.mkdir(parents=True, exist_ok=True)
    raw = folder / RAW
    counts = _write_all(documents, raw, BasicTokenizer(settings.lowercase), advance)
    kept = [pair for pair in counts.most_common(settings.most_words) if pair[1] >= settings.min_count]
    if len(kept) < 2:
        raise DataError(
            f"expected at least two words that are in the text {settings.min_count} times, got {len(kept)} of "
            f"{len(counts):,} words; give more text, or a lower min_count"
        )
    new_ids = np.full(len(counts) + 1, _RARE, "int32")  # by number of first appearance; the last is that of −1
    new_ids[BREAK] = BREAK
    numbers = {word: number for number, word in enumerate(counts)}
    new_ids[[numbers[word] for word, _ in kept]] = np.arange(len(kept))
    write_atomically(folder / IDS, lambda partial: _write_kept(raw, new_ids, partial))
    raw.unlink()
    write_json(folder / WORDS, kept)


def open_text(folder: Path) -> StoredText | None:
    """The text that `store_text` has written; None where it has not finished."""
    if not (folder / WORDS).exists():
        return None
    words, counts = zip(*read_json(folder / WORDS))
    return StoredText(list(words), np.array(counts, "int64"), np.memmap(folder / IDS, "int32", "r"))


def remove_text(folder: Path) -> None:
    """Deletes the files of a stored text, and the folder unless it holds anything else."""
    names = (RAW, IDS, WORDS, LEFT_OUT)
    remove_files(folder, (*names, *(f".{name}.*.partial" for name in names)))


def _write_all(documents: Iterable[Document], path: Path, basic: BasicTokenizer, advance) -> Counter:
    """Writes the number of every word, by first appearance; returns the words' counts in this order."""
    counts: Counter = Counter()
    numbers: dict[str, int] = {}
    words_of = ChunkTable(FastWords(basic))
    with open(path, "wb") as file:
        for document in documents:
            ids = array("i")
            for paragraph in document.paragraphs:
                for chunk in chunks_of(" ".join(paragraph)):
                    for word in words_of[chunk]:
                        counts[word] += 1
                        ids.append(numbers.setdefault(word, len(numbers)))
                ids.append(BREAK)
            ids.tofile(file)
            advance()
    return counts


def _write_kept(raw: Path, new_ids: np.ndarray, path: Path) -> None:
    with open(raw, "rb") as source, open(path, "wb") as file:
        while len(part := np.fromfile(source, "int32", _TOGETHER)):
            ids = new_ids[part]
            ids[ids != _RARE].tofile(file)
