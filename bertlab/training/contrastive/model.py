"""The model of contrastive tuning: an encoder, and the loss of choosing each text's partner among all of the batch.

The loss of a batch needs the vectors of all its texts, so a batch that is computed in parts, one after the other or on
several devices, is read twice: first without gradients, for all vectors; then part by part, each with the gradient of
the whole batch's loss for its own vectors (Gao et al. 2021, "Scaling Deep Contrastive Learning Batch Size under Memory
Limited Setup"). Dropout draws the same in both readings. The parts' gradients add up to the batch's.

Letters: B pairs of a batch, N rows of a part, T tokens, H hidden size.
"""

import keras
from keras import ops

from bertlab.training.devices.accumulation import InParts, split
from bertlab.training.devices.distribution import num_replicas
from bertlab.training.finetuning.trainer import inputs_of
from bertlab.training.runs.pretrainer import FirstBadStep

ROWS, VECTORS = "rows", "vectors"


def contrastive_loss(first, second, temperature: float):
    """The mean cross-entropy of choosing each row's own partner by cosine / temperature. (B, H), (B, H) → scalar.

    Example:
        >>> vectors = ops.eye(2)
        >>> round(float(contrastive_loss(vectors, vectors, 1.0)), 4)  # log(1 + e⁻¹)
        0.3133
    """
    first, second = (ops.normalize(ops.cast(each, "float32"), axis=-1, epsilon=1e-12) for each in (first, second))
    scores = ops.matmul(first, ops.transpose(second)) / temperature  # (B, B)
    return -ops.mean(ops.diagonal(ops.log_softmax(scores, axis=-1)))


class ContrastiveTuner(InParts, keras.Model):
    """An encoder whose loss is `contrastive_loss`.

    A batch has 2 B rows, first texts, then their partners, and their numbers, `rows` (2 B,).

    Args:
        backbone: the encoder.   temperature: of the loss.
        accumulation: parts that a batch is computed in, one after the other; together they give the same update.
    """

    def __init__(self, backbone, temperature: float, accumulation: int = 1):
        super().__init__(dtype=backbone.dtype_policy)
        self.backbone, self.temperature, self.accumulation = backbone, temperature, accumulation
        self.bad_step = FirstBadStep(accumulation)
        self.built = True  # every weight is made in the backbone's constructor

    @property
    def config(self):
        """The backbone's configuration."""
        return self.backbone.config

    def call(self, batch, training=False):
        hidden = self.backbone(inputs_of(batch, self.backbone), training=training)["sequence_output"]  # (N, T, H)
        weights = ops.cast(batch["attention_mask"], hidden.dtype)
        return ops.einsum("bth,bt->bh", hidden, weights) / ops.sum(weights, axis=1, keepdims=True)

    def with_totals(self, batch: dict) -> dict:
        """The batch and, for `compute_loss` on parts of it, the vectors of its rows: (2 B, H), 0 for other devices'."""
        seeds = [variable for variable in self.non_trainable_variables if "seed" in variable.name]
        before = [ops.copy(seed) for seed in seeds]
        parts = split(batch, self.accumulation)
        vectors = [
            ops.cast(self({name: values[k] for name, values in parts.items()}, training=True), "float32")
            for k in range(self.accumulation)
        ]
        for seed, value in zip(seeds, before):
            seed.assign(value)
        rows = ops.reshape(parts[ROWS], (-1, 1))
        everything = ops.concatenate(vectors, axis=0)
        zeros = ops.zeros((ops.shape(rows)[0] * num_replicas(), ops.shape(everything)[1]), "float32")
        return {**batch, VECTORS: ops.stop_gradient(ops.scatter_update(zeros, rows, everything))}

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of a batch; of a part, with the gradient for its rows, its part of the loss."""
        if VECTORS not in x:
            loss = contrastive_loss(*ops.split(y_pred, 2), self.temperature)
        else:
            vectors = ops.scatter_update(x[VECTORS], x[ROWS][:, None], ops.cast(y_pred, "float32"))
            loss = contrastive_loss(*ops.split(vectors, 2), self.temperature)
            others = 1 - 1 / (self.accumulation * num_replicas())
            loss = loss - ops.stop_gradient(loss) * others  # the parts' losses, too, add up to the batch's
        self.bad_step.update_state(loss)
        return loss
