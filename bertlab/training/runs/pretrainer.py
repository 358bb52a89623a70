"""Pre-training as a Keras model: `compile`, `fit` and callbacks work as usual."""

from collections.abc import Sequence

import keras
from keras import ops

from bertlab.models import PreTrainingModel
from bertlab.training.devices.accumulation import InParts
from bertlab.training.devices.distribution import metrics_of_device, num_replicas, on_several_machines
from bertlab.training.objectives import Objective, objectives_of, real_tokens, weighted_mean

NOT_REPORTED = "bad_step"  # the metric that is for the alarm alone


class MeanIfAny(keras.metrics.Mean):
    """A running mean that is NaN, instead of 0, while it has no values."""

    def result(self):
        return ops.where(self.count > 0, super().result(), float("nan"))


class FirstBadStep(keras.metrics.Metric):
    """The number, from 1, of the first step since the last reset whose loss was infinite or not a number; else 0.

    Steps are run in bundles, which report one running mean: this metric shows at which step of a bundle it became bad.
    parts: how many losses a step has.
    """

    def __init__(self, parts: int = 1):
        super().__init__(name=NOT_REPORTED)
        self.parts = parts
        self.losses = self.add_variable(shape=(), initializer="zeros", dtype="int32", name="losses")
        self.first = self.add_variable(shape=(), initializer="zeros", dtype="int32", name="first")

    def update_state(self, loss, sample_weight=None):
        self.losses.assign(self.losses + 1)
        is_first = ops.logical_and(ops.logical_not(ops.isfinite(loss)), ops.equal(self.first, 0))
        self.first.assign(ops.where(is_first, self.losses.value, self.first.value))  # JAX's where takes no variables

    def result(self):
        return ops.floor_divide(self.first + self.parts - 1, self.parts)


class PreTrainer(InParts, keras.Model):
    """Trains a `PreTrainingModel`, or a `GeneratorAndDiscriminator`, on batches that contain their own targets.

    A batch is a dict: what the model reads, and the targets of the objectives. The loss is the sum of the objectives'
    mean losses, each times the objective's factor. Metrics: loss; for each objective NAME_loss and NAME_accuracy, each
    a mean over its own items (an epoch's accuracy is not the mean of its batches' accuracies) and without the factor;
    and tokens, the number of tokens that are not padding.

    Args:
        bert: the model, with its pre-training heads.
        accumulation: parts that a batch is computed in, one after the other; together they give the same update.
        objectives: what the model is trained to do; everything that it has a head for if left out.

    Example:
        trainer = PreTrainer(PreTrainingModel(BertConfig.named("tiny")))
        trainer.compile(adamw(1e-3, trainer))
        trainer.fit(batches_of(make_examples(documents, tokenizer), 32), shuffle=False)
    """

    def __init__(self, bert: PreTrainingModel, accumulation: int = 1, objectives: Sequence[Objective] | None = None):
        super().__init__(dtype=bert.dtype_policy)
        self.bert = bert
        self.accumulation = accumulation
        self.objectives = objectives_of(bert) if objectives is None else tuple(objectives)
        names = [f"{objective.name}_{metric}" for objective in self.objectives for metric in ("loss", "accuracy")]
        self.trackers = {name: MeanIfAny(name=name) for name in names}  # keras.Model finds them by itself
        self.token_counter = keras.metrics.Sum(name="tokens")
        self.bad_step = FirstBadStep(accumulation)
        self.built = True

    @property
    def fixed_variables(self) -> list:
        """The variables that training never changes and a state need not hold: a teacher's."""
        return getattr(self.bert, "fixed_variables", [])

    def call(self, batch, training=False):
        inputs = {name: batch[name] for name in self.bert.reads if name in batch}  # without other targets
        return self.bert(inputs, training=training)

    def test_step(self, *data):
        return metrics_of_device(super().test_step(*data))

    def _maybe_symbolic_build(self, *args, **kwargs):
        if not on_several_machines():  # of which it would add up the batches, which fails for dicts
            keras.Model._maybe_symbolic_build(self, *args, **kwargs)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        tokens = ops.sum(real_tokens(x))
        if "decoder_input_ids" in x:
            tokens += ops.sum(x["next_token_weights"])
        self.token_counter.update_state(tokens)
        first, *others = [objective.factor * self._loss_of(objective, x, y_pred) for objective in self.objectives]
        loss = sum(others, first)
        self.bad_step.update_state(loss)
        return loss if training else loss / num_replicas()  # Keras multiplies an evaluation's loss by that number

    def _loss_of(self, objective: Objective, batch: dict, outputs: dict):
        """The mean loss over an objective's items; also updates the objective's running means."""
        objective.check(batch)
        losses, hits = objective.losses(batch, outputs), objective.hits(batch, outputs)
        weights = objective.weights(batch)
        self.trackers[f"{objective.name}_loss"].update_state(losses, sample_weight=weights)
        if hits is not None:
            self.trackers[f"{objective.name}_accuracy"].update_state(ops.cast(hits, "float32"), sample_weight=weights)
        return weighted_mean(losses, weights, batch.get(f"{objective.name}_total"))

    def with_totals(self, batch: dict) -> dict:
        """The batch and, for `compute_loss` on parts of it, the sum of all weights of each objective."""
        weights = {f"{objective.name}_total": objective.weights(batch) for objective in self.objectives}
        return batch | {name: ops.sum(ops.cast(value, "float32")) for name, value in weights.items()}
