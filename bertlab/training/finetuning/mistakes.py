"""Predictions beside the right answers; and the mistakes, most confident first, where one finds wrong labels.

Each prediction is a dict of columns, and `correct` is one of them. A mistake is another class, another choice; a word's
wrong tag; an answer that is no exact match; for numbers every row, the farthest from the right number first.
"""

from collections.abc import Iterator, Sequence

from bertlab.data.tasks.metrics_squad import exact_match
from bertlab.data.tasks.rows import PairRow, Row
from bertlab.training.finetuning.task_kinds import Decoded, TaskInfo


def mistakes(info: TaskInfo, rows: Sequence[Row], decoded: Decoded) -> list[dict]:
    """All mistakes, sorted. Every row must have its right answer."""
    found = judged_predictions(info, rows, decoded)
    if is_regression(info):
        return sorted(found, key=lambda mistake: -mistake["distance"])
    wrong = [{name: value for name, value in one.items() if name != "correct"} for one in found if not one["correct"]]
    return sorted(wrong, key=lambda mistake: -mistake["confidence"])  # stable: equal ones keep the order of the rows


def judged_predictions(info: TaskInfo, rows: Sequence[Row], decoded: Decoded) -> list[dict]:
    """Every prediction (of tagging: for every word) in the order of the rows. Every row must have its right answer."""
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
