"""`bertlab encode`: turn lines of text into vectors."""

from pathlib import Path

import click

from bertlab.analysis.vectors import POOLINGS
from bertlab.cli.backend import load_backend
from bertlab.cli.options import model_option


@click.command()
@click.argument("lines", type=click.File("r", encoding="utf-8"), default="-")
@model_option
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The .npy file to write.")
@click.option("--layer", default=-1, show_default=True, help="0: embeddings, i: layer i, -1: the last.")
@click.option("--pooling", default="mean", show_default=True, type=click.Choice([p for p in POOLINGS if p != "none"]))
@click.option("--normalise", is_flag=True, help="Scale each vector to length 1.")
@click.option("--truncate", is_flag=True, help="Cut texts that do not fit the model instead of stopping.")
@click.option("--batch-size", default=32, show_default=True, type=click.IntRange(1))
def encode(lines, model, out, layer, pooling, normalise, truncate, batch_size):
    """Write one vector for each line of LINES (a file, or standard input) to an .npy file, float32.

    \b
    Example:
      bertlab encode sentences.txt --model DIR --out vectors.npy --pooling mean
    """
    import numpy as np

    from bertlab import checkpoints
    from bertlab.analysis.vectors import encode_texts
    from bertlab.errors import DataError

    try:
        texts = [line.rstrip("\n") for line in lines]
    except UnicodeDecodeError as error:
        raise DataError(f"{lines.name}: not UTF-8 ({error}); convert the file first") from None
    if not texts:
        raise DataError(f"{lines.name}: no lines to encode")
    load_backend()
    encoder = checkpoints.load(model, "encoder")
    vectors = encode_texts(
        encoder,
        checkpoints.load_tokenizer(model),
        texts,
        layer=layer,
        pooling=pooling,
        normalise=normalise,
        truncate=truncate,
        batch_size=batch_size,
    )
    with open(out, "wb") as file:
        np.save(file, vectors, allow_pickle=False)
    click.echo(f"{out}: {vectors.shape[0]} vectors of {vectors.shape[1]} dimensions")
