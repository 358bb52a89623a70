"""`bertlab finetune`: a labelled task and a pre-trained model in, the best fine-tuned model out."""

import json
import shlex
from dataclasses import fields, replace
from pathlib import Path

import click
from click.core import ParameterSource

from bertlab.cli.config_file import config_option, write_config
from bertlab.cli.options import model_option
from bertlab.cli.settings_options import help_of, settings_options
from bertlab.cli.task import labels_read, several, task_options
from bertlab.common.backend import load_backend
from bertlab.data.tasks.formats_labels import require_two_classes
from bertlab.data.tasks.splits import check_rows
from bertlab.training.baselines.settings import ALL_KINDS, FROZEN, RECIPES, BaselineSettings, settings_read
from bertlab.training.features import settings as feature_settings
from bertlab.training.features.settings import FeatureSettings
from bertlab.training.finetuning.settings import PUBLISHED_GRID, Recipe

_SIZES = tuple(field.name for field in fields(BaselineSettings))


def _axes(context, parameter, values) -> dict[str, tuple]:
    """--try learning-rate=7e-4,3e-4 → {"learning_rate": (7e-4, 3e-4)}: values of an axis of `PUBLISHED_GRID`.

    The values of an axis that is given several times are joined.
    """
    axes = {}
    for value in values:
        name, _, numbers = value.partition("=")
        field = name.strip().replace("-", "_")
        if field not in PUBLISHED_GRID:
            names = ", ".join(known.replace("_", "-") for known in PUBLISHED_GRID)
            raise click.BadParameter(f"{value!r}: expected NAME=NUMBERS with a name of {names}")
        kind = type(PUBLISHED_GRID[field][0])
        try:
            axes[field] = tuple(dict.fromkeys([*axes.get(field, ()), *map(kind, numbers.split(","))]))
        except ValueError:
            kinds = {int: "whole numbers", float: "numbers"}
            raise click.BadParameter(f"{value!r}: expected {kinds[kind]} with commas between them") from None
    return axes


def _layers(context, parameter, values) -> dict[str, int]:
    """--task-layer wnut17=2 → {"wnut17": 2}."""
    layers = {}
    for value in values:
        name, _, number = value.rpartition("=")
        if not name or not number.isdigit():
            raise click.BadParameter(f"{value!r}: expected TASK=LAYER, such as wnut17=2")
        layers[name] = int(number)
    return layers


@click.command()
@config_option
@task_options
@model_option
@click.option(
    "--with",
    "others",
    multiple=True,
    metavar="TASK",
    help="Train on this task or file too, with a head of its own on the same encoder (repeatable).",
)
@click.option(
    "--task-layer",
    "layers",
    multiple=True,
    callback=_layers,
    metavar="TASK=LAYER",
    help="With --with: put the head of this task on a lower layer, 1 being the lowest (repeatable).",
)
@click.option("--baseline", type=click.Choice(ALL_KINDS),
              help="Train this instead of a pre-trained model: a bag of words (bow, tfidf), averaged word vectors "
              "(cbow) or a recurrent network; or a BiLSTM on all layers of the "
              f"frozen language model that --model names ({', '.join(FROZEN)}). Each has its own learning rate and "
              "number of epochs.")  # fmt: skip
@click.option("--tokenizer", help="With --baseline: read the tokens of this checkpoint, not whole words.")
@click.option("--word-vectors", type=click.Path(path_type=Path),
              help="With --baseline: vectors that words begin with, a file in word2vec's text format or a folder of "
              "`bertlab word-vectors learn`.")  # fmt: skip
@click.option("--freeze-words", is_flag=True, help="With --word-vectors: leave the vectors of words as they are.")
@click.option("--features", metavar="LAYERS", help="Leave the model as it is: compute the vectors of these layers "
              "once and train a head on them. LAYERS: last, second-to-last, embeddings, 1,2,3, last4-concat (or -sum, "
              "-mean, -mix: a sum with learned weights), all-mix.")  # fmt: skip
@click.option("--head", type=click.Choice(feature_settings.HEADS), default="linear", show_default=True,
              help="With --features: the trained part. Each has its own rate and number of epochs.")  # fmt: skip
@click.option("--vectors", type=click.Path(file_okay=False, path_type=Path),
              help="With --features: folder of the vectors, which several heads can share. [OUT/vectors]")  # fmt: skip
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
    others,
    layers,
    baseline,
    tokenizer,
    word_vectors,
    freeze_words,
    features,
    head,
    vectors,
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
      bertlab finetune package --baseline lstm --word-vectors words --out runs/lstm
      bertlab finetune package --baseline elmo --model elmo/checkpoint --out runs/elmo
      bertlab finetune code-words --model bertlab-mini --features last4-concat --head bilstm --out runs/features
      bertlab finetune sst2 --with wnut17 --task-layer wnut17=2 --model bertlab-mini --out runs/both
    """
    _check_options(baseline, features, grid)
    _check_task_options(others, layers, baseline, features)
    read = _sizes_read(baseline, tokenizer, word_vectors, features, head)
    _check_sizes(read, baseline, features)
    sizes = {name: options.pop(name) for name in _SIZES}
    tasks = [_task(each, validation_share, train_rows) for each in several(load, others)]
    for task in tasks:
        click.echo(f"{task.name}: {task.shape}, {labels_read(task)}", err=True)
    if max_length is None:
        max_length = 384 if any(task.shape == "question" for task in tasks) else Recipe().max_length
    written = {"max_length": max_length} | {name: None for name in _SIZES if name not in read}
    if baseline or features:
        defaults = RECIPES[baseline] if baseline else feature_settings.RECIPES[head]
        options |= {name: value for name, value in defaults.items() if not _is_given(name)}
        written |= options
    written |= {"model": None} if baseline and baseline not in FROZEN else {}
    written |= {} if features else {"head": None}
    written |= {} if word_vectors else {"freeze_words": None}
    written |= {} if others else {"task_sampling": None}
    recipe = Recipe(seeds=tuple(range(1, seeds + 1)), max_length=max_length, **options)
    load_backend()
    from bertlab.training.finetuning import finetune as run
    from bertlab.training.finetuning import finetune_tasks, train_baseline, train_features

    context = click.get_current_context()
    for name in axes:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = _written(name)
            raise click.UsageError(f"{option} has no effect with --try {option.removeprefix('--')}=…; leave one out")
    axes = (PUBLISHED_GRID if grid else {}) | axes
    common = {
        "grid": axes, "say": lambda text: click.echo(text, err=True),
        "on_begin": lambda: write_config(out, context.command, context.params | written),
    }  # fmt: skip
    if baseline:
        begin = {"tokenizer": tokenizer, "word_vectors": word_vectors, "freeze_words": freeze_words}
        begin |= {"model": model if baseline in FROZEN and _is_chosen("model") else None}
        result = train_baseline(baseline, task, out, recipe, BaselineSettings(**sizes), **begin, **common)
    elif features:
        settings = FeatureSettings(layers=features, head=head, **{name: sizes[name] for name in read})
        result = train_features(model, task, out, recipe, settings, vectors=vectors, **common)
    elif others:
        result = finetune_tasks(model, tasks, out, recipe, layers=layers, memory_check=memory_check, **common)
    else:
        result = run(model, task, out, recipe, memory_check=memory_check, **common)
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
    else:
        click.echo(result.summary())
        click.echo(_files(out, [task.name for task in tasks]))


def _files(out: Path, names: list[str]) -> str:
    """The last line: the files in the folder, and the command that uses them."""
    command = f"bertlab predict {shlex.quote(str(out))}"
    if len(names) == 1:
        return f"{out}: the model, results.json, predictions/, errors.tsv, curves.png; try: {command}"
    return (
        f"{out}: the model, results.json, curves.png, and in tasks/ each task's predictions/, errors.tsv, curves.png; "
        f"try: {command} --task {shlex.quote(names[0])}"
    )


def _check_task_options(others: tuple[str, ...], layers: dict[str, int], baseline, features) -> None:
    """Raises UsageError for options of several tasks that do not fit."""
    if others and (baseline or features):
        one = "--baseline" if baseline else "--features"
        raise click.UsageError(f"{one} trains on one task: leave out --with (or {one})")
    if not others and (layers or _is_given("task_sampling")):
        raise click.UsageError(f"{'--task-layer' if layers else '--task-sampling'} goes with --with TASK")


def _is_given(name: str) -> bool:
    """Whether an option was given, in the shell or in a file, and does not have its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source in (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)


def _is_chosen(name: str) -> bool:
    """Whether an option does not have its default: it was given, or an environment variable names it."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def _check_options(baseline: str | None, features: str | None, grid: bool) -> None:
    """Raises UsageError for options that contradict each other."""
    if baseline and features:
        raise click.UsageError("--baseline has no pre-trained layers to read: leave out --features (or --baseline)")
    if baseline and baseline not in FROZEN and _is_given("model"):
        raise click.UsageError("--baseline trains without a pre-trained model: leave out --model (or --baseline)")
    if grid and (baseline or features):
        what = "a baseline" if baseline else "a head"
        raise click.UsageError(f"--grid is the grid for BERT; for {what} give --try learning-rate=1e-2,3e-3")
    of_baselines, context = ("tokenizer", "word_vectors", "freeze_words"), click.get_current_context()
    for owner, is_used, names in (("baseline", baseline, of_baselines), ("features", features, ("head", "vectors"))):
        for name in filter(_is_given, () if is_used else names):
            if context.params[name] is not False:  # a file may say that a flag is off
                raise click.UsageError(f"{_written(name)} goes with --{owner}")


def _sizes_read(baseline: str | None, tokenizer, word_vectors, features: str | None, head: str) -> tuple[str, ...]:
    """The sizes that have an effect."""
    if baseline:
        return settings_read(baseline, tokenizer is not None, word_vectors is not None)
    return feature_settings.settings_read(head) if features else ()


def _check_sizes(read: tuple[str, ...], baseline: str | None, features: str | None) -> None:
    """Raises UsageError for a size that has no effect."""
    for name in filter(_is_given, (name for name in _SIZES if name not in read)):
        if baseline:
            if name not in settings_read(baseline):
                beside = f"--baseline {baseline}"
            else:
                beside = "--word-vectors" if name in settings_read(baseline, tokenizer=True) else "--tokenizer"
        elif features and name in feature_settings.settings_read("bilstm"):
            beside = "--head linear"
        else:
            of_heads = name in feature_settings.settings_read("bilstm")
            raise click.UsageError(f"{_written(name)} goes with --baseline{' or --features' * of_heads}")
        raise click.UsageError(f"{_written(name)} has no effect with {beside}; leave it out")


def _written(name: str) -> str:
    """The name of a parameter of the command as it was written in the shell."""
    context = click.get_current_context()
    option = next(one for one in context.command.params if one.name == name)
    return (option.secondary_opts or option.opts)[0] if context.params[name] is False else option.opts[0]


def _task(load, validation_share: float, train_rows: int | None):
    """The task, with only the first training rows on request. Raises DataError if these have one class, or if there are
    no development rows."""
    task = load(validation_share=validation_share)
    if train_rows is not None:
        task = replace(task, train=task.train[:train_rows])
    if task.labels and task.shape in ("sentence", "pair", "tagging") and not task.multi_label:
        require_two_classes(task.name, task.labels, task.train)
    check_rows(task)  # before the backend is loaded, which takes seconds
    return task
