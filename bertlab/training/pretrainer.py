"""Pre-training as a Keras model: `compile`, `fit` and callbacks work as ever.

Letters: B batch, P predictions.
"""

import keras
from keras import ops

from bertlab.models import BertForPreTraining
from bertlab.training.losses import token_losses, weighted_mean


class PreTrainer(keras.Model):
    """Trains a `BertForPreTraining` on batches that carry their own targets.

    A batch is a dict: what `BertForPreTraining` reads, and masked_lm_ids (B, P), masked_lm_weights (B, P) and, if it
    is to train the next-sentence head, next_sentence_labels (B,). The loss is the sum of the two mean losses. Reported
    are loss, masked_lm_loss, masked_lm_accuracy, next_sentence_loss and next_sentence_accuracy, each a mean over its
    own predictions (an epoch's masked accuracy is not the mean of its batches' accuracies), and tokens, the number of
    those read that are not padding.
    """

    def __init__(self, bert: BertForPreTraining, **kwargs):
        super().__init__(**kwargs)
        self.bert = bert
        names = ["masked_lm_loss", "masked_lm_accuracy"]
        if bert.next_sentence_head is not None:
            names += ["next_sentence_loss", "next_sentence_accuracy"]
        self.trackers = {name: keras.metrics.Mean(name=name) for name in names}  # keras.Model finds them by itself
        self.token_counter = keras.metrics.Sum(name="tokens")
        self.built = True

    def call(self, batch, training=False):
        return self.bert(batch, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        self.token_counter.update_state(real_tokens(x))
        ids, weights = x["masked_lm_ids"], x["masked_lm_weights"]
        losses = self._track("masked_lm", y_pred["masked_lm_logits"], ids, weights)  # (B, P)
        loss = weighted_mean(losses, weights)
        if self.bert.next_sentence_head is not None:
            labels, weights = pair_targets(x)
            losses = self._track("next_sentence", y_pred["next_sentence_logits"], labels, weights)  # (B,)
            loss = loss + weighted_mean(losses, weights)
        return loss

    def _track(self, task, logits, labels, weights):
        """Losses of single predictions, entered with their hits into the task's running means."""
        losses = token_losses(logits, labels)
        hits = ops.equal(ops.argmax(logits, axis=-1), ops.cast(labels, "int32"))
        self.trackers[f"{task}_loss"].update_state(losses, sample_weight=weights)
        self.trackers[f"{task}_accuracy"].update_state(ops.cast(hits, "float32"), sample_weight=weights)
        return losses


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
