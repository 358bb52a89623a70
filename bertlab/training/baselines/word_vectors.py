"""Vectors of words in word2vec's text format, which gensim, fastText and spaCy read and write too.

    3 2
    the 0.12 -0.5
    river 0.3 0.25
    bank 0.28 0.2

The first line has the number of words and of dimensions; every other line a word and its numbers, with spaces between
them. GloVe's files are the same without the first line.

Letters: N words, D dimensions.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from bertlab.analysis.vector_files import nearest
from bertlab.common.errors import DataError
from bertlab.common.files import write_atomically

FILE = "vectors.txt"  # in the folder of `bertlab word-vectors learn`


@dataclass(frozen=True)
class WordVectors:
    """Some words and their vectors. words: N different ones. vectors: (N, D) float32.

    Example:
        >>> vectors = WordVectors(["river", "bank", "of"], np.array([[1, 0], [1, 1], [0, -1]], "float32"))
        >>> vectors.of("bank").tolist(), [word for word, _ in vectors.nearest("river", top=1)]
        ([1.0, 1.0], ['bank'])
    """

    words: list[str]
    vectors: np.ndarray

    def of(self, word: str) -> np.ndarray:
        """The vector of a word: (D,). Raises DataError for a word without one."""
        return self.vectors[self._row(word)]

    def nearest(self, word: str, top: int = 10) -> list[tuple[str, float]]:
        """The other words whose vectors have the largest cosines with that of `word`, best first, with the cosines.

        Raises DataError for a word without a vector.
        """
        row = self._row(word)
        (found,) = nearest([self.vectors], self.vectors[row : row + 1], top + 1)
        return [(self.words[one.row], one.cosine) for one in found if one.row != row][:top]

    def _row(self, word: str) -> int:
        try:
            return self.words.index(word)
        except ValueError:
            raise DataError(f"there is no vector for {word!r}; expected a word as it is written in the file") from None


def write_word_vectors(path: str | Path, vectors: WordVectors) -> None:
    """Writes a file in word2vec's text format. Reading it gives the same float32 numbers again.

    Raises DataError for a word that is empty or contains a space or a line end, and where the system refuses.
    """
    for word in vectors.words:
        if word.split() != [word]:
            raise DataError(f"{path}: expected words without spaces, got {word!r}")

    def write(partial: Path) -> None:
        with open(partial, "w", encoding="utf-8", newline="\n") as file:
            file.write(f"{len(vectors.words)} {vectors.vectors.shape[1]}\n")
            for word, numbers in zip(vectors.words, vectors.vectors, strict=True):
                file.write(f"{word} {' '.join(numbers.astype(str))}\n")  # the shortest text for each float32

    write_atomically(path, write)


def read_word_vectors(path: str | Path, only: Collection[str] | None = None) -> WordVectors:
    """The words and vectors of a file in word2vec's text format, or in GloVe's.

    Args:
        path: the file, or a folder of `bertlab word-vectors learn`.
        only: read the vectors of these words alone, so that a file may be larger than the memory.

    Of a word that is there twice the first vector is read. Raises DataError, with the line, for a line that is not
    UTF-8 or does not have a word and D numbers that are finite as float32, and for another number of words than the
    first line names.
    """
    path = Path(path) / FILE if Path(path).is_dir() else Path(path)
    if not path.is_file():
        raise DataError(f"{path}: the file does not exist; `bertlab word-vectors learn` writes one")
    if only is not None and not isinstance(only, set | frozenset | dict):
        only = set(only)
    lines = _lines(path)
    first = next(lines, (1, ""))
    total, dimensions = _header(*first, path)
    if total is None:
        lines = chain([first], lines)
    found, rows, count = {}, bytearray(), 0  # the words as keys, in their order; their numbers as float32
    for number, line in lines:
        word, *numbers = line.rsplit(" ", dimensions)
        if len(numbers) != dimensions or not word:
            raise DataError(
                f"{path} line {number}: expected a word and {dimensions} numbers, got {len(line.split())} "
                "fields; remove the line, or correct it"
            )
        count += 1
        if word not in found and (only is None or word in only):
            values = _numbers(numbers)
            if values is None:
                wrong = next(field for field in numbers if _numbers([field]) is None)
                raise DataError(f"{path} line {number}: expected finite numbers behind the word, got {wrong!r}")
            found[word] = None
            rows += values.tobytes()
    if total not in (None, count):
        raise DataError(f"{path}: expected {total:,} words, as line 1 says, got {count:,}; the file is not complete")
    return WordVectors(list(found), np.frombuffer(rows, "float32").reshape(len(found), dimensions))


def _header(number: int, line: str, path: Path) -> tuple[int | None, int]:
    """The numbers of words and of dimensions that the first line names; in GloVe's format None and what it has."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdecimal() for field in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    if len(fields) > 2 and _numbers(fields[1:]) is not None:
        return None, len(fields) - 1
    raise DataError(
        f"{path} line {number}: expected the number of words and of dimensions, such as 10000 128, got "
        f"{line[:40]!r}; give a file in word2vec's text format"
    )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, with their numbers from 1, without a byte order mark."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n ")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{path} line {number}: not UTF-8 ({error.reason}); expected word2vec's text format, not its "
                    "binary one"
                ) from None
            if text:
                yield number, text


def _numbers(fields: Sequence[str]) -> np.ndarray | None:
    """The numbers that the fields name, (D,) float32; None if a field is not a number, or not a finite float32."""
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(fields, "float32")
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None
