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

    features: the rows. outputs: name → (N, …) float32, or for an output of each token (N, T) or (N, T, C) with `NEVER`
    behind the end of a row. per_token: whether they are outputs of each token, cut or padded to a batch's length.
    """

    def __init__(self, features: Features, outputs: dict[str, np.ndarray], per_token: bool):
        self._features, self.outputs, self.per_token = features, outputs, per_token

    def __getattr__(self, name):
        return getattr(self._features, name)

    def __len__(self) -> int:
        return len(self._features)

    def batch(self, indices, length: int) -> Batch:
        inputs, targets = self._features.batch(indices, length)
        targets = targets if isinstance(targets, dict) else {"targets": targets}
        taught = {TAUGHT + name: self._padded(values[indices], length) for name, values in self.outputs.items()}
        return inputs, targets | taught

    def _padded(self, values: np.ndarray, length: int) -> np.ndarray:
        if not self.per_token:
            return values
        values = values[:, :length]
        missing = ((0, 0), (0, length - values.shape[1])) + ((0, 0),) * (values.ndim - 2)
        return np.pad(values, missing, constant_values=NEVER)


def taught_rows(
    teacher: keras.Model,
    features: Features,
    limit: int,
    file: Path,
    made_from: str,
    advance: Callable[[int], None] = lambda rows: None,
) -> TaughtFeatures:
    """Rows with the outputs of a model; these are read from `file`, or computed and written there.

    limit: the longest row. made_from: identifies teacher and rows; a file of others, or a damaged one, is made again.
    advance: called with the number of rows that have been read.
    """
    from bertlab.models import QuestionAnswerer, TokenClassifier

    per_token = isinstance(teacher, (QuestionAnswerer, TokenClassifier))
    try:
        tensors, metadata = open_safetensors(file)
        if metadata.get(_MADE_FROM) == made_from:
            return TaughtFeatures(features, {name: tensor.read() for name, tensor in tensors.items()}, per_token)
    except CheckpointError:  # missing or damaged
        pass
    rows = outputs_of(teacher.predict_on_batch, features, _ROWS, limit, advance)
    rows = [row if isinstance(row, dict) else {"logits": row} for row in rows]
    arrays = {name: _stacked([row[name] for row in rows], features.lengths, per_token) for name in rows[0]}
    write_safetensors(file, arrays, {_MADE_FROM: made_from})
    return TaughtFeatures(features, arrays, per_token)


def _stacked(rows: list[np.ndarray], lengths: np.ndarray, per_token: bool) -> np.ndarray:
    if not per_token:
        return np.stack(rows)
    stacked = np.full((len(rows), int(lengths.max()), *rows[0].shape[1:]), NEVER, np.float32)
    for row, values, length in zip(stacked, rows, lengths):
        row[:length] = values[:length]
    return stacked
