"""`bertlab data`: make pre-training examples, look at them, check their files."""

import json
from pathlib import Path

import click

from bertlab.cli.settings_options import given, settings_options
from bertlab.data.pretraining.settings import ExampleSettings

PATH = click.Path(path_type=Path)


@click.group()
def data():
    """Make and inspect examples: masked tokens and pairs of sentences, or sources and targets."""


@data.command()
@click.argument("source")
@click.option(
    "--vocab", required=True, type=PATH, help="vocab.txt, or the folder of a byte-level BPE or SentencePiece tokenizer."
)
@click.option("--out", required=True, type=PATH, help="Folder for the shards. An interrupted run resumes in it.")
@click.option(
    "--cased",
    is_flag=True,
    help="Keep capitals and, with WordPiece, accents; replaces the folder's setting. Byte-level BPE keeps both.",
)
@click.option("--split", type=click.Choice(["all", "train", "validation"]), default="all", show_default=True,
              help="Part of the documents to use; 5% are held out for validation.")  # fmt: skip
@click.option("--workers", default=1, show_default=True, help="Number of processes on this machine.")
@click.option("--scheduler", help="Address of a Dask cluster to use instead of this machine (tcp://host:8786).")
@click.option("--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
              help="Stop at defective input, or skip and count it.")  # fmt: skip
@click.option("--unit-characters", type=click.IntRange(1), help="Characters of text per shard. [2,000,000]")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
@click.option("--preset", type=click.Choice(list(ExampleSettings.PRESETS)), default="published", show_default=True,
              help="published: the paper's procedure, exactly; original: the published script's; roberta: "
              "full sentences, dynamic masking, no pairs; sentence-order: swapped pairs, masked n-grams; "
              "permutation: a sixth of the tokens, in runs, for models with two streams.")  # fmt: skip
@settings_options(ExampleSettings)
def make(source, vocab, out, cased, split, workers, scheduler, on_error, unit_characters, as_json, preset, **options):
    """Make examples of SOURCE: "builtin", a .txt file (blank lines separate documents), a .jsonl file, a folder (each
    .txt or .md file is one document), or hf:NAME.

    \b
    Example:
      bertlab data make novels.txt --vocab vocab.txt --out examples --workers 8
      bertlab data make builtin --vocab vocab.txt --out examples --preset roberta
    """
    from bertlab.data.pretraining.make import UNIT_CHARACTERS, make_data
    from bertlab.tokenizers.kinds import open_tokenizer

    settings = ExampleSettings.preset(preset, **given(options))
    tokenizer = open_tokenizer(vocab, **({"lowercase": False} if cased else {}))
    manifest = make_data(
        source, tokenizer, out, settings, workers, scheduler, split, on_error, unit_characters or UNIT_CHARACTERS
    )
    if as_json:
        click.echo(json.dumps({"out": str(out), "counts": manifest["counts"], "problems": manifest["problems"]}))
        return
    click.echo(f"{out}: {_summary(manifest)}")
    for reason, count in manifest["problems"].items():
        click.echo(f"left out: {reason} ({count:,})", err=True)


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


@data.command()
@click.argument("source", type=PATH)
@click.argument("target", type=PATH, required=False)
@click.option("--vocab", required=True, type=PATH,
              help="vocab.txt, or the folder of a tokenizer, for sources and targets alike.")  # fmt: skip
@click.option("--out", required=True, type=PATH, help="Folder for the examples.")
@click.option("--cased", is_flag=True, help="Keep capitals and, with WordPiece, accents.")
@click.option("--source-length", default=128, show_default=True, type=click.IntRange(8, 65535),
              help="Tokens per source, including [SEP].")  # fmt: skip
@click.option("--target-length", type=click.IntRange(2, 65535),
              help="Tokens per target, including [SEP]. [as the source]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def pairs(source, target, vocab, out, cased, source_length, target_length, as_json):
    """Make examples for an encoder-decoder of SOURCE, a file with a source, a tab and its target in every line; or of
    SOURCE and TARGET, two files of as many lines.

    Longer pairs are left out, and counted.

    \b
    Examples:
      bertlab data pairs train.tsv --vocab vocab.txt --out train
      bertlab data pairs train.en train.de --vocab vocab.txt --out train --source-length 64
    """
    from bertlab.data.pretraining.pairs import make_pairs, pair_settings
    from bertlab.tokenizers.kinds import open_tokenizer

    tokenizer = open_tokenizer(vocab, **({"lowercase": False} if cased else {}))
    manifest = make_pairs(source, tokenizer, out, pair_settings(source_length, target_length), target)
    counts = manifest["counts"]
    if as_json:
        click.echo(json.dumps({"out": str(out), "counts": counts, "problems": manifest["problems"]}))
        return
    click.echo(
        f"{out}: {counts['examples']:,} pairs of {counts['tokens_in_rows']:,} source and {counts['target_tokens']:,} "
        "target tokens."
    )
    for reason, count in manifest["problems"].items():
        click.echo(f"left out: {reason} ({count:,})", err=True)


@data.command()
@click.argument("folder", type=PATH)
@click.option("--count", default=3, show_default=True, help="Number of examples to print.")
@click.option("--seed", type=int, help="Print random examples instead of the first ones.")
@click.option("--png", type=PATH, help="File for the histograms. [FOLDER/examples.png]")
@click.option("--sample", default=10_000, show_default=True, help="Number of examples to draw the histograms from.")
@click.option("--json", "as_json", is_flag=True,
              help="Print the numbers behind the histograms as JSON; of pairs, the mean lengths.")  # fmt: skip
def show(folder, count, seed, png, sample, as_json):
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
        if as_json:
            click.echo(json.dumps(_figures_of_pairs(files, min(sample, len(files)), seed or 0)))
        else:
            _show_pairs(files, min(count, len(files)), seed)
        return
    examples = sample_of(folder, count, seed)
    vocabulary = files.tokenizer.vocabulary
    labels = ORDER_LABELS if files.settings.sentence_order else LABELS
    statistics = statistics_of(sample_of(folder, sample, seed=seed or 0), PieceTable.of(vocabulary))
    png = png or folder / "examples.png"
    draw_histograms(statistics, png, title=f"{folder.name}: ")
    if as_json:
        figures = {
            "mean_length": float(statistics.lengths.mean()),
            "predicted": float(statistics.predicted.mean()),
            "replacements": statistics.shares,
            "random_next": statistics.random_next,
        }
        click.echo(json.dumps(figures | {"png": str(png)}))
        return
    for row in range(len(examples["input_ids"])):
        click.echo(f"--- example {row}: {describe(examples, row, vocabulary.pieces, labels)}")
    click.echo(f"histograms: {png}")


def _figures_of_pairs(files, sample: int, seed: int) -> dict:
    from bertlab.data.pretraining.batches import Batches

    rows = Batches(files, sample, shuffle_seed=seed)[0]
    lengths = {side: rows[f"{mask}_mask"].sum(axis=1) for side, mask in (("source", "attention"), ("target", "target"))}
    return {"pairs": len(files)} | {f"mean_{side}_length": float(counts.mean()) for side, counts in lengths.items()}


def _show_pairs(files, count: int, seed: int | None) -> None:
    from bertlab.data.pretraining.batches import Batches

    rows, pieces = Batches(files, count, shuffle_seed=seed)[0], files.tokenizer.vocabulary.pieces
    for row in range(count):
        click.echo(f"--- example {row}:")
        for ids, mask in (("input_ids", "attention_mask"), ("target_ids", "target_mask")):
            click.echo("  " + " ".join(pieces[token] for token in rows[ids][row][rows[mask][row] > 0]))


@data.command()
@click.argument("folder", type=PATH)
def check(folder):
    """Read every record of FOLDER and compare its checksum; names the file and record that are damaged.

    \b
    Example:
      bertlab data check examples
    """
    from bertlab.data.pretraining.records import ExampleFiles

    files = ExampleFiles(folder)
    files.check()
    click.echo(f"{folder}: {len(files):,} examples in {len(files.paths)} shards, all whole.")
