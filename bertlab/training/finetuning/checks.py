"""Checks of a task's rows before a training, and the fingerprint by which a later start recognizes them."""

import hashlib

from bertlab.common.errors import DataError
from bertlab.data.tasks.rows import TaskData
from bertlab.training.finetuning.task_kinds import Encoded


def digest_rows(task: TaskData) -> str:
    """A fingerprint of all rows."""
    digest = hashlib.sha256()
    for split in (task.train, task.validation, task.test):
        for row in split:
            digest.update(repr(row).encode())
        digest.update(b"--")
    return digest.hexdigest()[:16]


def check_choices(splits: dict[str, Encoded | None]) -> None:
    """Raises DataError where the splits of multiple choice have different numbers of choices."""
    choices = {name: encoded.features.choices for name, encoded in splits.items() if encoded is not None}
    if len(set(choices.values())) > 1:
        listed = ", ".join(f"{count} ({name})" for name, count in choices.items())
        raise DataError(f"rows have {listed} choices; all splits must have the same number")
