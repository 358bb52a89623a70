"""`bertlab convert`: converts a checkpoint from one format to another."""

import dataclasses
from pathlib import Path

import click

from bertlab import checkpoints
from bertlab.checkpoints.saving import DTYPES, FORMATS
from bertlab.common.backend import load_backend
from bertlab.common.errors import CheckpointError


@click.command()
@click.argument("source")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--to", "format", required=True, type=click.Choice(FORMATS), help="Format to write.")
@click.option(
    "--dtype", default="float32", show_default=True, type=click.Choice(DTYPES), help="Data type of the written weights."
)
@click.option(
    "--vocab",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Replace the model's vocabulary by this vocab.txt. A new token starts with the mean vector of the old tokens "
    "that its text splits into. Then train the model further.",
)
@click.option("--overwrite", is_flag=True, help="Write into FOLDER even if it is not empty.")
@click.option("--padded-vocabulary", is_flag=True, help="Accept a token table with more rows than vocab.txt has lines.")
@click.option("--json", "as_json", is_flag=True, help="Print the source of each variable as JSON.")
def convert(source, folder, format, dtype, vocab, overwrite, padded_vocabulary, as_json):
    """Read the checkpoint SOURCE and write it to FOLDER, with its vocabulary and its task if it has them.

    SOURCE is a Hugging Face folder, an original TensorFlow 1 checkpoint, a BertLab folder or the name of a published
    model; the format is detected. Prints the source of each variable.

    \b
    Example:
      bertlab convert uncased_L-12_H-768_A-12 bert-base --to huggingface
      bertlab convert bertlab-mini start --to huggingface --vocab medicine-vocab.txt
    """
    import json

    load_backend()
    if folder.exists() and any(folder.iterdir()) and not overwrite:
        raise CheckpointError(f"{folder}: expected an empty folder; choose another one, or add --overwrite")
    model = checkpoints.load(source, padded_vocabulary=padded_vocabulary)
    tokenizer = checkpoints.load_tokenizer(source) if checkpoints.has_tokenizer(source) else None
    report, new_tokens = model.load_report, None
    if vocab is not None:
        model, tokenizer, new_tokens = _with_vocabulary(model, tokenizer, vocab, source)
    _save(model, folder, tokenizer, format, dtype, source)
    if as_json:
        tokens = {} if new_tokens is None else {"new_tokens": dataclasses.asdict(new_tokens)}
        click.echo(json.dumps(dataclasses.asdict(report) | tokens | {"written": str(folder)}, indent=2))
        return
    click.echo(str(report))
    if new_tokens is not None:
        click.echo(str(new_tokens))
    vocabulary = "with its vocabulary" if tokenizer is not None else "without a vocabulary, since the source has none"
    click.echo(f"{folder}: written in the format {format}, {vocabulary}")


def _save(model, folder: Path, tokenizer, format: str, dtype: str, source: str) -> None:
    """Writes the model with its task if it has one. A task.json of the model that was there before is deleted."""
    from bertlab.checkpoints.opening import find
    from bertlab.training.finetuning.task_info import TASK, described_in, save_finetuned

    task = described_in(find(source), model)
    if task is None:
        checkpoints.save(model, folder, tokenizer=tokenizer, format=format, dtype=dtype)
        (folder / TASK).unlink(missing_ok=True)
    else:
        save_finetuned(model, folder, tokenizer, task, format, dtype)


def _with_vocabulary(model, tokenizer, vocab: Path, source: str):
    from bertlab.checkpoints.other_vocabulary import with_vocabulary
    from bertlab.common.errors import CheckpointError
    from bertlab.tokenizers.wordpiece import Vocabulary

    if tokenizer is None:
        raise CheckpointError(f"{source}: has no vocabulary to start from; put its vocab.txt into the folder")
    return with_vocabulary(model, tokenizer, Vocabulary.from_file(vocab))
