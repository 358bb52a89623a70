"""The rows of labelled data: one small frozen dataclass for each task type.

The task types (`shape`) are those of Devlin et al. 2019, figure 4, plus multiple choice (section 4.4). A label is the
index of a class, a real number for regression, the indices of all classes that apply (multi-label), or None in a test
set without answers.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import DataError, asked

Label = int | float | tuple[int, ...] | None


@dataclass(frozen=True)
class SentenceRow:
    """One text and its class (or number)."""

    text: str
    label: Label = None


@dataclass(frozen=True)
class PairRow:
    """Two texts and the class (or number) of the pair."""

    text_a: str
    text_b: str
    label: Label = None


@dataclass(frozen=True)
class MultipleChoiceRow:
    """A context and several continuations; `label` is the index of the right one."""

    context: str
    choices: tuple[str, ...]
    label: int | None = None


@dataclass(frozen=True)
class TaggingRow:
    """Words and one tag for each, as the index of a label; `tags` is None if there are no tags."""

    words: tuple[str, ...]
    tags: tuple[int, ...] | None = None


@dataclass(frozen=True)
class QuestionRow:
    """A question about a context, and the answer's position in it.

    `answers[i]` is `context[answer_starts[i]:answer_starts[i] + len(answers[i])]`: offsets count characters. All
    answers are equally right; no answers means that the question is unanswerable (SQuAD 2.0).
    """

    id: str
    question: str
    context: str
    answers: tuple[str, ...] = ()
    answer_starts: tuple[int, ...] = ()


ROWS = {  # by task type; the fields of a row are those that a file's columns are assigned to
    "sentence": SentenceRow,
    "pair": PairRow,
    "multiple-choice": MultipleChoiceRow,
    "tagging": TaggingRow,
    "question": QuestionRow,
}
Row = SentenceRow | PairRow | MultipleChoiceRow | TaggingRow | QuestionRow


@dataclass(frozen=True)
class TaskData:
    """A labelled task: its rows in up to three splits.

    shape: its type, a key of `ROWS`. labels: the names of classes or tags in the order of their indices; empty for
    regression and questions. A split that the task lacks is empty. multi_label: a row has any number of the labels.
    """

    name: str
    shape: str
    labels: tuple[str, ...]
    train: Sequence[Row] = ()
    validation: Sequence[Row] = ()
    test: Sequence[Row] = ()
    multi_label: bool = False


# === Checks, and holding out rows ===


def check_rows(task: TaskData) -> None:
    """Raises DataError for a task without rows to train or to judge on."""
    share = asked("--validation-share 0.1", "a validation_share")
    for split in ("train", "validation"):
        if not getattr(task, split):
            raise DataError(
                f"{task.name}: has no {split} rows; "
                + (f"give {share} to hold some back" if split == "validation" else "add some")
            )


def hold_out(data: TaskData, share: float, seed: int = 0) -> TaskData:
    """Moves about this fraction of the training rows to the validation split, keeping the order.

    Rows about one text (a question's or a choice's context; otherwise the whole input) stay together: training never
    reads a validation text. They are drawn with the seed. No class gives more than this fraction, rounded up, and every
    class (or tag) keeps rows to train on. Raises DataError if nothing can be held out.
    """
    groups: dict[object, list[int]] = {}
    for index, row in enumerate(data.train):
        values = vars(row)
        text = tuple(values[name] for name in ("context", "words", "text", "text_a", "text_b") if name in values)
        groups.setdefault(text, []).append(index)
    if len(groups) < 2:
        found = "all training rows are about one text" if groups else "there are no training rows"
        raise DataError(f"{data.name}: {found}, so none can be held out for validation; give a dev file")
    order = np.random.default_rng(seed).permutation(len(groups)).tolist()
    drawn = list(groups.values())
    held = set(_draw([drawn[number] for number in order], data, share))
    if not held:
        raise DataError(
            f"{data.name}: no row can be held out, because every class needs a training row; give a dev file"
        )
    train = [row for index, row in enumerate(data.train) if index not in held]
    return dataclasses.replace(data, train=train, validation=[data.train[index] for index in sorted(held)])


def _draw(groups: list[list[int]], data: TaskData, share: float) -> list[int]:
    """The rows of the first groups that fit; if none fits, the smallest group that may be held out."""
    rows, wanted = data.train, min(max(1, round(share * len(data.train))), len(data.train) - 1)
    counts = [Counter(label for index in group for label in _classes(rows[index], data)) for group in groups]
    left = Counter(label for row in rows for label in _classes(row, data))
    part = 1 if data.shape == "tagging" else share
    quotas = Counter({label: math.ceil(round(part * number, 9)) for label, number in left.items()})
    held: list[int] = []
    for group, count in zip(groups, counts):
        fits = all(number < left[label] and number <= quotas[label] for label, number in count.items())
        if fits and len(held) + len(group) <= wanted:
            held += group
            left.subtract(count)
            quotas.subtract(count)
    spare = [group for group, count in zip(groups, counts) if all(count[label] < left[label] for label in count)]
    return held or min(spare, key=len, default=[])


def _classes(row: Row, data: TaskData) -> tuple[int, ...]:
    """The classes (or tags) of a row; empty for numbers, choices and answers."""
    if isinstance(row, TaggingRow):
        return row.tags or ()
    if data.multi_label:
        return row.label or ()
    return (row.label,) if data.labels and data.shape in ("sentence", "pair") else ()
