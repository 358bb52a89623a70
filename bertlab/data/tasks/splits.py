"""Holding out part of the training rows, for tasks without a validation split."""

import dataclasses
import math
from collections import Counter

import numpy as np

from bertlab.common.errors import DataError, asked
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, Row, TaggingRow, TaskData


def check_rows(task: TaskData) -> None:
    """Raises DataError for a task without rows to train or to judge on."""
    share = asked("--validation-share 0.1", "a validation_share")
    for split in ("train", "validation"):
        if not getattr(task, split):
            raise DataError(
                f"{task.name}: has no {split} rows; "
                + (f"give {share} to hold some back" if split == "validation" else "add some")
            )


def check_share(share: float) -> None:
    """Raises DataError unless a fraction is between 0, which holds out nothing, and 1."""
    if not 0 <= share < 1:
        raise DataError(f"validation_share must lie between 0 and 1, not {share!r}")


def hold_out(data: TaskData, share: float, seed: int = 0) -> TaskData:
    """Moves about this fraction of the training rows to the validation split, keeping the order.

    Rows about one text (a question's or a choice's context; otherwise the whole input) stay together: training never
    reads a validation text. They are drawn with the seed. No class gives more than this fraction, rounded up, and every
    class (or tag) keeps rows to train on. Raises DataError if nothing can be held out.
    """
    check_share(share)
    groups: dict[object, list[int]] = {}
    for index, row in enumerate(data.train):
        groups.setdefault(_text_of(row), []).append(index)
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


def _text_of(row: Row) -> object:
    """The text that rows share if they must stay in one split."""
    if isinstance(row, (QuestionRow, MultipleChoiceRow)):
        return row.context
    if isinstance(row, TaggingRow):
        return row.words
    return (row.text_a, row.text_b) if isinstance(row, PairRow) else row.text


def _classes(row: Row, data: TaskData) -> tuple[int, ...]:
    """The classes (or tags) of a row; empty for numbers, choices and answers."""
    if isinstance(row, TaggingRow):
        return row.tags or ()
    if data.multi_label:
        return row.label or ()
    return (row.label,) if data.labels and data.shape in ("sentence", "pair") else ()
