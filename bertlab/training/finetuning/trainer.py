"""One fine-tuning run: epochs over the training rows, with the development rows judged after each.

The model is compiled once and serves run after run: a run begins by giving it fresh weights, a fresh optimizer and
fresh seeds for dropout, so that its outcome does not depend on what was trained before.

A run that was killed resumes from its last state, with the same bytes in the end: batches, dropout and learning rates
follow from the step alone.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import keras
import numpy as np
from safetensors.numpy import load_file

from bertlab import checkpoints
from bertlab.checkpoints.stored import write_safetensors
from bertlab.common.progress import bars_are_shown
from bertlab.data.tasks.features import Batch
from bertlab.models.base import INPUT_NAMES
from bertlab.training.devices.accumulation import InParts
from bertlab.training.devices.distribution import num_replicas, on_devices
from bertlab.training.devices.failures import backend_errors
from bertlab.training.devices.precision import policy_of
from bertlab.training.finetuning.adapters import add_adapters, merged, put_merged, train_adapters_alone
from bertlab.training.finetuning.batches import EPOCHS, ignore, outputs_of
from bertlab.training.finetuning.optimizer import finetuning_optimizer, freeze
from bertlab.training.finetuning.results import main_figure
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.finetuning.task_kinds import Decoded, Encoded, TaskKind
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
        return {**batch, TOTAL: keras.ops.sum(task_kind.weights(targets_of(batch), weights))}


def inputs_of(batch: dict, model) -> dict:
    """The model's inputs in a batch, without the targets."""
    return {name: batch[name] for name in getattr(model, "reads", INPUT_NAMES) if name in batch}


def targets_of(batch: dict):
    """The targets in a batch: one array, or for questions the batch itself."""
    return batch[TARGETS] if TARGETS in batch else batch


@dataclass(frozen=True)
class Outcome:
    """The results of a run. epochs: a row of figures for each."""

    epochs: list[dict]
    kept_epoch: int  # from 1
    seconds: float  # of training alone

    @property
    def figures(self) -> dict[str, float]:
        """The development metrics of the kept weights."""
        return self.epochs[self.kept_epoch - 1]["figures"]


@dataclass
class _Progress(Progress):
    """losses: of the epoch's steps so far. best: figure and epoch of the weights to keep."""

    epochs: list[dict] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    best: tuple[float, int] | None = None


@dataclass(frozen=True)
class Watching:
    """The files and lines of a run; by default it has neither.

    title: of the run, in lines. lines: how far all runs are. folder: of the run's states. files: of its history.
    callbacks: Keras callbacks of one's own. say: called with lines.
    """

    title: str = ""
    lines: ProgressLines | None = None
    folder: Path | None = None
    files: RunFiles | None = None
    callbacks: Sequence = ()
    say: Callable[[str], object] = lambda text: None

    def advance(self, steps: int, note: str) -> None:
        """Moves on by the steps that were computed."""
        if self.lines is not None:
            self.lines.advance(steps, f"{self.title}, {note}")


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
        """The longest row that problem and model allow."""
        return min(self.task_kind.max_length, self.model.config.max_tokens)

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
        self.best_weights = None
        self.callbacks = keras.callbacks.CallbackList(list(watching.callbacks), model=self.tuner)

    def all_epochs(self) -> Outcome:
        recipe, progress = self.recipe, self._resumed()
        advice = (
            f"(seed {self.seed}, learning rate {recipe.learning_rate:g}, batch size {recipe.batch_size}): choose a "
            "lower learning rate or longer warm-up"
        )
        watching = self.watching
        self.loop = TrainingLoop(self.tuner, progress, recipe.interval, watching.folder, watching.files, advice)
        self.tuner.stop_training = False
        self.callbacks.on_train_begin()
        by_epoch = self.trainer.epochs(self.train, recipe, self.seed)
        for epoch, batches in zip(range(1, recipe.epochs + 1), by_epoch):
            if epoch <= len(progress.epochs):
                continue
            self.callbacks.on_epoch_begin(epoch - 1)
            for inputs, targets in islice(batches, len(progress.losses), None):
                self._step(inputs | (targets if isinstance(targets, dict) else {TARGETS: targets}), progress)
            self._end_epoch(epoch, progress)
            is_patience_over = recipe.patience is not None and epoch - progress.best[1] >= recipe.patience
            if self.tuner.stop_training or is_patience_over:
                break
        if self.best_weights is not None:
            self.trainer.model.set_weights(self.best_weights)
        self.callbacks.on_train_end()
        kept = len(progress.epochs) if recipe.patience is None else progress.best[1]
        return Outcome(progress.epochs, kept, progress.seconds)

    def _step(self, batch: dict, progress: _Progress) -> None:
        """An update of the weights and, where one is due, the end of an interval."""
        rate, number = learning_rate_at(progress.step, self.total, self.recipe), len(progress.losses)
        self.callbacks.on_train_batch_begin(number)
        loss = self.loop.step(batch, rate, f"step {number + 1} of epoch {len(progress.epochs) + 1}")
        progress.losses.append(loss)
        self.callbacks.on_train_batch_end(number, {"loss": loss})
        self.watching.advance(1, f"loss {np.mean(progress.losses[-50:]):.3f}")
        if self.loop.is_interval_over:
            self._save_best_weights()
            recent = progress.losses[-self.recipe.interval :]
            self.loop.record({"loss": float(np.mean(recent)), "learning_rate": rate})

    def _end_epoch(self, epoch: int, progress: _Progress) -> None:
        """Judges the development rows."""
        figures = self.trainer.figures(self.dev, self._evaluating())
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
            title = f"{self.watching.title}, epoch {epoch} of {self.recipe.epochs}"
            self.watching.say(f"{title}: loss {loss:.4f} {name} {value:.4f}")
        self.callbacks.on_epoch_end(epoch - 1, measured)

    def _evaluating(self) -> Callable[[int], None]:
        """Tells how many development rows are evaluated: thousands of them take minutes on a processor."""
        done, total = 0, self.trainer.size(self.dev)

        def advance(rows: int) -> None:
            nonlocal done
            done += rows
            self.watching.advance(0, f"evaluating, {done:,} of {total:,} rows")

        return advance

    # === States ===

    def _resumed(self) -> _Progress:
        """The progress of the last state, which the model then has; that of a new run if there is none."""
        watching = self.watching
        found = watching.folder and restored_progress(watching.folder, self.tuner, watching.say)
        if found is None:
            return _Progress()
        progress = _Progress(**found)
        if progress.best is not None:
            arrays = load_file(self._best_file(progress))
            self.best_weights = [arrays[name] for name in sorted(arrays)]
        if watching.lines is not None:
            watching.lines.skip(progress.step)
        watching.say(f"resumes from step {progress.step:,} of {self.total:,}")
        return progress

    def _save_best_weights(self) -> None:
        """Those that the next state needs; the ones of the states before it stay, too."""
        folder, progress = self.watching.folder, self.loop.progress
        if folder is None or self.best_weights is None or self._best_file(progress).exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {f"{number:04d}": value for number, value in enumerate(self.best_weights)}
        write_safetensors(self._best_file(progress), arrays, {})
        for old in sorted(folder.glob("best-*.safetensors"))[:-3]:
            old.unlink()

    def _best_file(self, progress: _Progress) -> Path:
        return self.watching.folder / f"best-{progress.best[1]:06d}.safetensors"


def trained_parameters(model: keras.Model) -> int:
    """The count of numbers of a model that training changes."""
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)
