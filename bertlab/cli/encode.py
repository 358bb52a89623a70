"""`bertlab encode`: turn lines of text into vectors."""

from pathlib import Path

import click

from bertlab import checkpoints
from bertlab.analysis.layers import LayerChoice
from bertlab.analysis.vectors import POOLINGS, VectorEncoder
from bertlab.cli.options import lines_of, model_option
from bertlab.cli.settings_options import Numbers
from bertlab.common.backend import load_backend


@click.command()
@click.argument("lines", type=click.File("r", encoding="utf-8"), default="-")
@model_option
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write, .npy or .npz."
)
@click.option(
    "--layer",
    default="-1",
    show_default=True,
    help="Layers to read: 0 (embeddings), i, -1 (last), second-to-last, or several: 1,2,3, last4-sum, last4-concat.",
)
@click.option("--combine", help="How to combine several layers: sum, mean or concat. [sum, unless --layer names it]")
@click.option("--weights", type=Numbers(), help="Weights of a weighted sum: one number per layer, such as 0.2,0.8.")
@click.option(
    "--pooling",
    default="mean",
    show_default=True,
    type=click.Choice(POOLINGS),
    help="How to make one vector of the tokens; none keeps them all.",
)
@click.option("--normalise", is_flag=True, help="Scale each vector to length 1.")
@click.option(
    "--truncate", is_flag=True, help="Cut texts that are too long for the model instead of reading them in windows."
)
@click.option(
    "--memory",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Tokens of a text's earlier windows that each window also sees. For a model with a memory only.",
)
@click.option("--batch-size", default=32, show_default=True, type=click.IntRange(1), help="Texts per batch.")
def encode(lines, model, out, layer, combine, weights, pooling, normalise, truncate, memory, batch_size):
    """Write one vector for each line of LINES (a file, or standard input) to an .npy or .npz file, float32.

    Works for files of any size; an interrupted command resumes when it is repeated. With --pooling none, every token
    has its vector, and an .npz file lists which rows belong to which line. A description of the vectors, OUT.json,
    lets `bertlab search` find the lines that are nearest to a query.

    \b
    Examples:
      bertlab encode sentences.txt --model DIR --out vectors.npy --pooling mean
      bertlab encode sentences.txt --model DIR --out features.npy --layer last4-concat --pooling cls
    """
    load_backend()
    from bertlab.analysis.vector_files import write_vectors
    from bertlab.checkpoints.digest import model_digests
    from bertlab.common.progress import bar

    choice = LayerChoice.of(layer, combine, weights)
    encoder = checkpoints.load(model, "encoder", padded_vocabulary=True)
    tokenizer = checkpoints.load_tokenizer(model)
    maker = VectorEncoder(encoder, tokenizer, choice, pooling, normalise, batch_size, truncate, memory)
    model_path = str(Path(model).resolve()) if Path(model).exists() else model  # for `bertlab search` in any folder
    settings = {"model": model_path, "layers": choice.layers, "combine": choice.combine, "factors": choice.weights,
                "pooling": pooling, "normalise": normalise, "truncate": truncate,
                **({"memory": memory} if memory else {}), **model_digests(encoder, tokenizer)}  # fmt: skip
    with bar("Encoding") as running:
        shape = write_vectors(maker, lines_of(lines), out, settings, running.advance)
    click.echo(f"{out}: {shape[0]} vectors of {shape[1]} dimensions")
