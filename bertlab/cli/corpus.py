"""`bertlab corpus`: build the built-in corpus, show documents, count words."""

import json
from itertools import islice
from pathlib import Path

import click

from bertlab.common.errors import DataError

_DIRECTORY = click.option(
    "--dir", "directory", type=click.Path(file_okay=False, path_type=Path), help="Folder of the corpus."
)


@click.group()
def corpus():
    """The built-in English corpus: docstrings, comments and manuals of the installed packages.

    \b
    Example:
      bertlab corpus show --source numpy
    """


@corpus.command()
@_DIRECTORY
@click.option("--workers", type=click.IntRange(min=1), help="Number of processes. [one per core]")
@click.option("--package", "packages", multiple=True, help="Use only this distribution (repeatable).")
def build(directory, workers, packages):
    """Build the corpus from the installed packages and print its folder.

    \b
    Example:
      bertlab corpus build --dir build/corpus --workers 2
    """
    from bertlab.data.corpus.build import build_corpus

    click.echo(build_corpus(directory, workers, packages or None))


@corpus.command()
@_DIRECTORY
@click.option("--source", help="Show only documents of this package, such as numpy; python is the standard library.")
@click.option("--name", default="", help="Show only documents whose id contains this text.")
@click.option("--count", default=1, show_default=True, type=click.IntRange(min=1), help="Number of documents to show.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per document.")
def show(directory, source, name, count, as_json):
    """Print documents: a line per sentence, a blank line between paragraphs. Build the corpus if it does not exist.

    \b
    Example:
      bertlab corpus show --source python --name textwrap
    """
    from bertlab.data.documents import load_documents

    wanted = (
        document
        for document in load_documents("builtin", cache_dir=directory)
        if name in document.id and source in (None, document.source)
    )
    chosen = list(islice(wanted, count))
    if not chosen:
        raise DataError("no document matches; `bertlab corpus stats` lists the packages")
    for document in chosen:
        if as_json:
            record = {"id": document.id, "source": document.source, "paragraphs": document.paragraphs}
            click.echo(json.dumps(record, ensure_ascii=False))
        else:
            click.echo(f"=== {document.id} ({document.source})\n")
            click.echo("\n\n".join("\n".join(paragraph) for paragraph in document.paragraphs) + "\n")


@corpus.command()
@_DIRECTORY
@click.option("--json", "as_json", is_flag=True, help="Print the whole manifest as JSON.")
def stats(directory, as_json):
    """Count documents, sentences and words per package, and dropped text. Build the corpus if it does not exist.

    \b
    Example:
      bertlab corpus stats --json
    """
    from bertlab.data.corpus.build import DOCUMENTS, MANIFEST, ensure_corpus

    manifest = json.loads((ensure_corpus(directory) / MANIFEST).read_text(encoding="utf-8"))
    if as_json:
        click.echo(json.dumps(manifest, indent=2, ensure_ascii=False))
        return
    counts = manifest["counts"]
    click.echo(f"{'package':<22}{'documents':>11}{'paragraphs':>12}{'sentences':>11}{'words':>11}")
    rows = sorted(counts["by package"].items(), key=lambda row: -row[1]["words"])
    for package, row in [*rows, ("all", counts)]:
        columns = f"{row['documents']:>11,}{row['paragraphs']:>12,}{row['sentences']:>11,}{row['words']:>11,}"
        click.echo(f"{package:<22}{columns}")
    for reason, count in manifest["dropped"].items():
        click.echo(f"dropped: {reason:<40}{count:>11,}")
    click.echo(f"sha256 of {DOCUMENTS}: {manifest['sha256'][DOCUMENTS]}")
