"""`bertlab evaluate`: a pre-trained model on held-out examples, or a fine-tuned one on labelled rows."""

import json
from pathlib import Path

import click

from bertlab.cli.task import file_options, load_with
from bertlab.common.backend import load_backend
from bertlab.data.tasks.load import SPLITS


@click.command()
@click.argument("model")
@click.argument("labelled", metavar="[ROWS]", required=False)
@click.option("--data", type=click.Path(path_type=Path), help="Folder of held-out examples, for a pre-trained model.")
@click.option("--rows", type=click.IntRange(1), help="Maximum number of rows to evaluate. [4096; of ROWS all]")
@click.option("--batch-size", default=64, show_default=True, type=click.IntRange(1), help="Rows in a batch.")
@click.option("--task", help="Task that ROWS belong to, if MODEL was trained for several.")
@click.option("--split", type=click.Choice(SPLITS), help="Split of ROWS. [test if it has labels, else validation]")
@file_options(without=("shape", "labels", "regression"))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path),
              help="Folder for report.txt, evaluation.json, predictions.csv and pictures.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the metrics as JSON.")
def evaluate(model, labelled, data, rows, batch_size, task, split, out, as_json, **reading):
    """Evaluate MODEL (a checkpoint).

    With --data: loss, perplexity and accuracy of a pre-trained model's predictions, with the unigram baseline.
    With ROWS, a task of `bertlab task list` or your own file: metrics of a fine-tuned model, precision, recall and F1
    of each class, the confusion matrix and the calibration.

    \b
    Examples:
      bertlab data make novels.txt --vocab vocab.txt --split validation --out held-out
      bertlab evaluate run/checkpoint --data held-out
      bertlab evaluate runs/reviews more_reviews.csv --column text=review --column label=stars --out judged
      bertlab evaluate runs/sst2 sst2 --data-dir glue_data --split validation
      bertlab evaluate runs/both wnut17 --task wnut17
    """
    if (data is None) == (labelled is None):
        raise click.UsageError("expected either --data FOLDER (a pre-trained model) or ROWS (a fine-tuned one)")
    if data is not None and (out or split or task or any(value for value in reading.values() if value != "auto")):
        raise click.UsageError("--out, --split, --task and the options for files need ROWS")
    load_backend()
    if labelled is None:
        _on_examples(model, data, rows or 4096, batch_size, as_json)
    else:
        _on_rows(model, labelled, rows, batch_size, task, split, reading, out, as_json)


def _on_examples(model, data, rows, batch_size, as_json) -> None:
    from bertlab import checkpoints
    from bertlab.training.runs.evaluation import evaluate as judge
    from bertlab.training.runs.start import model_to_evaluate

    tokenizer = checkpoints.load_tokenizer(model) if checkpoints.has_tokenizer(model) else None
    figures = judge(model_to_evaluate(model), data, rows, batch_size, tokenizer)
    if as_json:
        click.echo(json.dumps(figures))
        return
    click.echo(f"{model} on {figures['rows']:,} rows, {figures['predictions']:,} predictions of {data}")
    for name, value in figures.items():
        if isinstance(value, float):
            click.echo(f"  {name.replace('_', ' '):<24} {value:7.2%}" if name.endswith("accuracy")
                       else f"  {name.replace('_', ' '):<24} {value:8.3f}")  # fmt: skip


def _on_rows(model, labelled, max_rows, batch_size, head, split, reading, out, as_json) -> None:
    from bertlab.common.progress import bar
    from bertlab.predict import Predictor
    from bertlab.predict.evaluation import evaluate as judge
    from bertlab.predict.evaluation import labelled_split, load_labelled

    predictor = Predictor.load(model, head, batch_size=batch_size, say=lambda text: click.echo(text, err=True))
    task = load_with(lambda name, **options: load_labelled(name, predictor.info, **options), labelled, **reading)
    split = split or labelled_split(task)
    rows = getattr(task, split)[:max_rows]
    with bar("Evaluating") as running:
        judgement = judge(predictor, rows, out, running.advance)
    if as_json:
        click.echo(json.dumps(judgement.to_dict()))
        return
    click.echo(f"{model} on {len(rows):,} rows of {labelled} ({split})\n\n{judgement.report()}")
    if out is not None:
        click.echo(f"\n{out}: report.txt, evaluation.json, predictions.csv and pictures")
