"""`bertlab word-vectors`: learn vectors of words with word2vec, and look at them."""

import json
from pathlib import Path

import click

from bertlab.cli.settings_options import settings_options
from bertlab.common.backend import load_backend
from bertlab.training.word2vec.settings import Word2VecSettings


@click.group("word-vectors")
def word_vectors():
    """Learn vectors of words with word2vec, and find the nearest words.

    \b
    Example:
      bertlab word-vectors learn builtin --out words
    """


@word_vectors.command()
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the vectors.")
@settings_options(Word2VecSettings)
@click.option("--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
              help="Stop at defective input, or skip and count it.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print results.json.")
def learn(texts, out, on_error, as_json, **options):
    """Learn a vector for each frequent word of TEXT: "builtin", .txt or .jsonl files, folders, or hf:NAME.

    Skip-gram or CBOW with negative sampling (Mikolov et al. 2013). OUT/vectors.txt has word2vec's text format, which
    other programs read too. After an interruption the same command resumes.

    \b
    Examples:
      bertlab word-vectors learn builtin --out words
      bertlab word-vectors learn novels.txt letters.txt --kind cbow --window 8 --word-size 64 --out words
    """
    settings = Word2VecSettings(**options)
    load_backend()
    from bertlab.training.word2vec.learning import learn_word_vectors

    result = learn_word_vectors(texts, out, settings, on_error, say=lambda text: click.echo(text, err=True))
    for reason, count in result.left_out.items():
        click.echo(f"left out: {reason} ({count:,})", err=True)
    if as_json:
        click.echo(json.dumps(vars(result)))
        return
    click.echo(
        f"{out}: vectors.txt with {result.words:,} words, curve.png, results.json; "
        f"try: bertlab word-vectors nearest {out} WORD"
    )


@word_vectors.command()
@click.argument("vectors", type=click.Path(path_type=Path))
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1), help="Words to print for each WORD.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per WORD.")
def nearest(vectors, words, top, as_json):
    """Print the words whose vectors in VECTORS have the largest cosines with that of each WORD, best first.

    VECTORS is a folder of `bertlab word-vectors learn`, or a file in word2vec's or GloVe's text format.

    \b
    Example:
      bertlab word-vectors nearest words river bank --top 5
    """
    from bertlab.training.baselines.word_vectors import read_word_vectors

    known = read_word_vectors(vectors)
    for word in words:
        found = known.nearest(word, top)
        if as_json:
            rows = [{"word": other, "cosine": cosine} for other, cosine in found]
            click.echo(json.dumps({"word": word, "nearest": rows}, ensure_ascii=False))
            continue
        if len(words) > 1:
            click.echo(word)
        for other, cosine in found:
            click.echo(f"{cosine:7.4f}  {other}")
