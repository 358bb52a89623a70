"""`bertlab tokenize` and `vocab`: the tokens of a text; learn, inspect and plot vocabularies."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from bertlab.cli.from_signature import REQUIRED, command, option
from bertlab.cli.options import say, texts_or_input, tokenizer_of
from bertlab.common.errors import ConfigError, DataError
from bertlab.common.settings import Settings

SCORES = ("wordpiece", "frequency")
CASED = option(False, "Keep capitals and, with WordPiece, accents.")
WORKERS = option(1, "Number of processes that count words.")
MAX_WORDS = option(None, "Forget rare words while counting if there are more words than this.")
SIZE = option(8000, "Number of tokens, including special tokens.")


@dataclass(frozen=True)
class Merges(Settings):
    """The options for choosing merges."""

    min_frequency: int | None = option(None, "Merge only pairs that occur at least this often. [decreases to 2]")
    alphabet_limit: int = option(1000, "Maximum number of characters in the alphabet.")
    reserved: int = option(0, "Number of [unused0], [unused1] … tokens.")


@command(json="Print one JSON object per text.")
def tokenize(
    texts: tuple[str, ...] = (),
    *,
    vocab: click.Path(exists=True) = option(
        REQUIRED, "vocab.txt, or a folder with it or with the files of another tokenizer."
    ),
    cased: bool = option(
        False, "Keep capitals and, with WordPiece, accents; replaces the setting in tokenizer_config.json."
    ),
    max_chars: int | None = option(None, "Replace longer words by [UNK]. [the folder's setting, or 200]"),
    ids: bool = option(False, "Print ids instead of tokens."),
    offsets: bool = option(False, "Print one token per line: id, token, start, end, text."),
    special_tokens: bool = option(False, 'Treat "[MASK]" in the text as the special token.'),
):
    """Split each of TEXTS, or each line of standard input, into the tokens of a vocabulary.

    \b
    Example:
      bertlab tokenize --vocab vocab.txt --offsets "Unaffable Zoë"
      bertlab tokenize --vocab bert-base-cased/ --json < lines.txt
    """
    tokenizer = tokenizer_of(vocab, cased, **({} if max_chars is None else {"max_chars_per_word": max_chars}))
    for line in texts_or_input(texts):
        encoding = tokenizer.encode_with_offsets(line, special_tokens)
        arrays = {name: getattr(encoding, name).tolist() for name in ("ids", "offsets", "word_ids")}
        text = " ".join(map(str, encoding.ids if ids else encoding.pieces))
        yield (
            {"text": line, "pieces": encoding.pieces, **arrays},
            _table(line, encoding) if offsets else text,
        )


def _table(line: str, encoding) -> str:
    rows = zip(encoding.ids, encoding.pieces, encoding.offsets, strict=True)
    lines = (f"{number:>7}  {piece:<20} {start:>5} {end:>5}  {line[start:end]}" for number, piece, (start, end) in rows)
    return "\n".join(lines)


@click.group()
def vocab():
    """Learn and inspect vocabularies."""


@command(group=vocab, json="Print a JSON object instead of a sentence.")
def learn(
    files: tuple[Path, ...],
    *,
    size: int = SIZE,
    out: Path = option(REQUIRED, "File for the vocabulary."),
    score: str = option("wordpiece", "Score that ranks the pairs.", choices=SCORES),
    merges: Merges,
    max_words: int | None = MAX_WORDS,
    cased: bool = CASED,
    workers: int = WORKERS,
):
    """Learn a vocabulary from UTF-8 text files.

    \b
    Example:
      bertlab vocab learn novels.txt --size 8000 --out vocab.txt
    """
    from bertlab.tokenizers.wordpiece.learner import learn_from_counts
    from bertlab.tokenizers.wordpiece.vocabulary_report import measure

    _make_folder(out)
    counts = _count(files, cased, workers, max_words)
    vocabulary = learn_from_counts(counts, size, score=score, **merges.to_dict())
    vocabulary.save(out)
    report = measure(vocabulary, counts)
    yield _learned(out, vocabulary, size, report, _sentence(report))


@command(group=vocab)
def words(
    files: tuple[Path, ...],
    *,
    most: int | None = option(None, "Largest number of words, the most frequent ones. [all]", at_least=1),
    out: Path = option(REQUIRED, "File for the words, words.txt beside the model's weights."),
):
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


@command(group=vocab, json="Print a JSON object instead of a sentence.")
def learn_bpe(
    files: tuple[Path, ...],
    *,
    size: int = option(8000, "Number of tokens, including special tokens and bytes."),
    out: Path = option(REQUIRED, "Folder for vocab.json, merges.txt and tokenizer_config.json."),
    min_frequency: int = option(2, "Merge only pairs that occur at least this often."),
):
    """Learn a byte-level BPE from UTF-8 text files, with the package tokenizers. It keeps capitals and spaces and has
    no unknown text.

    \b
    Example:
      bertlab vocab learn-bpe novels.txt --size 8000 --out bpe
    """
    from bertlab.tokenizers.bpe import BytePairTokenizer
    from bertlab.tokenizers.bpe.learner import learn_from_counts, measure

    _make_folder(out / "vocab.json")
    counts = _count_chunks(files)
    tokenizer = BytePairTokenizer(learn_from_counts(counts, size, min_frequency))
    tokenizer.save(out)
    report = measure(tokenizer, counts)
    yield _learned(out, tokenizer.vocabulary, size, report, report.sentence())


@command(group=vocab)
def learn_sentencepiece(
    files: tuple[Path, ...],
    *,
    size: int = SIZE,
    out: Path = option(REQUIRED, "Folder for spiece.model and tokenizer_config.json."),
    cased: bool = option(False, "Keep capitals."),
    cls_last: bool = option(
        False, "Use special tokens for rows that end with <cls>, instead of rows that begin with it."
    ),
):
    """Learn a SentencePiece model from UTF-8 text files, with the package sentencepiece.

    \b
    Example:
      bertlab vocab learn-sentencepiece novels.txt --size 8000 --out sentencepiece
    """
    from bertlab.tokenizers.sentence_pieces import learn
    from bertlab.tokenizers.wordpiece.learner import read_texts

    _make_folder(out / "spiece.model")
    tokenizer = learn(read_texts(files), size, lowercase=not cased, cls_last=cls_last)
    tokenizer.save(out)
    click.echo(f"{out}: {len(tokenizer.vocabulary):,} tokens")


@command(group=vocab, json="Print a JSON object.")
def show(
    vocabulary: Path,
    *,
    text: tuple[Path, ...] = option((), "Measure on this file (repeatable)."),
    word: tuple[str, ...] = option((), "Show the tokens of this word (repeatable)."),
    cased: bool = CASED,
    workers: int = WORKERS,
):
    """Show the contents of a vocabulary (a file, or a byte-level BPE's folder) and how well it fits a text.

    \b
    Example:
      bertlab vocab show vocab.txt --word unaffable --text held_out.txt
    """
    tokenizer = tokenizer_of(vocabulary, cased)
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
    lines = [
        f"{facts['pieces']:,} tokens, {facts['continuing']:,} of them continue a word",
        "special tokens: " + ", ".join(f"{token} {number}" for token, number in facts["special_ids"].items()),
        "longest tokens: " + ", ".join(facts["longest"]),
        *(f"{one} → {' '.join(pieces)}" for one, pieces in facts["words"].items()),
    ]
    if report:
        lines.append(report.sentence() if hasattr(report, "sentence") else _sentence(report))
    yield facts | {"report": asdict(report) if report else None}, "\n".join(lines)


@command(group=vocab, json="Print the plotted numbers as JSON.")
def plot(
    files: tuple[Path, ...],
    *,
    size: int = option(8000, "Size of the largest vocabulary."),
    out: Path = option(REQUIRED, "File for the plot: .png, .svg or .pdf."),
    score: tuple[str, ...] = option((), "Plot this score (repeatable). [both]", choices=SCORES),
    held_out: tuple[Path, ...] = option((), "Measure on this text instead of the training text."),
    merges: Merges,
    max_words: int | None = MAX_WORDS,
    cased: bool = CASED,
    workers: int = WORKERS,
):
    """Plot coverage and fertility against vocabulary size.

    All sizes come from one run of the learner, since a smaller vocabulary is a part of it.

    \b
    Example:
      bertlab vocab plot novels.txt --held-out held_out.txt --out vocabulary.png
    """
    from bertlab.tokenizers.wordpiece.learner import learn_pieces
    from bertlab.tokenizers.wordpiece.vocabulary_report import measure_sizes, plot_sizes

    if out.suffix not in (".png", ".svg", ".pdf"):
        raise DataError(f"{out}: expected a name that ends with .png, .svg or .pdf")
    _make_folder(out)
    counts = _count(files, cased, workers, max_words)
    measured = _count(held_out, cased, workers) if held_out else counts
    curves = {
        f"score: {one}": measure_sizes(learn_pieces(counts, size, score=one, **merges.to_dict()), measured)
        for one in score or SCORES
    }
    plot_sizes(curves, out, ", ".join(file.name for file in held_out or files))
    yield {name: [asdict(report) for report in reports] for name, reports in curves.items()}, f"{out} written"


def _count(files, cased, workers, max_words=None):
    from bertlab.tokenizers.wordpiece.learner import count_words, read_texts

    size = sum(file.stat().st_size for file in files if file.is_file())
    return count_words(read_texts(files), lowercase=not cased, workers=workers, max_words=max_words, characters=size)


def _learned(out: Path, vocabulary, size: int, report, sentence: str) -> tuple[dict, str]:
    """A learned vocabulary as JSON values and as text; says where it has fewer tokens than asked for."""
    if len(vocabulary) < size:
        say(f"Expected {size:,} tokens, got fewer: no other pair occurs often enough to merge.")
    data = {"out": str(out), "sha256": vocabulary.sha256, **asdict(report)}
    return data, f"{out}: {len(vocabulary):,} tokens. {sentence}"


def _report(tokenizer, files, workers):
    """Measures how well a vocabulary fits some files."""
    if tokenizer.kind != "byte-level BPE":
        if tokenizer.kind != "WordPiece":
            raise ConfigError(f"--text measures WordPiece and byte-level BPE, not {tokenizer.kind}: leave it out")
        from bertlab.tokenizers.wordpiece.vocabulary_report import measure

        return measure(tokenizer.vocabulary, _count(files, not tokenizer.lowercase, workers))
    from bertlab.tokenizers.bpe.learner import measure

    return measure(tokenizer, _count_chunks(files))


def _count_chunks(files):
    from bertlab.tokenizers.bpe.learner import count_chunks
    from bertlab.tokenizers.wordpiece.learner import read_texts

    return count_chunks(line for text in read_texts(files) for line in text.split("\n"))


def _sentence(report) -> str:
    return (
        f"On {report.words:,} words: {report.fertility:.3f} tokens per word, {report.coverage:.1%} of words are one "
        f"token, {report.unknown:.4%} are [UNK]"
    )


def _make_folder(out: Path) -> None:
    """Creates the folder of a result before the work, not after."""
    if out.parent.is_file():
        raise DataError(f"{out.parent}: expected the name of a folder, got a file")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out.parent}: cannot create this folder ({error.strerror})") from None
    if out.is_dir():
        raise DataError(f"{out}: expected the name of a file, got a folder")
