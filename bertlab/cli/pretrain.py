"""`bertlab pretrain`, a run that can be killed and repeated, and `plot`, the curves of such runs."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from bertlab.cli.config_file import write_config
from bertlab.cli.from_signature import REQUIRED, command, is_given, option
from bertlab.cli.options import MEMORY_CHECK, say
from bertlab.common.backend import load_backend
from bertlab.common.errors import DataError
from bertlab.training.presets import PretrainingSettings

DATA = option(REQUIRED, "Folder of examples (`bertlab data make`). Repeat for a second phase with longer rows.")
OUT = option(REQUIRED, "Folder of the run. An interrupted run resumes in it.")
VALIDATION = option(None, "Folder of held-out examples to evaluate after every interval.")
LAST = "Print the last metrics as JSON."


@command(config=True, json=LAST)
def pretrain(
    model: str,
    *,
    data: tuple[Path, ...] = DATA,
    out: Path = OUT,
    validation: Path | None = VALIDATION,
    settings: PretrainingSettings,
    memory_check: bool = MEMORY_CHECK,
):
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
    load_backend()
    _check_masking(data, settings)
    from bertlab.training.pretraining import pretrain as train

    return trained(train, model, data, out=out, settings=settings, validation=validation, memory_check=memory_check)


def trained(train, *arguments, out: Path, settings: PretrainingSettings, **more):
    """Calls a function that pre-trains and returns its history; writes command.toml and yields the last metrics."""
    from keras.callbacks import LambdaCallback

    from bertlab.training.devices.distribution import this_machine
    from bertlab.training.pretraining import CHECKPOINT

    begin = LambdaCallback(on_train_begin=lambda logs: write_config(out, settings))
    try:
        callbacks = [begin] if this_machine().is_chief else []
        history = train(*arguments, out, settings, say=say, callbacks=callbacks, **more)
    except KeyboardInterrupt:
        say(f"interrupted; {_kept(out)}")
        sys.exit(130)  # as a shell reports a program that Ctrl-C ended
    if this_machine().is_chief:
        last = {"checkpoint": str(out / CHECKPOINT), **history[-1]}
        yield last, f"{out / CHECKPOINT}: {_metrics_of(history[-1])}"
    else:
        say(f"done; the first machine writes {out}")


def _check_masking(data: tuple[Path, ...], settings: PretrainingSettings) -> None:
    """Refuses options of masked rows that were typed for pairs; a preset or a file may have them."""
    from bertlab.data.pretraining.records import ExampleFiles

    for name in ("masked_lm_probability", "shifted_positions"):
        typed = is_given(name, ParameterSource.COMMANDLINE) and getattr(settings, name)
        if typed and ExampleFiles(data[0]).settings.target_length:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} is for masked rows; {data[0]} holds sources and targets: leave it out")


def _kept(out: Path) -> str:
    from bertlab.training.pretraining import STATES
    from bertlab.training.runs.state import saved_states

    states = saved_states(out / STATES)
    if not states:
        return "no state was saved yet: the same command starts again"
    step = int(states[-1].stem.removeprefix("state-"))
    return f"the state of step {step:,} is kept: the same command resumes from there"


def _metrics_of(row: dict) -> str:
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


@command()
def plot(
    runs: tuple[Path, ...] = (),
    *,
    out: Path = option("curves.png", "File for the plot: .png, .svg or .pdf."),
    along: str = option("step", "Quantity on the horizontal axis.", choices=("step", "tokens", "seconds")),
    references: tuple[str, ...] = option((), "Add this packaged reference curve, or all of them.", "--reference"),
    listing: bool = option(False, "List the reference curves, with the run that made each.", "--list"),
):
    """Plot loss and accuracy of RUNS: folders of `bertlab pretrain`, or metrics.csv files.

    \b
    Example:
      bertlab plot run-1 run-2 --reference all --along tokens --out curves.png
    """
    from bertlab.training.runs.curves import draw, read_metrics, reference_curves

    shipped = reference_curves()
    if listing:
        for name, path in shipped.items():
            click.echo(f"{name}: {path.read_text(encoding='utf-8').splitlines()[0].removeprefix('# ')}")
        return
    names = list(shipped) if "all" in references else list(references)
    for name in names:
        if name not in shipped:
            raise DataError(f"unknown reference curve {name!r}; choose one of {', '.join(shipped)}")
    if not runs and not names:
        raise click.UsageError("give at least one run or --reference")
    found = _with_metrics(runs)
    own = dict(zip(_names(found), map(read_metrics, found), strict=True))
    ours = {f"reference: {name}": read_metrics(shipped[name]) for name in names}
    draw(own | ours, out, along, list(ours))
    click.echo(out)


def _with_metrics(runs: Sequence[Path]) -> list[Path]:
    """The paths that are runs: `runs/*` also matches other files in that folder. Prints a note about the others."""
    from bertlab.training.runs.curves import METRICS

    found = [run for run in runs if run.suffix == ".csv" or (run / METRICS).is_file()]
    if not found:
        return list(runs)  # reading them raises a clear error
    for run in runs:
        if run not in found:
            click.echo(f"bertlab: {run} is not a run (no {METRICS} in it): left out", err=True)
    return found


def _names(runs: Sequence[Path]) -> list[str]:
    """The runs' names in the plot: their folders, without the parent folders that all share."""
    folders = [(run.parent if run.name == "metrics.csv" else run).absolute() for run in runs]
    if not folders:
        return []
    above = os.path.commonpath([folder.parent for folder in folders])
    return [os.path.relpath(folder, above) for folder in folders]
