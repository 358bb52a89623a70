"""Options that several commands share, and how they read lines of text."""

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import click

from bertlab import checkpoints
from bertlab.checkpoints.packaged import MINI
from bertlab.cli.from_signature import option
from bertlab.common.backend import load_backend
from bertlab.common.errors import DataError
from bertlab.data.tasks.formats import TABLE_SUFFIXES

MODEL = option(
    MINI, "Checkpoint folder, the packaged bertlab-mini, or a name on the Hugging Face hub. [$BERTLAB_MODEL]",
    envvar="BERTLAB_MODEL",
)  # fmt: skip
MEMORY_CHECK = option(True, "Refuse a run that probably does not fit into memory.", rare=True)
ON_ERROR = option("stop", "Stop at defective input, or skip and count it.", choices=("stop", "skip"))
SHAPE = option(
    None, "Read one text (sentence) or two (pair), where MODEL is a classifier whose folder does not say which, as "
    "transformers saves it.", choices=("sentence", "pair"),
)  # fmt: skip


def loaded(name: str, kind: str, **options) -> tuple:
    """The model of a checkpoint, as `bertlab.checkpoints.load` makes it, and its tokenizer."""
    load_backend()
    return checkpoints.load(name, kind, **options), checkpoints.load_tokenizer(name)


def tokenizer_of(vocabulary: str | Path, cased: bool, **settings):
    """The tokenizer of a vocabulary; cased: whether it keeps capitals, also against its folder's setting."""
    from bertlab.tokenizers.kinds import open_tokenizer

    return open_tokenizer(vocabulary, **({"lowercase": False} if cased else {}), **settings)


def table_text(table, width: int | None = None) -> str:
    """A table of rich as it is printed. width: of the lines, where they do not go to a terminal."""
    from rich.console import Console

    console = Console()
    if width is not None:
        console.width = max(console.width, 80) if console.is_terminal else width
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")


def say(text: str) -> None:
    """Prints a line beside the results."""
    click.echo(text, err=True)


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
