"""Vectors of a frozen model, computed once and kept in memory maps, for heads that are trained on them.

    FOLDER/vectors.json         what they were made from: the model, its layers, the rows; anything else is refused
    FOLDER/train.npy            (tokens, W) float32, the rows one after the other; also validation.npy and test.npy
    FOLDER/train.partial.npy, train.progress.json     while they are computed; a new start resumes there
    FOLDER/filling.lock         locked by the start that computes them: two would overwrite each other's

Letters: S sequences (of multiple choice one for each choice), T tokens, W numbers of a vector, B rows of a batch.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from bertlab.common.errors import ConfigError
from bertlab.common.files import read_json, write_json
from bertlab.common.job import Job
from bertlab.common.progress import bar
from bertlab.data.tasks.features import Features
from bertlab.training.features.models import VECTORS
from bertlab.training.finetuning.batches import full_batch

BATCH_SIZE = 32  # sequences of a batch
_SAVE_EVERY = 50  # batches
_IDENTITY, _LOCK = "vectors.json", "filling.lock"


class FeaturesWithVectors:
    """`Features` whose batches have the vectors of their tokens too, as the input `vectors`.

    array: (tokens, W), those of all sequences. row_splits: (S + 1,), where each begins.
    """

    def __init__(self, features: Features, array: np.ndarray, row_splits: np.ndarray):
        self._features, self._array, self._row_splits = features, array, row_splits

    def __getattr__(self, name):
        return getattr(self._features, name)

    def __len__(self) -> int:
        return len(self._features)

    def batch(self, indices, length: int | None = None):
        """As `Features.batch`; vectors is (B, T, W), of multiple choice (B, choices, T, W), with zeros at padding."""
        inputs, targets = self._features.batch(indices, length)
        shape, choices = inputs["input_ids"].shape, self._features.choices or 1
        sequences = (np.asarray(indices, np.int64)[:, None] * choices + np.arange(choices)).ravel()  # (B · choices,)
        vectors = np.zeros((len(sequences), shape[-1], self._array.shape[1]), np.float32)
        for row, index in zip(vectors, sequences):
            start, end = self._row_splits[index : index + 2]
            row[: end - start] = self._array[start:end]
        return inputs | {VECTORS: vectors.reshape(*shape, -1)}, targets


class VectorFolder:
    """The folder that the vectors of a task are kept in.

    Args:
        path: the folder.   source: JSON values that decide the vectors, such as a digest of the model.
        splits: the rows, by the name of their split.
        width: W.   limit: the longest sequence, in tokens.
    """

    def __init__(self, path: str | Path, source: dict, splits: dict[str, Features], width: int, limit: int):
        self.path, self.width, self.limit, self.splits = Path(path), width, limit, splits
        # The texts alone, one sequence for each choice.
        self.sequences = {name: Features(own.vocabulary, own.first, own.second) for name, own in splits.items()}
        rows = {}
        for name, features in splits.items():
            digest = hashlib.sha256()
            for part in (features.first, features.second):
                if part is not None:
                    digest.update(part.values.tobytes() + part.row_splits.tobytes())
            rows[name] = digest.hexdigest()[:16]
        self._work = Job(self.path, _IDENTITY, source | {"rows": rows, "together": BATCH_SIZE})

    def check(self) -> None:
        """Raises ConfigError for a folder with vectors of another model or text, or that another start is filling.

        Also for too small a disk.
        """
        self._check_source()
        missing = [name for name in self.splits if not self._file(name).exists()]
        if missing and (self.path / _LOCK).exists():
            with self._alone():
                pass
        needed = 0  # bytes, besides those that an earlier start has written
        for name in missing:
            whole, growing = int(self.sequences[name].lengths.sum()) * self.width * 4, _growing(self._file(name))
            written = getattr(growing.stat(), "st_blocks", 0) * 512 if growing.exists() else 0  # Windows has none
            needed += max(0, whole - written)
        exists = next(parent for parent in (self.path.absolute(), *self.path.absolute().parents) if parent.exists())
        free = shutil.disk_usage(exists).free
        if needed > free:
            raise ConfigError(
                f"{self.path}: the vectors take {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free; choose "
                "fewer layers, or another folder"
            )

    def filled(self, read: Callable[[dict], np.ndarray]) -> dict[str, FeaturesWithVectors]:
        """The rows with their vectors; those that are not in the folder yet are computed.

        read: inputs of a batch → (B, T, W). Raises ConfigError for a file of another size than was written, and where
        another start is filling the folder.
        """
        complete = all(self._file(name).exists() for name in self.splits)
        with nullcontext() if complete else self._alone():
            self._check_source()  # another start may have filled it since `check`
            if not complete:
                self._work.begin()
            total = sum(len(own) for own in self.sequences.values())
            with bar("Reading the frozen model", total) as running:
                return {name: self._filled(name, read, running) for name in self.splits}

    def _alone(self):
        """Makes the folder and takes its lock, until the end of a `with` or of the process."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            return FileLock(self.path / _LOCK, timeout=0).acquire()
        except Timeout:
            raise ConfigError(
                f"{self.path}: another start is filling this folder: wait for it or use another"
            ) from None
        except OSError as reason:
            raise ConfigError(
                f"{self.path}: cannot write to it or lock it ({reason.strerror}); choose another folder"
            ) from None

    def _check_source(self) -> None:
        if self._work.found() is not None or any(self.path.glob("*.npy")):
            self._work.check()

    def _filled(self, name: str, read, running) -> FeaturesWithVectors:
        file, lengths = self._file(name), self.sequences[name].lengths
        splits = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        if file.exists():
            running.advance(len(lengths))
        else:
            self._compute(file, self.sequences[name], splits, read, running)
        array = np.load(file, mmap_mode="r")
        if array.shape != (splits[-1], self.width):
            raise ConfigError(
                f"{file}: expected vectors of shape {(int(splits[-1]), self.width)}, got {array.shape}; delete it"
            )
        return FeaturesWithVectors(self.splits[name], array, splits)

    def _compute(self, file: Path, sequences: Features, splits: np.ndarray, read, running) -> None:
        """Similar lengths together, from where an earlier start was stopped."""
        growing, note = _growing(file), file.with_suffix(".progress.json")
        done = read_json(note, ConfigError)["batches"] if note.exists() and growing.exists() else 0
        array = np.lib.format.open_memmap(
            growing, mode="r+" if done else "w+", dtype=np.float32, shape=(int(splits[-1]), self.width)
        )
        order = np.argsort(sequences.lengths, kind="stable")
        for number, start in enumerate(range(0, len(order), BATCH_SIZE), start=1):
            indices = order[start : start + BATCH_SIZE]
            running.advance(len(indices))
            if number <= done:
                continue
            inputs, _ = full_batch(sequences, indices, BATCH_SIZE, self.limit)
            for index, row in zip(indices, np.asarray(read(inputs), np.float32)):
                array[splits[index] : splits[index + 1]] = row[: splits[index + 1] - splits[index]]
            if number % _SAVE_EVERY == 0:
                array.flush()
                write_json(note, {"batches": number}, ConfigError)
        array.flush()
        os.replace(growing, file)
        note.unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.npy"


def _growing(file: Path) -> Path:
    """The name of a file as long as it is not complete."""
    return file.with_suffix(".partial.npy")
