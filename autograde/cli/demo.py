"""`autograde demo`: grades an invented class."""

import time
from pathlib import Path

import click

from autograde.cli.grading import make_launcher, progress_bar, quiet_tensorflow, seconds_text
from autograde.common.errors import SandboxError


@click.command()
@click.option("--out", default="build/demo/class", show_default=True, help="Folder for the course and its pages.",
              type=click.Path(file_okay=False, path_type=Path))  # fmt: skip
def demo(out):
    """Make a course in OUT with twelve invented students, grade their notebooks and write the pages.

    \b
    Example:
      autograde demo --out build/demo/class

    An interrupted run resumes when you start it again. Without a sandbox it prints what is missing and grades nothing.
    """
    quiet_tensorflow()
    from bertlab.common.backend import load_backend

    load_backend()
    from autograde.demo.run import grade_sample_class, summary_lines

    began = time.monotonic()
    try:
        launcher = make_launcher(trust=False)
    except SandboxError as missing:
        click.echo(f"the sample class is not graded: {missing}")
        return
    with launcher, progress_bar("Grading a sample class") as progress:
        graded = grade_sample_class(out, launcher, progress=progress)
    click.echo("\n".join(summary_lines(graded)))
    click.echo(f"{'time':<14} {seconds_text(time.monotonic() - began)}")
    if graded.run.failures:
        raise SystemExit(1)
