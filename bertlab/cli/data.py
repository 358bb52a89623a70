"""`bertlab corpus` and `bertlab data`: the built-in corpus, and pre-training examples: make, look at, check."""

import json
from itertools import islice
from pathlib import Path

import click

from bertlab.cli.from_signature import FOLDER, REQUIRED, command, option
from bertlab.cli.options import ON_ERROR, say, tokenizer_of
from bertlab.common.errors import DataError
from bertlab.data.pretraining.settings import ExampleSettings

_DIRECTORY = option(None, "Folder of the corpus.", "--dir")


@click.group()
def corpus():
    """The built-in English corpus: docstrings, comments and manuals of the installed packages.

    \b
    Example:
      bertlab corpus show_corpus --source numpy
    """


@command(group=corpus)
def build(
    *,
    directory: FOLDER = _DIRECTORY,
    workers: int | None = option(None, "Number of processes. [one per core]", at_least=1),
    packages: tuple[str, ...] = option((), "Use only this distribution (repeatable).", "--package"),
):
    """Build the corpus from the installed packages and print its folder.

    \b
    Example:
      bertlab corpus build --dir build/corpus --workers 2
    """
    from bertlab.data.corpus.build import build_corpus

    click.echo(build_corpus(directory, workers, packages or None))


@command("show", group=corpus, json="Print one JSON object per document.")
def show_corpus(
    *,
    directory: FOLDER = _DIRECTORY,
    source: str | None = option(
        None, "Show only documents of this package, such as numpy; python is the standard library."
    ),
    name: str = option("", "Show only documents whose id contains this text."),
    count: int = option(1, "Number of documents to show_corpus.", at_least=1),
):
    """Print documents: a line per sentence, a blank line between paragraphs. Build the corpus if it does not exist.

    \b
    Example:
      bertlab corpus show_corpus --source python --name textwrap
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
        text = "\n\n".join("\n".join(paragraph) for paragraph in document.paragraphs)
        record = {"id": document.id, "source": document.source, "paragraphs": document.paragraphs}
        yield record, f"=== {document.id} ({document.source})\n\n{text}\n"


@command(group=corpus, json="Print the whole manifest as JSON.")
def stats(*, directory: FOLDER = _DIRECTORY):
    """Count documents, sentences and words per package, and dropped text. Build the corpus if it does not exist.

    \b
    Example:
      bertlab corpus stats --json
    """
    from bertlab.data.corpus.build import DOCUMENTS, MANIFEST, ensure_corpus

    manifest = json.loads((ensure_corpus(directory) / MANIFEST).read_text(encoding="utf-8"))
    counts = manifest["counts"]
    rows = sorted(counts["by package"].items(), key=lambda row: -row[1]["words"])
    lines = [f"{'package':<22}{'documents':>11}{'paragraphs':>12}{'sentences':>11}{'words':>11}"]
    for package, row in [*rows, ("all", counts)]:
        columns = f"{row['documents']:>11,}{row['paragraphs']:>12,}{row['sentences']:>11,}{row['words']:>11,}"
        lines.append(f"{package:<22}{columns}")
    lines += [f"dropped: {reason:<40}{count:>11,}" for reason, count in manifest["dropped"].items()]
    yield manifest, "\n".join([*lines, f"sha256 of {DOCUMENTS}: {manifest['sha256'][DOCUMENTS]}"])


@click.group()
def data():
    """Make and inspect examples: masked tokens and pairs of sentences, or sources and targets."""


@command(group=data, json="Print the counts as JSON.")
def make(
    source: str,
    *,
    vocab: Path = option(REQUIRED, "vocab.txt, or the folder of a byte-level BPE or SentencePiece tokenizer."),
    out: Path = option(REQUIRED, "Folder for the shards. An interrupted run resumes in it."),
    cased: bool = option(
        False, "Keep capitals and, with WordPiece, accents; replaces the folder's setting. Byte-level BPE keeps both."
    ),
    split: str = option(
        "all", "Part of the documents to use; 5% are held out for validation.", choices=("all", "train", "validation")
    ),
    workers: int = option(1, "Number of processes on this machine."),
    scheduler: str | None = option(None, "Address of a Dask cluster to use instead of this machine (tcp://host:8786)."),
    on_error: str = ON_ERROR,
    unit_characters: int | None = option(None, "Characters of text per shard. [2,000,000]", at_least=1),
    settings: ExampleSettings,
):
    """Make examples of SOURCE: "builtin", a .txt file (blank lines separate documents), a .jsonl file, a folder (each
    .txt or .md file is one document), or hf:NAME.

    \b
    Example:
      bertlab data make novels.txt --vocab vocab.txt --out examples --workers 8
      bertlab data make builtin --vocab vocab.txt --out examples --preset roberta
    """
    from bertlab.data.pretraining.make import UNIT_CHARACTERS, make_data

    tokenizer = tokenizer_of(vocab, cased)
    manifest = make_data(
        source, tokenizer, out, settings, workers, scheduler, split, on_error, unit_characters or UNIT_CHARACTERS
    )
    yield from _made(out, manifest, _summary(manifest))


def _summary(manifest: dict) -> str:
    counts, settings = manifest["counts"], manifest["settings"]
    full = counts["tokens_in_rows"] / (counts["examples"] * settings["sequence_length"])
    parts = [
        f"{counts['examples']:,} examples of {settings['sequence_length']} tokens in {len(manifest['shards'])} shards "
        f"from {counts['documents']:,} documents",
        f"{full:.0%} of the rows filled",
    ]
    if "random_next" in counts:
        parts.append(f"{counts['random_next'] / counts['examples']:.2%} random next")
    if "swapped" in counts:
        parts.append(f"{counts['swapped'] / counts['examples']:.2%} swapped")
    if counts["documents_without_pairs"]:
        parts.append(f"{counts['documents_without_pairs']:,} documents of one sentence gave no pairs")
    return "; ".join(parts) + "."


@command(group=data, json="Print the counts as JSON.")
def pairs(
    source: Path,
    target: Path | None = None,
    *,
    vocab: Path = option(REQUIRED, "vocab.txt, or the folder of a tokenizer, for sources and targets alike."),
    out: Path = option(REQUIRED, "Folder for the examples."),
    cased: bool = option(False, "Keep capitals and, with WordPiece, accents."),
    source_length: int = option(128, "Tokens per source, including [SEP].", at_least=8, at_most=65535),
    target_length: int | None = option(
        None, "Tokens per target, including [SEP]. [as the source]", at_least=2, at_most=65535
    ),
):
    """Make examples for an encoder-decoder of SOURCE, a file with a source, a tab and its target in every line; or of
    SOURCE and TARGET, two files of as many lines.

    Longer pairs are left out, and counted.

    \b
    Examples:
      bertlab data pairs train.tsv --vocab vocab.txt --out train
      bertlab data pairs train.en train.de --vocab vocab.txt --out train --source-length 64
    """
    from bertlab.data.pretraining.pairs import make_pairs, pair_settings

    tokenizer = tokenizer_of(vocab, cased)
    manifest = make_pairs(source, tokenizer, out, pair_settings(source_length, target_length), target)
    counts = manifest["counts"]
    tokens = f"{counts['tokens_in_rows']:,} source and {counts['target_tokens']:,} target tokens"
    yield from _made(out, manifest, f"{counts['examples']:,} pairs of {tokens}.")


def _made(out: Path, manifest: dict, text: str):
    yield {"out": str(out), "counts": manifest["counts"], "problems": manifest["problems"]}, f"{out}: {text}"
    for reason, count in manifest["problems"].items():
        say(f"left out: {reason} ({count:,})")


@command(group=data, json="Print the numbers behind the histograms as JSON; of pairs, the mean lengths.")
def show(
    folder: Path,
    *,
    count: int = option(3, "Number of examples to print."),
    seed: int | None = option(None, "Print random examples instead of the first ones."),
    png: Path | None = option(None, "File for the histograms. [FOLDER/examples.png]"),
    sample: int = option(10_000, "Number of examples to draw the histograms from."),
):
    """Print examples of FOLDER and draw histograms: lengths, predictions, replacements, next-sentence labels.

    \b
    Example:
      bertlab data show examples --count 5 --png examples.png
    """
    from bertlab.data.pretraining.masking import PieceTable
    from bertlab.data.pretraining.records import ExampleFiles
    from bertlab.data.pretraining.show import LABELS, ORDER_LABELS, describe, draw_histograms, sample_of, statistics_of

    if count < 1 or sample < 1:
        raise click.UsageError("--count and --sample must be at least 1")
    files = ExampleFiles(folder)
    if files.settings.target_length:
        if png:
            raise click.UsageError(f"--png is for masked examples; {folder} holds pairs, which have no histograms")
        yield _lengths_of_pairs(files, min(sample, len(files)), seed or 0), _pairs(files, min(count, len(files)), seed)
        return
    examples = sample_of(folder, count, seed)
    vocabulary = files.tokenizer.vocabulary
    labels = ORDER_LABELS if files.settings.sentence_order else LABELS
    statistics = statistics_of(sample_of(folder, sample, seed=seed or 0), PieceTable.of(vocabulary))
    png = png or folder / "examples.png"
    draw_histograms(statistics, png, title=f"{folder.name}: ")
    rows = range(len(examples["input_ids"]))
    lines = [f"--- example {row}: {describe(examples, row, vocabulary.pieces, labels)}" for row in rows]
    numbers = {
        "mean_length": float(statistics.lengths.mean()), "predicted": float(statistics.predicted.mean()),
        "replacements": statistics.shares, "random_next": statistics.random_next, "png": str(png),
    }  # fmt: skip
    yield numbers, "\n".join([*lines, f"histograms: {png}"])


def _lengths_of_pairs(files, sample: int, seed: int) -> dict:
    from bertlab.data.pretraining.batches import Batches

    rows = Batches(files, sample, shuffle_seed=seed)[0]
    lengths = {side: rows[f"{mask}_mask"].sum(axis=1) for side, mask in (("source", "attention"), ("target", "target"))}
    return {"pairs": len(files)} | {f"mean_{side}_length": float(counts.mean()) for side, counts in lengths.items()}


def _pairs(files, count: int, seed: int | None) -> str:
    from bertlab.data.pretraining.batches import Batches

    rows, pieces, lines = Batches(files, count, shuffle_seed=seed)[0], files.tokenizer.vocabulary.pieces, []
    for row in range(count):
        lines.append(f"--- example {row}:")
        for ids, mask in (("input_ids", "attention_mask"), ("target_ids", "target_mask")):
            lines.append("  " + " ".join(pieces[token] for token in rows[ids][row][rows[mask][row] > 0]))
    return "\n".join(lines)


@command(group=data)
def check(folder: Path):
    """Read every record of FOLDER and compare its checksum; names the file and record that are damaged.

    \b
    Example:
      bertlab data check examples
    """
    from bertlab.data.pretraining.records import ExampleFiles

    files = ExampleFiles(folder)
    files.check()
    click.echo(f"{folder}: {len(files):,} examples in {len(files.paths)} shards, all whole.")
