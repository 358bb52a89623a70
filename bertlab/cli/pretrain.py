"""`bertlab pretrain`: a model from a folder of examples, in a run that can be killed and repeated."""

import json
import sys
from pathlib import Path

import click
from click.core import ParameterSource

from bertlab.cli.config_file import config_option, write_config
from bertlab.cli.settings_options import given, settings_options
from bertlab.common.backend import load_backend
from bertlab.training.recipes.presets import PretrainingSettings

PATH = click.Path(path_type=Path)


@click.command()
@config_option
@click.argument("model")
@click.option("--data", "data", required=True, multiple=True, type=PATH,
              help="Folder of examples (`bertlab data make`). Repeat for a second phase with longer rows.")  # fmt: skip
@click.option("--out", required=True, type=PATH, help="Folder of the run. An interrupted run resumes in it.")
@click.option("--validation", type=PATH, help="Folder of held-out examples to evaluate after every interval.")
@click.option("--preset", type=click.Choice(list(PretrainingSettings.PRESETS)), default="published", show_default=True,
              help="published: BERT's recipe; one-day: one GPU for one day; small: for processors and models "
              "up to 4 × 256; translation: the recipe of the Transformer of 2017.")  # fmt: skip
@click.option("--memory-check/--no-memory-check", default=True, show_default=True,
              help="Refuse a run that probably does not fit into memory.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the last metrics as JSON.")
@settings_options(PretrainingSettings)
def pretrain(model, data, out, validation, preset, memory_check, as_json, **options):
    """Pre-train MODEL: a size (tiny, mini, small, medium, base, large, or of another family: electra-small …), a
    config.json, or a checkpoint to continue from.

    The run can be stopped or killed at any moment; the same command resumes it. Its folder has metrics.csv, curve.png,
    logs for TensorBoard and, in the end, the checkpoint.

    \b
    Example:
      bertlab data make novels.txt --vocab vocab.txt --out examples --dynamic-masking
      bertlab pretrain mini --data examples --out run --preset small --steps 1000
      bertlab fill-mask --model run/checkpoint "She looked out of the [MASK]."
    """
    settings = PretrainingSettings.preset(preset, **given(options))
    load_backend()
    _check_masking(data, options)
    from keras.callbacks import LambdaCallback

    from bertlab.training.devices.machines import this_machine
    from bertlab.training.pretraining import CHECKPOINT
    from bertlab.training.pretraining import pretrain as train

    context = click.get_current_context()
    used = context.params | {name: value for name, value in settings.to_dict().items() if name in options}
    begin = LambdaCallback(on_train_begin=lambda logs: write_config(out, context.command, used))
    try:
        history = train(
            model, data, out, settings, validation=validation, say=lambda line: click.echo(line, err=True),
            memory_check=memory_check, callbacks=[begin] if this_machine().is_chief else (),
        )  # fmt: skip
    except KeyboardInterrupt:
        click.echo(f"interrupted; {kept(out)}", err=True)
        sys.exit(130)  # as a shell reports a program that Ctrl-C ended
    last = history[-1]
    if not this_machine().is_chief:
        click.echo(f"done; the first machine writes {out}", err=True)
        return
    if as_json:
        click.echo(json.dumps({"checkpoint": str(out / CHECKPOINT), **last}))
        return
    click.echo(f"{out / CHECKPOINT}: {figures_of(last)}")


def _check_masking(data: tuple[Path, ...], options: dict) -> None:
    """Refuses options of masked rows that were typed for pairs; a preset or a file may have them."""
    from bertlab.data.pretraining.records import ExampleFiles

    context = click.get_current_context()
    for name in ("masked_lm_probability", "shifted_positions"):
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if typed and options[name] and ExampleFiles(data[0]).settings.target_length:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} is for masked rows; {data[0]} holds sources and targets: leave it out")


def kept(out: Path) -> str:
    from bertlab.training.pretraining import STATES
    from bertlab.training.runs.callbacks import saved_states

    states = saved_states(out / STATES)
    if not states:
        return "no state was saved yet: the same command starts again"
    step = int(states[-1].stem.removeprefix("state-"))
    return f"the state of step {step:,} is kept: the same command resumes from there"


def figures_of(row: dict) -> str:
    """The metrics of a run's last interval, as text."""
    from bertlab.training.runs.curves import objectives_in

    names = objectives_in([row])
    main = names[0]
    parts = [f"step {row['step']:,}, loss {row[f'{main}_loss']:.3f}"]
    parts += [
        ("" if name == main else name.replace("_", " ") + " ") + f"accuracy {row[f'{name}_accuracy']:.1%}"
        for name in names
        if f"{name}_accuracy" in row  # a distance has none
    ]
    if f"val_{main}_loss" in row:
        parts.append(f"held-out loss {row[f'val_{main}_loss']:.3f}")
    if f"val_{main}_accuracy" in row:
        parts.append(f"held-out accuracy {row[f'val_{main}_accuracy']:.1%}")
    if "tokens_per_second" in row:
        parts.append(f"{row['tokens_per_second']:,.0f} tokens/s, {row['peak_share']:.0%} of the device's peak")
    if "data_wait_share" in row:
        parts.append(f"{row['data_wait_share']:.0%} of the time waiting for data")
    return "; ".join([*parts, f"{row['seconds'] / 60:.1f} minutes"])
