"""`bertlab tokenize`: the tokens of a text, with ids and offsets."""

import json

import click

from bertlab.cli.options import texts_or_input


@click.command()
@click.argument("text", nargs=-1)
@click.option(
    "--vocab",
    required=True,
    type=click.Path(exists=True),
    help="vocab.txt, or a folder with it or with the files of another tokenizer.",
)
@click.option(
    "--cased",
    is_flag=True,
    help="Keep capitals and, with WordPiece, accents; replaces the setting in tokenizer_config.json.",
)
@click.option("--max-chars", type=int,
              help="Replace longer words by [UNK]. [the folder's setting, or 200]")  # fmt: skip
@click.option("--ids", is_flag=True, help="Print ids instead of tokens.")
@click.option("--offsets", is_flag=True, help="Print one token per line: id, token, start, end, text.")
@click.option("--special-tokens", is_flag=True, help='Treat "[MASK]" in the text as the special token.')
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per text.")
def tokenize(text, vocab, cased, max_chars, ids, offsets, special_tokens, as_json):
    """Split TEXT, or each line of standard input, into the tokens of a vocabulary.

    \b
    Example:
      bertlab tokenize --vocab vocab.txt --offsets "Unaffable Zoë"
      bertlab tokenize --vocab bert-base-cased/ --json < lines.txt
    """
    tokenizer = _tokenizer(vocab, cased, max_chars)
    for line in texts_or_input(text):
        encoding = tokenizer.encode_with_offsets(line, special_tokens)
        if as_json:
            click.echo(_json(line, encoding))
        elif offsets:
            click.echo(_table(line, encoding))
        else:
            click.echo(" ".join(map(str, encoding.ids if ids else encoding.pieces)))


def _tokenizer(vocab: str, cased: bool, max_chars: int | None):
    from bertlab.tokenizers.kinds import open_tokenizer

    settings = {"lowercase": False} if cased else {}
    if max_chars is not None:
        settings["max_chars_per_word"] = max_chars
    return open_tokenizer(vocab, **settings)


def _json(line: str, encoding) -> str:
    fields = {"ids": encoding.ids, "offsets": encoding.offsets, "word_ids": encoding.word_ids}
    arrays = {name: array.tolist() for name, array in fields.items()}
    return json.dumps({"text": line, "pieces": encoding.pieces, **arrays}, ensure_ascii=False)


def _table(line: str, encoding) -> str:
    rows = zip(encoding.ids, encoding.pieces, encoding.offsets, strict=True)
    lines = (f"{number:>7}  {piece:<20} {start:>5} {end:>5}  {line[start:end]}" for number, piece, (start, end) in rows)
    return "\n".join(lines)
