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
    vectors = _GrowingArray(out.with_name(out.name + ".partial"), maker.dimensions)
    lengths = _GrowingArray(out.with_name(out.name + ".lengths")) if per_piece else None
    growing = [vectors] if lengths is None else [vectors, lengths]
    note, digest, texts = out.with_name(out.name + ".progress.json"), TextsDigest(), iter(texts)
    if note.exists() and vectors.path.exists():
        _resume(growing, note, settings, texts, digest)
        advance(digest.texts)
    else:
        note.unlink(missing_ok=True)
        for array in growing:
            array.begin()
    while some := list(islice(texts, together)):
        made = maker(some, advance)
        vectors.append(np.concatenate(made) if per_piece else np.stack(made))
        if lengths is not None:
            lengths.append([len(vector) for vector in made])
        digest.add(some)
        write_json(note, _description(settings, digest, vectors.rows))
    if digest.texts:
        vectors.finish()
        description_of(out).unlink(missing_ok=True)  # of the file that is replaced
        _rename_final(vectors.path, out, lengths)
        write_json(description_of(out), _description(settings, digest, vectors.rows))
    for path in [array.path for array in growing] + [note]:
        path.unlink(missing_ok=True)
    if not digest.texts:
        raise DataError(f"{out}: expected at least one text to encode")
    return vectors.rows, maker.dimensions


def _description(settings: dict, digest: TextsDigest, rows: int) -> dict:
    return {"settings": settings, "texts": digest.texts, "rows": rows, "sha256": digest.sha256}


def _resume(
    growing: "list[_GrowingArray]", note: Path, settings: dict, texts: Iterator[str], digest: TextsDigest
) -> None:
    """Skips the texts that are finished, if they are the same as before, and what was written after the last note."""
    found, partial = read_json(note), growing[0].path
    advice = f"delete it and {note.name} to start again, or choose another file"
    check_same(found["settings"], settings, partial, f"it and {note.name}", error=DataError)
    digest.add(islice(texts, found["texts"]))
    if digest.sha256 != found["sha256"]:
        raise DataError(f"{partial}: was started with other texts; {advice}")
    for array, count in zip(growing, (found["rows"], found["texts"])):
        if not array.cut(count):
            raise DataError(f"{array.path}: is shorter than {note.name} records; {advice}")


class _GrowingArray:
    """A file to which rows are added: an .npy file (rows, D) float32, or numbers alone (rows,) int64 without a header.

    NumPy leaves space in an .npy file's header for the final number of rows.
    """

    def __init__(self, path: Path, dimensions: int | None = None):
        self.path, self.dimensions, self.rows = path, dimensions, 0
        self.dtype = np.dtype("<i8" if dimensions is None else "<f4")

    def _write_header(self, file) -> None:
        if self.dimensions is not None:
            header = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.rows, self.dimensions)}
            np.lib.format.write_array_header_1_0(file, header)

    def begin(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "wb") as file:
            self._write_header(file)

    def cut(self, rows: int) -> bool:
        """Keeps so many rows; False, and no change, if there are fewer."""
        self.path.touch()
        with open(self.path, "rb+") as file:
            self._write_header(file)
            size = file.tell() + rows * (self.dimensions or 1) * self.dtype.itemsize
            if file.seek(0, os.SEEK_END) < size:
                return False
            file.truncate(size)
        self.rows = rows
        return True

    def append(self, rows) -> None:
        with open(self.path, "ab") as file:
            file.write(np.asarray(rows, self.dtype).tobytes())
            _sync(file)  # on the disk before the note counts them
        self.rows += len(rows)

    def finish(self) -> None:
        with open(self.path, "rb+") as file:
            self._write_header(file)
            _sync(file)  # on the disk before the name changes


def _sync(file) -> None:
    file.flush()
    os.fsync(file.fileno())


def _rename_final(partial: Path, out: Path, lengths: _GrowingArray | None) -> None:
    """Renames the finished array to its final name, or writes it into a zip file for an .npz."""
    if out.suffix == ".npy":
        os.replace(partial, out)
        return
    # A start that was killed while it packed has left its file. Version 0.1.0 named it .packing.
    for left in (*out.parent.glob(f".{glob.escape(out.name)}.*.partial"), out.with_name(out.name + ".packing")):
        left.unlink(missing_ok=True)
    write_atomically(out, lambda packed: _pack(partial, lengths, packed))


def _pack(partial: Path, lengths: _GrowingArray | None, packed: Path) -> None:
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(partial, "vectors.npy")
        if lengths is not None:
            with archive.open("row_splits.npy", "w") as file:
                ends = np.cumsum(np.fromfile(lengths.path, lengths.dtype), dtype=np.int64)
                np.lib.format.write_array(file, np.concatenate([[0], ends]))
