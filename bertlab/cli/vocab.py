"""`bertlab vocab`: learn a vocabulary (WordPiece, byte-level BPE, SentencePiece), inspect one, plot its size."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from bertlab.common.errors import ConfigError, DataError

FILES = click.Path(path_type=Path)
SCORES = click.Choice(["wordpiece", "frequency"])


def _text_options(command):
    """The options for splitting text into words."""
    command = click.option("--cased", is_flag=True, help="Keep capitals and, with WordPiece, accents.")(command)
    return click.option("--workers", default=1, show_default=True, help="Number of processes that count words.")(
        command
    )


def _learning_options(command):
    """The options for choosing merges."""
    for option in (
        click.option(
            "--min-frequency", type=int, help="Merge only pairs that occur at least this often. [decreases to 2]"
        ),
        click.option(
            "--alphabet-limit", default=1000, show_default=True, help="Maximum number of characters in the alphabet."
        ),
        click.option("--reserved", default=0, show_default=True, help="Number of [unused0], [unused1] … tokens."),
        click.option(
            "--max-words", type=int, help="Forget rare words while counting if there are more words than this."
        ),
    ):
        command = option(command)
    return command


def _count(files, cased, workers, max_words=None):
    from bertlab.tokenizers.wordpiece.learner import count_words, read_texts

    size = sum(file.stat().st_size for file in files if file.is_file())
    return count_words(read_texts(files), lowercase=not cased, workers=workers, max_words=max_words, characters=size)


@click.group()
def vocab():
    """Learn and inspect vocabularies."""


@vocab.command()
@click.argument("files", nargs=-1, required=True, type=FILES)
@click.option("--size", default=8000, show_default=True, help="Number of tokens, including special tokens.")
@click.option("--out", required=True, type=FILES, help="File for the vocabulary.")
@click.option("--score", type=SCORES, default="wordpiece", show_default=True,
              help="Score that ranks the pairs.")  # fmt: skip
@_learning_options
@_text_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of a sentence.")
def learn(files, size, out, score, max_words, cased, workers, as_json, **settings):
    """Learn a vocabulary from UTF-8 text files.

    \b
    Example:
      bertlab vocab learn novels.txt --size 8000 --out vocab.txt
    """
    from bertlab.tokenizers.wordpiece.learner import learn_from_counts
    from bertlab.tokenizers.wordpiece.vocabulary_report import measure

    _make_folder(out)
    counts = _count(files, cased, workers, max_words)
    vocabulary = learn_from_counts(counts, size, score=score, **settings)
    vocabulary.save(out)
    report = measure(vocabulary, counts)
    if as_json:
        click.echo(json.dumps({"out": str(out), "sha256": vocabulary.sha256, **asdict(report)}))
        return
    click.echo(f"{out}: {len(vocabulary):,} tokens. {_sentence(report)}")
    if len(vocabulary) < size:
        click.echo(f"Expected {size:,} tokens, got fewer: no other pair occurs often enough to merge.", err=True)


@vocab.command()
@click.argument("files", nargs=-1, required=True, type=FILES)
@click.option("--most", type=click.IntRange(1), help="Largest number of words, the most frequent ones. [all]")
@click.option("--out", required=True, type=FILES, help="File for the words, words.txt beside the model's weights.")
def words(files, most, out):
    """List the words of UTF-8 text files, cut at their spaces, the most frequent first.

    For models that read whole words by their characters and list the words to read in words.txt.

    \b
    Example:
      bertlab vocab words sentences.txt --out MODEL/words.txt
    """
    from bertlab.common.files import write_text
    from bertlab.tokenizers.whole_words import WordList
    from bertlab.tokenizers.wordpiece.learner import read_texts

    _make_folder(out)
    counts = Counter(word for text in read_texts(files) for word in text.split())
    if not counts:
        raise DataError(f"{', '.join(map(str, files))}: expected at least one word, got none")
    listed = WordList(word for word, _ in counts.most_common(most))
    write_text(out, "\n".join(listed.pieces) + "\n")
    click.echo(f"{out}: {len(listed):,} words, the special ones included")


@vocab.command("learn-bpe")
@click.argument("files", nargs=-1, required=True, type=FILES)
@click.option("--size", default=8000, show_default=True, help="Number of tokens, including special tokens and bytes.")
@click.option("--out", required=True, type=FILES, help="Folder for vocab.json, merges.txt and tokenizer_config.json.")
@click.option("--min-frequency", default=2, show_default=True, help="Merge only pairs that occur at least this often.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of a sentence.")
def learn_bpe(files, size, out, min_frequency, as_json):
    """Learn a byte-level BPE from UTF-8 text files, with the package tokenizers. It keeps capitals and spaces and has
    no unknown text.

    \b
    Example:
      bertlab vocab learn-bpe novels.txt --size 8000 --out bpe
    """
    from bertlab.tokenizers.bpe import BytePairTokenizer
    from bertlab.tokenizers.bpe.learner import count_chunks, learn_from_counts, measure
    from bertlab.tokenizers.wordpiece.learner import read_texts

    if out.is_file():
        raise DataError(f"{out}: expected the name of a folder, got a file")
    _make_folder(out / "vocab.json")
    counts = count_chunks(line for text in read_texts(files) for line in text.split("\n"))
    tokenizer = BytePairTokenizer(learn_from_counts(counts, size, min_frequency))
    tokenizer.save(out)
    report, vocabulary = measure(tokenizer, counts), tokenizer.vocabulary
    if as_json:
        click.echo(json.dumps({"out": str(out), "sha256": vocabulary.sha256, **asdict(report)}))
        return
    click.echo(f"{out}: {len(vocabulary):,} tokens. {report.sentence()}")
    if len(vocabulary) < size:
        click.echo(f"Expected {size:,} tokens, got fewer: no other pair occurs often enough to merge.", err=True)


@vocab.command("learn-sentencepiece")
@click.argument("files", nargs=-1, required=True, type=FILES)
@click.option("--size", default=8000, show_default=True, help="Number of tokens, including special tokens.")
@click.option("--out", required=True, type=FILES, help="Folder for spiece.model and tokenizer_config.json.")
@click.option("--cased", is_flag=True, help="Keep capitals.")
@click.option(
    "--cls-last",
    is_flag=True,
    help="Use special tokens for rows that end with <cls>, instead of rows that begin with it.",
)
def learn_sentencepiece(files, size, out, cased, cls_last):
    """Learn a SentencePiece model from UTF-8 text files, with the package sentencepiece.

    \b
    Example:
      bertlab vocab learn-sentencepiece novels.txt --size 8000 --out sentencepiece
    """
    from bertlab.tokenizers.sentence_pieces import learn
    from bertlab.tokenizers.wordpiece.learner import read_texts

    if out.is_file():
        raise DataError(f"{out}: expected the name of a folder, got a file")
    _make_folder(out / "spiece.model")
    tokenizer = learn(read_texts(files), size, lowercase=not cased, cls_last=cls_last)
    tokenizer.save(out)
    click.echo(f"{out}: {len(tokenizer.vocabulary):,} tokens")


@vocab.command()
@click.argument("vocabulary", type=FILES)
@click.option("--text", type=FILES, multiple=True, help="Measure on this file (repeatable).")
@click.option("--word", multiple=True, help="Show the tokens of this word (repeatable).")
@_text_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(vocabulary, text, word, cased, workers, as_json):
    """Show the contents of a vocabulary (a file, or a byte-level BPE's folder) and how well it fits a text.

    \b
    Example:
      bertlab vocab show vocab.txt --word unaffable --text held_out.txt
    """
    from bertlab.tokenizers.kinds import open_tokenizer

    tokenizer = open_tokenizer(vocabulary, **({"lowercase": False} if cased else {}))
    loaded = tokenizer.vocabulary
    continuing = [piece for piece in loaded.pieces if loaded.continues(piece) and piece != "##"]
    facts = {
        "pieces": len(loaded),
        "beginning": len(loaded) - len(continuing),
        "continuing": len(continuing),
        "longest": sorted(loaded.pieces, key=lambda piece: (-len(piece), piece))[:5],
        "special_ids": {loaded.pieces[number]: number for number in loaded.special_ids},
        "sha256": loaded.sha256,
        "words": {one: tokenizer.tokenize(one) for one in word},
    }
    report = _report(tokenizer, text, workers) if text else None
    if as_json:
        click.echo(json.dumps(facts | {"report": asdict(report) if report else None}, ensure_ascii=False))
        return
    click.echo(f"{facts['pieces']:,} tokens, {facts['continuing']:,} of them continue a word")
    click.echo("special tokens: " + ", ".join(f"{token} {number}" for token, number in facts["special_ids"].items()))
    click.echo("longest tokens: " + ", ".join(facts["longest"]))
    for one, pieces in facts["words"].items():
        click.echo(f"{one} → {' '.join(pieces)}")
    if report:
        click.echo(report.sentence() if hasattr(report, "sentence") else _sentence(report))


@vocab.command()
@click.argument("files", nargs=-1, required=True, type=FILES)
@click.option("--size", default=8000, show_default=True, help="Size of the largest vocabulary.")
@click.option("--out", required=True, type=FILES, help="File for the plot: .png, .svg or .pdf.")
@click.option("--score", type=SCORES, multiple=True, help="Plot this score (repeatable). [both]")
@click.option("--held-out", type=FILES, multiple=True, help="Measure on this text instead of the training text.")
@_learning_options
@_text_options
@click.option("--json", "as_json", is_flag=True, help="Print the plotted numbers as JSON.")
def plot(files, size, out, score, held_out, max_words, cased, workers, as_json, **settings):
    """Plot coverage and fertility against vocabulary size.

    All sizes come from one run of the learner, since a smaller vocabulary is a part of it.

    \b
    Example:
      bertlab vocab plot novels.txt --held-out held_out.txt --out vocabulary.png
    """
    from bertlab.tokenizers.wordpiece.learner import learn_pieces
    from bertlab.tokenizers.wordpiece.vocabulary_report import measure_sizes, plot_sizes

    _check_picture(out)
    _make_folder(out)
    counts = _count(files, cased, workers, max_words)
    measured = _count(held_out, cased, workers) if held_out else counts
    curves = {
        f"score: {one}": measure_sizes(learn_pieces(counts, size, score=one, **settings), measured)
        for one in score or SCORES.choices
    }
    plot_sizes(curves, out, ", ".join(file.name for file in held_out or files))
    if as_json:
        click.echo(json.dumps({name: [asdict(report) for report in reports] for name, reports in curves.items()}))
    else:
        click.echo(f"{out} written")


def _report(tokenizer, files, workers):
    """Measures how well a vocabulary fits some files."""
    if tokenizer.kind != "byte-level BPE":
        if tokenizer.kind != "WordPiece":
            raise ConfigError(f"--text measures WordPiece and byte-level BPE, not {tokenizer.kind}: leave it out")
        from bertlab.tokenizers.wordpiece.vocabulary_report import measure

        return measure(tokenizer.vocabulary, _count(files, not tokenizer.lowercase, workers))
    from bertlab.tokenizers.bpe.learner import count_chunks, measure
    from bertlab.tokenizers.wordpiece.learner import read_texts

    return measure(tokenizer, count_chunks(line for text in read_texts(files) for line in text.split("\n")))


def _sentence(report) -> str:
    return (
        f"On {report.words:,} words: {report.fertility:.3f} tokens per word, {report.coverage:.1%} of words are one "
        f"token, {report.unknown:.4%} are [UNK]"
    )


def _make_folder(out: Path) -> None:
    """Creates the folder of a result before the work, not after."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out.parent}: cannot create this folder ({error.strerror})") from None
    if out.is_dir():
        raise DataError(f"{out}: expected the name of a file, got a folder")


def _check_picture(out: Path) -> None:
    if out.suffix not in (".png", ".svg", ".pdf"):
        raise DataError(f"{out}: expected a name that ends with .png, .svg or .pdf")
