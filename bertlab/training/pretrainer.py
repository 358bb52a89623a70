"""Pre-training as a Keras model: `compile`, `fit` and callbacks work as ever.

Letters: B batch, P predictions.
"""

import keras
from keras import ops

from bertlab.models import BertForPreTraining
from bertlab.models.base import INPUT_NAMES
from bertlab.training.accumulation import accumulated_step
from bertlab.training.distribution import figures_of_a_device, num_replicas, on_several_machines
from bertlab.training.losses import token_hits, token_losses, weighted_mean


class PreTrainer(keras.Model):
    """Trains a `BertForPreTraining` on batches that carry their own targets.

    A batch is a dict: what `BertForPreTraining` reads, and masked_lm_ids (B, P), masked_lm_weights (B, P) and, if it
    is to train the next-sentence head, next_sentence_labels (B,). The loss is the sum of the two mean losses. Reported
    are loss, masked_lm_loss, masked_lm_accuracy, next_sentence_loss and next_sentence_accuracy, each a mean over its
    own predictions (an epoch's masked accuracy is not the mean of its batches' accuracies), and tokens, the number of
    those read that are not padding.

    A left-to-right model (`config.causal`) is trained the same way on every token's successor (see
    `bertlab.training.targets`); its figures are called next_token_loss and next_token_accuracy.

    accumulation: a batch is computed in so many parts, one after the other, which together give the same update.
    """

    def __init__(self, bert: BertForPreTraining, accumulation: int = 1, **kwargs):
        super().__init__(**{"dtype": bert.dtype_policy, **kwargs})
        self.bert = bert
        self.accumulation = accumulation
        self.task = "next_token" if bert.config.causal else "masked_lm"
        names = [f"{self.task}_loss", f"{self.task}_accuracy"]
        if bert.next_sentence_head is not None:
            names += ["next_sentence_loss", "next_sentence_accuracy"]
        self.trackers = {name: MeanIfAny(name=name) for name in names}  # keras.Model finds them by itself
        self.token_counter = keras.metrics.Sum(name="tokens")
        self.bad_step = FirstBadStep(accumulation, name="bad_step")
        self.built = True

    def call(self, batch, training=False):
        inputs = {name: batch[name] for name in INPUT_NAMES if name in batch}  # the targets are not for its eyes
        return self.bert(inputs, training=training)

    def train_step(self, *data):
        if self.accumulation == 1 and num_replicas() == 1:
            return super().train_step(*data)
        return figures_of_a_device(accumulated_step(self, *data))

    def test_step(self, *data):
        return figures_of_a_device(super().test_step(*data))

    def _maybe_symbolic_build(self, *args, **kwargs):
        """Keras's own way to make what is missing, for which it adds up batches of all machines, but not dicts.

        Here nothing is missing: the weights and the optimizer's variables are made before `fit`.
        """
        if not on_several_machines():
            super()._maybe_symbolic_build(*args, **kwargs)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        self.token_counter.update_state(real_tokens(x))
        ids, weights = x["masked_lm_ids"], x["masked_lm_weights"]
        losses = self._track(self.task, y_pred["masked_lm_logits"], ids, weights)  # (B, P)
        loss = weighted_mean(losses, weights, x.get("masked_lm_total"))
        if self.bert.next_sentence_head is not None:
            labels, weights = pair_targets(x)
            losses = self._track("next_sentence", y_pred["next_sentence_logits"], labels, weights)  # (B,)
            loss = loss + weighted_mean(losses, weights, x.get("next_sentence_total"))
        self.bad_step.update_state(loss)
        return loss if training else loss / num_replicas()  # Keras multiplies an evaluation's loss by that number

    def _track(self, task, logits, labels, weights):
        """Losses of single predictions, entered with their hits into the task's running means."""
        losses = token_losses(logits, labels)
        hits = token_hits(logits, labels)
        self.trackers[f"{task}_loss"].update_state(losses, sample_weight=weights)
        self.trackers[f"{task}_accuracy"].update_state(ops.cast(hits, "float32"), sample_weight=weights)
        return losses

    def with_totals(self, batch: dict) -> dict:
        """The batch and, for `compute_loss` on parts of it, how many predictions it has of either kind."""
        totals = {"masked_lm_total": ops.sum(ops.cast(batch["masked_lm_weights"], "float32"))}
        if self.bert.next_sentence_head is not None:
            totals["next_sentence_total"] = ops.sum(pair_targets(batch)[1])
        return {**batch, **totals}


class MeanIfAny(keras.metrics.Mean):
    """A running mean that is not a number, instead of 0, as long as there was nothing to take a mean of."""

    def result(self):
        return ops.where(self.count > 0, super().result(), float("nan"))


class FirstBadStep(keras.metrics.Metric):
    """The number, from 1, of the first step since the last reset whose loss was infinite or not a number; else 0.

    Steps are run in bundles, which report one running mean: this tells which step of a bundle spoilt it.
    parts: how many losses a step has.
    """

    def __init__(self, parts: int = 1, name: str = "bad_step", **kwargs):
        super().__init__(name=name, **kwargs)
        self.parts = parts
        self.losses = self.add_variable(shape=(), initializer="zeros", dtype="int32", name="losses")
        self.first = self.add_variable(shape=(), initializer="zeros", dtype="int32", name="first")

    def update_state(self, loss, sample_weight=None):
        self.losses.assign(self.losses + 1)
        is_first = ops.logical_and(ops.logical_not(ops.isfinite(loss)), ops.equal(self.first, 0))
        self.first.assign(ops.where(is_first, self.losses.value, self.first.value))  # JAX's where takes no variables

    def result(self):
        return ops.floor_divide(self.first + self.parts - 1, self.parts)


def pair_targets(batch):
    """Labels and weights of the next-sentence task, (B,) each; the weights are 0 where the rows are no pairs."""
    labels = batch.get("next_sentence_labels")
    if labels is None:
        labels = ops.zeros_like(batch["input_ids"][:, 0])
        return labels, ops.zeros_like(labels, dtype="float32")
    return labels, ops.ones_like(labels, dtype="float32")


def real_tokens(batch):
    """How many tokens of a batch are not padding, as a float32 scalar."""
    if "sequence_ids" in batch:
        return ops.sum(ops.cast(batch["sequence_ids"] > 0, "float32"))
    return ops.sum(ops.cast(batch.get("attention_mask", ops.ones_like(batch["input_ids"])), "float32"))
