"""`bertlab encode`: turn lines of text into vectors."""

from pathlib import Path

import click

from bertlab.analysis.vectors import POOLINGS
from bertlab.backend import load_backend
from bertlab.cli.options import model_option


def _numbers(context, parameter, value):
    try:
        return None if value is None else tuple(float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r}: expected numbers with commas between") from None


@click.command()
@click.argument("lines", type=click.File("r", encoding="utf-8"), default="-")
@model_option
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The .npy or .npz file.")
@click.option(
    "--layer",
    default="-1",
    show_default=True,
    help="0: embeddings, i: layer i, -1: the last; or 1,2,3, or last4-sum, last4-concat.",
)
@click.option("--combine", help="sum, mean or concat, of several layers; sum where --layer does not say it.")
@click.option("--weights", callback=_numbers, help="A weighted sum: one number for each layer, with commas between.")
@click.option("--pooling", default="mean", show_default=True, type=click.Choice(POOLINGS))
@click.option("--normalise", is_flag=True, help="Scale each vector to length 1.")
@click.option(
    "--truncate", is_flag=True, help="Cut texts that do not fit the model instead of reading them in windows."
)
@click.option("--batch-size", default=32, show_default=True, type=click.IntRange(1))
def encode(lines, model, out, layer, combine, weights, pooling, normalise, truncate, batch_size):
    """Write one vector for each line of LINES (a file, or standard input) to an .npy or .npz file, float32.

    Works through files of any size; interrupted, the same command goes on. With --pooling none, every piece has its
    vector, and an .npz file says which rows belong to which line.

    \b
    Examples:
      bertlab encode sentences.txt --model DIR --out vectors.npy --pooling mean
      bertlab encode sentences.txt --model DIR --out features.npy --layer last4-concat --pooling cls
    """
    load_backend()
    from bertlab import checkpoints
    from bertlab.analysis.layers import LayerChoice
    from bertlab.analysis.vector_files import write_vectors
    from bertlab.analysis.vectors import VectorEncoder
    from bertlab.checkpoints.digest import model_digests
    from bertlab.errors import DataError
    from bertlab.progress import bar

    choice = LayerChoice.of(layer, combine, weights)
    encoder = checkpoints.load(model, "encoder", padded_vocabulary=True)
    tokenizer = checkpoints.load_tokenizer(model)
    maker = VectorEncoder(encoder, tokenizer, choice, pooling, normalise, batch_size, truncate)
    settings = {"model": str(model), "layers": choice.layers, "combine": choice.combine, "factors": choice.weights,
                "pooling": pooling, "normalise": normalise, "truncate": truncate,
                **model_digests(encoder, tokenizer)}  # fmt: skip
    try:
        with bar("Encoding") as running:
            shape = write_vectors(maker, (line.rstrip("\r\n") for line in lines), out, settings, running.advance)
    except UnicodeDecodeError as error:
        raise DataError(f"{lines.name}: not UTF-8 ({error}); convert the file first") from None
    click.echo(f"{out}: {shape[0]} vectors of {shape[1]} dimensions")
