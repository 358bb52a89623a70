"""Fine-tuning beside a teacher: the model that a step trains, with the losses of the task stage.

Letters: B batch, T tokens, C classes.
"""

import keras
from keras import ops

from bertlab.models.base import INPUT_NAMES
from bertlab.training.distillation import losses
from bertlab.training.distillation.kept import TAUGHT
from bertlab.training.distillation.models import compared_layers, projection
from bertlab.training.distillation.objectives import real
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.finetuning.task_kinds import MultiLabel, Questions, Regression, TaskKind
from bertlab.training.finetuning.trainer import TOTAL, FineTuner, targets_of
from bertlab.training.objectives.losses import weighted_mean


class SoftTuner(FineTuner):
    """Learns from a teacher's kept outputs, which are in the batch, and from the labels.

    The loss is soft_factor · T² · KL + hard_factor · the task's own loss. Of numbers, the soft loss is the squared
    difference from the teacher's number.

    Args:
        settings: factors and temperature. The others as for `FineTuner`.
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
        pairs = [(outputs[name], taught(name)) for name in ("start_logits", "end_logits")]
        return sum(losses.soft_target_losses(*pair, temperature) for pair in pairs) / 2  # (B,)
    if isinstance(task_kind, Regression):
        return ops.square(ops.cast(outputs[:, 0], "float32") - taught("logits")[:, 0])  # (B,)
    if isinstance(task_kind, MultiLabel):
        return losses.label_losses(outputs, taught("logits"), temperature)  # (B, C)
    return losses.soft_target_losses(outputs, taught("logits"), temperature)  # (B,), of tagging (B, T)


class LayerTuner(FineTuner):
    """Learns from the layers of a teacher that reads each batch too; its head stays as it is.

    A projection to the teacher's width is trained beside the model where it is narrower.

    Args:
        teacher: a fine-tuned model.   settings: the factors. The others as for `FineTuner`.
    """

    def __init__(self, teacher: keras.Model, settings: DistillationSettings, *arguments):
        super().__init__(*arguments)
        self.teacher, self.settings, teacher.trainable = teacher, settings, False
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
        weights, total = self._weights(x), x.get(TOTAL)  # (B, T)
        states = sum(losses.vector_losses(*pair) for pair in y_pred["state_pairs"])
        scores = sum(losses.score_losses(*pair, y_pred["mask"]) for pair in y_pred["score_pairs"])
        each = self.settings.hidden_factor * states + self.settings.attention_factor * scores
        loss = weighted_mean(each, weights, total)
        self.bad_step.update_state(loss)
        return loss

    def with_totals(self, batch: dict) -> dict:
        return {**batch, TOTAL: ops.sum(self._weights(batch))}

    def _weights(self, batch: dict):
        """1 at the real tokens of real rows, 0 at padding and in rows that fill a batch up: (B, T)."""
        items = self.task_kind.weights(targets_of(batch))  # (B, …)
        rows = ops.shape(items)[0]
        is_row = ops.cast(ops.max(ops.reshape(items, (rows, -1)), axis=1) > 0, "float32")  # (B,)
        tokens = real(batch)  # (B, T), of multiple choice (B, C, T)
        weighed = ops.reshape(tokens, (rows, -1)) * is_row[:, None]
        return ops.reshape(weighed, (-1, ops.shape(tokens)[-1]))
