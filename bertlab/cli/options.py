"""Options that several commands share, and how they read lines of text."""

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import click

from bertlab.checkpoints.packaged import MINI
from bertlab.common.errors import DataError
from bertlab.data.tasks.formats import TABLE_SUFFIXES

model_option = click.option(
    "--model",
    default=MINI,
    show_default=True,
    envvar="BERTLAB_MODEL",
    help="Checkpoint folder, the packaged bertlab-mini, or a name on the Hugging Face hub. [$BERTLAB_MODEL]",
)

SHAPE_HELP = (
    "Read one text (sentence) or two (pair), where MODEL is a classifier whose folder does not say which, as "
    "transformers saves it."
)


def lines_of(file: TextIO) -> Iterator[str]:
    """The lines of an open text without their ends. Raises DataError for a table, and if it is not UTF-8."""
    suffix = Path(str(getattr(file, "name", ""))).suffix.lower()
    if suffix in TABLE_SUFFIXES:
        raise DataError(
            f"{file.name}: expected a text on each line, got a table ({suffix}); write its texts into a .txt file"
        )
    return _lines(file)


def _lines(file: TextIO) -> Iterator[str]:
    try:
        for line in file:
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{file.name}: not UTF-8 ({error}); convert the file first") from None


def texts_or_input(texts: tuple[str, ...]) -> Iterator[str]:
    """The texts that a command got or, where there are none, the lines of standard input."""
    return iter(texts) if texts else lines_of(click.open_file("-", encoding="utf-8"))
