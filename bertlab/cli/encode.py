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
    type=click.Choice(POOLINGS),
    help="How to make one vector of the tokens; none keeps them all. "
    "[the choice of a sentence-transformers folder, or mean]",
)
@click.option(
    "--normalise/--no-normalise",
    default=None,
    help="Scale each vector to length 1. [the choice of a sentence-transformers folder, or no]",
)
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
    pooling, normalise = _as_the_folder_says(model, pooling, normalise)
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


def _as_the_folder_says(model: str, pooling: str | None, normalise: bool | None) -> tuple[str, bool]:
    """The choices that were left open, as a folder of sentence-transformers makes them. Prints them."""
    from bertlab.checkpoints.opening import find
    from bertlab.checkpoints.sentence_modules import MODULES, read_modules

    modules = None if None not in (pooling, normalise) else read_modules(find(model))
    if modules is None:
        return pooling or "mean", bool(normalise)
    pooling = pooling or modules.pooling or "mean"
    normalise = modules.normalise if normalise is None else normalise
    told = f"{MODULES} of the model: pooling {pooling}, {'' if normalise else 'not '}normalised"
    lacking = f"; left out, since BertLab lacks it: {', '.join(modules.lacking)}" if modules.lacking else ""
    click.echo(told + lacking, err=True)
    return pooling, normalise
