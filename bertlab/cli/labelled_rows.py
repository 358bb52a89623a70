"""The options for reading labelled rows."""

from dataclasses import dataclass, replace
from pathlib import Path

import click

from bertlab.cli.from_signature import NAMES, option
from bertlab.cli.options import say
from bertlab.common.settings import Settings
from bertlab.data.tasks.formats import Problems
from bertlab.data.tasks.formats_labels import is_whole, listed, require_two_classes
from bertlab.data.tasks.formats_published import find_task
from bertlab.data.tasks.load import SOURCES, SPLITS, load_task
from bertlab.data.tasks.rows import TaskData, check_rows

_EXAMPLES = {"columns": "text=review", "conll": "tag_column=1"}


def _pairs(context, parameter, values) -> dict:
    """["text=review", "choices=a,b"] → {"text": "review", "choices": ("a", "b")}"""
    pairs = {}
    for value in values:
        name, equals, said = value.partition("=")
        if not equals or not said:
            raise click.BadParameter(f"{value!r} is not {parameter.metavar}, for example {_EXAMPLES[parameter.name]}")
        if name in pairs:
            raise click.BadParameter(f"{name} is given twice; give it once (several columns of choices: choices=a,b)")
        pairs[name] = tuple(said.split(",")) if name == "choices" and "," in said else said
    return pairs


@dataclass(frozen=True)
class LabelledRows(Settings):
    """The options for reading labelled rows; see `bertlab.data.tasks.load.load_task`."""

    source: str = option(
        "auto", "Where the task comes from; auto looks for a built-in one, then files, then the Hub.",
        choices=SOURCES, rare=True,
    )  # fmt: skip
    data_dir: Path | None = option(None, "Folder with the official files of a published task.")
    shape: str | None = option(
        None, "Type: sentence, pair, multiple-choice, tagging or question. [from the columns]", rare=True
    )
    columns: dict | None = option(
        None, "Read this field from this column, such as text=review or choices=a,b (repeatable).", "--column",
        callback=_pairs, metavar="FIELD=COLUMN",
    )  # fmt: skip
    labels: NAMES = option(
        None, "Classes (or tags) in the order of their indices. [those of the training rows]", metavar="A,B,…"
    )
    label_separator: str | None = option(
        None, "Rows have any number of labels, with this text between them, such as a comma.", metavar="TEXT", rare=True
    )
    regression: bool = option(False, "Treat labels as numbers to predict, not as classes.")
    conll: dict | None = option(
        None, "word_column, tag_column (or none), separator or comment of a CoNLL file (repeatable).",
        callback=_pairs, metavar="OPTION=VALUE", rare=True,
    )  # fmt: skip
    skip_errors: bool = option(False, "Skip invalid records and count them.", rare=True)

    @property
    def is_default(self) -> bool:
        """Whether no option was given."""
        return self.replace(columns=self.columns or None, conll=self.conll or None) == type(self)()

    def load(self, name_or_path, load=load_task, **more):
        """The task that `load` returns; it has the arguments of `load_task`. Prints notes and skipped records.

        Raises click.UsageError for options that exclude each other.
        """
        for name in ("labels", "label_separator"):
            if self.regression and getattr(self, name):
                written = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{written} and --regression exclude each other: give one of them")
        problems = Problems("skip" if self.skip_errors else "stop")
        data = load(
            name_or_path, source=self.source, data_dir=self.data_dir, shape=self.shape, columns=self.columns,
            labels=() if self.regression else self.labels, label_separator=self.label_separator, conll=self.conll,
            on_error=problems, **more,
        )  # fmt: skip
        for line in (*problems.notes, *(f"left out: {message}" for message in problems.messages[:10])):
            say(line)
        if len(problems.messages) > 10:
            say(f"left out: {len(problems.messages) - 10} more")
        return data

    def of_each(self, names: tuple[str, ...]) -> list["LabelledRows"]:
        """The options for each of several tasks: all for the first, for the others those that concern every task.

        --data-dir is for the published ones among them; where none is, all have it, and refuse it.
        """
        plain = self.replace(shape=None, columns=None, labels=None, label_separator=None, regression=False, conll=None)
        published = [find_task(name) is not None for name in names]
        return [
            each if its or not any(published) else each.replace(data_dir=None)
            for each, its in zip([self] + [plain] * len(names), published)
        ]


@dataclass(frozen=True)
class TrainingRows(LabelledRows):
    """The options for reading the rows of a training, and the number of those that are used."""

    validation_share: float = option(
        0.0, "Fraction of the training rows to hold out when the task has no development rows; rows about one text "
        "stay together.",
    )  # fmt: skip
    train_rows: int | None = option(None, "Number of training rows to use.", at_least=1, rare=True)

    def task(self, name_or_path, least_classes: int = 2) -> TaskData:
        """The task, with only the first training rows on request. Prints its shape and labels.

        Raises DataError where these rows have one class, and where there are no development rows.
        """
        task = self.load(name_or_path, validation_share=self.validation_share)
        if self.train_rows is not None:
            task = replace(task, train=task.train[: self.train_rows])
        classes = task.labels and task.shape in ("sentence", "pair", "tagging") and not task.multi_label
        if classes and least_classes > 1:
            require_two_classes(task.name, task.labels, task.train)
        check_rows(task)  # before the backend is loaded, which takes seconds
        say(f"{task.name}: {task.shape}, {labels_read(task)}")
        return task


def labels_read(data: TaskData) -> str:
    """A task's labels as they were understood: "3 classes: a, b, c", "regression on numbers 0 to 5"."""
    if data.shape == "question":
        return "spans of the context"
    if data.labels:
        kind = {"tagging": "tags", "multiple-choice": "choices"}.get(data.shape, "classes")
        if data.multi_label:
            return f"{len(data.labels)} labels, any number for each row: {listed(data.labels)}"
        numbers = kind == "classes" and all(map(is_whole, data.labels))
        other = " (for numbers to predict: --regression)" if numbers else ""
        return f"{len(data.labels)} {kind}: {listed(data.labels)}{other}"
    known = [row.label for split in SPLITS for row in getattr(data, split) if row.label is not None]
    return f"regression on numbers {min(known):g} to {max(known):g}" if known else "regression"
