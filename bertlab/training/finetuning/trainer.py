"""One fine-tuning run: epochs over the training rows, with the development rows judged after each.

The model is compiled once and serves run after run: a run begins by giving it fresh weights, a fresh optimizer and
fresh seeds for dropout, so that its outcome does not depend on what was trained before.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import keras
import numpy as np

from bertlab.errors import TrainingError
from bertlab.training.finetuning.batches import EPOCHS, outputs_of
from bertlab.training.finetuning.optimizer import finetuning_optimizer, freeze
from bertlab.training.finetuning.problems import Decoded, Encoded, Problem
from bertlab.training.finetuning.settings import Recipe

PREDICTED_TOGETHER = 64  # rows


class FineTuner(keras.Model):
    """A model with a head, whose loss is that of its problem. Batches are (inputs, targets) of `Features.batch`."""

    def __init__(self, model: keras.Model, problem: Problem, class_weights: np.ndarray | None = None):
        super().__init__()
        self.model = model
        self.problem = problem
        self.class_weights = class_weights
        self.built = True  # every weight is made in the model's constructor

    def call(self, inputs, training=False):
        return self.model(inputs, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return self.problem.loss(y, y_pred, self.class_weights)


@dataclass(frozen=True)
class Outcome:
    """The results of a run. epochs: a row of figures for each; decoded: predictions with the weights that are kept."""

    epochs: list[dict]
    kept_epoch: int  # from 1
    decoded: Decoded
    seconds: float  # of training alone

    @property
    def figures(self) -> dict[str, float]:
        """The development metrics of the kept weights."""
        return self.epochs[self.kept_epoch - 1]["figures"]


class Trainer:
    """Runs of one model on one task; compiles once.

    Args:
        make_model: gives the model with fresh weights, drawn from Keras' seed.
        problem, recipe: the task, and everything but batch size, learning rate, epochs and seed, which `run` gets.
        class_weights: (C,) or None.
    """

    def __init__(
        self, make_model: Callable[[], keras.Model], problem: Problem, recipe: Recipe, class_weights=None, jit="auto"
    ):
        self.make_model, self.problem, self.recipe = make_model, problem, recipe
        self.model = make_model()
        freeze(self.model, recipe.frozen_layers)
        self.tuner = FineTuner(self.model, problem, class_weights)
        self.tuner.compile(finetuning_optimizer(self.model, recipe.weight_decay, recipe.layer_decay), jit_compile=jit)
        self.tuner.optimizer.build(self.tuner.trainable_variables)

    @property
    def limit(self) -> int:
        """The longest row that problem and model allow."""
        return min(self.problem.info.max_length, self.model.config.max_tokens)

    def begin(self, seed: int, encoder_weights: dict[str, np.ndarray] | None) -> None:
        """Fresh weights and dropout by the seed, a fresh optimizer, then the pre-trained weights by their paths."""
        keras.utils.set_random_seed(seed)
        fresh = self.make_model()
        for own, new in zip(self.model.variables, fresh.variables, strict=True):  # dropout's seeds are among them
            own.assign(new)
        for variable in self.tuner.optimizer.variables:
            variable.assign(keras.ops.zeros_like(variable))
        own = {variable.path: variable for variable in self.model.weights}
        for path, value in (encoder_weights or {}).items():
            own[path].assign(value)

    def run(self, train: Encoded, dev: Encoded, recipe: Recipe, seed: int, advance: Callable) -> Outcome:
        """Trains from where `begin` put the model. advance(steps, note): called after each step."""
        batches = -(-len(train.features) // recipe.batch_size)
        total = batches * recipe.epochs
        step, epochs, seconds = 0, [], 0.0
        best: tuple[float, int, Decoded, list] | None = None  # figure, epoch, predictions, weights
        epochs_of_batches = EPOCHS[recipe.row_order](train.features, recipe.batch_size, self.limit, seed)
        for epoch, epoch_batches in zip(range(1, recipe.epochs + 1), epochs_of_batches):
            begin, losses = time.perf_counter(), []
            for inputs, targets in epoch_batches:
                self.tuner.optimizer.learning_rate.assign(learning_rate_at(step, total, recipe))
                losses.append(float(self.tuner.train_on_batch(inputs, targets)))
                step += 1
                advance(1, f"loss {np.mean(losses[-50:]):.3f}")
            seconds += time.perf_counter() - begin
            _check(losses, epoch, recipe, seed)
            decoded = self.predict(dev)
            figures = self.problem.score(dev.rows, decoded)
            epochs.append({"epoch": epoch, "loss": float(np.mean(losses)), "figures": figures})
            first = main_figure(figures)
            if recipe.patience is None:
                best = (first, epoch, decoded, [])
            elif best is None or first > best[0]:
                best = (first, epoch, decoded, self.model.get_weights())
            elif epoch - best[1] >= recipe.patience:
                break
        if best[3]:
            self.model.set_weights(best[3])
        return Outcome(epochs, best[1], best[2], seconds)

    def predict(self, encoded: Encoded) -> Decoded:
        """Predictions for rows, with the weights as they are now."""
        return self.problem.decode(encoded, self.outputs(encoded))

    def outputs(self, encoded: Encoded) -> list:
        """The model's output for each row (or window)."""
        return outputs_of(self.tuner.predict_on_batch, encoded.features, PREDICTED_TOGETHER, self.limit)


def learning_rate_at(step: int, total: int, recipe: Recipe) -> float:
    """Linear warm-up, then linear decay to 0, as in pre-training (see `bertlab.training.recipes.schedule`)."""
    warmup = int(recipe.warmup_share * total)
    rising = (step + 1) / max(warmup, 1)
    return recipe.learning_rate * max(0.0, min(rising, (total - step) / (total - warmup)))


def main_figure(figures: dict[str, float]) -> float:
    """The first figure; −∞ where it is undefined, such as the correlation of a constant."""
    first = next(iter(figures.values()))
    return first if np.isfinite(first) else float("-inf")


def _check(losses: list[float], epoch: int, recipe: Recipe, seed: int) -> None:
    bad = np.flatnonzero(~np.isfinite(losses))
    if len(bad):
        raise TrainingError(
            f"the loss of step {bad[0] + 1} of epoch {epoch} is infinite or NaN (seed {seed}, learning rate "
            f"{recipe.learning_rate:g}, batch size {recipe.batch_size}): choose a lower learning rate or longer warm-up"
        )
