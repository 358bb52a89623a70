"""`bertlab inspect`: one HTML page with a look inside a model."""

from pathlib import Path

import click

from bertlab import checkpoints
from bertlab.checkpoints.opening import open_checkpoint
from bertlab.checkpoints.packaged import MINI
from bertlab.common.backend import load_backend
from bertlab.families.abilities import predicts_neighbours

TEXT = "He opened the [MASK] and went into the house."
WITHOUT_MASK = "He opened the door and went into the house."  # for a model that predicts nothing at [MASK]


@click.command()
@click.argument("model", default=MINI, envvar="BERTLAB_MODEL", metavar="[MODEL]")
@click.option("--text", "texts", multiple=True, help=f"A text to read; several are allowed. [{TEXT}]")
@click.option(
    "--treebank", type=click.Path(path_type=Path), help="Compare heads with the dependency relations of a .conllu file."
)
@click.option(
    "--sentences",
    default=500,
    show_default=True,
    type=click.IntRange(1),
    help="Read this number of the treebank's sentences at most.",
)
@click.option(
    "--senses",
    type=click.Path(path_type=Path),
    help="Compare the senses of a word; each line: sense, tab, sentence with the word as *word*.",
)
@click.option(
    "--out",
    default="inside.html",
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write.",
)
def inspect(model, texts, treebank, sentences, senses, out):
    """Write one HTML page about what MODEL does with texts: tokens, attention by layer and head, the logit lens, a
    table of its heads; with a treebank which relations they find, with examples the senses of a word. The page of a
    model without attention has the parts that need none.

    The page is one file, works offline and is opened in any browser. MODEL is bertlab-mini if it is left out.

    \b
    Examples:
      bertlab inspect --text "The bank is situated on the [MASK] of the river."
      bertlab inspect MODEL --treebank en_ewt-ud-dev.conllu --senses bank.tsv --out page.html
    """
    from bertlab.analysis.senses import read_senses
    from bertlab.data.treebanks import read_conllu

    parsed = read_conllu(treebank)[:sentences] if treebank else []
    examples = read_senses(senses) if senses else []
    load_backend()
    from bertlab.analysis.inspection import inspect_model, write_page

    bert = checkpoints.load(model, _kind(model))
    tokenizer = checkpoints.load_tokenizer(model)
    texts = texts or [WITHOUT_MASK if predicts_neighbours(bert.config) else TEXT]
    inspection = inspect_model(bert, tokenizer, texts, name=Path(model).name, treebank=parsed, senses=examples)
    for note in inspection["notes"]:
        click.echo(note, err=True)
    write_page(out, inspection)
    click.echo(f"wrote {out}")


def _kind(model: str) -> str:
    """pretraining, or encoder where the checkpoint has no masked-LM head."""
    has_head = any(path.startswith("masked_lm_head/") for path in open_checkpoint(model).tensors)
    return "pretraining" if has_head else "encoder"
