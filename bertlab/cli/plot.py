"""`bertlab plot`: the curves of pre-training runs, side by side with reference curves."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from bertlab.common.errors import DataError


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path))
@click.option("--out", default="curves.png", show_default=True, type=click.Path(path_type=Path),
              help="File for the plot: .png, .svg or .pdf.")  # fmt: skip
@click.option("--along", type=click.Choice(["step", "tokens", "seconds"]), default="step", show_default=True,
              help="Quantity on the horizontal axis.")  # fmt: skip
@click.option("--reference", "references", multiple=True, help="Add this packaged reference curve, or all of them.")
@click.option("--list", "listing", is_flag=True, help="List the reference curves, with the run that made each.")
def plot(runs, out, along, references, listing):
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
