"""`bertlab finetune` and the other commands that learn a task: labelled rows in, the best model of all runs out."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import click
from click.core import ParameterSource

from bertlab.cli.config_file import write_config
from bertlab.cli.from_signature import FOLDER, REQUIRED, Options, command, is_given, option
from bertlab.cli.labelled_rows import TrainingRows
from bertlab.cli.options import MEMORY_CHECK, MODEL, say
from bertlab.common.backend import load_backend
from bertlab.common.settings import Settings
from bertlab.data.tasks.rows import TaskData
from bertlab.training.baselines.settings import ALL_KINDS, FROZEN, RECIPES, BaselineSettings, settings_read
from bertlab.training.features import settings as features
from bertlab.training.features.settings import FeatureSettings
from bertlab.training.finetuning.settings import PUBLISHED_GRID, Recipe

# Settings of a recipe that only a pre-trained model that is trained itself has, and only several tasks have.
OF_LAYERS = ("dropout", "frozen_layers", "lora_rank", "lora_alpha", "layer_decay", "from_scratch")
OF_TASKS = ("task_sampling",)
RESULTS = "Print results.json instead of the table."
GRID = option(False, "Try the published grid: batch 16, 32; rate 5e-5, 3e-5, 2e-5; epochs 2-4. --try replaces one.")
SEEDS = option(1, "Runs per setting, with seeds 1, 2 …", at_least=1)


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


@dataclass(frozen=True)
class Trials(Settings):
    """Which runs there are, where they are written and how they are reported."""

    out: FOLDER = option(REQUIRED, "Folder for the results.")
    axes: dict | None = option(
        None, "Values to try, such as learning-rate=7e-4,3e-4; repeat for batch-size or epochs.", "--try",
        callback=_axes, metavar="NAME=NUMBERS",
    )  # fmt: skip
    seeds: int = SEEDS

    def recipe(self, recipe: Recipe, *tasks: TaskData) -> Recipe:
        """The recipe with the seeds and, where no length is given, the published one of the tasks.

        Raises click.UsageError for an option that the values to try replace.
        """
        for name in self.axes:
            if is_given(name, ParameterSource.COMMANDLINE):
                written = name.replace("_", "-")
                raise click.UsageError(f"--{written} has no effect with --try {written}=…; leave one out")
        if any(task.shape == "question" for task in tasks) and not is_given("max_length"):
            recipe = recipe.replace(max_length=384)
        return recipe.replace(seeds=chosen_seeds(self.seeds))

    def run(self, train, *arguments, recipe: Recipe, grid: bool = False, names=(), written=None, **more) -> list:
        """Calls a function that fine-tunes; returns what it found for the command.

        names: of several tasks. written: values for command.toml that differ from the options'.
        """
        result = train(
            *arguments, self.out, recipe, grid=(PUBLISHED_GRID if grid else {}) | self.axes, say=say,
            on_begin=lambda: write_config(self.out, recipe, **(written or {})), **more,
        )  # fmt: skip
        return [reported(result, self.out, "the model", names)]


def chosen_seeds(count: int) -> tuple[int, ...]:
    """The seeds of --seeds: 1, 2 …"""
    return tuple(range(1, count + 1))


def reported(result, out: Path, what: str, names: tuple[str, ...] = ()) -> tuple[dict, str]:
    """The results of a fine-tuning, as JSON values and as text with the files and the command that uses them."""
    predict = f"bertlab predict {shlex.quote(str(out))}"
    files = "results.json, predictions/, errors.tsv, curves.png"
    if names:
        predict += f" --task {shlex.quote(names[0])}"
        files = "results.json, curves.png, and in tasks/ each task's predictions/, errors.tsv, curves.png"
    return result.to_dict(), f"{result.summary()}\n{out}: {what}, {files}; try: {predict}"


@command(config=True, json=RESULTS)
def finetune(
    name_or_path: str,
    *,
    reading: TrainingRows,
    model: str = MODEL,
    trials: Trials,
    grid: bool = GRID,
    recipe: Recipe = Options(without=OF_TASKS),
    memory_check: bool = MEMORY_CHECK,
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
    task = reading.task(name_or_path)
    recipe = trials.recipe(recipe, task)
    load_backend()
    from bertlab.training.finetuning import finetune as train

    return trials.run(train, model, task, recipe=recipe, grid=grid, memory_check=memory_check)


def _layers(context, parameter, values) -> dict[str, int]:
    """--task-layer wnut17=2 → {"wnut17": 2}."""
    layers = {}
    for value in values:
        name, _, number = value.rpartition("=")
        if not name or not number.isdigit():
            raise click.BadParameter(f"{value!r}: expected TASK=LAYER, such as wnut17=2")
        layers[name] = int(number)
    return layers


@command(config=True, json=RESULTS)
def finetune_tasks(
    names_or_paths: tuple[str, ...],
    *,
    reading: TrainingRows,
    model: str = MODEL,
    layers: dict = option(
        None, "Put the head of this task on a lower layer, 1 being the lowest (repeatable).", "--task-layer",
        callback=_layers, metavar="TASK=LAYER",
    ),
    trials: Trials,
    grid: bool = GRID,
    recipe: Recipe,
    memory_check: bool = MEMORY_CHECK,
):  # fmt: skip
    """Fine-tune one encoder on several tasks, with a head for each, and keep the best of all runs in a folder.

    NAMES_OR_PATHS are two or more tasks of `bertlab task list`, or your own files or folders. Options for the columns
    and labels of a file are for the first of them.

    \b
    Examples:
      bertlab finetune-tasks sst2 wnut17 --task-layer wnut17=2 --model bertlab-mini --out runs/both
      bertlab finetune-tasks reviews.csv tags.conll --column text=review --column label=stars --out runs/both
    """
    if len(names_or_paths) < 2:
        raise click.UsageError("expected two tasks or more; for one use `bertlab finetune TASK`")
    rows = zip(reading.of_each(names_or_paths), names_or_paths)
    tasks = [each.task(name) for each, name in rows]
    recipe = trials.recipe(recipe, *tasks)
    load_backend()
    from bertlab.training.finetuning import finetune_tasks as train

    names = [task.name for task in tasks]
    return trials.run(
        train, model, tasks, recipe=recipe, grid=grid, names=names, layers=layers, memory_check=memory_check
    )


@command(config=True, json=RESULTS)
def train_features(
    name_or_path: str,
    *,
    reading: TrainingRows,
    model: str = MODEL,
    settings: FeatureSettings,
    vectors: FOLDER = option(None, "Folder of the vectors, which several heads can share. [OUT/vectors]"),
    trials: Trials,
    recipe: Recipe = Options(without=(*OF_LAYERS, *OF_TASKS), presets=features.RECIPES, by="head"),
):
    """Train a head on features: leave a model as it is, compute the vectors of some of its layers once, and learn a
    task from them.

    NAME_OR_PATH is a task of `bertlab task list`, or your own file or folder. After an interruption the same command
    resumes.

    \b
    Example:
      bertlab train-features code-words --model bertlab-mini --layers last4-concat --head bilstm --out runs/features
    """
    unread = set(features.settings_read("bilstm")) - set(features.settings_read(settings.head))
    refuse_without_effect(unread, f"--head {settings.head}")
    task = reading.task(name_or_path)
    recipe = trials.recipe(recipe, task)
    load_backend()
    from bertlab.training.finetuning import train_features as train

    written = dict.fromkeys(unread)
    return trials.run(train, model, task, recipe=recipe, settings=settings, vectors=vectors, written=written)


def refuse_without_effect(names, beside: str) -> None:
    """Raises UsageError for an option that was given and has no effect beside another."""
    context = click.get_current_context()
    for one in context.command.params:
        if one.name in names and is_given(one.name):
            typed = one.secondary_opts if context.params[one.name] is False else one.opts
            raise click.UsageError(f"{typed[0]} has no effect with {beside}; leave it out")


@command(config=True, json=RESULTS)
def train_baseline(
    name_or_path: str,
    *,
    reading: TrainingRows,
    kind: str = option(
        REQUIRED, "A bag of words (bow, tfidf), averaged word vectors (cbow) or a recurrent network; or a BiLSTM on "
        f"all layers of the frozen language model that --model names ({', '.join(FROZEN)}).", choices=ALL_KINDS,
    ),
    model: str | None = option(
        None, f"With --kind {' or '.join(FROZEN)}: the checkpoint of the language model. [$BERTLAB_MODEL]",
        envvar="BERTLAB_MODEL",
    ),
    tokenizer: str | None = option(None, "Read the tokens of this checkpoint, not whole words."),
    word_vectors: Path | None = option(
        None, "Vectors that words begin with, a file in word2vec's text format or a folder of "
        "`bertlab word-vectors learn`.",
    ),
    freeze_words: bool = option(False, "With --word-vectors: leave the vectors of words as they are."),
    sizes: BaselineSettings,
    trials: Trials,
    recipe: Recipe = Options(without=(*OF_LAYERS, *OF_TASKS), presets=RECIPES, by="kind"),
):  # fmt: skip
    """Train a baseline on a task: a model without a transformer, to compare a fine-tuned one with.

    NAME_OR_PATH is a task of `bertlab task list`, or your own file or folder. After an interruption the same command
    resumes.

    \b
    Examples:
      bertlab train-baseline package --kind bilstm --seeds 3 --out runs/bilstm
      bertlab train-baseline package --kind lstm --word-vectors words --out runs/lstm
      bertlab train-baseline package --kind elmo --model elmo/checkpoint --out runs/elmo
    """
    read = settings_read(kind, tokenizer is not None, word_vectors is not None)
    of_kind, of_words = settings_read(kind), settings_read(kind, tokenizer is not None)
    unread = [name for name in sizes.to_dict() if name not in read]
    refuse_without_effect([name for name in unread if name not in of_kind], f"--kind {kind}")
    refuse_without_effect([name for name in unread if name not in of_words], "--tokenizer")
    refuse_without_effect(unread, "--word-vectors")
    task = reading.task(name_or_path)
    recipe = trials.recipe(recipe, task)
    load_backend()
    from bertlab.training.finetuning import train_baseline as train

    if kind not in FROZEN and not is_given("model"):
        model = None  # that of the environment
    return trials.run(
        train, kind, task, recipe=recipe, settings=sizes, model=model, tokenizer=tokenizer, word_vectors=word_vectors,
        freeze_words=freeze_words,
        written=dict.fromkeys(unread) | {"model": model, "freeze_words": freeze_words if word_vectors else None},
    )  # fmt: skip
