"""A teacher's outputs on labelled rows, computed once and kept: the rows are the same in every epoch and every run.

Letters: N rows, B rows of a batch, T tokens, C classes.
"""

from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np

from bertlab.checkpoints.stored import open_safetensors, write_safetensors
from bertlab.common.errors import CheckpointError
from bertlab.data.tasks.features import Batch, Features
from bertlab.training.finetuning.batches import outputs_of

TAUGHT = "teacher_"  # before the names of the teacher's outputs in a batch
NEVER = -1e4  # the teacher's logit of a token that its row does not have: exp(NEVER) is 0
_ROWS = 64  # read together
_MADE_FROM = "made_from"  # in the file's metadata


class TaughtFeatures:
    """Tokenized rows with the teacher's outputs: a batch's targets are a dict of both.

    features: the rows. outputs: name → (N, …) float32, or for an output of each token (N, T) or (N, T, C).
    per_token: whether they are outputs of each token, cut or padded to a batch's length.
    """

    def __init__(self, features: Features, outputs: dict[str, np.ndarray], per_token: bool):
        self.features, self.outputs, self.per_token = features, outputs, per_token

    def __len__(self) -> int:
        return len(self.features)

    @property
    def lengths(self) -> np.ndarray:
        return self.features.lengths

    @property
    def choices(self) -> int | None:
        return self.features.choices

    def batch_indices(self, *arguments, **options) -> list[np.ndarray]:
        return self.features.batch_indices(*arguments, **options)

    def batch(self, indices, length: int) -> Batch:
        inputs, targets = self.features.batch(indices, length)
        targets = targets if isinstance(targets, dict) else {"targets": targets}
        taught = {TAUGHT + name: self._padded(values[indices], length) for name, values in self.outputs.items()}
        return inputs, targets | taught

    def _padded(self, values: np.ndarray, length: int) -> np.ndarray:
        if not self.per_token or values.shape[1] == length:
            return values
        if values.shape[1] > length:
            return values[:, :length].copy()
        missing = ((0, 0), (0, length - values.shape[1])) + ((0, 0),) * (values.ndim - 2)
        return np.pad(values, missing, constant_values=NEVER)


def teacher_outputs(
    teacher: keras.Model,
    features: Features,
    limit: int,
    file: Path,
    made_from: str,
    advance: Callable[[int], None] = lambda rows: None,
) -> dict[str, np.ndarray]:
    """The outputs of a model on every row, by name; from `file`, or computed and written there.

    limit: the longest row. made_from: identifies teacher and rows; a file of others, or a damaged one, is made again.
    advance: called with the number of rows that have been read. An output of each token is (N, T, …), with `NEVER`
    behind the end of a row.
    """
    kept = _read_kept(file, made_from)
    if kept is not None:
        return kept
    rows = outputs_of(teacher.predict_on_batch, features, _ROWS, limit, advance)
    rows = [row if isinstance(row, dict) else {"logits": row} for row in rows]
    per_token = _is_per_token(teacher)
    arrays = {name: _stacked([row[name] for row in rows], features.lengths, per_token) for name in rows[0]}
    write_safetensors(file, arrays, {_MADE_FROM: made_from})
    return arrays


def _read_kept(file: Path, made_from: str) -> dict[str, np.ndarray] | None:
    try:
        tensors, metadata = open_safetensors(file)
    except CheckpointError:  # missing or damaged
        return None
    if metadata.get(_MADE_FROM) != made_from:
        return None
    return {name: tensor.read() for name, tensor in tensors.items()}


def _is_per_token(teacher: keras.Model) -> bool:
    from bertlab.models import QuestionAnswerer, TokenClassifier

    return isinstance(teacher, (QuestionAnswerer, TokenClassifier))


def _stacked(rows: list[np.ndarray], lengths: np.ndarray, per_token: bool) -> np.ndarray:
    if not per_token:
        return np.stack(rows)
    longest = int(lengths.max())
    stacked = np.full((len(rows), longest, *rows[0].shape[1:]), NEVER, np.float32)
    for row, values, length in zip(stacked, rows, lengths):
        row[:length] = values[:length]
    return stacked


def with_outputs(teacher: keras.Model, features: Features, outputs: dict[str, np.ndarray]) -> TaughtFeatures:
    """The rows with a teacher's outputs, which `teacher_outputs` gave."""
    return TaughtFeatures(features, outputs, _is_per_token(teacher))
