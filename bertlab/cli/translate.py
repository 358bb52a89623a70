"""`bertlab translate`: the targets of texts, from an encoder–decoder."""

import json
from pathlib import Path

import click

from bertlab.cli.settings_options import settings_options
from bertlab.common.backend import load_backend
from bertlab.common.errors import DataError
from bertlab.generation.settings import TranslationSettings


@click.command()
@click.argument("model")
@click.argument("text", nargs=-1)
@click.option("--file", "file", type=click.Path(path_type=Path, dir_okay=False),
              help="File with a text in every line, instead of TEXT.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per text.")
@settings_options(TranslationSettings)
def translate(model: str, text: tuple[str, ...], file: Path | None, as_json: bool, **options):
    """Translate TEXT, or each line of a file, with MODEL: an encoder-decoder that was trained on pairs of texts.

    \b
    Examples:
      bertlab translate run/checkpoint "where is the station?"
      bertlab translate run/checkpoint --file questions.txt --beams 1
    """
    if bool(text) == (file is not None):
        raise click.UsageError("expected either TEXT or --file FILE")
    settings = TranslationSettings(**options)
    texts = list(text) if file is None else _lines(file)
    load_backend()
    from bertlab import checkpoints
    from bertlab.generation import translate_text

    tokenizer = checkpoints.load_tokenizer(model)
    targets = translate_text(checkpoints.load(model, "sequence_to_sequence"), tokenizer, texts, settings)
    for source, target in zip(texts, targets):
        click.echo(json.dumps({"source": source, "target": target}, ensure_ascii=False) if as_json else target)


def _lines(path: Path) -> list[str]:
    from bertlab.data.documents_lines import Problems, numbered_lines

    try:
        lines = list(numbered_lines(path, Problems()))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a text file") from None
    for number, line in lines:
        if not line.strip():
            raise DataError(f"{path} line {number}: the line is empty; expected a text to translate")
    return [line for _, line in lines]
