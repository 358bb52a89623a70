"""Writing predictions in the format that each benchmark's server or script expects.

GLUE: a .tsv with the columns index and prediction, one file for each task, with that task's own label names. SQuAD: a
JSON object from question id to text. CoNLL: the word, the right tag and the predicted tag on each line, which is what
`conlleval` reads.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from bertlab.common.errors import DataError
from bertlab.data.tasks.formats_published import find_task
from bertlab.data.tasks.rows import TaggingRow


def write_glue(folder: str | Path, task_name: str, predictions: Sequence[int | float]) -> Path:
    """Writes FOLDER/MNLI-m.tsv (or the task's own name), one line for each row of the official test set.

    predictions: class indices, or numbers for STS-B, which are clipped to its range 0–5. Returns the file's path.
    Raises DataError for a task that is not part of GLUE, a different number of predictions than the test set has rows,
    or a class that does not exist.
    """
    task = find_task(task_name)
    if task is None or task.submission is None:
        raise DataError(f"{task_name!r}: expected a task of GLUE, which has a submission format")
    expected = task.sizes[2]
    if len(predictions) != expected:
        raise DataError(f"{task.name}: {len(predictions)} predictions, but the official test set has {expected} rows")
    file_name, style = task.submission
    lines = [f"{index}\t{_glue_prediction(task, style, value)}\n" for index, value in enumerate(predictions)]
    path = Path(folder) / file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("index\tprediction\n" + "".join(lines), encoding="utf-8")
    return path


def write_indexed(path: str | Path, predictions: Sequence[int | float], labels: Sequence[str]) -> None:
    """Writes the same two columns for any rows of any task: GLUE's development sets, your own file.

    predictions: class indices, written as the labels' names; tuples of them (multi-label), with commas between the
    names; numbers where there are no labels.
    """

    def written(value) -> str:
        if isinstance(value, tuple):
            return ",".join(labels[index] for index in value)
        return labels[value] if labels else format(value, ".6g")

    lines = [f"{i}\t{written(value)}\n" for i, value in enumerate(predictions)]
    Path(path).write_text("index\tprediction\n" + "".join(lines), encoding="utf-8")


def _glue_prediction(task, style: str, value) -> str:
    if style == "score":
        return f"{min(max(float(value), 0.0), 5.0):.3f}"
    if int(value) != value or not 0 <= value < len(task.labels):
        raise DataError(f"{task.name}: there is no class {value!r}; predictions are 0 to {len(task.labels) - 1}")
    return task.labels[int(value)] if style == "name" else str(int(value))


def write_squad(path: str | Path, predictions: Mapping[str, str | float]) -> None:
    """Writes {id: text}, as `evaluate-v2.0.py` and the leaderboard read it; "" stands for "no answer".

    The same for {id: no-answer score}, which the script takes as its --na-prob-file.
    """
    Path(path).write_text(json.dumps(dict(predictions), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_conll(
    path: str | Path, rows: Sequence[TaggingRow], labels: Sequence[str], predictions: Sequence[Sequence[int]]
) -> None:
    """Writes word, right tag and predicted tag (without the right one if it is unknown), separated by a space.

    Raises DataError unless there is one prediction for each word, or if a word contains white space.
    """
    if len(rows) != len(predictions):
        raise DataError(f"{len(rows)} sentences but predictions for {len(predictions)}")
    lines = []
    for number, (row, predicted) in enumerate(zip(rows, predictions)):
        if len(row.words) != len(predicted):
            raise DataError(f"sentence {number}: {len(row.words)} words but {len(predicted)} predicted tags")
        gold = [()] * len(row.words) if row.tags is None else [(labels[tag],) for tag in row.tags]
        for word, known, tag in zip(row.words, gold, predicted):
            if not word or any(character in word for character in " \t\n"):
                raise DataError(
                    f"sentence {number}: the word {word!r} contains white space, which the format does not allow"
                )
            lines.append(" ".join((word, *known, labels[tag])))
        lines.append("")
    Path(path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
