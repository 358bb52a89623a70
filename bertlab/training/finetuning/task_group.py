"""The tasks that a model is fine-tuned on, usually one: their rows, metrics and files.

Rows, outputs and predictions are dicts by task, of a single task too. The metrics of several tasks are called
TASK/METRIC, and models are chosen by the mean of the tasks' first ones.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bertlab.common.errors import ConfigError, DataError, asked
from bertlab.common.files import write_text
from bertlab.data.tasks.formats_published import find_task, write_conll, write_glue, write_indexed, write_squad
from bertlab.data.tasks.load import SPLITS
from bertlab.data.tasks.metrics import figure_names
from bertlab.data.tasks.rows import Row, TaskData
from bertlab.plots import BLUE, ORANGE, new_figure
from bertlab.training.finetuning.judgement import (
    draw_confusion,
    has_answers,
    is_labelled,
    is_regression,
    judge,
    judged_predictions,
    nothing_found,
    write_judgement,
)
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.settings import STARTS, Recipe
from bertlab.training.finetuning.task_kinds import Decoded, Encoded, TaskInfo, task_kind_of
from bertlab.training.runs.curves import save_figure

MEAN = "mean"  # the metric that models of several tasks are chosen by
TASKS, TEST = "tasks", "test"  # folders


class TaskGroup:
    """The tasks of a fine-tuning by name, and the `TaskKind` of each in `kinds`.

    Args:
        tasks: by name.   tokenizer: the model's.   recipe: of the fine-tuning.   max_length: tokens of a row.
        layers: task → the layers below its head, of several tasks; all where a task is left out.
        metrics: more metrics of a single task, name → function of the rows and the predictions.

    Raises ConfigError where the recipe's `best` is not a metric of the development rows.
    """

    def __init__(
        self, tasks: dict[str, TaskData], tokenizer, recipe: Recipe, max_length: int,
        layers: dict[str, int] | None = None, metrics: dict[str, Callable] | None = None,
    ):  # fmt: skip
        self.tasks, self.recipe, self.max_length, self.layers = tasks, recipe, max_length, layers or {}
        self.metrics = metrics or {}
        self.has_several = len(tasks) > 1
        stride = min(recipe.stride, max_length)
        self.kinds = {
            name: task_kind_of(TaskInfo.of(task, max_length, stride), tokenizer) for name, task in tasks.items()
        }
        if recipe.best is not None:
            self._check_best(recipe.best)

    def _check_best(self, best: str) -> None:
        names = {}
        for name, info in self.infos.items():
            names[name] = dict.fromkeys(figure_names(info.metrics, self.tasks[name].validation, info.labels))
        known = [*([MEAN] if self.has_several else []), *self._together(names), *self.metrics]
        if best not in known:
            raise ConfigError(f"best: expected one of {', '.join(known)}; got {best!r}")

    @property
    def only(self):
        """The `TaskKind` of a single task."""
        (kind,) = self.kinds.values()
        return kind

    @property
    def infos(self) -> dict[str, TaskInfo]:
        """The description of each task."""
        return {name: kind.info for name, kind in self.kinds.items()}

    @property
    def model_kind(self) -> str:
        """A key of `bertlab.checkpoints.kinds.KINDS`."""
        return "multi_task" if self.has_several else self.only.model_kind

    @property
    def model_options(self) -> dict:
        """Arguments of the model's class beside its config."""
        if not self.has_several:
            return self.only.model_options
        return {
            "tasks": {
                name: {"kind": kind.model_kind, "depth": self.layers.get(name)} | kind.model_options
                for name, kind in self.kinds.items()
            }
        }

    def _together(self, by_task: dict[str, dict]) -> dict:
        """The metrics of all tasks in one dict."""
        if not self.has_several:
            return by_task.get(*self.tasks, {})
        return {f"{task}/{name}": value for task, own in by_task.items() for name, value in own.items()}

    # === Rows ===

    def digests(self) -> str | dict[str, str]:
        """A fingerprint of all rows; of several tasks one for each."""
        found = {}
        for name, task in self.tasks.items():
            digest = hashlib.sha256()
            for split in SPLITS:
                for row in getattr(task, split):
                    digest.update(repr(row).encode())
                digest.update(b"--")
            found[name] = digest.hexdigest()[:16]
        return found if self.has_several else found[name]

    def encode(self, note: Callable[[str], object]) -> dict[str, dict[str, Encoded]]:
        """The rows of each split by task, of the tasks that have some. note: called with what was cut.

        Raises DataError for training or development rows without a label, test rows of which only some have one, and
        splits of multiple choice with different numbers of choices.
        """
        found: dict[str, dict[str, Encoded]] = {split: {} for split in SPLITS}
        for split in SPLITS:
            for name, task in self.tasks.items():
                if rows := getattr(task, split):
                    found[split][name] = encoded = self.kinds[name].encode(rows)
                    for text in encoded.notes:
                        note(f"{name}, {split}: {text}" if self.has_several else f"{split}: {text}")
                    _check_labels(task.name, split, encoded)
        for name in self.tasks:
            choices = {split: own[name].features.choices for split, own in found.items() if name in own}
            if len(set(choices.values())) > 1:
                listed = ", ".join(f"{count} ({split})" for split, count in choices.items())
                raise DataError(f"rows have {listed} choices; all splits must have the same number")
        return found

    def class_weights(self, note: Callable[[str], object]) -> dict[str, np.ndarray | None]:
        """See `class_weights`; of several tasks only balanced ones, and None for a task that they are not for.

        note: called with the names of such tasks. Raises ConfigError also for numbers, and where all are such tasks.
        """
        wanted = self.recipe.class_weights
        if not self.has_several or wanted is None:
            return {name: class_weights(task, self.recipe) for name, task in self.tasks.items()}
        if wanted != "balanced":
            asked_for = asked("--class-weights balanced", "class_weights='balanced'")
            raise ConfigError(f"expected {asked_for} with several tasks, whose classes differ, got numbers")
        found = {}
        for name, task in self.tasks.items():
            try:
                found[name] = class_weights(task, self.recipe)
            except ConfigError:
                found[name] = None
        left_out = ", ".join(name for name, weights in found.items() if weights is None)
        if all(weights is None for weights in found.values()):
            raise ConfigError(
                f"{left_out}: expected a task with one class for each row or word for class_weights; leave them out"
            )
        if left_out:
            note(f"class_weights are not for {left_out}: expected one class for each row or word")
        return found

    # === Predictions ===

    def tune(self, dev: dict[str, Encoded], outputs: Callable[[dict], dict[str, list]]) -> None:
        """Lets each task choose its threshold on the development rows. outputs: the model's, of some tasks' rows."""
        for name, kind in self.kinds.items():
            kind.tune(dev[name], lambda name=name: outputs({name: dev[name]})[name])

    def score(self, encoded: dict[str, Encoded], decoded: dict[str, Decoded]) -> dict[str, float]:
        """All metrics; the first is the one to choose models by."""
        by_task = {name: kind.info.score(encoded[name].rows, decoded[name]) for name, kind in self.kinds.items()}
        figures = {MEAN: float(np.mean([next(iter(own.values())) for own in by_task.values()]))}
        figures = figures | self._together(by_task) if self.has_several else self._together(by_task)
        for metric, function in self.metrics.items():
            (name,) = self.tasks
            figures[metric] = float(function(encoded[name].rows, decoded[name].predictions))
        best = self.recipe.best
        return figures if best is None else {best: figures.pop(best)} | figures

    def remarks(self, decoded: dict[str, Decoded]) -> list[str]:
        """Sentences about the predictions for the development rows."""
        found = {name: nothing_found(info, decoded[name]) for name, info in self.infos.items()}
        return [f"{name}: {remark}" if self.has_several else remark for name, remark in found.items() if remark]

    # === Files ===

    def _folder(self, out: Path, name: str) -> Path:
        return out / TASKS / name if self.has_several else out

    def judge_test(self, out: Path, predicted: dict[str, Decoded]) -> dict[str, float] | None:
        """The metrics on labelled test rows, with the whole judgement in a folder; None without labels."""
        by_task = {}
        for name, task in self.tasks.items():
            if has_answers(task.test):
                info = self.kinds[name].info
                judgement = judge(info, task.test, predicted[name])
                write_judgement(self._folder(out, name) / TEST, info, task.test, predicted[name], judgement)
                by_task[name] = judgement.metrics
        return self._together(by_task) or None

    def write(self, out: Path, dev: dict[str, Decoded], test: dict[str, Decoded], result: FineTuningResult) -> None:
        """Writes everything but model and judgement. dev, test: the predictions, test of the tasks with test rows."""
        if self.has_several:
            save_figure(out / "curves.png", curves_figure(result))
        for name, task in self.tasks.items():
            own, folder = result, self._folder(out, name)
            if self.has_several:
                first = next(metric for metric in result.dev if metric.startswith(f"{name}/"))
                own = dataclasses.replace(result, task=name, metric=first)
            folder.mkdir(parents=True, exist_ok=True)
            write_outputs(folder, self.kinds[name].info, task, dev[name], test.get(name), own)


def _check_labels(name: str, split: str, encoded: Encoded) -> None:
    rows, features = encoded.rows, encoded.features
    if split != "test" and features.targets is None and getattr(features, "tags", None) is None:
        raise DataError(f"{name}: some {split} rows have no label; nothing can be learnt or judged there")
    if split == "test" and has_answers(rows) and (missing := sum(not is_labelled(row) for row in rows)):
        raise DataError(
            f"{name}: {missing:,} of {len(rows):,} test rows have no label; give all of them a label, or none"
        )


def class_weights(task: TaskData, recipe: Recipe) -> np.ndarray | None:
    """(C,) float32: the recipe's own, or for "balanced" N / (C · rows of the class), as scikit-learn computes them.

    Raises ConfigError unless there is one for each label, none is negative, not all are 0, and the task has classes.
    """
    wanted = recipe.class_weights
    if wanted is None:
        return None
    if not task.labels or task.shape == "multiple-choice":
        raise ConfigError(f"{task.name}: expected a task with classes for class_weights; leave them out")
    if wanted == "balanced" and task.multi_label:
        raise ConfigError(
            f"{task.name}: expected one number per label for class_weights where rows have several labels"
        )
    if wanted == "balanced":
        rows = [row.tags for row in task.train] if task.shape == "tagging" else [[row.label] for row in task.train]
        counts = np.bincount(np.concatenate(rows).astype(int), minlength=len(task.labels))
        return (counts.sum() / (len(counts) * np.maximum(counts, 1))).astype("float32")
    if len(wanted) != len(task.labels):
        raise ConfigError(
            f"expected {len(task.labels)} class_weights, one for each of {', '.join(task.labels)}; got {len(wanted)}"
        )
    if not (np.all(np.isfinite(wanted)) and min(wanted) >= 0 < max(wanted)):
        raise ConfigError(f"`class_weights` must be non-negative and not all zero; got {wanted}")
    return np.array(wanted, "float32")


# === Files of a task ===


def write_outputs(
    folder: Path, info: TaskInfo, task: TaskData, dev: Decoded, test: Decoded | None, result: FineTuningResult
) -> None:
    """Writes everything about a task but the model. dev, test: predictions for task.validation and task.test.

    predictions/        development and test rows in the task's official submission format
    errors.tsv          every mistake on the development rows, the ones the model was surest of first
    confusion.png       confusion matrix, for 40 classes at most (numbers: predicted against right)
    curves.png          training loss and development figure after each epoch
    """
    (folder / "predictions").mkdir(exist_ok=True)
    write_predictions(folder / "predictions", "dev", info, task.validation, dev)
    if test is not None:
        write_predictions(folder / "predictions", "test", info, task.test, test)
    table = mistakes(info, task.validation, dev)
    columns = list(table[0]) if table else ["confidence", "right", "predicted"]
    lines = ["\t".join(columns)]
    for mistake in table:
        values = (mistake[name] for name in columns)
        texts = (f"{value:.4f}" if isinstance(value, float) else " ".join(str(value).split()) for value in values)
        lines.append("\t".join(texts))
    write_text(folder / "errors.tsv", "\n".join(lines) + "\n")
    draw_confusion(folder, info, task.validation, dev, judge(info, task.validation, dev))
    save_figure(folder / "curves.png", curves_figure(result))


def write_predictions(folder: Path, split: str, info: TaskInfo, rows, decoded: Decoded) -> Path:
    """Writes one split's predictions and returns the file.

    SQuAD: id → text. Tagging: word, right tag, predicted tag. GLUE's test sets: the name and content that the server
    expects. Everything else: GLUE's columns, index and prediction.
    """
    if info.shape == "question":
        path = folder / f"{split}.json"
        write_squad(path, decoded.predictions)
        if info.null_threshold is not None:  # what evaluate-v2.0.py takes as --na-prob-file
            write_squad(folder / f"{split}.null_odds.json", decoded.options["no_answer_scores"])
        return path
    if info.shape == "tagging":
        path = folder / f"{split}.conll"
        write_conll(path, rows, info.labels, decoded.predictions)
        return path
    published = find_task(info.name)
    if split == "test" and published and published.submission and len(rows) == published.sizes[2]:
        return write_glue(folder, info.name, decoded.predictions)
    path = folder / f"{split}.tsv"
    write_indexed(path, decoded.predictions, info.labels)
    return path


def mistakes(info: TaskInfo, rows: Sequence[Row], decoded: Decoded) -> list[dict]:
    """The mistakes, most confident first, where one finds wrong labels. Every row must have its right answer.

    A mistake is another class, another choice; a word's wrong tag; an answer that is no exact match; for numbers every
    row, the farthest from the right number first.
    """
    found = judged_predictions(info, rows, decoded)
    if is_regression(info):
        return sorted(found, key=lambda mistake: -mistake["distance"])
    wrong = [{name: value for name, value in one.items() if name != "correct"} for one in found if not one["correct"]]
    return sorted(wrong, key=lambda mistake: -mistake["confidence"])  # stable: equal ones keep the order of the rows


def curves_figure(result: FineTuningResult):
    """Loss and figure after each epoch, of the best setting of each start; the band is ± one standard deviation."""
    figure, (left, right) = new_figure(11, 4.2, 1, 2)
    for start, colour, marker in zip(STARTS, (BLUE, ORANGE), ("o", "s")):
        summary = result.of(start)
        runs = [run for run in summary.runs if run.epochs] if summary else []  # what diverged has no curve
        if not runs:
            continue
        shortest = min(len(run.epochs) for run in runs)  # some may have stopped early
        epochs = np.arange(1, shortest + 1)
        losses = np.array([[row["loss"] for row in run.epochs[:shortest]] for run in runs])
        values = np.array([[row["figures"][result.metric] for row in run.epochs[:shortest]] for run in runs])
        for axes, curves in ((left, losses), (right, values)):
            mean, sd = curves.mean(axis=0), curves.std(axis=0, ddof=int(len(curves) > 1))
            axes.plot(epochs, mean, color=colour, marker=marker, label=f"{start} ({len(curves)} runs)")
            axes.fill_between(epochs, mean - sd, mean + sd, color=colour, alpha=0.2)
            axes.set(xlabel="epoch", xticks=epochs)
    left.set_title("Training loss")
    right.set_title(f"{result.task}: {result.metric} on development rows", parse_math=False)
    right.legend(frameon=False)
    return figure
