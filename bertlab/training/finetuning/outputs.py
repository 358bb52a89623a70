"""The files of a fine-tuning beside its model: predictions, mistakes and pictures.

predictions/        development and test rows in the task's official submission format
errors.tsv          every mistake on the development rows, the ones the model was surest of first
confusion.png       confusion matrix, for 40 classes at most (numbers: predicted against right)
curves.png          training loss and development figure after each epoch
"""

from pathlib import Path

import numpy as np

from bertlab.common.files import write_text
from bertlab.data.tasks.formats_published import find_task, write_conll, write_glue, write_indexed, write_squad
from bertlab.data.tasks.rows import TaskData
from bertlab.plots import BLUE, ORANGE, new_figure
from bertlab.training.finetuning.judgement import draw_confusion, judge
from bertlab.training.finetuning.mistakes import mistakes
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.settings import STARTS
from bertlab.training.finetuning.task_kinds import Decoded, TaskInfo
from bertlab.training.runs.curves import save_figure


def write_outputs(
    folder: Path, info: TaskInfo, task: TaskData, dev: Decoded, test: Decoded | None, result: FineTuningResult
) -> None:
    """Writes everything but the model. dev, test: predictions for task.validation and task.test."""
    (folder / "predictions").mkdir(exist_ok=True)
    write_predictions(folder / "predictions", "dev", info, task.validation, dev)
    if test is not None:
        write_predictions(folder / "predictions", "test", info, task.test, test)
    write_errors(folder / "errors.tsv", info, task.validation, dev)
    draw_confusion(folder, info, task.validation, dev, judge(info, task.validation, dev))
    save_figure(folder / "curves.png", curves_figure(result))


# === Predictions ===


def write_predictions(folder: Path, split: str, info: TaskInfo, rows, decoded: Decoded) -> Path:
    """Writes one split's predictions and returns the file.

    SQuAD: id → text. Tagging: word, right tag, predicted tag. GLUE's test sets: the name and content that the server
    expects. Everything else: GLUE's columns, index and prediction.
    """
    if info.shape == "question":
        path = folder / f"{split}.json"
        write_squad(path, decoded.predictions)
        if info.null_threshold is not None:  # what evaluate-v2.0.py takes as --na-prob-file
            write_squad(folder / f"{split}.null_odds.json", decoded.options["no_answer_scores"])
        return path
    if info.shape == "tagging":
        path = folder / f"{split}.conll"
        write_conll(path, rows, info.labels, decoded.predictions)
        return path
    published = find_task(info.name)
    if split == "test" and published and published.submission and len(rows) == published.sizes[2]:
        return write_glue(folder, info.name, decoded.predictions)
    path = folder / f"{split}.tsv"
    write_indexed(path, decoded.predictions, info.labels)
    return path


# === Mistakes ===


def write_errors(path: Path, info: TaskInfo, rows, decoded: Decoded) -> None:
    """Writes a table with a header: one mistake on each line."""
    table = mistakes(info, rows, decoded)
    columns = list(table[0]) if table else ["confidence", "right", "predicted"]
    lines = ["\t".join(columns), *("\t".join(_cell(mistake[name]) for name in columns) for mistake in table)]
    write_text(path, "\n".join(lines) + "\n")


def _cell(value) -> str:
    return f"{value:.4f}" if isinstance(value, float) else " ".join(str(value).split())


# === Pictures ===


def curves_figure(result: FineTuningResult):
    """Loss and figure after each epoch, of the best setting of each start; the band is ± one standard deviation."""
    figure, (left, right) = new_figure(11, 4.2, 1, 2)
    for start, colour, marker in zip(STARTS, (BLUE, ORANGE), ("o", "s")):
        summary = result.of(start)
        runs = [run for run in summary.runs if run.epochs] if summary else []  # what diverged has no curve
        if not runs:
            continue
        shortest = min(len(run.epochs) for run in runs)  # some may have stopped early
        epochs = np.arange(1, shortest + 1)
        losses = np.array([[row["loss"] for row in run.epochs[:shortest]] for run in runs])
        values = np.array([[row["figures"][result.metric] for row in run.epochs[:shortest]] for run in runs])
        for axes, curves in ((left, losses), (right, values)):
            mean, sd = curves.mean(axis=0), curves.std(axis=0, ddof=int(len(curves) > 1))
            axes.plot(epochs, mean, color=colour, marker=marker, label=f"{start} ({len(curves)} runs)")
            axes.fill_between(epochs, mean - sd, mean + sd, color=colour, alpha=0.2)
            axes.set(xlabel="epoch", xticks=epochs)
    left.set_title("Training loss")
    right.set_title(f"{result.task}: {result.metric} on development rows", parse_math=False)
    right.legend(frameon=False)
    return figure
