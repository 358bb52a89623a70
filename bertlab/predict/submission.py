"""A fine-tuned model's predictions for the test set of a task of GLUE, in the file that its server expects.

The task may differ from the one of fine-tuning: an MNLI model is evaluated on matched and on mismatched rows and, with
GLUE's diagnostics, on a third set.
"""

from collections.abc import Callable
from pathlib import Path

from bertlab.common.errors import DataError
from bertlab.data.tasks.formats_published import find_task, write_glue
from bertlab.data.tasks.load import load_task
from bertlab.predict.predictor import Predictor


def submit(
    predictor: Predictor,
    name: str,
    folder: str | Path,
    data_dir: str | Path | None = None,
    advance: Callable[[int], None] = lambda rows: None,
) -> Path:
    """Predicts the test rows of a GLUE task and returns the file that holds the predictions.

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
    columns = published.columns
    info = predictor.info.read_as(columns.shape)
    if info.multi_label or (info.shape, tuple(info.labels)) != (columns.shape, tuple(columns.labels)):
        raise DataError(
            f"{published.name} asks for {_kind(columns.shape, columns.labels)}, but the model was fine-tuned on "
            f"{info.name} and gives {_kind(info.shape, info.labels)}: choose a model fine-tuned on such a task"
        )
    rows = load_task(name, data_dir=data_dir).test
    if not rows:
        raise DataError(f"{published.name}: there are no test rows; expected {' or '.join(published.files['test'])}")
    predictions = predictor.predict_rows(rows, advance)
    values = [info.labels.index(each.label) if info.labels else each.value for each in predictions]
    return write_glue(folder, name, values)


def _kind(shape: str, labels) -> str:
    return f"{'one of ' + ', '.join(labels) if labels else 'a number'} for each {shape}"
