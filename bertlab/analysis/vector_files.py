"""Vectors of a large file of texts, written block by block: memory use stays constant, and an interrupted run resumes.

    vectors.npy     (texts, D) float32
    vectors.npz     "vectors", the same; with pooling "none" "vectors" (all tokens, D) and "row_splits" (texts + 1,):
                    text i has the rows row_splits[i] to row_splits[i + 1]

Beside it is its description (the format .npy has no place for it):

    vectors.npy.json        the settings, the number of texts and rows, and a digest of the texts

Until the work is finished, these files are next to OUT:

    OUT.partial             an .npy file that grows; the number of rows in its header is corrected at the end
    OUT.lengths             with pooling "none": the tokens of each text, int64
    OUT.progress.json       the number of texts stored in these files, a digest of the texts, and the settings

A second call with the same texts and settings resumes there; with others it raises DataError.

A search finds the texts whose vectors have the largest cosine with that of a query. It compares every row, and reads
the file in blocks, so that a file larger than the memory can be searched. FAISS (Douze et al. 2024, "The Faiss
library"; an extra, `pip install "bertlab[faiss]"`) can compare the rows of a block instead of NumPy; the cosines are
the same but for rounding.

Letters: Q queries, N rows of the file, B rows of a block, D dimensions of a vector, k results for each query.
"""

import glob
import hashlib
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bertlab.analysis.vectors import LayerChoice, VectorEncoder
from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.common.files import read_json, write_atomically, write_json
from bertlab.common.job import check_same

TEXTS_BATCH_SIZE = 1024
ROWS_BATCH_SIZE = 65_536
ENGINES = ("numpy", "faiss")


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


def _rename_final(grown: Path, out: Path, lengths: _GrowingArray | None) -> None:
    """Renames the finished array to its final name, or writes it into a zip file for an .npz."""
    if out.suffix == ".npy":
        os.replace(grown, out)
        return
    # A start that was killed while it packed has left its file. Version 0.1.0 named it .packing.
    for left in (*out.parent.glob(f".{glob.escape(out.name)}.*.partial"), out.with_name(out.name + ".packing")):
        left.unlink(missing_ok=True)
    write_atomically(out, lambda packed: _pack(grown, lengths, packed))


def _pack(grown: Path, lengths: _GrowingArray | None, packed: Path) -> None:
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(grown, "vectors.npy")
        if lengths is not None:
            with archive.open("row_splits.npy", "w") as file:
                ends = np.cumsum(np.fromfile(lengths.path, lengths.dtype), dtype=np.int64)
                np.lib.format.write_array(file, np.concatenate([[0], ends]))


class Found(NamedTuple):
    """A row of the file, counted from 0, and the cosine of its vector with the query's."""

    row: int
    cosine: float


class VectorFile:
    """A file that `bertlab encode` has written: one vector for each text.

    Args:
        path: the .npy or .npz file, with its description OUT.json beside it.

    Raises DataError where one of them is missing, for a vector per token (pooling "none"), and for a damaged file.

    Attributes: `settings`, those of `bertlab encode`; `shape` (N, D).
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        if not self.path.is_file():
            raise DataError(f"{self.path}: the file does not exist; `bertlab encode` writes one")
        described = description_of(self.path)
        if not described.exists():
            raise DataError(
                f"{described}: expected the description that `bertlab encode` writes beside the vectors, which names "
                "their model; copy it from there, or encode the texts again"
            )
        self._description = read_json(described, advice="restore the file, or encode the texts again")
        self.settings = self._description["settings"]
        if self.settings["pooling"] == "none":
            raise DataError(
                f"{self.path}: has a vector for each token; expected one for each text: encode with another pooling"
            )
        with self._opened() as (_, self.shape):
            if self.shape[0] != self._description["rows"]:
                raise DataError(
                    f"{self.path}: has {self.shape[0]:,} rows, its description {self._description['rows']:,}; encode "
                    "the texts again"
                )

    def blocks(self, rows: int = ROWS_BATCH_SIZE) -> Iterator[np.ndarray]:
        """The vectors in their order, (B, D) float32 at a time. Raises DataError where the file ends too early."""
        with self._opened() as (file, (total, dimensions)):
            for start in range(0, total, rows):
                count = min(rows, total - start)
                content = file.read(4 * count * dimensions)
                if len(content) < 4 * count * dimensions:
                    raise DataError(f"{self.path}: ends within its {total:,} rows; encode the texts again")
                yield np.frombuffer(content, "<f4").reshape(count, dimensions)

    @contextmanager
    def _opened(self):
        """The open file at its first vector, and the shape (N, D)."""
        try:
            if self.path.suffix == ".npz":
                with zipfile.ZipFile(self.path) as archive, archive.open("vectors.npy") as file:
                    yield file, _read_header(file)
            else:
                with open(self.path, "rb") as file:
                    yield file, _read_header(file)
        except (ValueError, KeyError, zipfile.BadZipFile) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{self.path}: expected an array of vectors, float32 ({error})") from None

    def encoder(self, backbone, tokenizer, digests: dict[str, str]) -> VectorEncoder:
        """Encodes queries as the texts were encoded, with the same layers and pooling.

        backbone, tokenizer: of the model that made the vectors. digests: `bertlab.checkpoints.native.model_digests` of
        both. Raises DataError where they are of another model, or of one that was trained since.
        """
        settings = self.settings
        if any(digest != settings[name] for name, digest in digests.items()):
            raise DataError(
                f"the model is not the one that made {self.path.name}, or was trained since; encode the texts again, "
                f"or give the folder with that model, which was {settings['model']}"
            )
        weights = settings["factors"] and tuple(settings["factors"])
        choice = LayerChoice(tuple(settings["layers"]), settings["combine"], weights)
        truncate, memory = settings["truncate"], settings.get("memory", 0)
        return VectorEncoder(backbone, tokenizer, choice, settings["pooling"], truncate=truncate, memory=memory)

    def texts(self, lines: Iterator[str], rows: set[int]) -> dict[int, str]:
        """The texts of some rows. lines: all that were encoded, in order. Raises DataError for other lines."""
        digest, kept = TextsDigest(), {}
        for number, line in enumerate(lines):
            digest.add([line])
            if number in rows:
                kept[number] = line
        wanted = {name: self._description[name] for name in ("texts", "sha256")}
        if {"texts": digest.texts, "sha256": digest.sha256} != wanted:
            raise DataError(
                f"these are not the {wanted['texts']:,} texts of {self.path.name}; give the file that was encoded"
            )
        return kept


def nearest(
    blocks: Iterable[np.ndarray], queries: np.ndarray, top: int = 10, engine: str = "numpy"
) -> list[list[Found]]:
    """The rows with the largest cosines for each query, best first; numpy takes the earlier of equal ones.

    Args:
        blocks: the vectors in their order, arrays (B, D) float32 such as `VectorFile.blocks()`.
        queries: (Q, D), of any length; a vector of zeros has the cosine 0 with all.
        top: results for each query; as many as there are rows, if those are fewer.
        engine: numpy | faiss.

    Raises DataError for other dimensions or an unknown engine, MissingDependencyError for faiss without the package.

    Example:
        >>> nearest([np.eye(3, dtype="float32")], np.array([[0.0, 1.0, 0.0]]), top=1)
        [[Found(row=1, cosine=1.0)]]
    """
    if top < 1:
        raise DataError(f"top: expected at least 1, got {top}")
    best_of = _engine(engine)
    queries, start = unit(np.asarray(queries)), 0
    cosines = np.empty((len(queries), 0), "float32")  # (Q, up to k)
    rows = np.empty((len(queries), 0), "int64")
    for block in blocks:
        if block.shape[1:] != queries.shape[1:]:
            raise DataError(
                f"expected queries of {block.shape[1]} dimensions, as the vectors have; got {queries.shape}"
            )
        more, where = best_of(queries, unit(block), min(top, len(block)))  # (Q, up to k)
        cosines, rows = np.concatenate([cosines, more], axis=1), np.concatenate([rows, where + start], axis=1)
        order = np.lexsort((rows, -cosines), axis=1)[:, :top]  # best first; of equal ones the earlier row
        cosines, rows = np.take_along_axis(cosines, order, axis=1), np.take_along_axis(rows, order, axis=1)
        start += len(block)
    return [[Found(*one) for one in zip(*each)] for each in zip(rows.tolist(), cosines.tolist())]


def unit(vectors: np.ndarray) -> np.ndarray:
    """Each vector divided by its length, (…, D) float32; a vector of zeros stays one.

    Example:
        >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype("float32")


def _engine(name: str):
    """A function: queries (Q, D), rows (B, D), k ≤ B → the k largest products (Q, k) and their rows, in any order."""
    if name not in ENGINES:
        raise DataError(f"unknown engine {name!r}; choose one of {', '.join(ENGINES)}")
    if name == "numpy":
        return _best_by_numpy
    try:
        import faiss
    except ImportError:
        raise MissingDependencyError('the engine faiss needs its package: pip install "bertlab[faiss]"') from None
    return partial(faiss.knn, metric=faiss.METRIC_INNER_PRODUCT)


def _best_by_numpy(queries: np.ndarray, rows: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    products = queries @ rows.T  # (Q, B)
    least = np.partition(products, len(rows) - top, axis=1)[:, len(rows) - top]  # (Q,) the worst that may be kept
    indices = np.empty((len(queries), top), "int64")
    for number, (each, limit) in enumerate(zip(products, least)):
        candidates = np.flatnonzero(each >= limit)  # more than `top` where several equal the worst
        indices[number] = candidates[np.argsort(-each[candidates], kind="stable")[:top]]
    return np.take_along_axis(products, indices, axis=1), indices


def _read_header(file) -> tuple[int, int]:
    """The shape (N, D) in the header of an .npy file, which is left at its first vector."""
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"version {version}")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    if len(shape) != 2 or fortran_order or dtype != np.dtype("<f4"):
        raise ValueError(f"an array of shape {shape} and {dtype}")
    return shape
