"""`bertlab minimal-pairs`: which of two sentences a model finds likelier, phenomenon by phenomenon."""

import json
from pathlib import Path

import click

from bertlab import checkpoints
from bertlab.checkpoints.packaged import MINI
from bertlab.common.backend import load_backend


@click.command("minimal-pairs")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("model", default=MINI, envvar="BERTLAB_MODEL", metavar="[MODEL]")
@click.option(
    "--masking",
    default="token",
    show_default=True,
    type=click.Choice(["token", "word-left-to-right"]),
    help="Mask one token at a time; or also the tokens to its right in the same word. Only for a model with masks.",
)
@click.option("--first", type=click.IntRange(1), help="Use only this number of pairs of each phenomenon. [all]")
@click.option("--batch-size", default=256, show_default=True, type=click.IntRange(1), help="Masked copies per batch.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for pairs.csv and results.json; an interrupted command resumes in it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def minimal_pairs(source, model, masking, first, batch_size, out, as_json):
    """Score the minimal pairs in FILE, in BLiMP's format (.jsonl, or a folder of such files).

    A pair is right if MODEL gives the correct sentence the larger score: the sum of the log probabilities of its
    tokens, each masked in turn. A model that predicts both neighbours of a token needs no masks: each token is
    predicted from its left and from its right. MODEL is bertlab-mini if it is left out.

    \b
    Examples:
      bertlab minimal-pairs blimp/data/anaphor_number_agreement.jsonl
      bertlab minimal-pairs blimp/data MODEL --out blimp-scores
    """
    from bertlab.analysis.minimal_pairs import first_of_each, group_results, read_pairs, score_pairs

    pairs = read_pairs(source, lambda text: click.echo(text, err=True))
    if first:
        pairs = first_of_each(pairs, first)
    load_backend()
    from bertlab.checkpoints.digest import model_digests

    bert = checkpoints.load(model, "pretraining")
    tokenizer = checkpoints.load_tokenizer(model)
    identity = model_digests(bert, tokenizer) if out else None
    scores = score_pairs(bert, tokenizer, pairs, masking=masking, batch_size=batch_size, out=out, identity=identity)
    results = group_results(pairs, scores)
    if as_json:
        click.echo(json.dumps([vars(result) for result in results]))
    else:
        click.echo(_table(results))


def _table(results) -> str:
    """One line per group: its name, its pairs, the fraction that is right and the interval."""
    width = max(len("phenomenon"), *(len(result.name) for result in results))
    lines, group = [], None
    for result in results:
        if result.group != group:
            group = result.group
            lines.append(f"{'' if group == 'all' else group:<{width}}  pairs  right  95 % interval")
        lines.append(
            f"{result.name:<{width}} {result.pairs:6,} {result.accuracy:6.1%}  {result.low:.1%} to {result.high:.1%}"
        )
    return "\n".join(lines)
