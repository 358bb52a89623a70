"""Vectors of a large file of texts, written as they are made: memory stays flat, and a stopped run goes on.

Beside OUT grow OUT.partial, an .npy file whose header is corrected at the end, and OUT.progress.json, which says how
many texts are safely in it, and from what. Started again with the same texts and settings, the work goes on there.

    vectors.npy     (texts, D) float32
    vectors.npz     "vectors", the same; with pooling "none" "vectors" (all pieces, D) and "row_splits" (texts + 1,):
                    text i has the rows row_splits[i] to row_splits[i + 1]
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from bertlab.analysis.vectors import VectorMaker
from bertlab.errors import DataError
from bertlab.files import write_text

TEXTS_TOGETHER = 1024


def write_vectors(
    maker: VectorMaker,
    texts: Iterable[str],
    out: str | Path,
    settings: dict,
    advance: Callable[[int], None] = lambda texts: None,
    together: int = TEXTS_TOGETHER,
) -> tuple[int, ...]:
    """Writes the vectors of all texts to an .npy or .npz file. Returns the shape of the array.

    settings: JSON values that say which vectors these are; an unfinished file with others is begun anew.
    advance: told how many texts are done. together: texts between two saves.
    Raises DataError for another suffix, for pooling "none" into an .npy file, or where there is no text.
    """
    out = Path(out)
    per_piece = maker.pooling == "none"
    if out.suffix not in (".npy", ".npz") or (per_piece and out.suffix == ".npy"):
        raise DataError(f"{out}: the file's name must end in .npz{'' if per_piece else ' or .npy'}")
    growing = _GrowingArray(out.with_name(out.name + ".partial"), maker.dimensions)
    notes = _Notes(out.with_name(out.name + ".progress.json"), settings)
    texts = iter(texts)
    _go_on(growing, notes, texts, advance)
    while some := list(islice(texts, together)):
        vectors = maker(some, advance)
        growing.append(np.concatenate(vectors) if per_piece else np.stack(vectors))
        notes.add(some, [len(vector) for vector in vectors] if per_piece else None, growing.rows)
    if not notes.texts:
        growing.path.unlink()
        raise DataError(f"{out}: no texts to encode")
    growing.finish()
    _publish(growing.path, out, notes.lengths if per_piece else None)
    notes.path.unlink()
    return growing.rows, maker.dimensions


def _go_on(growing: "_GrowingArray", notes: "_Notes", texts: Iterator[str], advance) -> None:
    """Passes over the texts that are done, if they are the same as before; otherwise begins anew."""
    found = notes.read()
    if found is None or not growing.path.exists():
        growing.begin()
        return
    done = list(islice(texts, found["texts"])) if found["texts"] else []
    notes.add(done, found["lengths"], found["rows"], save=False)
    if notes.digest.hexdigest() != found["sha256"]:
        raise DataError(
            f"{growing.path}: was begun with other texts; delete it and {notes.path.name}, or choose another file"
        )
    growing.cut(found["rows"])
    advance(found["texts"])


class _Notes:
    """What OUT.progress.json holds: settings, how many texts and rows are done, and a digest of those texts."""

    def __init__(self, path: Path, settings: dict):
        self.path, self.settings = path, json.loads(json.dumps(settings))
        self.texts, self.lengths, self.digest = 0, [], hashlib.sha256()

    def read(self) -> dict | None:
        """What an earlier run left, if it had the same settings."""
        if not self.path.exists():
            return None
        found = json.loads(self.path.read_text(encoding="utf-8"))
        return found if found["settings"] == self.settings else None

    def add(self, texts: list[str], lengths: list[int] | None, rows: int, save: bool = True) -> None:
        self.texts += len(texts)
        self.lengths += lengths or []
        for text in texts:
            self.digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
        if save:
            values = {"settings": self.settings, "texts": self.texts, "rows": rows,
                      "sha256": self.digest.hexdigest(), "lengths": self.lengths}  # fmt: skip
            write_text(self.path, json.dumps(values))


class _GrowingArray:
    """An .npy file (rows, D) float32 to which rows are added; NumPy leaves room in its header for the final number."""

    def __init__(self, path: Path, dimensions: int):
        self.path, self.dimensions, self.rows = path, dimensions, 0

    def _write_header(self, file) -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": (self.rows, self.dimensions)}
        np.lib.format.write_array_header_1_0(file, header)

    def begin(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "wb") as file:
            self._write_header(file)

    def cut(self, rows: int) -> None:
        """Takes back what was written after the last note."""
        with open(self.path, "rb+") as file:
            self._write_header(file)
            file.truncate(file.tell() + rows * self.dimensions * 4)
        self.rows = rows

    def append(self, vectors: np.ndarray) -> None:
        with open(self.path, "ab") as file:
            file.write(np.ascontiguousarray(vectors, "<f4").tobytes())
            file.flush()
            os.fsync(file.fileno())  # on the disk before the note says so
        self.rows += len(vectors)

    def finish(self) -> None:
        with open(self.path, "rb+") as file:
            self._write_header(file)


def _publish(partial: Path, out: Path, lengths: list[int] | None) -> None:
    """Puts the finished array in its place, in a zip file if that is asked for."""
    if out.suffix == ".npy":
        os.replace(partial, out)
        return
    packed = out.with_name(out.name + ".packing")
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(partial, "vectors.npy")
        if lengths is not None:
            with archive.open("row_splits.npy", "w") as file:
                np.lib.format.write_array(file, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    os.replace(packed, out)
    partial.unlink()
