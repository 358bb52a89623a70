"""`bertlab finetune`: a labelled task and a pre-trained model in, the best fine-tuned model out."""

import json
from pathlib import Path

import click

from bertlab.backend import load_backend
from bertlab.cli.config_file import config_option, write_config
from bertlab.cli.options import model_option
from bertlab.cli.settings_options import help_of, settings_options
from bertlab.cli.task import labels_read, task_options
from bertlab.training.finetuning.settings import PUBLISHED_GRID, Recipe


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
@config_option
@task_options
@model_option
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the results.")
@click.option("--grid", is_flag=True, help="Try the published grid: batch 16, 32; rate 5e-5, 3e-5, 2e-5; epochs 2-4.")
@click.option("--try", "axes", multiple=True, callback=_axes, help="Values to try, such as "
              "learning-rate=7e-4,3e-4; repeat for batch-size or epochs. Replaces that axis of --grid.")  # fmt: skip
@click.option(
    "--seeds", default=1, show_default=True, type=click.IntRange(1), help="Runs per setting, with seeds 1, 2 …"
)
@click.option("--max-length", type=click.IntRange(4), help=f"{help_of(Recipe, 'max_length')} [128; questions 384]")
@settings_options(Recipe, without=("max_length",))
@click.option("--validation-share", default=0.0, help="Fraction of the training rows to hold out when the task has no "
              "development rows; rows about one text stay together.")  # fmt: skip
@click.option("--train-rows", type=click.IntRange(1), help="Number of training rows to use.")
@click.option("--memory-check/--no-memory-check", default=True, show_default=True,
              help="Refuse a fine-tuning that probably does not fit into memory.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print results.json instead of the table.")
def finetune(
    load, model, out, grid, axes, seeds, max_length, validation_share, train_rows, memory_check, as_json, **options
):
    """Fine-tune a model on a task and keep the best of all runs in a folder that `bertlab predict` reads.

    NAME_OR_PATH is a task of `bertlab task list`, or your own file or folder. After an interruption
    the same command resumes: finished runs are kept.

    \b
    Examples:
      bertlab finetune package --model bertlab-mini --out runs/package --learning-rate 3e-4
      bertlab finetune sst2 --data-dir glue_data --model bert-base-uncased --out runs/sst2 --grid --seeds 5
      bertlab finetune sst2 --data-dir glue_data --model run/checkpoint --out runs/own --try learning-rate=1e-3,5e-4
      bertlab finetune reviews.csv --column text=review --column label=stars --validation-share 0.1 --out runs/reviews
    """
    task = _task(load, validation_share, train_rows)
    click.echo(f"{task.name}: {task.shape}, {labels_read(task)}", err=True)
    if max_length is None:
        max_length = 384 if task.shape == "question" else Recipe().max_length
    recipe = Recipe(seeds=tuple(range(1, seeds + 1)), max_length=max_length, **options)
    load_backend()
    from bertlab.training.finetuning import finetune as run

    axes = (PUBLISHED_GRID if grid else {}) | axes
    context = click.get_current_context()
    result = run(
        model, task, out, recipe, axes, say=lambda text: click.echo(text, err=True), memory_check=memory_check,
        on_begin=lambda: write_config(out, context.command, context.params | {"max_length": max_length}),
    )  # fmt: skip
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
    else:
        click.echo(result.summary())
        click.echo(f"{out}: the model, results.json, predictions/, errors.tsv, curves.png; try: bertlab predict {out}")


def _task(load, validation_share: float, train_rows: int | None):
    """The task, with only the first training rows on request. Raises DataError if these have one class."""
    import dataclasses

    from bertlab.data.tasks.formats_labels import require_two_classes

    task = load(validation_share=validation_share)
    if train_rows is not None:
        task = dataclasses.replace(task, train=task.train[:train_rows])
    if task.labels and task.shape in ("sentence", "pair", "tagging") and not task.multi_label:
        require_two_classes(task.name, task.labels, task.train)
    return task
