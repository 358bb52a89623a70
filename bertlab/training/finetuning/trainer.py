"""One fine-tuning run: epochs over the training rows, with the development rows judged after each.

The model is compiled once and serves run after run: a run begins by giving it fresh weights, a fresh optimizer and
fresh seeds for dropout, so that its outcome does not depend on what was trained before.

A run that was killed resumes from its last state, with the same bytes in the end: batches, dropout and learning rates
follow from the step alone.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import keras
import numpy as np
from keras import ops
from safetensors.numpy import load_file

from bertlab import checkpoints
from bertlab.checkpoints.stored import write_safetensors
from bertlab.common.progress import bars_are_shown
from bertlab.data.tasks.features import Batch
from bertlab.families.names import BACKBONE
from bertlab.models.base import INPUT_NAMES
from bertlab.training.devices.accumulation import InParts
from bertlab.training.devices.distribution import num_replicas, on_devices
from bertlab.training.devices.failures import backend_errors
from bertlab.training.devices.precision import policy_of
from bertlab.training.finetuning.adapters import add_adapters, merged, put_merged, train_adapters_alone
from bertlab.training.finetuning.batches import (
    TASK,
    batches_as_fit,
    batches_by_length,
    outputs_of,
    shares,
    task_key,
)
from bertlab.training.finetuning.optimizer import finetuning_optimizer, freeze
from bertlab.training.finetuning.results import main_figure
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.finetuning.task_group import TaskGroup
from bertlab.training.finetuning.task_kinds import Decoded, Encoded
from bertlab.training.recipes.schedule import learning_rate_at
from bertlab.training.runs.curves import RunFiles
from bertlab.training.runs.loop import Progress, ProgressLines, TrainingLoop
from bertlab.training.runs.pretrainer import FirstBadStep
from bertlab.training.runs.state import restored_progress, value_of

PREDICTED_BATCH_SIZE = 64  # rows
TARGETS, TOTAL = "targets", "targets_total"


class FineTuner(InParts, keras.Model):
    """A model with a head, whose loss is that of its problem.

    A batch is a dict: what the model reads, and `targets` (of questions start_positions and end_positions).

    Args:
        model: one of `bertlab.models` with a head.   task_kind: its task.   class_weights: (C,) or None.
        accumulation: parts that a batch is computed in, one after the other; together they give the same update.
    """

    def __init__(self, model: keras.Model, task_kind, class_weights=None, accumulation: int = 1):
        super().__init__(dtype=model.dtype_policy)
        self.model, self.task_kind, self.class_weights = model, task_kind, class_weights
        self.accumulation = accumulation
        self.bad_step = FirstBadStep(accumulation)
        self.built = True  # every weight is made in the model's constructor

    @property
    def config(self):
        """The model's configuration."""
        return self.model.config

    def begin(self) -> None:
        """Fresh weights for what a run has beside the model; here nothing."""

    def call(self, batch, training=False):
        return self.model(inputs_of(batch, self.model), training=training)

    def kind_and_weights(self, batch: dict) -> tuple:
        """The task of a batch, and the weights of its classes."""
        return self.task_kind, self.class_weights

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        task_kind, weights = self.kind_and_weights(x)
        loss = task_kind.loss(targets_of(x), y_pred, weights, x.get(TOTAL))
        self.bad_step.update_state(loss)
        return loss

    def with_totals(self, batch: dict) -> dict:
        """The batch and, for `compute_loss` on parts of it, the sum of its targets' weights."""
        task_kind, weights = self.kind_and_weights(batch)
        return {**batch, TOTAL: ops.sum(task_kind.weights(targets_of(batch), weights))}


def inputs_of(batch: dict, model) -> dict:
    """The model's inputs in a batch, without the targets."""
    return {name: batch[name] for name in getattr(model, "reads", INPUT_NAMES) if name in batch}


def targets_of(batch: dict):
    """The targets in a batch: one array, or for questions the batch itself."""
    return batch[TARGETS] if TARGETS in batch else batch


class MultiTaskTuner(FineTuner):
    """A `MultiTaskModel`, whose loss is that of the task that a batch names.

    Args:
        task_kind: that of each task, by name.   class_weights: task → (C,) or None. The others as for `FineTuner`.
    """

    def call(self, batch, training=False):
        return self.model(inputs_of(batch, self.model), task=task_in(batch), training=training)

    def kind_and_weights(self, batch: dict) -> tuple:
        task = task_in(batch)
        return self.task_kind[task], self.class_weights[task]

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        # Plus 0 with a gradient of 0 for every weight: backends differ in what they do with weights without gradient.
        used = f"{BACKBONE}/embeddings/"  # by every task
        sums = [ops.sum(v) for v in self.model.trainable_variables if not v.path.startswith(used)]
        return super().compute_loss(x, y, y_pred, sample_weight, training) + 0.0 * ops.cast(sum(sums), "float32")


def task_in(batch: dict) -> str:
    """The task that a batch names."""
    return next(name.removeprefix(TASK) for name in batch if name.startswith(TASK))


@dataclass
class _Progress(Progress):
    """losses: of the epoch's steps so far. best: figure and epoch of the weights to keep."""

    epochs: list[dict] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    best: tuple[float, int] | None = None


class Trainer:
    """Runs of one model on its tasks; compiles once. Rows and predictions are dicts by task.

    Args:
        make_model: gives the model with fresh weights, drawn from Keras' seed, for a dtype policy.
        group: the tasks.   make_tuner: gives the `FineTuner` of a model.   precision: float32, float16 or bfloat16.
        recipe: everything but batch size, learning rate, epochs and seed, which `run` gets.
        pretrained: paths of the weights that `begin` will get; adapters leave them as they are.
    """

    def __init__(
        self, make_model: Callable[[str], keras.Model], group: TaskGroup, recipe: Recipe,
        make_tuner: Callable[[keras.Model], FineTuner], precision: str = "float32", pretrained: Collection[str] = (),
    ):  # fmt: skip
        self.make_model, self.group, self.recipe = make_model, group, recipe
        self._policy = policy_of(precision)
        self.model = self._fresh_model()
        freeze(self.model, recipe.frozen_layers)
        if recipe.lora_rank is not None:
            train_adapters_alone(self.model, pretrained)
        self.tuner = make_tuner(self.model)
        jit = "auto" if num_replicas() == 1 else False  # TensorFlow's devices cannot share a step that XLA compiled
        self.tuner.compile(finetuning_optimizer(self.tuner, recipe.weight_decay, recipe.layer_decay), jit_compile=jit)
        self.tuner.optimizer.build(self.tuner.trainable_variables)
        # Scalars, such as the loss's scale, do not begin with 0.
        self._scalars = [None if v.shape else value_of(v) for v in self.tuner.optimizer.variables]

    def _fresh_model(self) -> keras.Model:
        model = self.make_model(self._policy)
        if self.recipe.lora_rank is not None:
            add_adapters(model, self.recipe.lora_rank, self.recipe.lora_alpha)
        return model

    def plain_model(self) -> keras.Model:
        """The model as it is now; one with adapters as an ordinary model, with them in its kernels."""
        return self.model if self.recipe.lora_rank is None else merged(self.model, self.make_model(self._policy))

    def load(self, folder: Path) -> None:
        """Gives the model the weights that `plain_model` had when they were saved."""
        if self.recipe.lora_rank is None:
            checkpoints.load_into(self.model, folder, padded_vocabulary=True)
            return
        plain = self.make_model(self._policy)
        checkpoints.load_into(plain, folder, padded_vocabulary=True)
        put_merged(self.model, plain)

    @property
    def limit(self) -> int:
        """The longest row that tasks and model allow."""
        return min(self.group.max_length, self.model.config.max_tokens)

    def begin(self, seed: int, encoder_weights: dict[str, np.ndarray] | None) -> None:
        """Fresh weights and dropout by the seed, a fresh optimizer, then the pre-trained weights by their paths."""
        keras.utils.set_random_seed(seed)
        fresh = self._fresh_model()
        for own, new in zip(self.model.variables, fresh.variables, strict=True):  # dropout's seeds are among them
            own.assign(value_of(new))
        self.tuner.begin()
        for variable, scalar in zip(self.tuner.optimizer.variables, self._scalars, strict=True):
            variable.assign(np.zeros(variable.shape, variable.dtype) if scalar is None else scalar)
        own = {variable.path: variable for variable in self.model.weights}
        for path, value in (encoder_weights or {}).items():
            own[path].assign(value)

    def epochs(self, train: dict[str, Encoded], recipe: Recipe, seed: int) -> Iterator[Iterator[Batch]]:
        """The batches of each epoch; the same seed gives the same ones."""
        features = {name: own.features for name, own in train.items()}
        if recipe.row_order == "length":
            return batches_by_length(features, recipe.batch_size, self.limit, seed, recipe.task_sampling)
        (only,) = features.values()
        return batches_as_fit(only, recipe.batch_size, self.limit, seed)

    def predict(self, encoded: dict[str, Encoded], advance: Callable[[int], None]) -> dict[str, Decoded]:
        """Predictions for rows, with the weights as they are now. advance: see `outputs_of`."""
        outputs = self.outputs(encoded, advance)
        return {name: self.group.kinds[name].decode(own, outputs[name]) for name, own in encoded.items()}

    def outputs(
        self, encoded: dict[str, Encoded], advance: Callable[[int], None] = lambda rows: None
    ) -> dict[str, list]:
        """The model's output for each row (or window)."""
        together = PREDICTED_BATCH_SIZE - PREDICTED_BATCH_SIZE % num_replicas()
        return {
            name: outputs_of(partial(self._predict, name), own.features, together, self.limit, advance)
            for name, own in encoded.items()
        }

    def _predict(self, name: str, inputs: dict):
        named = task_key(name, len(inputs["input_ids"])) if self.group.has_several else {}
        return self.tuner.predict_on_batch(on_devices(inputs | named))


def rows_in(encoded: dict[str, Encoded]) -> int:
    """The number of rows (or windows) of all tasks."""
    return sum(len(own.features) for own in encoded.values())


def rows_read(train: dict[str, Encoded], recipe: Recipe) -> int:
    """The number of rows in an epoch."""
    features = {name: own.features for name, own in train.items()}
    read = shares(features, recipe.batch_size, recipe.task_sampling)
    return round(sum(len(own) * read[name] / -(-len(own) // recipe.batch_size) for name, own in features.items()))


def steps_in(train: dict[str, Encoded], recipe: Recipe) -> int:
    """The number of batches in an epoch."""
    features = {name: own.features for name, own in train.items()}
    return sum(shares(features, recipe.batch_size, recipe.task_sampling).values())


@dataclass
class Run:
    """A run of a trainer on the rows of some tasks; without the last six fields it has no files and no lines.

    title: of the run, in lines. lines: how far all runs are. folder: of the run's states. files: of its history.
    callbacks: Keras callbacks of one's own. say: called with lines.
    """

    trainer: Trainer
    train: dict[str, Encoded]
    dev: dict[str, Encoded]
    recipe: Recipe
    seed: int
    title: str = ""
    lines: ProgressLines | None = None
    folder: Path | None = None
    files: RunFiles | None = None
    callbacks: Sequence = ()
    say: Callable[[str], object] = lambda text: None

    @backend_errors()
    def all_epochs(self) -> tuple[list[dict], int, float]:
        """Trains from where `Trainer.begin` put the model, or from the last state in the folder.

        Returns a row of figures for each epoch, the epoch whose weights are kept, from 1, and the seconds of training.
        """
        self.tuner, self.best_weights = self.trainer.tuner, None
        self.total = steps_in(self.train, self.recipe) * self.recipe.epochs
        self.calls = keras.callbacks.CallbackList(list(self.callbacks), model=self.tuner)
        recipe, progress = self.recipe, self._resumed()
        advice = (
            f"(seed {self.seed}, learning rate {recipe.learning_rate:g}, batch size {recipe.batch_size}): choose a "
            "lower learning rate or longer warm-up"
        )
        self.loop = TrainingLoop(self.tuner, progress, recipe.interval, self.folder, self.files, advice)
        self.tuner.stop_training = False
        self.calls.on_train_begin()
        by_epoch = self.trainer.epochs(self.train, recipe, self.seed)
        for epoch, batches in zip(range(1, recipe.epochs + 1), by_epoch):
            if epoch <= len(progress.epochs):
                continue
            self.calls.on_epoch_begin(epoch - 1)
            for inputs, targets in islice(batches, len(progress.losses), None):
                self._step(inputs | (targets if isinstance(targets, dict) else {TARGETS: targets}), progress)
            self._end_epoch(epoch, progress)
            is_patience_over = recipe.patience is not None and epoch - progress.best[1] >= recipe.patience
            if self.tuner.stop_training or is_patience_over:
                break
        if self.best_weights is not None:
            self.trainer.model.set_weights(self.best_weights)
        self.calls.on_train_end()
        kept = len(progress.epochs) if recipe.patience is None else progress.best[1]
        return progress.epochs, kept, progress.seconds

    def _step(self, batch: dict, progress: _Progress) -> None:
        """An update of the weights and, where one is due, the end of an interval."""
        rate, number = learning_rate_at(progress.step, self.total, self.recipe), len(progress.losses)
        self.calls.on_train_batch_begin(number)
        loss = self.loop.step(batch, rate, f"step {number + 1} of epoch {len(progress.epochs) + 1}")
        progress.losses.append(loss)
        self.calls.on_train_batch_end(number, {"loss": loss})
        self._advance(1, f"loss {np.mean(progress.losses[-50:]):.3f}")
        if self.loop.is_interval_over:
            self._save_best_weights()
            recent = progress.losses[-self.recipe.interval :]
            self.loop.record({"loss": float(np.mean(recent)), "learning_rate": rate})

    def _end_epoch(self, epoch: int, progress: _Progress) -> None:
        """Judges the development rows."""
        figures = self.trainer.group.score(self.dev, self.trainer.predict(self.dev, self._evaluating()))
        loss = float(np.mean(progress.losses))
        progress.epochs.append({"epoch": epoch, "loss": loss, "figures": figures})
        progress.losses = []
        first = main_figure(figures)
        if self.recipe.patience is not None and (progress.best is None or first > progress.best[0]):
            progress.best, self.best_weights = (first, epoch), self.trainer.model.get_weights()
        measured = {"loss": loss} | {f"val_{name}": value for name, value in figures.items()}
        self.loop.record({"epoch": epoch} | measured, save=False)
        if not bars_are_shown():
            name, value = next(iter(figures.items()))
            title = f"{self.title}, epoch {epoch} of {self.recipe.epochs}"
            self.say(f"{title}: loss {loss:.4f} {name} {value:.4f}")
        self.calls.on_epoch_end(epoch - 1, measured)

    def _evaluating(self) -> Callable[[int], None]:
        """Tells how many development rows are evaluated: thousands of them take minutes on a processor."""
        done, total = 0, rows_in(self.dev)

        def advance(rows: int) -> None:
            nonlocal done
            done += rows
            self._advance(0, f"evaluating, {done:,} of {total:,} rows")

        return advance

    def _advance(self, steps: int, note: str) -> None:
        if self.lines is not None:
            self.lines.advance(steps, f"{self.title}, {note}")

    # === States ===

    def _resumed(self) -> _Progress:
        """The progress of the last state, which the model then has; that of a new run if there is none."""
        found = self.folder and restored_progress(self.folder, self.tuner, self.say)
        if found is None:
            return _Progress()
        progress = _Progress(**found)
        if progress.best is not None:
            arrays = load_file(self._best_file(progress))
            self.best_weights = [arrays[name] for name in sorted(arrays)]
        if self.lines is not None:
            self.lines.skip(progress.step)
        self.say(f"resumes from step {progress.step:,} of {self.total:,}")
        return progress

    def _save_best_weights(self) -> None:
        """Those that the next state needs; the ones of the states before it stay, too."""
        folder, progress = self.folder, self.loop.progress
        if folder is None or self.best_weights is None or self._best_file(progress).exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {f"{number:04d}": value for number, value in enumerate(self.best_weights)}
        write_safetensors(self._best_file(progress), arrays, {})
        for old in sorted(folder.glob("best-*.safetensors"))[:-3]:
            old.unlink()

    def _best_file(self, progress: _Progress) -> Path:
        return self.folder / f"best-{progress.best[1]:06d}.safetensors"


def trained_parameters(model: keras.Model) -> int:
    """The count of numbers of a model that training changes."""
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)
