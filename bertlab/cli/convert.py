"""`bertlab convert`: converts a checkpoint from one format to another."""

import dataclasses
from pathlib import Path

import click

from bertlab import checkpoints
from bertlab.backend import load_backend
from bertlab.checkpoints.saving import DTYPES, FORMATS
from bertlab.errors import CheckpointError


@click.command()
@click.argument("source")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--to", "format", required=True, type=click.Choice(FORMATS), help="Format to write.")
@click.option(
    "--dtype", default="float32", show_default=True, type=click.Choice(DTYPES), help="Data type of the written weights."
)
@click.option("--overwrite", is_flag=True, help="Write into FOLDER even if it is not empty.")
@click.option("--padded-vocabulary", is_flag=True, help="Accept a token table with more rows than vocab.txt has lines.")
@click.option("--json", "as_json", is_flag=True, help="Print the source of each variable as JSON.")
def convert(source, folder, format, dtype, overwrite, padded_vocabulary, as_json):
    """Read the checkpoint SOURCE and write it to FOLDER, with its vocabulary if it has one.

    SOURCE is a Hugging Face folder, an original TensorFlow 1 checkpoint, a BertLab folder or the name of a published
    model; the format is detected. Prints the source of each variable.

    \b
    Example:
      bertlab convert uncased_L-12_H-768_A-12 bert-base --to huggingface
    """
    import json

    load_backend()
    if folder.exists() and any(folder.iterdir()) and not overwrite:
        raise CheckpointError(f"{folder}: expected an empty folder; choose another one, or add --overwrite")
    model = checkpoints.load(source, padded_vocabulary=padded_vocabulary)
    tokenizer = checkpoints.load_tokenizer(source) if checkpoints.has_tokenizer(source) else None
    checkpoints.save(model, folder, tokenizer=tokenizer, format=format, dtype=dtype)
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(model.load_report) | {"written": str(folder)}, indent=2))
        return
    click.echo(str(model.load_report))
    vocabulary = "with its vocabulary" if tokenizer is not None else "without a vocabulary, since the source has none"
    click.echo(f"{folder}: written in the format {format}, {vocabulary}")
