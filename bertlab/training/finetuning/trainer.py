"""One fine-tuning run: epochs over the training rows, with the development rows judged after each.

The model is compiled once and serves run after run: a run begins by giving it fresh weights, a fresh optimizer and
fresh seeds for dropout, so that its outcome does not depend on what was trained before.

A run that was killed resumes from its last state, with the same bytes in the end: batches, dropout and learning rates
follow from the step alone.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import keras
import numpy as np

from bertlab import checkpoints
from bertlab.checkpoints.stored import write_safetensors
from bertlab.common.errors import TrainingError
from bertlab.data.tasks.features import Batch
from bertlab.models.base import INPUT_NAMES
from bertlab.training.devices.accumulation import accumulated_step
from bertlab.training.devices.distribution import num_replicas, on_devices
from bertlab.training.devices.failures import backend_errors
from bertlab.training.devices.precision import policy_of
from bertlab.training.finetuning.adapters import add_adapters, merged, put_merged, train_adapters_alone
from bertlab.training.finetuning.batches import EPOCHS, ignore, outputs_of
from bertlab.training.finetuning.optimizer import finetuning_optimizer, freeze
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.finetuning.task_kinds import Decoded, Encoded, TaskKind
from bertlab.training.runs.callbacks import keep_state, restored_progress
from bertlab.training.runs.metrics import FirstBadStep

PREDICTED_BATCH_SIZE = 64  # rows
TARGETS, TOTAL = "targets", "targets_total"
_STATES_KEPT = 2


class FineTuner(keras.Model):
    """A model with a head, whose loss is that of its problem.

    A batch is a dict: what the model reads, and `targets` (of questions start_positions and end_positions).

    Args:
        model: one of `bertlab.models` with a head.   problem: its task.   class_weights: (C,) or None.
        accumulation: parts that a batch is computed in, one after the other; together they give the same update.
    """

    def __init__(
        self, model: keras.Model, task_kind: TaskKind, class_weights: np.ndarray | None = None, accumulation: int = 1
    ):
        super().__init__(dtype=model.dtype_policy)
        self.model = model
        self.task_kind = task_kind
        self.class_weights = class_weights
        self.accumulation = accumulation
        self.bad_step = FirstBadStep(accumulation, name="bad_step")
        self.built = True  # every weight is made in the model's constructor

    @property
    def config(self):
        """The model's configuration."""
        return self.model.config

    def begin(self) -> None:
        """Fresh weights for what a run has beside the model; here nothing."""

    def call(self, batch, training=False):
        return self.model(inputs_of(batch, self.model), training=training)

    def train_step(self, *data):
        if self.accumulation == 1 and num_replicas() == 1:
            return super().train_step(*data)
        *state, (batch, *_) = data
        return accumulated_step(self, *state, batch)

    def _maybe_symbolic_build(self, *args, **kwargs):
        """Keras's method that creates missing variables. Here none is missing; on several devices it would fail."""

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        loss = self.task_kind.loss(targets_of(x), y_pred, self.class_weights, x.get(TOTAL))
        self.bad_step.update_state(loss)
        return loss

    def with_totals(self, batch: dict) -> dict:
        """The batch and, for `compute_loss` on parts of it, the sum of its targets' weights."""
        return {**batch, TOTAL: keras.ops.sum(self.task_kind.weights(targets_of(batch), self.class_weights))}


def inputs_of(batch: dict, model) -> dict:
    """The model's inputs in a batch, without the targets."""
    return {name: batch[name] for name in getattr(model, "reads", INPUT_NAMES) if name in batch}


def targets_of(batch: dict):
    """The targets in a batch: one array, or for questions the batch itself."""
    return batch[TARGETS] if TARGETS in batch else batch


@dataclass(frozen=True)
class Outcome:
    """The results of a run. epochs: a row of figures for each; history: a row for each interval and epoch."""

    epochs: list[dict]
    kept_epoch: int  # from 1
    seconds: float  # of training alone
    history: list[dict] = field(default_factory=list)

    @property
    def figures(self) -> dict[str, float]:
        """The development metrics of the kept weights."""
        return self.epochs[self.kept_epoch - 1]["figures"]


@dataclass
class Progress:
    """The progress of a run. losses: of the epoch's steps so far. best: figure and epoch of the weights to keep."""

    step: int = 0
    epochs: list[dict] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0
    best: tuple[float, int] | None = None
    rows: list[dict] = field(default_factory=list)


@dataclass(frozen=True)
class Watching:
    """Observers of a run. advance(steps, note): called after each step. folder: of the states; None: no states.

    skip(steps): called with the number of steps that an earlier process has done. report(rows): called with the history
    after every interval and epoch. callbacks: Keras callbacks of one's own.
    """

    advance: Callable = lambda steps, note: None
    folder: Path | None = None
    report: Callable[[list[dict]], object] = lambda rows: None
    callbacks: Sequence = ()
    say: Callable[[str], object] = lambda text: None
    skip: Callable[[int], object] = lambda steps: None


class Trainer:
    """Runs of one model on one task; compiles once.

    Args:
        make_model: gives the model with fresh weights, drawn from Keras' seed, for a dtype policy.
        problem, recipe: the task, and everything but batch size, learning rate, epochs and seed, which `run` gets.
        class_weights: (C,) or None.   precision: float32, float16 or bfloat16.
        make_tuner: gives the `FineTuner` from its own arguments, for one with another loss.
        pretrained: paths of the weights that `begin` will get; adapters leave them as they are.
    """

    def __init__(
        self,
        make_model: Callable[[str], keras.Model],
        task_kind: TaskKind,
        recipe: Recipe,
        class_weights=None,
        precision: str = "float32",
        make_tuner: Callable[..., FineTuner] = FineTuner,
        pretrained: Collection[str] = (),
    ):
        self.make_model, self.task_kind, self.recipe = make_model, task_kind, recipe
        self._policy = policy_of(precision)
        self.model = self._fresh_model()
        freeze(self.model, recipe.frozen_layers)
        if recipe.lora_rank is not None:
            train_adapters_alone(self.model, pretrained)
        self.tuner = make_tuner(self.model, task_kind, class_weights, recipe.accumulation)
        jit = "auto" if num_replicas() == 1 else False  # TensorFlow's devices cannot share a step that XLA compiled
        self.tuner.compile(finetuning_optimizer(self.tuner, recipe.weight_decay, recipe.layer_decay), jit_compile=jit)
        self.tuner.optimizer.build(self.tuner.trainable_variables)
        self._scalars = [_value(v) if not v.shape else None for v in self.tuner.optimizer.variables]  # the loss's scale

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
        """The longest row that problem and model allow."""
        return min(self.task_kind.max_length, self.model.config.max_tokens)

    def begin(self, seed: int, encoder_weights: dict[str, np.ndarray] | None) -> None:
        """Fresh weights and dropout by the seed, a fresh optimizer, then the pre-trained weights by their paths."""
        keras.utils.set_random_seed(seed)
        fresh = self._fresh_model()
        for own, new in zip(self.model.variables, fresh.variables, strict=True):  # dropout's seeds are among them
            own.assign(_value(new))
        self.tuner.begin()
        for variable, scalar in zip(self.tuner.optimizer.variables, self._scalars, strict=True):
            variable.assign(np.zeros(variable.shape, variable.dtype) if scalar is None else scalar)
        own = {variable.path: variable for variable in self.model.weights}
        for path, value in (encoder_weights or {}).items():
            own[path].assign(value)

    def run(self, train: Encoded, dev: Encoded, recipe: Recipe, seed: int, watching: Watching | None = None) -> Outcome:
        """Trains from where `begin` put the model, or from the last state in the folder."""
        run = _Run(self, train, dev, recipe, seed, watching or Watching())
        with backend_errors():
            return run.all_epochs()

    def rows(self, train: Encoded) -> int:
        """The number of rows in an epoch."""
        return len(train.features)

    def steps(self, train: Encoded, recipe: Recipe) -> int:
        """The number of batches in an epoch."""
        return -(-len(train.features) // recipe.batch_size)

    def epochs(self, train: Encoded, recipe: Recipe, seed: int) -> Iterator[Iterator[Batch]]:
        """The batches of each epoch; the same seed gives the same ones."""
        return EPOCHS[recipe.row_order](train.features, recipe.batch_size, self.limit, seed)

    def figures(self, dev: Encoded, advance: Callable[[int], None] = ignore) -> dict[str, float]:
        """The metrics on rows, with the weights as they are now. advance: see `outputs`."""
        return self.score(dev, self.predict(dev, advance))

    def score(self, encoded: Encoded, decoded: Decoded) -> dict[str, float]:
        """The metrics of predictions for rows."""
        return self.task_kind.score(encoded.rows, decoded)

    def predict(self, encoded: Encoded, advance: Callable[[int], None] = ignore) -> Decoded:
        """Predictions for rows, with the weights as they are now. advance: see `outputs`."""
        return self.task_kind.decode(encoded, self.outputs(encoded, advance))

    def outputs(self, encoded: Encoded, advance: Callable[[int], None] = ignore) -> list:
        """The model's output for each row (or window). advance: called with the number of rows after each batch."""
        return outputs_of(self._predict, encoded.features, self.together, self.limit, advance)

    def size(self, encoded: Encoded) -> int:
        """The number of rows (or windows) that `outputs` computes."""
        return len(encoded.features)

    @property
    def together(self) -> int:
        """The number of rows in a batch of predictions."""
        return PREDICTED_BATCH_SIZE - PREDICTED_BATCH_SIZE % num_replicas()

    def _predict(self, inputs: dict):
        return self.tuner.predict_on_batch(on_devices(inputs))


class _Run:
    """The arguments of `Trainer.run`, and how far the run is."""

    def __init__(self, trainer: Trainer, train: Encoded, dev: Encoded, recipe: Recipe, seed: int, watching: Watching):
        self.trainer, self.train, self.dev, self.recipe, self.seed = trainer, train, dev, recipe, seed
        self.watching, self.tuner = watching, trainer.tuner
        self.total = trainer.steps(train, recipe) * recipe.epochs
        self.progress, self.best_weights = Progress(), None
        self.callbacks = keras.callbacks.CallbackList(list(watching.callbacks), model=self.tuner)
        self._began = 0.0

    def all_epochs(self) -> Outcome:
        self._resume()
        self.tuner.stop_training = False
        self.callbacks.on_train_begin()
        by_epoch = self.trainer.epochs(self.train, self.recipe, self.seed)
        for epoch, batches in zip(range(1, self.recipe.epochs + 1), by_epoch):
            if epoch <= len(self.progress.epochs):
                continue
            self._epoch(epoch, batches)
            if self.tuner.stop_training or self._is_patience_over():
                break
        if self.best_weights is not None:
            self.trainer.model.set_weights(self.best_weights)
        self.callbacks.on_train_end()
        kept = len(self.progress.epochs) if self.recipe.patience is None else self.progress.best[1]
        return Outcome(self.progress.epochs, kept, self.progress.seconds, self.progress.rows)

    def _is_patience_over(self) -> bool:
        if self.recipe.patience is None:
            return False
        return len(self.progress.epochs) - self.progress.best[1] >= self.recipe.patience

    def _epoch(self, epoch: int, batches) -> None:
        progress, recipe = self.progress, self.recipe
        self.callbacks.on_epoch_begin(epoch - 1)
        self._began = time.perf_counter()
        for inputs, targets in islice(batches, len(progress.losses), None):
            self._step(inputs, targets)
        self._stop_the_clock()
        _check(progress.losses, epoch, recipe, self.seed)
        figures = self.trainer.figures(self.dev, self._evaluating())
        loss = float(np.mean(progress.losses))
        progress.epochs.append({"epoch": epoch, "loss": loss, "figures": figures})
        progress.losses = []
        first = main_figure(figures)
        if recipe.patience is not None and (progress.best is None or first > progress.best[0]):
            progress.best, self.best_weights = (first, epoch), self.trainer.model.get_weights()
        measured = {f"val_{name}": value for name, value in figures.items()}
        self._report({"epoch": epoch, "loss": loss} | measured)
        self.callbacks.on_epoch_end(epoch - 1, {"loss": loss} | measured)

    def _evaluating(self) -> Callable[[int], None]:
        """Tells how many development rows are evaluated: thousands of them take minutes on a processor."""
        done, total = 0, self.trainer.size(self.dev)

        def advance(rows: int) -> None:
            nonlocal done
            done += rows
            self.watching.advance(0, f"evaluating, {done:,} of {total:,} rows")

        return advance

    def _step(self, inputs: dict, targets) -> None:
        progress = self.progress
        rate = learning_rate_at(progress.step, self.total, self.recipe)
        self.tuner.optimizer.learning_rate.assign(rate)
        in_epoch = len(progress.losses)
        self.callbacks.on_train_batch_begin(in_epoch)
        batch = inputs | (targets if isinstance(targets, dict) else {TARGETS: targets})
        loss = float(self.tuner.train_on_batch(on_devices(batch), return_dict=True)["loss"])
        progress.losses.append(loss)
        progress.step += 1
        self.callbacks.on_train_batch_end(in_epoch, {"loss": loss})
        self.watching.advance(1, f"loss {np.mean(progress.losses[-50:]):.3f}")
        if progress.step % self.recipe.interval == 0:
            self._stop_the_clock()
            _check(progress.losses, len(progress.epochs) + 1, self.recipe, self.seed)
            recent = float(np.mean(progress.losses[-self.recipe.interval :]))
            self._report({"loss": recent, "learning_rate": rate})
            self._save()
            self._began = time.perf_counter()

    def _stop_the_clock(self) -> None:
        self.progress.seconds += time.perf_counter() - self._began

    def _report(self, row: dict) -> None:
        self.progress.rows.append({"step": self.progress.step, "seconds": self.progress.seconds} | row)
        self.watching.report(self.progress.rows)

    # === States ===

    def _save(self) -> None:
        """Saves the state, after the best weights so far if it needs them."""
        folder = self.watching.folder
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        if self.best_weights is not None and not self._best_file().exists():
            arrays = {f"{number:04d}": value for number, value in enumerate(self.best_weights)}
            write_safetensors(self._best_file(), arrays, {})
        keep_state(folder, self.progress.step, self.tuner, dataclasses.asdict(self.progress), _STATES_KEPT)
        for old in sorted(folder.glob("best-*.safetensors"))[:-_STATES_KEPT]:
            old.unlink()

    def _best_file(self) -> Path:
        return self.watching.folder / f"best-{self.progress.best[1]:06d}.safetensors"

    def _resume(self) -> None:
        if self.watching.folder is None:
            return
        found = restored_progress(self.watching.folder, self.tuner, self.watching.say)
        if found is None:
            return
        self.progress = Progress(**found)
        if self.progress.best is not None:
            from safetensors.numpy import load_file

            arrays = load_file(self._best_file())
            self.best_weights = [arrays[name] for name in sorted(arrays)]
        self.watching.skip(self.progress.step)
        self.watching.say(f"resumes from step {self.progress.step:,} of {self.total:,}")


def _value(variable) -> np.ndarray:
    return keras.ops.convert_to_numpy(keras.ops.convert_to_tensor(variable))


def learning_rate_at(step: int, total: int, recipe: Recipe) -> float:
    """Linear warm-up, then linear decay to 0, as in pre-training (see `bertlab.training.recipes.schedule`)."""
    warmup = int(recipe.warmup_share * total)
    rising = (step + 1) / max(warmup, 1)
    return recipe.learning_rate * max(0.0, min(rising, (total - step) / (total - warmup)))


def trained_parameters(model: keras.Model) -> int:
    """The count of numbers of a model that training changes."""
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)


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
