"""One update from a batch that does not fit into memory: its parts are computed one after the other.

The mean over a batch is not the mean of its parts' means when the parts have different numbers of predictions. So
the predictions of the whole batch are counted first, and every part's sum is divided by that number: the parts'
losses, and with them the gradients, add up to the batch's exactly. The same holds for the parts of a batch on several
devices.

Letters: B batch, K parts.
"""

import keras
from keras import ops

from bertlab.training.devices import distribution


def split(batch: dict, parts: int) -> dict:
    """The rows of a batch in K equal parts: (B, …) → (K, B/K, …). Every value has a row axis.

    Part k has the rows k, k + K, k + 2K, …: JAX gives each of several devices one run of consecutive rows, so each
    device has some rows of every part. A part of consecutive rows would lie on one device.
    """

    def cut(values):
        sizes = ops.shape(values)[1:]  # not values.shape: TensorFlow's graph for batches of any length has None there
        return ops.swapaxes(ops.reshape(values, (-1, parts, *sizes)), 0, 1)

    return {name: cut(values) for name, values in batch.items()}


class InParts:
    """A part of a `keras.Model`: computes each batch in `accumulation` parts, on one or several devices.

    The model has `accumulation`, `bad_step` (a `FirstBadStep`) and `with_totals`: the batch and what all of its parts
    need to know of the others.
    """

    def _maybe_symbolic_build(self, *args, **kwargs):
        """Keras's method that creates missing variables. Here none is missing; on several devices it would fail."""

    def train_step(self, *data):
        if self.accumulation == 1 and distribution.num_replicas() == 1:
            return super().train_step(*data)
        *state, batch = data
        batch = batch[0] if isinstance(batch, tuple) else batch  # of `train_on_batch`
        step = {"tensorflow": _tensorflow_step, "jax": _jax_step, "torch": _torch_step}[keras.backend.backend()]
        return distribution.metrics_of_device(step(self, *state, batch))


def _parts_and_totals(trainer, batch: dict) -> tuple[dict, dict]:
    totals = {name: value for name, value in trainer.with_totals(batch).items() if name not in batch}
    return split(batch, trainer.accumulation), totals


def _tensorflow_step(trainer, batch: dict) -> dict:
    import tensorflow as tf

    parts, totals = _parts_and_totals(trainer, batch)
    totals = {name: distribution.sum_over_replicas(value) for name, value in totals.items()}
    variables = trainer.trainable_variables

    def add_part(k, loss, gradients):
        part = {name: value[k] for name, value in parts.items()} | totals
        with tf.GradientTape() as tape:
            part_loss = trainer.compute_loss(x=part, y_pred=trainer(part, training=True))
            scaled = trainer.optimizer.scale_loss(part_loss)
        new = tape.gradient(scaled, [v.value for v in variables], unconnected_gradients="zero")
        summed = [old + tf.convert_to_tensor(each) for old, each in zip(gradients, new)]
        return k + 1, loss + part_loss, summed

    zeros = [tf.zeros(v.shape, v.dtype) for v in variables]
    start = (tf.constant(0), tf.constant(0.0), zeros)
    _, loss, gradients = tf.while_loop(lambda k, *_: k < trainer.accumulation, add_part, start, parallel_iterations=1)
    trainer.optimizer.apply_gradients(zip(distribution.shared_gradients(trainer.optimizer, gradients), variables))
    _track_loss(trainer, loss * distribution.num_replicas())  # each replica reports the mean over all
    metrics, bad_step = trainer.get_metrics_result(), trainer.bad_step.name
    return {**metrics, bad_step: distribution.first_over_replicas(metrics[bad_step])}


def _track_loss(trainer, loss) -> None:
    """Adds the loss to Keras's own metric, which is found as in Keras's guide to custom training steps."""
    for metric in trainer.metrics:
        if metric.name == "loss":
            metric.update_state(loss)


def _jax_step(trainer, state, batch: dict):
    import jax

    trainable, others, optimizer_variables, metrics = state
    variables = [*trainer.trainable_variables, *trainer.non_trainable_variables]
    with keras.StatelessScope(state_mapping=list(zip(variables, [*trainable, *others]))):
        parts, totals = _parts_and_totals(trainer, batch)
    gradient_of = jax.value_and_grad(trainer.compute_loss_and_updates, has_aux=True)

    def add_part(carried, part):
        loss, gradients, others, metrics = carried
        (_, (part_loss, _, others, metrics)), new = gradient_of(
            trainable, others, metrics, part | totals, None, None, training=True,
            optimizer_variables=optimizer_variables,
        )  # fmt: skip
        return (loss + part_loss, [a + b for a, b in zip(gradients, new)], others, metrics), None

    zeros = [jax.numpy.zeros_like(v) for v in trainable]
    (loss, gradients, others, metrics), _ = jax.lax.scan(add_part, (0.0, zeros, others, metrics), parts)
    trainable, optimizer_variables = trainer.optimizer.stateless_apply(optimizer_variables, gradients, trainable)
    with keras.StatelessScope(state_mapping=list(zip(trainer.metrics_variables, metrics))) as scope:
        _track_loss(trainer, loss)
        logs = trainer.get_metrics_result()
    metrics = [scope.get_current_value(v) for v in trainer.metrics_variables]
    return logs, (trainable, others, optimizer_variables, metrics)


def _torch_step(trainer, batch: dict) -> dict:
    import torch

    parts, totals = _parts_and_totals(trainer, batch)
    trainer.zero_grad()
    loss = 0.0
    for k in range(trainer.accumulation):
        part = {name: values[k] for name, values in parts.items()} | totals
        part_loss = trainer.compute_loss(x=part, y_pred=trainer(part, training=True))
        trainer.optimizer.scale_loss(part_loss).backward()  # PyTorch adds to the existing gradients
        loss = loss + part_loss.detach()
    gradients = [v.value.grad for v in trainer.trainable_variables]
    with torch.no_grad():
        trainer.optimizer.apply(gradients, trainer.trainable_variables)
    _track_loss(trainer, loss)
    return trainer.get_metrics_result()
