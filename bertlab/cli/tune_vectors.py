"""`bertlab tune-vectors`: tune sentence vectors with pairs of texts that belong together."""

import json
from pathlib import Path

import click

from bertlab.cli.options import model_option
from bertlab.cli.settings_options import settings_options
from bertlab.cli.task import load_with
from bertlab.cli.task import pairs as column_pairs
from bertlab.common.backend import load_backend
from bertlab.data.tasks.load import load_task
from bertlab.training.contrastive.settings import ContrastiveSettings


@click.command("tune-vectors")
@click.argument("texts", type=click.Path(path_type=Path))
@model_option
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the encoder.")
@click.option("--graded", type=click.Path(path_type=Path), help="Pairs with a number, larger for more alike ones, to "
              "judge the vectors on; a file such as STS-B's.")  # fmt: skip
@click.option("--column", "columns", multiple=True, callback=column_pairs, metavar="FIELD=COLUMN",
              help="Read this field of TEXTS from this column: text, or text_a and text_b (repeatable).")  # fmt: skip
@click.option("--skip-errors", is_flag=True, help="Skip invalid records and count them.")
@settings_options(ContrastiveSettings)
@click.option("--json", "as_json", is_flag=True, help="Print results.json.")
def tune_vectors(texts, model, out, graded, columns, skip_errors, as_json, **options):
    """Tune the vectors that `bertlab encode` gives, with TEXTS: pairs that belong together, such as a question and its
    answer (fields text_a and text_b), or single texts (a .txt file, or the field text), each of which is read twice
    with different dropout.

    In each batch the other pairs' second texts are the negatives. After an interruption the same command resumes.

    \b
    Examples:
      bertlab tune-vectors questions.csv --column text_a=question --column text_b=answer --model DIR --out tuned
      bertlab tune-vectors sentences.txt --graded stsb-dev.tsv --model DIR --out tuned --learning-rate 1e-5
    """
    from bertlab.data.tasks.unlabelled import read_pairs

    def read(path, on_error):
        return read_pairs(path, columns, on_error)

    pairs, grades = load_with(read, texts, skip_errors=skip_errors), []
    if graded is not None:
        task = load_with(load_task, graded, skip_errors=skip_errors, source="files", shape="pair", labels=())
        grades = [row for row in (*task.train, *task.validation, *task.test) if row.label is not None]
    settings = ContrastiveSettings(**options)
    load_backend()
    from bertlab.training.contrastive.tuning import tune_vectors as tune

    result = tune(model, pairs, out, settings, grades, say=lambda text: click.echo(text, err=True))
    if as_json:
        click.echo(json.dumps(vars(result)))
    else:
        click.echo(f"{result.summary()}\n{out}: the encoder and results.json; try: bertlab encode LINES --model {out}")
