"""`evaluate`: a fine-tuned model on labelled rows of a file or task, read and predicted as `bertlab predict` does.

`submit`: its predictions for the test set of a task of GLUE, in the file that its server expects.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from bertlab.common.errors import DataError, asked
from bertlab.common.job import Job
from bertlab.data.tasks.formats_published import find_task, write_glue
from bertlab.data.tasks.formats_records import Columns
from bertlab.data.tasks.load import SPLITS, has_fixed_format, load_task
from bertlab.data.tasks.rows import PairRow, Row, TaskData
from bertlab.predict.predictor import Predictor
from bertlab.training.finetuning.judgement import (
    EVALUATION,
    PICTURES,
    PREDICTIONS,
    REPORT,
    Judgement,
    has_answers,
    judge,
    require_answers,
    write_judgement,
)
from bertlab.training.finetuning.task_kinds import EITHER, TaskInfo


def evaluate(
    predictor: Predictor,
    rows: Sequence[Row],
    out: str | Path | None = None,
    advance: Callable[[int], None] = lambda rows: None,
) -> Judgement:
    """Metrics, the scores of each class, the confusions and the calibration of a fine-tuned model on labelled rows.

    Texts longer than the model's maximum length are read in windows, as in `bertlab predict`.

    Args:
        predictor: of the model.   rows: of the model's task type, each with its right answer.
        out: a folder for evaluation.json, report.txt, predictions.csv and pictures.
        advance: called with the number of rows done.

    Raises DataError for rows without right answers, and for a folder with the files of another command.

    Example:
        predictor = Predictor.load("runs/reviews")
        task = load_labelled("more_reviews.csv", predictor.info, columns={"text": "review", "label": "stars"})
        print(evaluate(predictor, task.train).report())
    """
    info = info_for(predictor.info, rows)
    require_answers(info.name, rows)
    if out is not None:
        Job(out, EVALUATION, {}, error=DataError).check_unused(REPORT, PREDICTIONS, *PICTURES)
    decoded = predictor.decoded(rows, advance)
    judgement = judge(info, rows, decoded)
    if out is not None:
        write_judgement(Path(out), info, rows, decoded, judgement)
    return judgement


def info_for(info: TaskInfo, rows: Sequence[Row]) -> TaskInfo:
    """The description of a model; where it does not say whether it reads one text or two, of what the rows are."""
    return info.read_as("pair" if rows and isinstance(rows[0], PairRow) else "sentence")


def load_labelled(name_or_path: str | Path, info: TaskInfo, **options) -> TaskData:
    """A task (see `load_task`) whose labels are those of a fine-tuned model, in the model's order.

    Raises DataError for a task of another type or with other labels.

    Example:
        >>> info = TaskInfo("films", "sentence", labels=("bad", "good"), metrics=("accuracy",))
        >>> rows = [{"text": "A fine film.", "label": "good"}, {"text": "It is too long.", "label": "bad"}]
        >>> [row.label for row in load_labelled(rows, info).train]
        [1, 0]
    """
    own = {}
    asked_for = {name: options[name] for name in ("source", "data_dir", "columns") if name in options}
    if not has_fixed_format(name_or_path, **asked_for):
        own = {} if info.shape == EITHER else {"shape": info.shape}  # the columns tell a text from a pair
        if info.shape not in ("question", "multiple-choice"):
            own["labels"] = info.labels or ()
    task = load_task(name_or_path, **options | own)
    if info.multi_label and not task.multi_label:
        raise DataError(
            f"{task.name}: rows have one label each, but the model predicts any number of labels; give the text "
            f"between two labels ({asked('--label-separator', 'label_separator')})"
        )
    _check_labels(task.name, task, info.read_as(task.shape))
    return task


def _check_labels(name: str, task: TaskData | Columns, info: TaskInfo) -> None:
    theirs, ours = ((one.shape, tuple(one.labels), one.multi_label) for one in (task, info))
    if theirs != ours and not theirs[0] == ours[0] == "multiple-choice":
        kinds = []
        for shape, labels, multi_label in (theirs, ours):
            named = f"{'any number of ' if multi_label else ''}{', '.join(labels)}" if labels else "no classes"
            kinds.append(f"{shape} rows ({named})")
        raise DataError(
            f"{name} has {kinds[0]}, but the model was fine-tuned on {info.name} and predicts {kinds[1]}; choose a "
            "model fine-tuned on such rows"
        )


def labelled_split(task: TaskData) -> str:
    """The split to evaluate on: test if its rows have labels, else validation, else train.

    Questions of which none has an answer count as rows without labels. Raises DataError if no split has labels.
    """
    for split in reversed(SPLITS):
        if has_answers(getattr(task, split)):
            return split
    raise DataError(f"{task.name}: no row has a label; `bertlab predict` predicts rows without labels")


def submit(
    predictor: Predictor,
    name: str,
    folder: str | Path,
    data_dir: str | Path | None = None,
    advance: Callable[[int], None] = lambda rows: None,
) -> Path:
    """Predicts the test rows of a GLUE task and returns the file that holds the predictions.

    The task may differ from the one of fine-tuning: an MNLI model is evaluated on matched and on mismatched rows and,
    with GLUE's diagnostics, on a third set.

    Args:
        name: of the task, as in `bertlab task list`.
        folder: where the file is written, under the task's official name.
        data_dir: the folder with the official files; by default the Hugging Face hub.
        advance: called with the number of rows done.

    Raises DataError for a task that is not part of GLUE, or has other labels than the model.
    """
    published = find_task(name)
    if published is None or published.submission is None:
        raise DataError(f"{name}: expected a task of GLUE; see `bertlab task list`")
    _check_labels(published.name, published.columns, predictor.info.read_as(published.columns.shape))
    rows = load_task(name, data_dir=data_dir).test
    if not rows:
        raise DataError(f"{published.name}: there are no test rows; expected {' or '.join(published.files['test'])}")
    return write_glue(folder, name, predictor.decoded(rows, advance).predictions)
