"""The task stage: a student learns a task from labelled rows and from a teacher that is fine-tuned on it.

It is a fine-tuning with another loss (see `bertlab.training.finetuning.experiment`): same runs, states and files. The
teacher's outputs on the training rows are computed once and kept in OUT/teacher.safetensors; hidden states and
attention scores are too large for that, so a teacher whose layers are learned from reads every batch.

Letters: N rows, B rows of a batch, T tokens, C classes.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import keras
import numpy as np
from keras import ops

from bertlab import checkpoints
from bertlab.checkpoints.kinds import kind_of, model_class, variables_of
from bertlab.checkpoints.opening import find
from bertlab.checkpoints.stored import open_safetensors, write_safetensors
from bertlab.common.errors import CheckpointError, DataError
from bertlab.common.progress import bar
from bertlab.data.tasks.features import Batch, Features
from bertlab.data.tasks.rows import TaskData
from bertlab.models import QuestionAnswerer, TokenClassifier
from bertlab.models.base import INPUT_NAMES
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.devices.precision import policy_of
from bertlab.training.distillation.models import (
    Size,
    check_layers,
    chosen_student,
    compared_layers,
    projection,
    reading_memory,
    same_parts,
    start_from,
    student_config,
)
from bertlab.training.distillation.objectives import AttentionScores, HiddenStates, label_losses, soft_target_losses
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.finetuning.batches import outputs_of
from bertlab.training.finetuning.experiment import Experiment
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.settings import STARTS, Recipe
from bertlab.training.finetuning.task_info import load_info
from bertlab.training.finetuning.task_kinds import (
    MultiLabel,
    Questions,
    Regression,
    TaskInfo,
    TaskKind,
    task_kind_of,
)
from bertlab.training.finetuning.trainer import TOTAL, FineTuner, targets_of
from bertlab.training.objectives import real_tokens, weighted_mean
from bertlab.training.runs.models import TrainedWeights, check_same_tokenizer

TAUGHT = "teacher_"  # before the names of the teacher's outputs in a batch
NEVER = -1e4  # the teacher's logit of a token that its row does not have: exp(NEVER) is 0
_ROWS = 64  # read together
_MADE_FROM = "made_from"  # in the file's metadata
KEPT = "teacher.safetensors"


def distill_task(
    teacher: str | Path,
    to: str | Path,
    task: TaskData,
    out: str | Path,
    recipe: Recipe | None = None,
    distillation: DistillationSettings | None = None,
    say: Callable[[str], None] = lambda text: None,
    *,
    callbacks: Sequence = (),
    on_begin: Callable[[], object] = lambda: None,
    memory_check: bool = True,
) -> FineTuningResult:
    """Trains a student on a task beside a teacher that is fine-tuned on it; writes the best of all runs into a folder.

    Args:
        teacher: the folder of a fine-tuned model.
        to: the student: a size such as "2x128" (layers × width), or the folder of a pre-trained or distilled one.
        task, out, recipe, say, callbacks, on_begin, memory_check: as for `bertlab.training.finetuning.finetune`.
        distillation: what the student learns; half soft targets, half labels if left out.

    Raises what `finetune` raises; ConfigError also for a student that does not fit the teacher, CheckpointError for a
    teacher that is not fine-tuned, DataError for rows with labels that it does not have.
    """
    recipe = recipe or Recipe()
    with data_parallel(recipe.devices):
        settings = distillation or DistillationSettings()
        experiment = TaskDistillation(teacher, to, task, Path(out), recipe, settings, say)
        return experiment.run(callbacks, on_begin, memory_check)


def longest_row(teacher: str | Path, devices: int = 1) -> int:
    """The number of tokens to which the rows of a fine-tuned model were cut.

    devices: of the run that follows; TensorFlow cannot divide a processor once it has loaded a model.
    """
    folder = find(teacher)
    with data_parallel(devices):
        return load_info(folder, checkpoints.load(folder, padded_vocabulary=True)).max_length


class TaskDistillation(Experiment):
    """A fine-tuning whose loss also knows a teacher. Arguments: see `distill_task`."""

    def __init__(self, teacher, to, task: TaskData, out: Path, recipe: Recipe, distillation, say):
        self.distillation = distillation.for_stage("task")
        self.layers = distillation.losses == "layers"
        self.teacher_folder = find(teacher)
        self.student = chosen_student(to)
        self.teacher = checkpoints.load(self.teacher_folder, padded_vocabulary=True)
        check_task(load_info(self.teacher_folder, self.teacher), task, self.teacher_folder)
        start = self.teacher_folder if isinstance(self.student, Size) else self.student
        tokenizers = map(checkpoints.load_tokenizer, (start, self.teacher_folder))
        remedy = "distill from a teacher that reads text as the student does"
        check_same_tokenizer(start, *tokenizers, f"its teacher {self.teacher_folder}", remedy)
        super().__init__(start, {task.name: task}, out, recipe, {}, say)
        if kind_of(self.teacher) != self.group.model_kind:
            raise CheckpointError(
                f"{self.teacher_folder}: expected a teacher with a head for {self.group.model_kind}, got one for "
                f"{kind_of(self.teacher)}; choose a model that is fine-tuned on {task.name}"
            )
        if self.layers:
            check_layers(self.config, self.teacher.config)

    def _load(self, model) -> tuple[dict, object]:
        """The weights that the student starts from, and its configuration."""
        if not isinstance(self.student, Size):
            return super()._load(model)
        config = student_config(self.teacher.config, self.student, self.distillation.heads)
        if self.distillation.start == "fresh" or not same_parts(config, self.teacher.config):
            self._note("the student starts from fresh weights")
            self.start = STARTS[1]
            return {}, config
        self._note("the student starts from layers of the teacher")
        student = model_class(self.group.model_kind)(config, **self.group.model_options)
        start_from(student, self.teacher)
        return {path: ops.convert_to_numpy(variable) for path, variable in variables_of(student).items()}, config

    def _free_memory(self, rows: int, tokens: int) -> int | None:
        """Without the teacher's weights and, where it reads every batch, what that takes."""
        free = super()._free_memory(rows, tokens)
        if free is None:
            return None
        free -= 4 * self.teacher.count_params()
        if not self.layers:
            return free
        return free - reading_memory(self.config, self.teacher.config, rows, tokens, None, self.precision, layers=True)

    def identity(self) -> dict:
        return super().identity() | {
            "teacher": TrainedWeights(self.teacher_folder).sha256(),
            "to": str(self.student),
            "distillation": self.distillation.to_dict(),
        }

    def _tuner(self, *arguments) -> FineTuner:
        if not self.layers:
            return SoftTuner(self.distillation, *arguments)
        policy = policy_of(self.precision)
        teacher = checkpoints.load(self.teacher_folder, padded_vocabulary=True, dtype=policy)
        return LayerTuner(teacher, self.distillation, *arguments)

    def _prepare(self) -> None:
        if self.layers:
            return
        info, identity = self.group.only.info, self.identity()
        ((name, rows),) = self.splits["train"].items()
        limit = min(info.max_length, self.teacher.config.max_tokens)
        # All that decides the teacher's outputs: its weights, the rows, and how they are cut.
        made_from = f"{identity['teacher']} {identity['rows']} {info.max_length} {info.stride} {limit}"
        with bar("Reading of the teacher", len(rows.features)) as running:
            kept = self.out / KEPT, made_from
            taught = taught_rows(self.teacher, rows.features, limit, *kept, running.advance)
        self.splits["train"] = {name: dataclasses.replace(rows, features=taught)}


def check_task(info: TaskInfo, task: TaskData, teacher: Path) -> None:
    """Raises DataError for rows of another shape or with other labels than the teacher's."""
    ours, its_kind = task_kind_of(info, None).model_kind, task.shape
    wanted = task_kind_of(TaskInfo.of(task, info.max_length, info.stride), None).model_kind
    if ours != wanted:
        raise DataError(f"{task.name}: expected rows for a teacher of the shape {info.shape}, got the shape {its_kind}")
    if task.shape in ("multiple-choice", "question"):
        return
    if info.multi_label != task.multi_label or bool(info.labels) != bool(task.labels):
        raise DataError(f"{task.name}: expected rows with the teacher's kind of labels, as {teacher} was fine-tuned on")
    lacking = [label for label in task.labels if label not in info.labels]
    if lacking:
        raise DataError(
            f"{task.name}: rows have labels that the teacher does not have: {', '.join(map(str, lacking))}; it knows "
            f"{', '.join(map(str, info.labels))}"
        )
    if tuple(task.labels) != tuple(info.labels):
        raise DataError(
            f"{task.name}: expected the teacher's labels in its order; give --labels {','.join(map(str, info.labels))}"
        )


# === The model that a step trains ===


class SoftTuner(FineTuner):
    """Learns from a teacher's kept outputs, which are in the batch, and from the labels.

    The loss is soft_factor · T² · KL + hard_factor · the task's own loss. Of numbers, the soft loss is the squared
    difference from the teacher's number. settings: factors, temperature. The other arguments: those of `FineTuner`.
    """

    def __init__(self, settings: DistillationSettings, *arguments):
        super().__init__(*arguments)
        self.settings = settings

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        targets, total = targets_of(x), x.get(TOTAL)
        hard = self.task_kind.loss(targets, y_pred, self.class_weights, total)
        weights = self.task_kind.weights(targets, self.class_weights)
        soft = weighted_mean(soft_losses(self.task_kind, x, y_pred, self.settings.temperature), weights, total)
        loss = self.settings.soft_factor * soft + self.settings.hard_factor * hard
        self.bad_step.update_state(loss)
        return loss


def soft_losses(task_kind: TaskKind, batch: dict, outputs, temperature: float):
    """The soft loss of every item of a batch, in the shape of the problem's weights."""

    def taught(name):  # rows that fill a batch up have NaN, and no weight
        values = batch[TAUGHT + name]
        return ops.where(ops.isnan(values), 0.0, values)

    if isinstance(task_kind, Questions):
        names = ("start_logits", "end_logits")
        return sum(soft_target_losses(outputs[name], taught(name), temperature) for name in names) / 2  # (B,)
    if isinstance(task_kind, Regression):
        return ops.square(ops.cast(outputs[:, 0], "float32") - taught("logits")[:, 0])  # (B,)
    if isinstance(task_kind, MultiLabel):
        return label_losses(outputs, taught("logits"), temperature)  # (B, C)
    return soft_target_losses(outputs, taught("logits"), temperature)  # (B,), of tagging (B, T)


class LayerTuner(FineTuner):
    """Learns from the layers of a fine-tuned teacher that reads each batch too; its head stays as it is.

    A projection to the teacher's width is trained beside the model where it is narrower.
    settings: the factors. The other arguments are those of `FineTuner`.
    """

    def __init__(self, teacher: keras.Model, settings: DistillationSettings, *arguments):
        super().__init__(*arguments)
        self.teacher, teacher.trainable = teacher, False
        self.objectives = HiddenStates(settings.hidden_factor), AttentionScores(settings.attention_factor)
        self.projection = self._new_projection()
        self.model.head.trainable = False
        if self.model.backbone.pooler is not None:
            self.model.backbone.pooler.trainable = False

    def _new_projection(self):
        return projection(self.model.config, self.teacher.config, self.model.dtype_policy)

    @property
    def fixed_variables(self) -> list:
        """The teacher's variables, which are loaded from its own files."""
        return self.teacher.variables

    def begin(self) -> None:
        if self.projection is not None:
            self.projection.set_weights(self._new_projection().get_weights())

    def call(self, batch, training=False):
        if not training:
            return super().call(batch)
        tokens = ops.shape(batch["input_ids"])[-1]
        inputs = {name: ops.reshape(batch[name], (-1, tokens)) for name in INPUT_NAMES if name in batch}  # choices too
        return compared_layers(self.model.backbone, self.teacher.backbone, inputs, self.projection, training=True)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        states, scores = (objective.factor * objective.losses(x, y_pred) for objective in self.objectives)  # (B, T)
        loss = weighted_mean(states + scores, self._weights(x), x.get(TOTAL))
        self.bad_step.update_state(loss)
        return loss

    def with_totals(self, batch: dict) -> dict:
        return {**batch, TOTAL: ops.sum(self._weights(batch))}

    def _weights(self, batch: dict):
        """1 at the real tokens of real rows, 0 at padding and in rows that fill a batch up: (B, T)."""
        items = self.task_kind.weights(targets_of(batch))  # (B, …)
        rows = ops.shape(items)[0]
        is_row = ops.cast(ops.max(ops.reshape(items, (rows, -1)), axis=1) > 0, "float32")  # (B,)
        tokens = real_tokens(batch)  # (B, T), of multiple choice (B, C, T)
        weighed = ops.reshape(tokens, (rows, -1)) * is_row[:, None]
        return ops.reshape(weighed, (-1, ops.shape(tokens)[-1]))


# === The teacher's outputs, kept: the rows are the same in every epoch and every run ===


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
        for name, values in self.outputs.items():
            values = values[indices]
            targets = targets | {TAUGHT + name: _padded(values, length) if self.per_token else values}
        return inputs, targets


def taught_rows(
    teacher: keras.Model,
    features: Features,
    limit: int,
    file: Path,
    made_from: str,
    advance: Callable[[int], object],
) -> TaughtFeatures:
    """Rows with the outputs of a model; these are read from `file`, or computed and written there.

    limit: the longest row. made_from: identifies teacher and rows; a file of others, or a damaged one, is made again.
    advance: called with the number of rows that have been read.
    """
    per_token = isinstance(teacher, (QuestionAnswerer, TokenClassifier))
    try:
        tensors, metadata = open_safetensors(file)
        if metadata.get(_MADE_FROM) == made_from:
            return TaughtFeatures(features, {name: tensor.read() for name, tensor in tensors.items()}, per_token)
    except CheckpointError:  # missing or damaged
        pass
    rows = outputs_of(teacher.predict_on_batch, features, _ROWS, limit, advance)
    rows = [row if isinstance(row, dict) else {"logits": row} for row in rows]
    lengths, arrays = features.lengths, {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if per_token:
            longest = int(lengths.max())
            values = [_padded(one[None, :length], longest)[0] for one, length in zip(values, lengths)]
        arrays[name] = np.stack(values)
    write_safetensors(file, arrays, {_MADE_FROM: made_from})
    return TaughtFeatures(features, arrays, per_token)


def _padded(values: np.ndarray, length: int) -> np.ndarray:
    """Rows (N, T, …) in another length: cut, or filled up with `NEVER`."""
    values = values[:, :length]
    missing = ((0, 0), (0, length - values.shape[1])) + ((0, 0),) * (values.ndim - 2)
    return np.pad(values, missing, constant_values=NEVER)
