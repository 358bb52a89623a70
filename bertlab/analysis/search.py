"""Searching a file of vectors: the texts whose vectors have the largest cosine with that of a query.

The search is exact: every row is compared. It reads the file in blocks, so that a file larger than the memory can be
searched. FAISS (Douze et al. 2024, "The Faiss library"; an extra, `pip install "bertlab[faiss]"`) can compare the rows
of a block instead of NumPy; the cosines are the same but for rounding. Measured on two cores, 500,000 rows of 128
numbers, the faster of two rounds: 3 queries NumPy 0.8 s, FAISS 1.0 s; 200 queries NumPy 1.6 s, FAISS 4.8 s.

Letters: Q queries, N rows of the file, B rows of a block, D dimensions of a vector, k results for each query.
"""

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bertlab.analysis.layers import LayerChoice
from bertlab.analysis.vector_files import TextsDigest, description_of
from bertlab.analysis.vectors import VectorEncoder
from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.common.files import read_json

ROWS_BATCH_SIZE = 65_536
ENGINES = ("numpy", "faiss")


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

        backbone, tokenizer: of the model that made the vectors. digests: `bertlab.checkpoints.digest.model_digests` of
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

    def best(queries, rows, top):
        return faiss.knn(queries, rows, top, metric=faiss.METRIC_INNER_PRODUCT)

    return best


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
