"""`bertlab finetune`: a labelled task and a pre-trained model in, the best fine-tuned model out."""

import json
from pathlib import Path

import click

from bertlab.backend import load_backend
from bertlab.cli.options import model_option
from bertlab.cli.task import TASK_OPTIONS, labels_read, load_asked, task_options
from bertlab.training.finetuning.settings import PUBLISHED_GRID, Recipe

_DEFAULTS = Recipe()


def _class_weights(context, parameter, value):
    if value is None or value == "balanced":
        return value
    try:
        return tuple(float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither 'balanced' nor numbers with commas between") from None


def _axes(context, parameter, values) -> dict[str, tuple]:
    """--try learning-rate=7e-4,3e-4 → {"learning_rate": (7e-4, 3e-4)}: values of an axis of `PUBLISHED_GRID`."""
    axes = {}
    for value in values:
        name, _, numbers = value.partition("=")
        field = name.strip().replace("-", "_")
        if field not in PUBLISHED_GRID:
            names = ", ".join(known.replace("_", "-") for known in PUBLISHED_GRID)
            raise click.BadParameter(f"{value!r}: expected NAME=NUMBERS with a name of {names}")
        kind = type(PUBLISHED_GRID[field][0])
        try:
            axes[field] = tuple(dict.fromkeys(kind(number) for number in numbers.split(",")))
        except ValueError:
            kinds = {int: "whole numbers", float: "numbers"}
            raise click.BadParameter(f"{value!r}: expected {kinds[kind]} with commas between them") from None
    return axes


@click.command()
@task_options
@model_option
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the results.")
@click.option("--learning-rate", default=_DEFAULTS.learning_rate, show_default=True, type=click.FloatRange(0))
@click.option("--batch-size", default=_DEFAULTS.batch_size, show_default=True, type=click.IntRange(1))
@click.option("--epochs", default=_DEFAULTS.epochs, show_default=True, type=click.IntRange(1))
@click.option("--grid", is_flag=True, help="Try the published grid: batch 16, 32; rate 5e-5, 3e-5, 2e-5; epochs 2-4.")
@click.option("--try", "axes", multiple=True, callback=_axes, help="A grid of your own, or another axis of --grid: "
              "learning-rate=7e-4,3e-4; again for batch-size or epochs.")  # fmt: skip
@click.option("--seeds", default=1, show_default=True, type=click.IntRange(1), help="Runs of each setting: 1, 2, …")
@click.option("--from-scratch", is_flag=True, help="Also train from fresh weights: what was pre-training worth?")
@click.option("--max-length", type=click.IntRange(4), help="Longest row; by default 128, for questions 384.")
@click.option("--stride", default=_DEFAULTS.stride, show_default=True, type=click.IntRange(1), help="Of windows.")
@click.option("--warmup-share", default=_DEFAULTS.warmup_share, show_default=True, type=click.FloatRange(0, 1))
@click.option("--weight-decay", default=_DEFAULTS.weight_decay, show_default=True, type=click.FloatRange(0))
@click.option("--patience", type=click.IntRange(1), help="Stop after so many epochs without a better figure.")
@click.option("--frozen-layers", type=click.IntRange(0), help="0 freezes the embeddings, k also the first k layers.")
@click.option("--layer-decay", default=1.0, show_default=True, help="Learning rate of a layer over the one above it.")
@click.option("--class-weights", callback=_class_weights, help="balanced, or a number for each label: 1,2.5")
@click.option("--validation-share", default=0.0, help="Hold back about this part of the training rows, if there are no "
              "others to judge on; rows about one text stay together.")  # fmt: skip
@click.option("--train-rows", type=click.IntRange(1), help="Train on the first so many rows only.")
@click.option("--json", "as_json", is_flag=True, help="Print results.json instead of the table.")
def finetune(model, out, grid, axes, seeds, max_length, validation_share, train_rows, as_json, **options):
    """Fine-tune a model on a task and keep the best of all runs in a folder that `bertlab predict` reads.

    NAME_OR_PATH is a task of `bertlab task list`, or a file or folder of your own. Interrupted, the same command goes
    on: finished runs are kept.

    \b
    Examples:
      bertlab finetune package --model bertlab-mini --out runs/package --learning-rate 3e-4
      bertlab finetune sst2 --data-dir glue_data --model bert-base-uncased --out runs/sst2 --grid --seeds 5
      bertlab finetune sst2 --data-dir glue_data --model run/checkpoint --out runs/own --try learning-rate=1e-3,5e-4
      bertlab finetune reviews.csv --column text=review --column label=stars --validation-share 0.1 --out runs/reviews
    """
    asked = {name: options.pop(name) for name in TASK_OPTIONS}
    task = _task_asked(asked, validation_share, train_rows)
    click.echo(f"{task.name}: {task.shape}, {labels_read(task)}", err=True)
    if max_length is None:
        max_length = 384 if task.shape == "question" else _DEFAULTS.max_length
    recipe = Recipe(seeds=tuple(range(1, seeds + 1)), max_length=max_length, **options)
    load_backend()
    from bertlab.training.finetuning import finetune as run

    axes = (PUBLISHED_GRID if grid else {}) | axes
    result = run(model, task, out, recipe, axes, say=lambda text: click.echo(text, err=True))
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
    else:
        click.echo(result.summary())
        click.echo(f"{out}: the model, results.json, predictions/, errors.tsv, curves.png; try: bertlab predict {out}")


def _task_asked(asked: dict, validation_share: float, train_rows: int | None):
    """The task, with the first of its training rows only if so asked. Raises DataError if these are of one class."""
    import dataclasses

    from bertlab.data.tasks.formats_labels import require_two_classes

    task = load_asked(**asked, validation_share=validation_share)
    if train_rows is not None:
        task = dataclasses.replace(task, train=task.train[:train_rows])
    if task.labels and task.shape in ("sentence", "pair", "tagging"):
        require_two_classes(task.name, task.labels, task.train)
    return task
