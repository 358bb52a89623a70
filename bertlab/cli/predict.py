"""`bertlab predict`: a fine-tuned model's predictions for lines of text."""

import json
from itertools import islice
from pathlib import Path

import click

from bertlab.cli.options import SHAPE_HELP
from bertlab.cli.task import pairs
from bertlab.common.backend import load_backend
from bertlab.common.errors import DataError
from bertlab.data.tasks.formats import TABLE_SUFFIXES

LINES_BATCH_SIZE = 2048  # read, predicted and printed together: memory does not grow with the file


@click.command()
@click.argument("model", type=click.Path(exists=True, file_okay=False))
@click.argument("lines", type=click.File("rb"), default="-")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each line, with all probabilities.")
@click.option("--batch-size", default=32, show_default=True, type=click.IntRange(1), help="Rows in a batch.")
@click.option(
    "--task",
    help="Task to predict, if MODEL was trained for several. With --out: predict the test set of this "
    "GLUE task instead of LINES, in its submission format.",
)
@click.option("--shape", type=click.Choice(["sentence", "pair"]), help=SHAPE_HELP)
@click.option("--column", "columns", multiple=True, callback=pairs, metavar="FIELD=COLUMN",
              help="Read this field of a table from this column, such as text=review (repeatable).")  # fmt: skip
@click.option("--data-dir", type=click.Path(), help="With --out: folder with the task's official files.")
@click.option("--out", type=click.Path(file_okay=False), help="With --task: folder for the submission file.")
@click.option("--jit", is_flag=True, help="Compile with XLA: starts slowly, faster for many thousands of lines.")
def predict(model, lines, as_json, batch_size, task, shape, columns, data_dir, out, jit):
    """Print one prediction for each line or row of LINES (a file, or standard input), in order.

    A line is a text; a pair of texts, or question and context, separated by a tab; a context and its choices, separated
    by tabs; or a JSON object {"question": …, "context": …}. Lines longer than the model are read in windows.

    LINES may also be a table (.csv, .tsv, .jsonl, .json, .parquet), whose columns are named as for `bertlab
    finetune`, or for a tagger CoNLL (.conll, .conllu, .bio, .iob, .iob2). Labels in it are not read.

    \b
    Examples:
      bertlab predict runs/sst2 < reviews.txt
      echo "Where is Paris?<TAB>Paris is in France." | bertlab predict runs/squad --json
      bertlab predict runs/reviews reviews.csv --column text=review
      bertlab predict mnli-of-transformers pairs.txt --shape pair
      bertlab predict runs/mnli --task mnli-mm --data-dir glue_data --out submission
      bertlab predict runs/both --task wnut17 < sentences.txt
    """
    if (out and not task) or (data_dir and not out):
        raise click.UsageError("--out needs --task, and --data-dir needs --out")
    load_backend()
    from bertlab.common.progress import bar
    from bertlab.predict import Predictor
    from bertlab.predict.files import name_of, rows_of_file
    from bertlab.predict.submission import submit

    predictor = Predictor.load(
        model, _head(model, task, out), shape, batch_size=batch_size, jit_compile=jit,
        say=lambda text: click.echo(text, err=True),
    )  # fmt: skip
    with bar("Predicting") as running:
        if out:
            click.echo(submit(predictor, task, out, data_dir, running.advance))
        else:
            _note_shape(predictor.info, model, name_of(lines))
            _predict_rows(predictor, rows_of_file(lines, predictor.info.shape, columns), as_json, running)


def _note_shape(info, model, file: str) -> None:
    """Says that lines are read as one text each, where the model's folder does not say whether it reads one or two."""
    from bertlab.training.finetuning.task_kinds import EITHER

    if info.shape == EITHER and Path(file).suffix.lower() not in TABLE_SUFFIXES:
        click.echo(
            f"{model} does not say whether it reads one text or two; each line is read as one text (--shape pair: as "
            "two with a tab between them)", err=True,
        )  # fmt: skip


def _head(model, task: str | None, out) -> str | None:
    """The task whose head predicts: that of mnli for its other two test sets, mnli-mm and ax."""
    from bertlab.training.finetuning.task_info import tasks_in

    if not out:
        return task
    known = tasks_in(model)
    if not known:
        return None
    return "mnli" if task in ("mnli-mm", "ax") and task not in known else task


def _predict_rows(predictor, rows, as_json, running) -> None:
    """Predicts block by block; a row that cannot be read is an error after all rows before it are printed."""
    read, found = 0, not _leaves_words_out(predictor.info)
    while True:
        block, error = _next_block(rows)
        for prediction in predictor.predict_rows(block) if block else ():
            click.echo(json.dumps(vars(prediction), ensure_ascii=False) if as_json else prediction.line)
            found = found or any(tag != "O" for tag in prediction.tags)
        read += len(block)
        running.advance(len(block))
        if error:
            raise error
        if len(block) < LINES_BATCH_SIZE:
            break
    if read and not found:
        click.echo(f"every word of all {read:,} rows got the tag O: the model found nothing in them", err=True)


def _leaves_words_out(info) -> bool:
    """Whether a model tags words, and has the tag O for those that it leaves out."""
    return info.shape == "tagging" and "O" in info.labels


def _next_block(rows) -> tuple[list, Exception | None]:
    """The next rows up to the first that cannot be read, and the error there, if there is one."""
    block = []
    try:
        for row in islice(rows, LINES_BATCH_SIZE):
            block.append(row)
    except DataError as error:
        return block, error
    return block, None
