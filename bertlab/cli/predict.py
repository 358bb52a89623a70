"""`bertlab predict`: a fine-tuned model's predictions for lines of text."""

import json
from itertools import islice

import click

from bertlab.common.backend import load_backend
from bertlab.common.errors import DataError

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
@click.option("--data-dir", type=click.Path(), help="With --out: folder with the task's official files.")
@click.option("--out", type=click.Path(file_okay=False), help="With --task: folder for the submission file.")
@click.option("--jit", is_flag=True, help="Compile with XLA: starts slowly, faster for many thousands of lines.")
def predict(model, lines, as_json, batch_size, task, data_dir, out, jit):
    """Print one prediction for each line of LINES (a file, or standard input), in order.

    A line is a text; a pair of texts, or question and context, separated by a tab; a context and its choices, separated
    by tabs; or a JSON object {"question": …, "context": …}. Lines longer than the model are read in windows.

    \b
    Examples:
      bertlab predict runs/sst2 < reviews.txt
      echo "Where is Paris?<TAB>Paris is in France." | bertlab predict runs/squad --json
      bertlab predict runs/mnli --task mnli-mm --data-dir glue_data --out submission
      bertlab predict runs/both --task wnut17 < sentences.txt
    """
    if (out and not task) or (data_dir and not out):
        raise click.UsageError("--out needs --task, and --data-dir needs --out")
    load_backend()
    from bertlab.common.progress import bar
    from bertlab.predict import Predictor
    from bertlab.predict.submission import submit

    predictor = Predictor.load(model, _head(model, task, out), batch_size=batch_size, jit_compile=jit)
    with bar("Predicting") as running:
        if out:
            click.echo(submit(predictor, task, out, data_dir, running.advance))
        else:
            _predict_lines(predictor, lines, as_json, running)


def _head(model, task: str | None, out) -> str | None:
    """The task whose head predicts: that of mnli for its other two test sets, mnli-mm and ax."""
    from bertlab.training.finetuning.task_info import tasks_in

    if not out:
        return task
    known = tasks_in(model)
    if not known:
        return None
    return "mnli" if task in ("mnli-mm", "ax") and task not in known else task


def _predict_lines(predictor, lines, as_json, running) -> None:
    """Predicts block by block; a line that cannot be read is an error after all lines before it are printed."""
    numbered = enumerate(lines, start=1)
    while some := list(islice(numbered, LINES_BATCH_SIZE)):
        rows, error = _rows_of(predictor.info.shape, some, lines.name)
        for prediction in predictor.predict_rows(rows) if rows else ():
            click.echo(json.dumps(vars(prediction), ensure_ascii=False) if as_json else prediction.line)
        running.advance(len(rows))
        if error:
            raise error


def _rows_of(shape: str, numbered: list[tuple[int, bytes]], file: str) -> tuple[list, Exception | None]:
    """The rows of some lines up to the first that cannot be read, and the error there, if there is one."""
    from bertlab.predict.inputs import input_of_line, row_of

    rows = []
    for number, raw in numbered:
        location = f"{file} line {number}"
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            rows.append(row_of(shape, input_of_line(shape, line, location), number, location))
        except UnicodeDecodeError as error:
            return rows, DataError(f"{location}: byte {error.start + 1} is not UTF-8; convert the file first")
        except DataError as error:
            return rows, error
    return rows, None
