"""`bertlab evaluate`: evaluates a pre-trained model's predictions, always on the same rows."""

import json
from pathlib import Path

import click

from bertlab.backend import load_backend


@click.command()
@click.argument("model")
@click.option("--data", required=True, type=click.Path(path_type=Path), help="Folder of held-out examples.")
@click.option(
    "--rows", default=4096, show_default=True, type=click.IntRange(1), help="Maximum number of rows to evaluate."
)
@click.option("--batch-size", default=64, show_default=True, type=click.IntRange(1), help="Rows in a batch.")
@click.option("--json", "as_json", is_flag=True, help="Print the metrics as JSON.")
def evaluate(model, data, rows, batch_size, as_json):
    """Evaluate MODEL (a checkpoint): loss, perplexity and accuracy of its predictions, with the unigram baseline.

    \b
    Example:
      bertlab data make novels.txt --vocab vocab.txt --split validation --out held-out
      bertlab evaluate run/checkpoint --data held-out
    """
    load_backend()
    from bertlab import checkpoints
    from bertlab.training.runs.evaluation import evaluate as judge

    tokenizer = checkpoints.load_tokenizer(model) if checkpoints.has_tokenizer(model) else None
    figures = judge(checkpoints.load(model, "pretraining"), data, rows, batch_size, tokenizer)
    if as_json:
        click.echo(json.dumps(figures))
        return
    click.echo(f"{model} on {figures['rows']:,} rows, {figures['predictions']:,} predictions of {data}")
    for name, value in figures.items():
        if isinstance(value, float):
            click.echo(f"  {name.replace('_', ' '):<24} {value:7.2%}" if name.endswith("accuracy")
                       else f"  {name.replace('_', ' '):<24} {value:8.3f}")  # fmt: skip
