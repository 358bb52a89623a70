"""`bertlab pretrain`: a model from a folder of examples, in a run that can be killed and repeated."""

import json
import sys
from pathlib import Path

import click

from bertlab.backend import load_backend

PATH = click.Path(path_type=Path)
SHARE = click.FloatRange(0, 1)


def _recipe_options(command):
    """One option for each choice of the recipe; what is not given comes from the preset."""
    for option in reversed((
        click.option("--steps", type=int, help="Updates of the weights."),
        click.option("--batch-size", type=int, help="Rows in an update, on all devices together."),
        click.option("--same-tokens/--same-rows", default=None, help="More of the shorter rows in an update."),
        click.option("--phase-shares", help="Shares of the steps when there are several --data, such as 0.9,0.1."),
        click.option("--learning-rate", type=float, help="The peak."),
        click.option("--warmup-share", type=SHARE, help="Share of the steps in which the learning rate rises."),
        click.option("--beta-1", type=SHARE, help="Adam: memory of the mean gradient."),
        click.option("--beta-2", type=SHARE, help="Adam: memory of its square."),
        click.option("--epsilon", type=float, help="Adam: what the root is enlarged by."),
        click.option("--bias-correction/--no-bias-correction", default=None,
                     help="Adam's own correction; the published script has none."),
        click.option("--weight-decay", type=float, help="Not on LayerNorms and biases."),
        click.option("--clip-norm", type=float, help="Longest gradient, over all weights."),
        click.option("--dropout", type=SHARE, help="For a model named by its size."),
        click.option("--pre-norm/--post-norm", default=None, help="For a model named by its size."),
        click.option("--width-scaled-init/--published-init", default=None, help="For a model named by its size."),
        click.option("--padded-vocabulary", type=int, help="Token table of a multiple of so many rows."),
        click.option("--masked-lm-probability", type=SHARE, help="For data with dynamic masking."),
        click.option("--shifted-positions/--plain-positions", default=None, help="Short rows at random positions."),
        click.option("--accumulation", type=int, help="Compute an update in so many parts, to save memory."),
        click.option("--precision", type=click.Choice(["auto", "float32", "float16", "bfloat16"]),
                     help="auto: 16 bits where the device has them."),
        click.option("--xla/--no-xla", default=None, help="Compile the step."),
        click.option("--devices", type=int, help="Graphics cards (of each machine) that share every batch."),
        click.option("--interval", type=int, help="Steps between two reports, each of which saves the state."),
        click.option("--keep", type=int, help="States kept."),
        click.option("--divergence-check/--no-divergence-check", default=None,
                     help="Stop a run whose loss rises; one whose loss is no number is always stopped."),
        click.option("--seed", type=int, help="Same seed, same run."),
    )):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("model")
@click.option("--data", "data", required=True, multiple=True, type=PATH,
              help="A folder of `bertlab data make`; again for a second phase with longer rows.")  # fmt: skip
@click.option("--out", required=True, type=PATH, help="Folder of the run; an interrupted one goes on in it.")
@click.option("--validation", type=PATH, help="A folder of held-out examples, judged after every interval.")
@click.option("--preset", "preset_name", type=click.Choice(["published", "one-day", "small"]), default="published",
              show_default=True, help="published: BERT's own recipe; one-day: one graphics card, one day; small: for "
              "processors and models up to 4 × 256.")  # fmt: skip
@click.option("--memory-check/--no-memory-check", default=True, show_default=True,
              help="Refuse a run that seems not to fit into the memory.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the last figures as JSON.")
@_recipe_options
def pretrain(model, data, out, validation, preset_name, memory_check, as_json, phase_shares, **chosen):
    """Pre-train MODEL: a size (tiny, mini, small, medium, base, large), a config.json, or a checkpoint to go on from.

    The run can be stopped or killed at any moment; the same command goes on. Its folder holds metrics.csv, curve.png,
    logs for TensorBoard and, in the end, the checkpoint.

    \b
    Example:
      bertlab data make novels.txt --vocab vocab.txt --out examples --dynamic-masking
      bertlab pretrain mini --data examples --out run --preset small --steps 1000
      bertlab fill-mask --model run/checkpoint "She looked out of the [MASK]."
    """
    from bertlab.training.recipes.presets import preset

    if phase_shares is not None:
        chosen["phase_shares"] = _shares(phase_shares)
    settings = preset(preset_name, **{name: value for name, value in chosen.items() if value is not None})
    load_backend()
    from bertlab.training.devices.machines import this_machine
    from bertlab.training.pretraining import CHECKPOINT
    from bertlab.training.pretraining import pretrain as train

    try:
        history = train(
            model, data, out, settings, validation=validation, say=lambda line: click.echo(line, err=True),
            memory_check=memory_check,
        )  # fmt: skip
    except KeyboardInterrupt:
        click.echo(f"interrupted; {_kept(out)}", err=True)
        sys.exit(130)  # as a shell reports a program that Ctrl-C ended
    last = history[-1]
    if not this_machine().is_chief:
        click.echo(f"done; the first machine writes {out}", err=True)
        return
    if as_json:
        click.echo(json.dumps({"checkpoint": str(out / CHECKPOINT), **last}))
        return
    click.echo(f"{out / CHECKPOINT}: {_figures(last)}")


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(share) for share in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r}: expected numbers with commas between them, such as 0.9,0.1") from None


def _kept(out: Path) -> str:
    from bertlab.training.pretraining import STATES
    from bertlab.training.runs.callbacks import saved_states

    states = saved_states(out / STATES)
    if not states:
        return "no state was saved yet: the same command starts again"
    step = int(states[-1].stem.removeprefix("state-"))
    return f"the state of step {step:,} is kept: the same command goes on from there"


def _figures(row: dict) -> str:
    """The figures of a run's last interval in words."""
    from bertlab.training.runs.curves import objectives_in

    main = objectives_in([row])[0]
    parts = [f"step {row['step']:,}, loss {row[f'{main}_loss']:.3f}", f"accuracy {row[f'{main}_accuracy']:.1%}"]
    if f"val_{main}_loss" in row:
        parts.append(f"held-out loss {row[f'val_{main}_loss']:.3f}, accuracy {row[f'val_{main}_accuracy']:.1%}")
    if "tokens_per_second" in row:
        parts.append(f"{row['tokens_per_second']:,.0f} tokens/s, {row['peak_share']:.0%} of the device's peak")
    if "data_wait_share" in row:
        parts.append(f"{row['data_wait_share']:.0%} of the time waiting for data")
    return "; ".join([*parts, f"{row['seconds'] / 60:.1f} minutes"])
