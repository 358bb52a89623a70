"""`bertlab demo`: corpus to fine-tuned BERT in a few minutes, with a report."""

from pathlib import Path

import click

from bertlab.common.backend import load_backend


@click.command()
@click.option(
    "--text",
    default="builtin",
    show_default=True,
    help="Text: builtin, a folder, a .txt, a .jsonl or hf:NAME.",
)
@click.option("--out", default="build/demo", show_default=True, type=click.Path(file_okay=False, path_type=Path),
              help="Folder for all files. An interrupted demo resumes in it.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Random seed.")
def demo(text: str, out: Path, seed: int):
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
