"""`bertlab fill-mask`, `minimal-pairs`, `inspect` and `summary`: what a model predicts, and what is inside of it."""

from pathlib import Path

import click

from bertlab.checkpoints.opening import open_checkpoint
from bertlab.cli.from_signature import FILE, FOLDER, command, option
from bertlab.cli.options import MODEL, loaded, say, table_text, texts_or_input
from bertlab.common.backend import load_backend
from bertlab.common.errors import CheckpointError
from bertlab.families import family_of


@command(json="Print one JSON line per text.")
def fill_mask(
    texts: tuple[str, ...] = (),
    *,
    model: str = MODEL,
    top: int = option(5, "Number of predictions for each [MASK].", at_least=1),
):
    """Predict the words at [MASK] in each of TEXTS, or in each line of standard input.

    \b
    Example:
      bertlab fill-mask "The bank is situated on the [MASK] of the river."
    """
    bert, tokenizer = loaded(model, "pretraining")
    from bertlab.analysis.fill_mask import fill_mask as guess

    for text in texts_or_input(texts):
        blanks = guess(bert, tokenizer, text, top)
        lines = [text]
        for number, guesses in enumerate(blanks, 1):
            lines += [f"  [MASK] {number}", *(f"    {one.probability:7.2%}  {one.piece}" for one in guesses)]
        yield {"text": text, "blanks": [[vars(one) for one in guesses] for guesses in blanks]}, "\n".join(lines)


@command(json="Print the results as JSON.")
def minimal_pairs(
    file: Path,
    model: str = MODEL,
    *,
    masking: str = option(
        "token", "Mask one token at a time; or also the tokens to its right in the same word. Only for a model with "
        "masks.",
        choices=("token", "word-left-to-right"),
    ),
    first: int | None = option(None, "Use only this number of pairs of each phenomenon. [all]", at_least=1),
    batch_size: int = option(256, "Masked copies per batch.", at_least=1),
    out: FOLDER = option(None, "Folder for pairs.csv and results.json; an interrupted command resumes in it."),
):  # fmt: skip
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

    pairs = read_pairs(file, say)
    if first:
        pairs = first_of_each(pairs, first)
    bert, tokenizer = loaded(model, "pretraining")
    from bertlab.checkpoints.native import model_digests

    identity = model_digests(bert, tokenizer) if out else None
    scores = score_pairs(bert, tokenizer, pairs, masking=masking, batch_size=batch_size, out=out, identity=identity)
    results = group_results(pairs, scores)
    yield [vars(result) for result in results], _table(results)


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


TEXT = "He opened the [MASK] and went into the house."
WITHOUT_MASK = "He opened the door and went into the house."  # for a model that predicts nothing at [MASK]


@command()
def inspect(
    model: str = MODEL,
    *,
    texts: tuple[str, ...] = option((), f"A text to read; several are allowed. [{TEXT}]", "--text"),
    treebank: Path | None = option(None, "Compare heads with the dependency relations of a .conllu file."),
    sentences: int = option(500, "Read this number of the treebank's sentences at most.", at_least=1),
    senses: Path | None = option(
        None, "Compare the senses of a word; each line: sense, tab, sentence with the word as *word*."
    ),
    out: FILE = option("inside.html", "The page to write."),
):
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
    has_head = any(path.startswith("masked_lm_head/") for path in open_checkpoint(model).tensors)
    bert, tokenizer = loaded(model, "pretraining" if has_head else "encoder")
    from bertlab.analysis.inspection import inspect_model, write_page

    texts = texts or [WITHOUT_MASK if family_of(bert.config).both_directions else TEXT]
    inspection = inspect_model(bert, tokenizer, texts, name=Path(model).name, treebank=parsed, senses=examples)
    for note in inspection["notes"]:
        say(note)
    write_page(out, inspection)
    click.echo(f"wrote {out}")


@command(json="Print JSON.")
def summary(
    model: str,
    *,
    heads: bool = option(True, "Include the heads."),
):
    """Count the parameters of MODEL: a checkpoint, as it is stored; or, with the heads of pre-training, a size (tiny,
    mini, small, medium, base, large, or of another family: electra-small …) or a config.json.

    \b
    Example:
      bertlab summary base
    """
    config, rows = _counts(model, heads)
    total = sum(count for _, count in rows)
    yield {"config": config.to_dict(), "components": rows, "total": total}, _parameters(model, config, rows, total)


def _counts(model: str, heads: bool) -> tuple:
    """The configuration and the parameters of each component."""
    from bertlab.checkpoints.packaged import is_packaged
    from bertlab.families import DEFAULT, family, load_config, size_names

    path = Path(model)
    load_backend()
    from bertlab.analysis.summary import component_counts, stored_counts

    if is_packaged(model) or (path.exists() and not path.is_file()):
        from bertlab.checkpoints.opening import open_checkpoint

        checkpoint = open_checkpoint(model)
        shapes = {path: tensor.shape for path, tensor in checkpoint.tensors.items()}
        if not shapes:
            raise CheckpointError(
                f"{model}: {checkpoint.weights_name} has no weight of the family {checkpoint.config.model_type!r}; "
                "expected the config.json that belongs to these weights"
            )
        return checkpoint.config, stored_counts(shapes, checkpoint.config, heads)
    is_file = path.is_file() or path.suffix == ".json"
    its_family, size = size_names().get(model, (DEFAULT, model))
    config = load_config(path) if is_file else family(its_family).config.named(size)
    return config, component_counts(config, heads)


def _parameters(title, config, rows, total: int) -> str:
    from rich.table import Table

    table = Table(title=f"{title}: L={config.num_layers}, H={config.hidden_size}, A={config.num_heads}")
    table.add_column("component")
    table.add_column("parameters", justify="right")
    table.add_column("share", justify="right")
    for name, count in rows:
        table.add_row(name, f"{count:,}", f"{count / total:.1%}")
    table.add_section()
    table.add_row("total", f"{total:,}", "")
    body = sum(count for name, count in rows if not name.endswith("head"))
    if body != total:
        table.add_row("encoder and pooler alone", f"{body:,}", "")
    return table_text(table)
