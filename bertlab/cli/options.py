"""Options that several commands share, and how they read lines of text."""

from collections.abc import Iterator
from typing import TextIO

import click

from bertlab.checkpoints.packaged import MINI
from bertlab.common.errors import DataError

model_option = click.option(
    "--model",
    default=MINI,
    show_default=True,
    envvar="BERTLAB_MODEL",
    help="Checkpoint folder, the packaged bertlab-mini, or a name on the Hugging Face hub. [$BERTLAB_MODEL]",
)


def lines_of(file: TextIO) -> Iterator[str]:
    """The lines of an open text without their ends. Raises DataError if it is not UTF-8."""
    try:
        for line in file:
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{file.name}: not UTF-8 ({error}); convert the file first") from None


def texts_or_input(texts: tuple[str, ...]) -> Iterator[str]:
    """The texts that a command got or, where there are none, the lines of standard input."""
    return iter(texts) if texts else lines_of(click.open_file("-", encoding="utf-8"))
