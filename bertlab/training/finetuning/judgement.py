"""The judgement on a fine-tuned model: metrics on labelled rows, each class, the confusions, the calibration.

evaluation.json      everything; report.txt says the same for people
predictions.csv      each row (each word of tagging) with its right answer, the prediction and its confidence
confusion.png, calibration.png
"""

import csv
import dataclasses
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from bertlab.common.errors import DataError
from bertlab.common.files import write_json, write_text
from bertlab.data.tasks.class_report import (
    Calibration,
    ClassScores,
    averages,
    calibration,
    class_scores,
    confusion_counts,
)
from bertlab.data.tasks.metrics import label_matrix, score
from bertlab.data.tasks.metrics_entities import entity_counts, is_entity_tag
from bertlab.data.tasks.metrics_squad import exact_match
from bertlab.data.tasks.rows import PairRow, QuestionRow, Row, TaggingRow
from bertlab.plots import BLUE, GREY, confusion_matrix, new_figure, reliability_diagram
from bertlab.training.finetuning.results import json_values
from bertlab.training.finetuning.task_kinds import Decoded, TaskInfo
from bertlab.training.runs.curves import save_figure

EVALUATION, REPORT, PREDICTIONS = "evaluation.json", "report.txt", "predictions.csv"
PICTURES = CONFUSION, CALIBRATION = "confusion.png", "calibration.png"
_MAX_CLASSES = 12  # of a confusion matrix in text


@dataclass(frozen=True)
class Judgement:
    """The worth of a model on some rows.

    metrics: the first is the one that models are chosen by. confusion: (C, C), class i predicted as class j, with the
    classes' names in `confused`; None for numbers, several labels per row and answers. classes: each class, label or
    type of entity. calibration: None for numbers.
    """

    task: str
    shape: str
    rows: int
    metrics: dict[str, float]
    classes: tuple[ClassScores, ...] = ()
    confused: tuple[str, ...] = ()
    confusion: np.ndarray | None = None
    calibration: Calibration | None = None
    remark: str | None = None  # a sentence about all predictions together

    def to_dict(self) -> dict:
        """JSON values; NaN and infinite numbers are null."""
        own = {
            "task": self.task, "shape": self.shape, "rows": self.rows, "metrics": self.metrics,
            "classes": [dataclasses.asdict(one) for one in self.classes],
            "averages": averages(self.classes) if self.classes else {},
            "calibration": self.calibration and dataclasses.asdict(self.calibration),
        }  # fmt: skip
        if self.confusion is not None:
            own["confusion"] = {"labels": list(self.confused), "counts": self.confusion.tolist()}
        return json_values(own)

    def report(self) -> str:
        """Tables for people."""
        parts = [[f"{name:<24} {value:8.4f}" for name, value in self.metrics.items()]]
        if self.classes:
            parts.append(self._class_table())
        if self.confusion is not None and len(self.confused) <= _MAX_CLASSES:
            parts.append(self._confusion_table())
        if self.calibration:
            parts.append(self._calibration_table())
        if self.remark:
            parts.append([self.remark])
        return "\n\n".join("\n".join(part) for part in parts)

    def _class_table(self) -> list[str]:
        width = max(12, *(len(one.label) for one in self.classes))
        rows = [(one.label, dataclasses.asdict(one), f"  {one.support:7,}") for one in self.classes]
        rows += [(f"{name} mean", mean, "") for name, mean in averages(self.classes).items()]
        return [f"{'class':<{width}} precision  recall      f1  support"] + [
            f"{name:<{width}}   {scores['precision']:7.4f} {scores['recall']:7.4f} {scores['f1']:7.4f}{support}"
            for name, scores, support in rows
        ]

    def _confusion_table(self) -> list[str]:
        width = max(5, *(len(name) for name in self.confused), len(f"{self.confusion.max():,}"))
        head = f"{'is, called →':<{max(width, 12)}}"
        lines = [" ".join([head, *(f"{name:>{width}}" for name in self.confused)])]
        for name, counts in zip(self.confused, self.confusion):
            lines.append(" ".join([f"{name:<{len(head)}}", *(f"{count:>{width},}" for count in counts)]))
        return lines

    def _calibration_table(self) -> list[str]:
        lines = [f"expected calibration error {self.calibration.error:.4f}", "confidence     rows    mean  accuracy"]
        for one in self.calibration.bins:
            lines.append(f"{one.low:.1f} to {one.high:.1f} {one.count:8,}  {one.confidence:.4f}    {one.accuracy:.4f}")
        return lines


def judge(info: TaskInfo, rows: Sequence[Row], decoded: Decoded) -> Judgement:
    """The judgement on predictions for labelled rows. Raises DataError where rows have no right answer."""
    require_answers(info.name, rows)
    own, figures = partial(Judgement, info.name, info.shape, len(rows)), info.score(rows, decoded)
    if info.multi_label:
        return own(figures, *_label_scores(info, rows, decoded))
    if is_regression(info):
        more = score(("mean_absolute_error", "root_mean_squared_error"), rows, (), decoded.predictions)
        return own(figures | more)
    found = judged_predictions(info, rows, decoded)  # of tagging one for each word
    right = [one["correct"] for one in found]
    calibrated = calibration([one["confidence"] for one in found], right)
    if info.shape == "question":
        if info.null_threshold is None:
            return own(figures, calibration=calibrated)
        names, gold = ("no answer", "answer"), [bool(row.answers) for row in rows]
        guess = [decoded.predictions[row.id] != "" for row in rows]
    else:
        figures.setdefault("accuracy", float(np.mean(right)))
        names = info.labels or tuple(map(str, range(max(len(row.choices) for row in rows))))
        is_tagging = info.shape == "tagging"
        gold = np.concatenate([row.tags for row in rows]) if is_tagging else [row.label for row in rows]
        guess = np.concatenate(decoded.predictions) if is_tagging else decoded.predictions
    counts = confusion_counts(gold, guess, len(names))
    if info.shape == "tagging" and all(map(is_entity_tag, info.labels)):
        classes = _entity_types(info, rows, decoded)
    else:
        classes = class_scores(names, np.diag(counts), counts.sum(axis=1), counts.sum(axis=0))
    return own(figures, tuple(classes), names, counts, calibrated, nothing_found(info, decoded))


def _label_scores(info, rows, decoded: Decoded) -> tuple:
    """The scores of each label on its own, and the calibration over all pairs of a row and a label."""
    truth, guess = (label_matrix(each, len(info.labels)) for each in ([row.label for row in rows], decoded.predictions))
    scores = class_scores(info.labels, (truth & guess).sum(axis=0), truth.sum(axis=0), guess.sum(axis=0))
    confidences = np.maximum(decoded.probabilities, 1 - decoded.probabilities)  # (N, C)
    return tuple(scores), (), None, calibration(confidences.ravel(), (truth == guess).ravel())


def _entity_types(info, rows, decoded: Decoded) -> list[ClassScores]:
    gold, guess = ([[info.labels[tag] for tag in tags] for tags in each] for each in
                   ([row.tags for row in rows], decoded.predictions))  # fmt: skip
    hits, there, claimed = entity_counts(gold, guess)
    types = sorted(there | claimed)
    return class_scores(types, *([counter[kind] for kind in types] for counter in (hits, there, claimed)))


def is_labelled(row: Row) -> bool:
    """Whether a row has its right answer. A question without answers is unanswerable, which is an answer, too."""
    if isinstance(row, QuestionRow):
        return True
    return (row.tags if isinstance(row, TaggingRow) else row.label) is not None


def has_answers(rows: Sequence[Row]) -> bool:
    """Whether some rows have their right answers; a question counts only with a span of the context."""
    return any(row.answers if isinstance(row, QuestionRow) else is_labelled(row) for row in rows)


def require_answers(name: str, rows: Sequence[Row]) -> None:
    """Raises DataError unless there are rows and each has its right answer."""
    if not rows:
        raise DataError(f"{name}: expected at least one row to evaluate")
    missing = [number for number, row in enumerate(rows, 1) if not is_labelled(row)]
    if missing:
        raise DataError(
            f"{name}: {len(missing):,} of {len(rows):,} rows have no label, the first is row {missing[0]:,}; expected "
            "one for each row. `bertlab predict` predicts rows without labels"
        )


def write_judgement(folder: Path, info: TaskInfo, rows: Sequence[Row], decoded: Decoded, judgement: Judgement) -> None:
    """Writes evaluation.json, report.txt, predictions.csv and the pictures."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot create it ({error.strerror}); choose another folder") from None
    write_json(folder / EVALUATION, judgement.to_dict())
    write_text(folder / REPORT, judgement.report() + "\n")
    table, text = judged_predictions(info, rows, decoded), io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    write_text(folder / PREDICTIONS, text.getvalue())
    draw_confusion(folder, info, rows, decoded, judgement)
    if judgement.calibration:
        bins = judgement.calibration.bins
        columns = ([getattr(one, name) for one in bins] for name in ("confidence", "accuracy", "count"))
        save_figure(folder / CALIBRATION, reliability_diagram(*columns, judgement.calibration.error))


def draw_confusion(folder: Path, info: TaskInfo, rows: Sequence[Row], decoded: Decoded, judgement: Judgement) -> None:
    """confusion.png: the confusion matrix, or predicted against right numbers. None for answers and for many labels."""
    if judgement.confusion is not None:
        save_figure(folder / CONFUSION, confusion_matrix(judgement.confusion, judgement.confused))
    elif is_regression(info):
        gold, (figure, axes) = [row.label for row in rows], new_figure(5, 5)
        axes.plot([min(gold), max(gold)], [min(gold), max(gold)], color=GREY, linestyle="--", linewidth=1)
        axes.scatter(gold, decoded.predictions, s=10, alpha=0.5, color=BLUE, edgecolors="none")
        axes.set(xlabel="right", ylabel="predicted")
        save_figure(folder / CONFUSION, figure)


# === Predictions beside the right answers ===


def judged_predictions(info: TaskInfo, rows: Sequence[Row], decoded: Decoded) -> list[dict]:
    """Every prediction (of tagging: for every word) in the order of the rows, a dict of columns with `correct` in it.

    Numbers have their `distance` from the right one instead. Every row must have its right answer.
    """
    if info.shape == "question":
        return list(_questions(rows, decoded))
    if info.shape == "tagging":
        return list(_words(info.labels, rows, decoded))
    if info.shape == "multiple-choice":
        return list(_choices(rows, decoded))
    return list(_numbers(rows, decoded) if is_regression(info) else _classes(info.labels, rows, decoded))


def nothing_found(info: TaskInfo, decoded: Decoded) -> str | None:
    """A sentence about a tagger that gave every word the tag O: it learned nothing, however high its accuracy is."""
    if info.shape != "tagging" or "O" not in info.labels:
        return None
    outside, rows = info.labels.index("O"), decoded.predictions
    if not any(rows) or any(tag != outside for tags in rows for tag in tags):
        return None
    return f"every word of all {len(rows):,} rows got the tag O: the model found nothing in them"


def is_regression(info: TaskInfo) -> bool:
    """Whether a number is predicted for each row."""
    return info.shape in ("sentence", "pair") and not info.labels


def _texts(row: Row) -> dict[str, str]:
    return {"text_a": row.text_a, "text_b": row.text_b} if isinstance(row, PairRow) else {"text": row.text}


def _classes(labels, rows, decoded: Decoded) -> Iterator[dict]:
    for index, (row, guess, sure) in enumerate(zip(rows, decoded.predictions, decoded.confidences)):
        right, predicted = _named(labels, row.label), _named(labels, guess)
        own = {"confidence": sure, "correct": guess == row.label, "right": right, "predicted": predicted, "row": index}
        yield own | _texts(row)


def _named(labels, label: int | tuple[int, ...]) -> str:
    """The name of a class, or of several labels."""
    return ", ".join(labels[one] for one in label) if isinstance(label, tuple) else labels[label]


def _numbers(rows, decoded: Decoded) -> Iterator[dict]:
    for index, (row, guess) in enumerate(zip(rows, decoded.predictions)):
        distance = abs(float(row.label) - guess)
        yield {"distance": distance, "right": float(row.label), "predicted": guess, "row": index} | _texts(row)


def _choices(rows, decoded: Decoded) -> Iterator[dict]:
    for index, (row, guess, sure) in enumerate(zip(rows, decoded.predictions, decoded.confidences)):
        yield {
            "confidence": sure, "correct": guess == row.label, "right": row.choices[row.label],
            "predicted": row.choices[guess], "row": index, "context": row.context,
        }  # fmt: skip


def _words(labels, rows, decoded: Decoded) -> Iterator[dict]:
    for index, (row, guesses, sures) in enumerate(zip(rows, decoded.predictions, decoded.confidences)):
        for word, (tag, guess, sure) in enumerate(zip(row.tags, guesses, sures)):
            yield {
                "confidence": sure, "correct": tag == guess, "right": labels[tag], "predicted": labels[guess],
                "row": index, "word": row.words[word], "sentence": " ".join(row.words),
            }  # fmt: skip


def _questions(rows, decoded: Decoded) -> Iterator[dict]:
    for row, sure in zip(rows, decoded.confidences):
        guess = decoded.predictions[row.id]
        yield {
            "confidence": sure, "correct": any(exact_match(answer, guess) for answer in row.answers or ("",)),
            "right": " | ".join(dict.fromkeys(row.answers)) or "(no answer)", "predicted": guess or "(no answer)",
            "id": row.id, "question": row.question, "context": row.context,
        }  # fmt: skip
