"""`bertlab predict` and `evaluate`: the predictions of a model, and how good they are."""

from itertools import islice
from pathlib import Path

import click

from bertlab.cli.from_signature import FOLDER, Options, command, option
from bertlab.cli.labelled_rows import LabelledRows
from bertlab.cli.options import SHAPE, say
from bertlab.common.backend import load_backend
from bertlab.common.errors import DataError
from bertlab.data.tasks.formats import TABLE_SUFFIXES
from bertlab.data.tasks.load import SPLITS

LINES_BATCH_SIZE = 2048  # read, predicted and printed together: memory does not grow with the file


@command(json="Print one JSON object for each line, with all probabilities.")
def predict(
    model: click.Path(exists=True, file_okay=False),
    lines: click.File("rb") = "-",
    *,
    batch_size: int = option(32, "Rows in a batch.", at_least=1),
    task: str | None = option(
        None, "Task to predict, if MODEL was trained for several. With --out: predict the test set of this GLUE task "
        "instead of LINES, in its submission format.",
    ),
    shape: str | None = SHAPE,
    reading: LabelledRows = Options(only=("columns", "data_dir")),
    out: FOLDER = option(None, "With --task: folder for the submission file."),
    jit: bool = option(False, "Compile with XLA: starts slowly, faster for many thousands of lines."),
):  # fmt: skip
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
    if (out and not task) or (reading.data_dir and not out):
        raise click.UsageError("--out needs --task, and --data-dir needs --out")
    load_backend()
    from bertlab.common.progress import bar
    from bertlab.predict import Predictor
    from bertlab.predict.evaluation import submit
    from bertlab.predict.inputs import name_of, rows_of_file

    head = _head(model, task, out)
    predictor = Predictor.load(model, head, shape, batch_size=batch_size, jit_compile=jit, say=say)
    with bar("Predicting") as running:
        if out:
            click.echo(submit(predictor, task, out, reading.data_dir, running.advance))
        else:
            _note_shape(predictor.info, model, name_of(lines))
            yield from _predictions(predictor, rows_of_file(lines, predictor.info.shape, reading.columns), running)


def _note_shape(info, model, file: str) -> None:
    """Says that lines are read as one text each, where the model's folder does not say whether it reads one or two."""
    from bertlab.training.finetuning.task_kinds import EITHER

    if info.shape == EITHER and Path(file).suffix.lower() not in TABLE_SUFFIXES:
        say(
            f"{model} does not say whether it reads one text or two; each line is read as one text (--shape pair: as "
            "two with a tab between them)"
        )


def _head(model, task: str | None, out) -> str | None:
    """The task whose head predicts: that of mnli for its other two test sets, mnli-mm and ax."""
    from bertlab.training.finetuning.task_info import tasks_in

    if not out:
        return task
    known = tasks_in(model)
    if not known:
        return None
    return "mnli" if task in ("mnli-mm", "ax") and task not in known else task


def _predictions(predictor, rows, running):
    """Predicts block by block; a row that cannot be read is an error after all rows before it are printed."""
    leaves_words_out = predictor.info.shape == "tagging" and "O" in predictor.info.labels
    read, found = 0, not leaves_words_out
    while True:
        block, error = _next_block(rows)
        for prediction in predictor.predict_rows(block) if block else ():
            yield vars(prediction), prediction.line
            found = found or any(tag != "O" for tag in prediction.tags)
        read += len(block)
        running.advance(len(block))
        if error:
            raise error
        if len(block) < LINES_BATCH_SIZE:
            break
    if read and not found:
        say(f"every word of all {read:,} rows got the tag O: the model found nothing in them")


def _next_block(rows) -> tuple[list, Exception | None]:
    """The next rows up to the first that cannot be read, and the error there, if there is one."""
    block = []
    try:
        for row in islice(rows, LINES_BATCH_SIZE):
            block.append(row)
    except DataError as error:
        return block, error
    return block, None


@command(json="Print the metrics as JSON.")
def evaluate(
    model: str,
    rows: str | None = None,
    *,
    data: Path | None = option(None, "Folder of held-out examples, for a pre-trained model."),
    most: int | None = option(None, "Maximum number of rows to evaluate. [4096; of ROWS all]", "--rows", at_least=1),
    batch_size: int = option(64, "Rows in a batch.", at_least=1),
    task: str | None = option(None, "Task that ROWS belong to, if MODEL was trained for several."),
    split: str | None = option(None, "Split of ROWS. [test if it has labels, else validation]", choices=SPLITS),
    reading: LabelledRows = Options(without=("shape", "labels", "regression")),
    out: FOLDER = option(None, "Folder for report.txt, evaluation.json, predictions.csv and pictures."),
):
    """Evaluate MODEL (a checkpoint).

    With --data: loss, perplexity and accuracy of a pre-trained model's predictions, with the unigram baseline.
    With ROWS, a task of `bertlab task list` or your own file: metrics of a fine-tuned model, precision, recall and F1
    of each class, the confusion matrix and the calibration.

    \b
    Examples:
      bertlab data make novels.txt --vocab vocab.txt --split validation --out held-out
      bertlab evaluate run/checkpoint --data held-out
      bertlab evaluate runs/reviews more_reviews.csv --column text=review --column label=stars --out judged
      bertlab evaluate runs/sst2 sst2 --data-dir glue_data --split validation
      bertlab evaluate runs/both wnut17 --task wnut17
    """
    if (data is None) == (rows is None):
        raise click.UsageError("expected either --data FOLDER (a pre-trained model) or ROWS (a fine-tuned one)")
    if data is not None and (out or split or task or not reading.is_default):
        raise click.UsageError("--out, --split, --task and the options for files need ROWS")
    load_backend()
    if rows is None:
        yield _on_examples(model, data, most or 4096, batch_size)
    else:
        yield _on_rows(model, rows, most, batch_size, task, split, reading, out)


def _on_examples(model, data, rows, batch_size) -> tuple[dict, str]:
    from bertlab import checkpoints
    from bertlab.training.runs.evaluation import evaluate as judge
    from bertlab.training.runs.models import model_to_evaluate

    tokenizer = checkpoints.load_tokenizer(model) if checkpoints.has_tokenizer(model) else None
    metrics = judge(model_to_evaluate(model), data, rows, batch_size, tokenizer)
    lines = [f"{model} on {metrics['rows']:,} rows, {metrics['predictions']:,} predictions of {data}"]
    for name, value in metrics.items():
        if isinstance(value, float):
            number = f"{value:7.2%}" if name.endswith("accuracy") else f"{value:8.3f}"
            lines.append(f"  {name.replace('_', ' '):<24} {number}")
    return metrics, "\n".join(lines)


def _on_rows(model, labelled, max_rows, batch_size, head, split, reading, out) -> tuple[dict, str]:
    from bertlab.common.progress import bar
    from bertlab.predict import Predictor
    from bertlab.predict.evaluation import evaluate as judge
    from bertlab.predict.evaluation import labelled_split, load_labelled

    predictor = Predictor.load(model, head, batch_size=batch_size, say=say)
    task = reading.load(labelled, lambda name, **options: load_labelled(name, predictor.info, **options))
    split = split or labelled_split(task)
    rows = getattr(task, split)[:max_rows]
    with bar("Evaluating") as running:
        judgement = judge(predictor, rows, out, running.advance)
    files = "" if out is None else f"\n\n{out}: report.txt, evaluation.json, predictions.csv and pictures"
    text = f"{model} on {len(rows):,} rows of {labelled} ({split})\n\n{judgement.report()}{files}"
    return judgement.to_dict(), text
