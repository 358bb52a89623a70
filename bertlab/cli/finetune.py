"""`bertlab finetune`: a labelled task and a pre-trained model in, the best fine-tuned model out."""

import json
from dataclasses import fields, replace
from pathlib import Path

import click
from click.core import ParameterSource

from bertlab.backend import load_backend
from bertlab.baselines.settings import KINDS, RECIPES, BaselineSettings, settings_read
from bertlab.cli.config_file import config_option, write_config
from bertlab.cli.options import model_option
from bertlab.cli.settings_options import help_of, settings_options
from bertlab.cli.task import labels_read, task_options
from bertlab.training.finetuning.settings import PUBLISHED_GRID, Recipe

_SIZES = tuple(field.name for field in fields(BaselineSettings))


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
@click.option("--baseline", type=click.Choice(KINDS), help="Train this instead of a pre-trained model: a bag of words "
              "(bow, tfidf), averaged word vectors (cbow) or a recurrent network. Each has its own learning rate and "
              "number of epochs.")  # fmt: skip
@click.option("--tokenizer", help="With --baseline: read the tokens of this checkpoint, not whole words.")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the results.")
@click.option("--grid", is_flag=True, help="Try the published grid: batch 16, 32; rate 5e-5, 3e-5, 2e-5; epochs 2-4.")
@click.option("--try", "axes", multiple=True, callback=_axes, help="Values to try, such as "
              "learning-rate=7e-4,3e-4; repeat for batch-size or epochs. Replaces that axis of --grid.")  # fmt: skip
@click.option(
    "--seeds", default=1, show_default=True, type=click.IntRange(1), help="Runs per setting, with seeds 1, 2 …"
)
@click.option("--max-length", type=click.IntRange(4), help=f"{help_of(Recipe, 'max_length')} [128; questions 384]")
@settings_options(Recipe, without=("max_length",))
@settings_options(BaselineSettings)
@click.option("--validation-share", default=0.0, help="Fraction of the training rows to hold out when the task has no "
              "development rows; rows about one text stay together.")  # fmt: skip
@click.option("--train-rows", type=click.IntRange(1), help="Number of training rows to use.")
@click.option("--memory-check/--no-memory-check", default=True, show_default=True,
              help="Refuse a fine-tuning that probably does not fit into memory.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print results.json instead of the table.")
def finetune(
    load,
    model,
    baseline,
    tokenizer,
    out,
    grid,
    axes,
    seeds,
    max_length,
    validation_share,
    train_rows,
    memory_check,
    as_json,
    **options,
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
      bertlab finetune package --baseline bilstm --seeds 3 --out runs/bilstm
    """
    _check_baseline_options(baseline, tokenizer, grid)
    sizes = BaselineSettings(**{name: options.pop(name) for name in _SIZES})
    task = _task(load, validation_share, train_rows)
    click.echo(f"{task.name}: {task.shape}, {labels_read(task)}", err=True)
    if max_length is None:
        max_length = 384 if task.shape == "question" else Recipe().max_length
    written = {"max_length": max_length}
    if baseline:
        options |= {name: value for name, value in RECIPES[baseline].items() if not _is_given(name)}
        written |= options | {"model": None}
    read = settings_read(baseline, tokenizer is not None) if baseline else ()
    written |= {name: None for name in _SIZES if name not in read}
    recipe = Recipe(seeds=tuple(range(1, seeds + 1)), max_length=max_length, **options)
    load_backend()
    from bertlab.training.finetuning import finetune as run
    from bertlab.training.finetuning import train_baseline

    axes = (PUBLISHED_GRID if grid else {}) | axes
    context = click.get_current_context()
    common = {
        "grid": axes, "say": lambda text: click.echo(text, err=True),
        "on_begin": lambda: write_config(out, context.command, context.params | written),
    }  # fmt: skip
    if baseline:
        result = train_baseline(baseline, task, out, recipe, sizes, tokenizer=tokenizer, **common)
    else:
        result = run(model, task, out, recipe, memory_check=memory_check, **common)
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
    else:
        click.echo(result.summary())
        click.echo(f"{out}: the model, results.json, predictions/, errors.tsv, curves.png; try: bertlab predict {out}")


def _is_given(name: str) -> bool:
    """Whether an option was given, in the shell or in a file, and does not have its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source in (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)


def _check_baseline_options(baseline: str | None, tokenizer: str | None, grid: bool) -> None:
    """Raises UsageError for options that contradict each other."""
    if baseline is None:
        for name in filter(_is_given, ("tokenizer", *_SIZES)):
            raise click.UsageError(f"{_written(name)} goes with --baseline")
        return
    if _is_given("model"):
        raise click.UsageError("--baseline trains without a pre-trained model: leave out --model (or --baseline)")
    if grid:
        raise click.UsageError("--grid is the grid for BERT; for a baseline give --try learning-rate=1e-2,3e-3")
    read = settings_read(baseline, tokenizer is not None)
    for name in filter(_is_given, (name for name in _SIZES if name not in read)):
        beside = "--tokenizer" if name in settings_read(baseline, False) else f"--baseline {baseline}"
        raise click.UsageError(f"{_written(name)} has no effect with {beside}; leave it out")


def _written(name: str) -> str:
    """How a parameter of the command is written in the shell."""
    return next(one for one in click.get_current_context().command.params if one.name == name).opts[0]


def _task(load, validation_share: float, train_rows: int | None):
    """The task, with only the first training rows on request. Raises DataError if these have one class."""
    from bertlab.data.tasks.formats_labels import require_two_classes

    task = load(validation_share=validation_share)
    if train_rows is not None:
        task = replace(task, train=task.train[:train_rows])
    if task.labels and task.shape in ("sentence", "pair", "tagging") and not task.multi_label:
        require_two_classes(task.name, task.labels, task.train)
    return task
