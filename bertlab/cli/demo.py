"""`bertlab demo`: corpus to fine-tuned BERT in a few minutes, with a report."""

import click

from bertlab.cli.from_signature import FOLDER, command, option
from bertlab.common.backend import load_backend


@command()
def demo(
    *,
    text: str = option("builtin", "Text: builtin, a folder, a .txt, a .jsonl or hf:NAME."),
    out: FOLDER = option("build/demo", "Folder for all files. An interrupted demo resumes in it."),
    seed: int = option(0, "Random seed.", at_least=0),
):
    """Learn a vocabulary, pre-train a small BERT, predict masked words, fine-tune it, and write OUT/report.html.

    Interrupted (Ctrl-C) and started again, it resumes.

    \b
    Example:
      bertlab demo --text my_book.txt --out build/my_book
    """
    load_backend()
    from bertlab.demo.pipeline import run_demo, summary_lines
    from bertlab.demo.settings import DemoSettings

    try:
        results = run_demo(DemoSettings(text=text, seed=seed), out, say=click.echo)
    except KeyboardInterrupt:
        click.echo(f"\ninterrupted: the same command resumes from here ({out})", err=True)
        raise SystemExit(130) from None
    click.echo("")
    for line in summary_lines(results, (out / "report.html").resolve()):
        click.echo(line)
