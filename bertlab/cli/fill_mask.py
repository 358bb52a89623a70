"""`bertlab fill-mask`: fill in the blanks of a sentence."""

import json

import click

from bertlab import checkpoints
from bertlab.cli.options import model_option, texts_or_input
from bertlab.common.backend import load_backend


@click.command("fill-mask")
@click.argument("texts", nargs=-1)
@model_option
@click.option(
    "--top", default=5, show_default=True, type=click.IntRange(1), help="Number of predictions for each [MASK]."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per text.")
def fill_mask(texts: tuple[str, ...], model: str, top: int, as_json: bool):
    """Predict the words at [MASK] in each of TEXTS, or in each line of standard input.

    \b
    Example:
      bertlab fill-mask "The bank is situated on the [MASK] of the river."
    """
    load_backend()
    from bertlab.analysis.fill_mask import fill_mask as guess

    bert = checkpoints.load(model, "pretraining")
    tokenizer = checkpoints.load_tokenizer(model)
    for text in texts_or_input(texts):
        blanks = guess(bert, tokenizer, text, top)
        if as_json:
            click.echo(json.dumps({"text": text, "blanks": [[vars(g) for g in guesses] for guesses in blanks]}))
            continue
        click.echo(text)
        for number, guesses in enumerate(blanks, 1):
            click.echo(f"  [MASK] {number}")
            for g in guesses:
                click.echo(f"    {g.probability:7.2%}  {g.piece}")
