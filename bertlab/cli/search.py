"""`bertlab search`: the lines whose vectors are nearest to that of a query."""

import json
from pathlib import Path

import click
import numpy as np

from bertlab.analysis.search import ENGINES, VectorFile, nearest
from bertlab.cli.options import lines_of
from bertlab.common.backend import load_backend


@click.command()
@click.argument("vectors", type=click.Path(path_type=Path))
@click.argument("queries", nargs=-1, required=True, metavar="QUERY...")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1), help="Lines to print for each query.")
@click.option("--texts", type=click.File("r", encoding="utf-8"), help="File of the encoded lines, to print them too.")
@click.option("--model", help="Folder or name of the model that made the vectors. [as in the description]")
@click.option(
    "--engine",
    default="numpy",
    show_default=True,
    type=click.Choice(ENGINES),
    help="The library that compares vectors.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per query.")
def search(vectors, queries, top, texts, model, engine, as_json):
    """Find the lines whose vectors in VECTORS are nearest to each QUERY: the largest cosines, best first.

    VECTORS is a file of `bertlab encode`, which writes a description of the model beside it (VECTORS.json); the same
    model encodes the queries. Every vector is compared, block by block, so that the file may be of any size.

    \b
    Examples:
      bertlab encode sentences.txt --model DIR --out vectors.npy
      bertlab search vectors.npy "a boat on the river" --texts sentences.txt --top 3
    """
    file = VectorFile(vectors)
    found = nearest(file.blocks(), _encoded(file, model or file.settings["model"], queries), top, engine)
    known = {}
    if texts:
        known = file.texts(lines_of(texts), {one.row for each in found for one in each})
    for query, each in zip(queries, found):
        _print(query, each, known, as_json, alone=len(queries) == 1)


def _encoded(file, model, queries):
    """The queries' vectors, by the model that made those of the file: (Q, D)."""
    load_backend()
    from bertlab import checkpoints
    from bertlab.checkpoints.digest import model_digests

    backbone = checkpoints.load(model, "encoder", padded_vocabulary=True)
    tokenizer = checkpoints.load_tokenizer(model)
    return np.stack(file.encoder(backbone, tokenizer, model_digests(backbone, tokenizer))(queries))


def _print(query: str, found, texts: dict[int, str], as_json: bool, alone: bool) -> None:
    """Lines are counted from 1, as editors do."""
    if as_json:
        rows = [{"line": one.row + 1, "cosine": one.cosine} for one in found]
        rows = [row | {"text": texts[row["line"] - 1]} if texts else row for row in rows]
        click.echo(json.dumps({"query": query, "found": rows}, ensure_ascii=False))
        return
    if not alone:
        click.echo(query)
    for one in found:
        click.echo(f"{one.cosine:7.4f}  line {one.row + 1:,}  {texts.get(one.row, '')}".rstrip())
