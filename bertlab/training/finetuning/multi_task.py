"""`finetune_tasks`: several tasks, one encoder with a head for each; the runs, states and files of `finetune`.

    tasks = [load_task("package"), load_task("code-words")]
    result = finetune_tasks("bertlab-mini", tasks, "runs/both", Recipe(learning_rate=3e-4), layers={"code-words": 2})

Each batch has rows of one task (see `sampling`), and its loss is that of this task; the weights that only other tasks
use get a gradient of 0. A model is chosen by the mean of the tasks' first metrics on the development rows.

    OUT/tasks/NAME/     predictions/, errors.tsv, confusion.png, curves.png and test/ of each task
"""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from keras import ops

from bertlab.common.errors import ConfigError, DataError, asked
from bertlab.data.tasks.features import Features
from bertlab.data.tasks.rows import Row, TaskData, check_rows
from bertlab.families.names import BACKBONE
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.finetuning.batches import ignore, outputs_of
from bertlab.training.finetuning.checks import check_choices, class_weights, digest_rows
from bertlab.training.finetuning.experiment import TEST, Experiment
from bertlab.training.finetuning.judgement import judged_test
from bertlab.training.finetuning.mistakes import nothing_found
from bertlab.training.finetuning.outputs import curves_figure, write_outputs
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.sampling import TASK, batch_counts, sampled_epochs, shares
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.finetuning.task_info import save_finetuned
from bertlab.training.finetuning.task_kinds import Decoded, Encoded, TaskInfo, TaskKind, task_kind_of, tune_threshold
from bertlab.training.finetuning.trainer import FineTuner, Trainer, inputs_of
from bertlab.training.runs.curves import save_figure

MEAN = "mean"  # the metric that models are chosen by
TASKS = "tasks"


def finetune_tasks(
    model: str | Path,
    tasks: Sequence[TaskData],
    out: str | Path,
    recipe: Recipe | None = None,
    grid: dict[str, tuple] | None = None,
    say: Callable[[str], None] = lambda text: None,
    *,
    layers: dict[str, int] | None = None,
    callbacks: Sequence = (),
    on_begin: Callable[[], object] = lambda: None,
    memory_check: bool = True,
) -> FineTuningResult:
    """Fine-tunes one encoder on several tasks and writes the best of all runs, and its results, into a folder.

    Args:
        tasks: from `load_task`, each with a name of its own.
        layers: task → the number of layers below its head; all where a task is left out.
        The others are those of `finetune`; `recipe.task_sampling` says how often each task is read. Metrics in the
        result are called TASK/METRIC, and the first is the mean of the tasks' first ones.

    Raises DataError for fewer than two tasks or two of one name, ConfigError for a task or layer that is not there;
    besides these what `finetune` raises.

    Example:
        from bertlab.data.tasks.load import load_task
        from bertlab.predict import Predictor

        result = finetune_tasks("bertlab-mini", [load_task("package"), load_task("code-words")], "runs/both")
        print(result.summary())
        predictor = Predictor.load("runs/both", task="code-words")
    """
    recipe = recipe or Recipe()
    with data_parallel(recipe.devices):
        experiment = MultiTaskExperiment(layers or {}, model, tasks, Path(out), recipe, grid or {}, say)
        return experiment.run(callbacks, on_begin, memory_check)


class TaskGroup:
    """Several tasks; the rows of a split by task, of the tasks that have some."""

    def __init__(self, tasks: dict[str, TaskData]):
        self.tasks, self.name = tasks, "+".join(tasks)
        self.train, self.validation, self.test = (
            {name: rows for name, task in tasks.items() if (rows := getattr(task, split))}
            for split in ("train", "validation", "test")
        )


class EncodedTasks(dict[str, Encoded]):
    """Encoded rows by task, in the place of an `Encoded`."""

    @property
    def rows(self) -> dict[str, Sequence[Row]]:
        return {name: own.rows for name, own in self.items()}

    @property
    def features(self) -> dict[str, Features]:
        return {name: own.features for name, own in self.items()}


class MultiTaskKind:
    """The problems of several tasks, by task, in the place of a `TaskKind`. depths: the layers below each head."""

    model_kind = "multi_task"

    def __init__(self, task_kinds: dict[str, TaskKind], depths: dict[str, int], best: str | None):
        self.task_kinds, self.depths, self.best = task_kinds, depths, best

    @property
    def max_length(self) -> int:
        """The largest number of tokens in a row."""
        return max(task_kind.max_length for task_kind in self.task_kinds.values())

    @property
    def infos(self) -> dict[str, TaskInfo]:
        """The description of each task."""
        return {name: task_kind.info for name, task_kind in self.task_kinds.items()}

    @property
    def model_options(self) -> dict:
        """The tasks of a `MultiTaskModel`."""
        return {
            "tasks": {
                name: {"kind": task_kind.model_kind, "depth": self.depths.get(name)} | task_kind.model_options
                for name, task_kind in self.task_kinds.items()
            }
        }

    def decode(self, encoded: EncodedTasks, outputs: dict[str, list]) -> dict[str, Decoded]:
        """Predictions from the outputs of every row (or window)."""
        return {name: self.task_kinds[name].decode(own, outputs[name]) for name, own in encoded.items()}

    def score(self, rows: dict[str, Sequence[Row]], decoded: dict[str, Decoded]) -> dict[str, float]:
        """All metrics; the first is the one to choose models by."""
        by_task = {name: task_kind.score(rows[name], decoded[name]) for name, task_kind in self.task_kinds.items()}
        figures = {MEAN: float(np.mean([next(iter(own.values())) for own in by_task.values()]))}
        figures |= {f"{name}/{metric}": value for name, own in by_task.items() for metric, value in own.items()}
        return figures if self.best is None else {self.best: figures.pop(self.best)} | figures

    def check_best(self, rows: dict[str, Sequence[Row]]) -> None:
        """Raises ConfigError where `best` is not a metric of these rows."""
        known = [f"{name}/{metric}" for name, own in self.task_kinds.items() for metric in own.figure_names(rows[name])]
        if self.best not in (None, MEAN, *known):
            raise ConfigError(f"best: expected one of {', '.join([MEAN, *known])}; got {self.best!r}")


class MultiTaskTuner(FineTuner):
    """A `MultiTaskModel`, whose loss is that of the task that a batch names. class_weights: task → (C,) or None."""

    def call(self, batch, training=False):
        return self.model(inputs_of(batch, self.model), task=task_in(batch), training=training)

    def kind_and_weights(self, batch: dict) -> tuple:
        task = task_in(batch)
        return self.task_kind.task_kinds[task], self.class_weights[task]

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        # Plus 0 with a gradient of 0 for every weight: backends differ in what they do with weights without gradient.
        used = f"{BACKBONE}/embeddings/"  # by every task
        sums = [ops.sum(v) for v in self.model.trainable_variables if not v.path.startswith(used)]
        return super().compute_loss(x, y, y_pred, sample_weight, training) + 0.0 * ops.cast(sum(sums), "float32")


def task_in(batch: dict) -> str:
    """The task that a batch names."""
    return next(name.removeprefix(TASK) for name in batch if name.startswith(TASK))


class MultiTaskTrainer(Trainer):
    """Runs of a `MultiTaskModel`; predictions and outputs are dicts by task."""

    def rows(self, train: EncodedTasks) -> int:
        features = train.features
        own = batch_counts(features, self.recipe.batch_size)
        read = shares(own, self.recipe.task_sampling)
        return round(sum(len(features[name]) * read[name] / own[name] for name in features))

    def steps(self, train: EncodedTasks, recipe: Recipe) -> int:
        return sum(shares(batch_counts(train.features, recipe.batch_size), recipe.task_sampling).values())

    def epochs(self, train: EncodedTasks, recipe: Recipe, seed: int):
        return sampled_epochs(train.features, recipe.batch_size, self.limit, seed, recipe.task_sampling)

    def outputs(self, encoded: EncodedTasks, advance: Callable[[int], None] = ignore) -> dict[str, list]:
        return {
            name: outputs_of(partial(self._predict_task, name), own.features, self.together, self.limit, advance)
            for name, own in encoded.items()
        }

    def size(self, encoded: EncodedTasks) -> int:
        return sum(map(len, encoded.features.values()))

    def _predict_task(self, name: str, inputs: dict):
        return self._predict(inputs | {TASK + name: np.zeros(len(inputs["input_ids"]), np.int32)})


class MultiTaskExperiment(Experiment):
    """A fine-tuning on several tasks. Arguments: see `finetune_tasks`."""

    trainer_class = MultiTaskTrainer

    def __init__(self, layers: dict[str, int], model, tasks: Sequence[TaskData], out, recipe: Recipe, grid, say):
        names = [task.name.replace("/", "-") for task in tasks]
        if len(names) < 2:
            raise DataError(f"expected at least two tasks, got {len(names)}; `finetune` trains on one")
        if len(set(names)) < len(names):
            raise DataError(f"expected tasks with different names, got {', '.join(names)}")
        if unknown := sorted(set(layers) - set(names)):
            raise ConfigError(f"layers: expected names among {', '.join(names)}; got {unknown[0]!r}")
        if recipe.row_order != "length":
            raise ConfigError(f"row_order: expected 'length' with several tasks, got {recipe.row_order!r}")
        self.depths = layers
        super().__init__(model, TaskGroup(dict(zip(names, tasks))), out, recipe, grid, say)

    def _check(self, task: TaskGroup) -> None:
        for own in task.tasks.values():
            check_rows(own)

    def _task_kind(self, max_length: int, metrics) -> MultiTaskKind:
        stride = min(self.recipe.stride, max_length)
        task_kinds = {
            name: task_kind_of(TaskInfo.of(task, max_length, stride), self.tokenizer)
            for name, task in self.task.tasks.items()
        }
        return MultiTaskKind(task_kinds, self.depths, self.recipe.best)

    def check_memory(self, train: EncodedTasks) -> None:
        for encoded in train.values():
            super().check_memory(encoded)

    def identity(self) -> dict:
        return super().identity() | {"layers": self.depths}

    def _rows_digest(self) -> dict[str, str]:
        return {name: digest_rows(task) for name, task in self.task.tasks.items()}

    def _encode(self, split: str) -> EncodedTasks:
        return EncodedTasks({
            name: self._encode_of(self.task.tasks[name], self.task_kind.task_kinds[name], split, f"{name}, ")
            for name in getattr(self.task, split)
        })  # fmt: skip

    def _check_choices(self, splits: dict[str, EncodedTasks | None]) -> None:
        for name in self.task.tasks:
            check_choices({split: encoded and encoded.get(name) for split, encoded in splits.items()})

    def _class_weights(self) -> dict[str, np.ndarray | None]:
        if self.recipe.class_weights not in (None, "balanced"):
            asked_for = asked("--class-weights balanced", "class_weights='balanced'")
            raise ConfigError(f"expected {asked_for} with several tasks, whose classes differ, got numbers")
        balanced = {name: self._balanced(task) for name, task in self.task.tasks.items()}
        left_out = ", ".join(name for name, weights in balanced.items() if weights is None)
        if self.recipe.class_weights and left_out:
            if all(weights is None for weights in balanced.values()):
                raise ConfigError(
                    f"{left_out}: expected a task with one class for each row or word for class_weights; leave them out"
                )
            self._note(f"class_weights are not for {left_out}: expected one class for each row or word")
        return balanced

    def _balanced(self, task: TaskData) -> np.ndarray | None:
        has_classes = task.labels and task.shape != "multiple-choice" and not task.multi_label
        return class_weights(task, self.recipe) if has_classes else None

    def _tuner(self, *arguments) -> MultiTaskTuner:
        return MultiTaskTuner(*arguments)

    def _save(self, trainer: Trainer, folder: Path) -> None:
        format = "bertlab"  # transformers has no such model
        save_finetuned(trainer.plain_model(), folder, self.tokenizer, self.task_kind.infos, format)

    def _tune_thresholds(self, trainer: Trainer, dev: EncodedTasks) -> None:
        for name, task_kind in self.task_kind.task_kinds.items():
            tune_threshold(task_kind, dev[name], lambda name=name: trainer.outputs({name: dev[name]})[name])

    def _remarks(self, decoded: dict[str, Decoded]) -> list[str]:
        found = {name: nothing_found(info, decoded[name]) for name, info in self.task_kind.infos.items()}
        return [f"{name}: {remark}" for name, remark in found.items() if remark]

    def _judge_test(self, predicted: dict[str, Decoded] | None) -> dict[str, float] | None:
        figures, infos = {}, self.task_kind.infos
        for name, task in self.task.tasks.items():
            folder = self.out / TASKS / name / TEST
            own = judged_test(folder, infos[name], task, (predicted or {}).get(name))
            figures |= {f"{name}/{metric}": value for metric, value in (own or {}).items()}
        return figures or None

    def _write_outputs(self, decoded, predicted, result: FineTuningResult) -> None:
        save_figure(self.out / "curves.png", curves_figure(result))
        for name, task in self.task.tasks.items():
            first = next(metric for metric in result.dev if metric.startswith(f"{name}/"))
            own = dataclasses.replace(result, task=name, metric=first)
            folder = self.out / TASKS / name
            folder.mkdir(parents=True, exist_ok=True)
            write_outputs(folder, self.task_kind.infos[name], task, decoded[name], (predicted or {}).get(name), own)
