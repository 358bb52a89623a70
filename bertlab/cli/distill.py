"""`bertlab distill`: a small model that learns from a large one, before fine-tuning or on a task."""

import dataclasses
import json
import shlex
import sys
from pathlib import Path

import click

from bertlab.cli.config_file import config_option, write_config
from bertlab.cli.pretrain import figures_of, kept
from bertlab.cli.settings_options import given, options_of_kinds, settings_options
from bertlab.cli.task import file_options, labels_read, load_asked
from bertlab.common.backend import load_backend
from bertlab.training.distillation.settings import STAGES, DistillationSettings
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.recipes.presets import PretrainingSettings

PATH = click.Path(path_type=Path)
# Fields of the two recipes without an option here: the teacher decides the shape of its student, and a task is learned
# in the plain way.
KINDS = {
    "general": (
        PretrainingSettings,
        ("pre_norm", "padded_vocabulary", "objective", "generator_width", "label_smoothing"),
    ),
    "task": (
        Recipe,
        (
            "from_scratch",
            "dropout",
            "frozen_layers",
            "lora_rank",
            "lora_alpha",
            "layer_decay",
            "class_weights",
            "best",
            "task_sampling",
        ),
    ),
}
_OF_GENERAL = ("data", "validation", "preset")
_OF_TASK = ("validation_share", "seeds", "train_rows")


@click.command()
@config_option
@click.argument("teacher")
@click.argument("rows", required=False)
@click.option("--to", required=True, metavar="SIZE",
              help="The student: LAYERSxWIDTH, such as 2x128, or the folder of one to train further.")  # fmt: skip
@click.option("--stage", type=click.Choice(STAGES), default="general", show_default=True,
              help="general: from a pre-trained teacher, on --data; task: from a fine-tuned one, on ROWS.")  # fmt: skip
@click.option("--out", required=True, type=PATH, help="Folder of the run. An interrupted run resumes in it.")
@click.option("--data", multiple=True, type=PATH,
              help="Folder of examples (`bertlab data make`), for two phases twice (--stage general).")  # fmt: skip
@click.option("--validation", type=PATH, help="Folder of held-out examples to evaluate (--stage general).")
@click.option("--preset", type=click.Choice(list(PretrainingSettings.PRESETS)),
              help="Recipe, as for `bertlab pretrain` (--stage general). [published]")  # fmt: skip
@file_options()
@click.option("--validation-share", type=float, help="Fraction of the training rows to hold out (--stage task). [0]")
@click.option("--train-rows", type=click.IntRange(1), help="Number of training rows to use (--stage task).")
@click.option("--seeds", type=click.IntRange(1), help="Runs, with seeds 1, 2 … (--stage task). [1]")
@settings_options(DistillationSettings)
@options_of_kinds(KINDS)
@click.option("--memory-check/--no-memory-check", default=True, show_default=True,
              help="Refuse a run that probably does not fit into memory.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def distill(teacher, rows, to, stage, out, memory_check, as_json, **options):
    """Train a small student to resemble TEACHER: a checkpoint, or the name of a packaged or published model.

    In the general stage the teacher is a pre-trained model, and the student a model to fine-tune. In the task stage the
    teacher is fine-tuned on the task of the labelled ROWS (a task of `bertlab task list`, or your own file), and so is
    the student then. The run can be stopped or killed at any moment; the same command resumes it.

    \b
    Examples:
      bertlab distill bertlab-mini --to 2x128 --data examples --out student --preset small --steps 1000
      bertlab finetune package --model student/checkpoint --out runs/student
      bertlab distill runs/package package --stage task --to student/checkpoint --out runs/distilled
    """
    own = DistillationSettings(**{name: options.pop(name) for name in DistillationSettings().to_dict()})
    reading = {name: options.pop(name) for name in _reading()}
    _check_stage(stage, rows, options, reading)
    run = _general if stage == "general" else _task
    run(teacher, rows, to, out, own, options, reading, memory_check, as_json)


def _reading() -> tuple[str, ...]:
    """The names of the options for reading labelled files."""
    return tuple(parameter.name for parameter in click.command()(file_options()(lambda: None)).params)


def _check_stage(stage: str, rows, options: dict, reading: dict) -> None:
    """Raises click.UsageError for what the stage lacks, and for options of the other stage."""
    if stage == "general" and not options["data"]:
        raise click.UsageError("--stage general needs --data, a folder of examples that `bertlab data make` wrote")
    if stage == "task" and rows is None:
        raise click.UsageError("--stage task needs ROWS: a task of `bertlab task list`, or your own file")
    if stage == "general" and (rows is not None or any(value not in (None, "auto", (), {}, False)
                                                       for value in reading.values())):  # fmt: skip
        raise click.UsageError("ROWS and the options for files need --stage task")
    allowed = set(_OF_GENERAL if stage == "general" else _OF_TASK) | _fields(stage)
    for name, value in given(options).items():
        if name not in allowed and value != ():
            raise click.UsageError(f"--{name.replace('_', '-')} is not an option of --stage {stage}")


def _fields(stage: str) -> set[str]:
    settings, without = KINDS[stage]
    return {name for name in settings().to_dict() if name not in without}


def _chosen(stage: str, options: dict) -> dict:
    """The settings of a stage that were given."""
    return {name: value for name, value in given(options).items() if name in _fields(stage)}


def _general(teacher, rows, to, out, own, options, reading, memory_check, as_json) -> None:
    settings = PretrainingSettings.preset(options["preset"] or "published", **_chosen("general", options))
    load_backend()
    from keras.callbacks import LambdaCallback

    from bertlab.training.devices.machines import this_machine
    from bertlab.training.distillation.general import distill as train
    from bertlab.training.pretraining import CHECKPOINT

    context = click.get_current_context()
    begin = LambdaCallback(on_train_begin=lambda logs: write_config(out, context.command, context.params))
    try:
        history = train(
            teacher, to, options["data"], out, settings, own, validation=options["validation"],
            say=lambda line: click.echo(line, err=True), memory_check=memory_check,
            callbacks=[begin] if this_machine().is_chief else (),
        )  # fmt: skip
    except KeyboardInterrupt:
        click.echo(f"interrupted; {kept(out)}", err=True)
        sys.exit(130)  # as a shell reports a program that Ctrl-C ended
    if not this_machine().is_chief:
        click.echo(f"done; the first machine writes {out}", err=True)
    elif as_json:
        click.echo(json.dumps({"checkpoint": str(out / CHECKPOINT), **history[-1]}))
    else:
        click.echo(f"{out / CHECKPOINT}: {figures_of(history[-1])}")


def _task(teacher, rows, to, out, own, options, reading, memory_check, as_json) -> None:
    task = load_asked(rows, **reading, validation_share=options["validation_share"] or 0.0)
    if options["train_rows"] is not None:
        task = dataclasses.replace(task, train=task.train[: options["train_rows"]])
    click.echo(f"{task.name}: {task.shape}, {labels_read(task)}", err=True)
    chosen = _chosen("task", options) | {"seeds": tuple(range(1, (options["seeds"] or 1) + 1))}
    load_backend()
    from bertlab.training.distillation.task import distill_task, longest_row

    longest = longest_row(teacher, chosen.get("devices", 1))
    recipe = Recipe(**{"max_length": longest, **chosen})
    context = click.get_current_context()
    result = distill_task(
        teacher, to, task, out, recipe, own, say=lambda text: click.echo(text, err=True), memory_check=memory_check,
        on_begin=lambda: write_config(out, context.command, context.params),
    )  # fmt: skip
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
        return
    click.echo(result.summary())
    command = f"bertlab predict {shlex.quote(str(out))}"
    click.echo(f"{out}: the student, results.json, predictions/, errors.tsv, curves.png; try: {command}")
