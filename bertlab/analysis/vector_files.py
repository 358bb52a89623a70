"""Vectors of a large file of texts, written block by block: memory use stays constant, and an interrupted run resumes.

    vectors.npy     (texts, D) float32
    vectors.npz     "vectors", the same; with pooling "none" "vectors" (all tokens, D) and "row_splits" (texts + 1,):
                    text i has the rows row_splits[i] to row_splits[i + 1]

Beside it is its description, for `bertlab.analysis.search` (the format .npy has no place for it):

    vectors.npy.json        the settings, the number of texts and rows, and a digest of the texts

Until the work is finished, these files are next to OUT:

    OUT.partial             an .npy file that grows; the number of rows in its header is corrected at the end
    OUT.lengths             with pooling "none": the tokens of each text, int64
    OUT.progress.json       the number of texts stored in these files, a digest of the texts, and the settings

A second call with the same texts and settings resumes there; with others it raises DataError.
"""

import glob
import hashlib
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from bertlab.analysis.vectors import VectorEncoder
from bertlab.common.errors import DataError
from bertlab.common.files import read_json, write_atomically, write_json
from bertlab.common.job import check_same

TEXTS_BATCH_SIZE = 1024


def description_of(vectors: str | Path) -> Path:
    """The path of the description of a file of vectors: vectors.npy → vectors.npy.json."""
    return Path(vectors).with_name(Path(vectors).name + ".json")


class TextsDigest:
    """Identifies texts by their number and a digest of them, as they come."""

    def __init__(self):
        self.texts, self._sum = 0, hashlib.sha256()

    def add(self, texts: Iterable[str]) -> None:
        """Counts more texts."""
        for text in texts:
            self._sum.update(text.encode("utf-8", "surrogatepass") + b"\n")
            self.texts += 1

    @property
    def sha256(self) -> str:
        """The digest of all texts so far."""
        return self._sum.hexdigest()


def write_vectors(
    maker: VectorEncoder,
    texts: Iterable[str],
    out: str | Path,
    settings: dict,
    advance: Callable[[int], None] = lambda texts: None,
    together: int = TEXTS_BATCH_SIZE,
) -> tuple[int, ...]:
    """Writes the vectors of all texts to an .npy or .npz file, and its description. Returns the shape of the array.

    settings: JSON values that identify the vectors. advance: called with the number of finished texts. together: texts
        between two saves. Raises DataError for another suffix, for pooling "none" into an .npy file, where there is no
        text, or if an unfinished file was started with other texts or settings.
    """
    out = Path(out)
    per_piece = maker.pooling == "none"
    if out.suffix not in (".npy", ".npz") or (per_piece and out.suffix == ".npy"):
        raise DataError(f"{out}: the file's name must end in .npz{'' if per_piece else ' or .npy'}")
    growing = _GrowingArray(out.with_name(out.name + ".partial"), maker.dimensions)
    lengths = _GrowingNumbers(out.with_name(out.name + ".lengths")) if per_piece else None
    notes = _Progress(out.with_name(out.name + ".progress.json"), settings)
    texts = iter(texts)
    _resume(growing, lengths, notes, texts, advance)
    while some := list(islice(texts, together)):
        vectors = maker(some, advance)
        growing.append(np.concatenate(vectors) if per_piece else np.stack(vectors))
        if lengths is not None:
            lengths.append([len(vector) for vector in vectors])
        notes.add(some)
        notes.save(growing.rows)
    unfinished = [growing.path, notes.path] + ([lengths.path] if lengths else [])
    if notes.digest.texts:
        growing.finish()
        description_of(out).unlink(missing_ok=True)  # of the file that is replaced
        _rename_final(growing.path, out, lengths)
        write_json(description_of(out), notes.values(growing.rows))
    for path in unfinished:
        path.unlink(missing_ok=True)
    if not notes.digest.texts:
        raise DataError(f"{out}: expected at least one text to encode")
    return growing.rows, maker.dimensions


def _resume(
    growing: "_GrowingArray", lengths: "_GrowingNumbers | None", notes: "_Progress", texts: Iterator[str], advance
) -> None:
    """Skips the finished texts, if they are the same as before; starts if there are none."""
    found = notes.read()
    files = [file for file in (growing, lengths) if file is not None]
    if found is None or not growing.path.exists():
        notes.path.unlink(missing_ok=True)
        for file in files:
            file.begin()
        return
    advice = f"delete it and {notes.path.name} to start again, or choose another file"
    check_same(found["settings"], notes.settings, growing.path, f"it and {notes.path.name}", error=DataError)
    notes.add(islice(texts, found["texts"]))
    if notes.digest.sha256 != found["sha256"]:
        raise DataError(f"{growing.path}: was started with other texts; {advice}")
    for file, count in zip(files, (found["rows"], found["texts"])):
        if not file.cut(count):
            raise DataError(f"{file.path}: is shorter than {notes.path.name} records; {advice}")
    advance(found["texts"])


class _Progress:
    """The contents of OUT.progress.json: settings, the number of finished texts and rows, and the texts' digest."""

    def __init__(self, path: Path, settings: dict):
        self.path, self.settings, self.digest = path, settings, TextsDigest()

    def read(self) -> dict | None:
        """The notes of an earlier run."""
        return read_json(self.path) if self.path.exists() else None

    def add(self, texts: Iterable[str]) -> None:
        """Counts texts as finished."""
        self.digest.add(texts)

    def values(self, rows: int) -> dict:
        """JSON values that describe the rows written so far."""
        return {"settings": self.settings, "texts": self.digest.texts, "rows": rows, "sha256": self.digest.sha256}

    def save(self, rows: int) -> None:
        write_json(self.path, self.values(rows))


class _GrowingArray:
    """An .npy file (rows, D) float32 to which rows are added; NumPy leaves space in its header for the final number."""

    def __init__(self, path: Path, dimensions: int):
        self.path, self.dimensions, self.rows = path, dimensions, 0

    def _write_header(self, file) -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": (self.rows, self.dimensions)}
        np.lib.format.write_array_header_1_0(file, header)

    def begin(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "wb") as file:
            self._write_header(file)

    def cut(self, rows: int) -> bool:
        """Removes the rows written after the last note; False if there are fewer rows than noted."""
        with open(self.path, "rb+") as file:
            self._write_header(file)
            self.rows = rows
            return _cut(file, file.tell() + rows * self.dimensions * 4)

    def append(self, vectors: np.ndarray) -> None:
        _append(self.path, np.ascontiguousarray(vectors, "<f4"))
        self.rows += len(vectors)

    def finish(self) -> None:
        with open(self.path, "rb+") as file:
            self._write_header(file)
            _sync(file)  # on the disk before the name changes


class _GrowingNumbers:
    """A file of integers to which more are added."""

    def __init__(self, path: Path):
        self.path = path

    def begin(self) -> None:
        self.path.write_bytes(b"")

    def cut(self, count: int) -> bool:
        """Keeps this many numbers; False if there are fewer."""
        self.path.touch()
        with open(self.path, "rb+") as file:
            return _cut(file, 8 * count)

    def append(self, numbers: list[int]) -> None:
        _append(self.path, np.array(numbers, "<i8"))

    def read(self) -> np.ndarray:
        return np.fromfile(self.path, "<i8")


def _append(path: Path, array: np.ndarray) -> None:
    with open(path, "ab") as file:
        file.write(array.tobytes())
        _sync(file)  # on the disk before the note counts them


def _sync(file) -> None:
    file.flush()
    os.fsync(file.fileno())


def _cut(file, size: int) -> bool:
    """Truncates an open file to a size; False, and no change, if it is smaller."""
    if file.seek(0, os.SEEK_END) < size:
        return False
    file.truncate(size)
    return True


def _rename_final(partial: Path, out: Path, lengths: _GrowingNumbers | None) -> None:
    """Renames the finished array to its final name, or writes it into a zip file for an .npz."""
    if out.suffix == ".npy":
        os.replace(partial, out)
        return
    # A start that was killed while it packed has left its file. Version 0.1.0 named it .packing.
    for left in (*out.parent.glob(f".{glob.escape(out.name)}.*.partial"), out.with_name(out.name + ".packing")):
        left.unlink(missing_ok=True)
    write_atomically(out, lambda packed: _pack(partial, lengths, packed))


def _pack(partial: Path, lengths: _GrowingNumbers | None, packed: Path) -> None:
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(partial, "vectors.npy")
        if lengths is not None:
            with archive.open("row_splits.npy", "w") as file:
                np.lib.format.write_array(file, np.concatenate([[0], np.cumsum(lengths.read(), dtype=np.int64)]))
