"""The mistakes on the development rows, most confident first: where a reader finds wrong labels and blind spots.

A mistake is a dict of columns. A mistake is another class, another choice; a word's wrong tag; an answer that is
no exact match; for numbers every row, the farthest from the right number first.
"""

from collections.abc import Iterator, Sequence

from bertlab.data.tasks.metrics_squad import exact_match
from bertlab.data.tasks.rows import PairRow, Row
from bertlab.training.finetuning.problems import Decoded, TaskInfo


def mistakes(info: TaskInfo, rows: Sequence[Row], decoded: Decoded) -> list[dict]:
    """All mistakes, sorted. Every row must have its right answer."""
    if info.shape == "question":
        found = _questions(rows, decoded)
    elif info.shape == "tagging":
        found = _words(info.labels, rows, decoded)
    elif info.shape == "multiple-choice":
        found = _choices(rows, decoded)
    elif not info.labels:
        found = _numbers(rows, decoded)
        return sorted(found, key=lambda mistake: -mistake["distance"])
    else:
        found = _classes(info.labels, rows, decoded)
    return sorted(found, key=lambda mistake: -mistake["confidence"])  # stable: equal ones keep the order of the rows


def _texts(row: Row) -> dict[str, str]:
    return {"text_a": row.text_a, "text_b": row.text_b} if isinstance(row, PairRow) else {"text": row.text}


def _classes(labels, rows, decoded: Decoded) -> Iterator[dict]:
    for index, (row, guess, sure) in enumerate(zip(rows, decoded.predictions, decoded.confidences)):
        if guess != row.label:
            right, predicted = _named(labels, row.label), _named(labels, guess)
            yield {"confidence": sure, "right": right, "predicted": predicted, "row": index} | _texts(row)


def _named(labels, label: int | tuple[int, ...]) -> str:
    """The name of a class, or of several labels."""
    return ", ".join(labels[one] for one in label) if isinstance(label, tuple) else labels[label]


def _numbers(rows, decoded: Decoded) -> Iterator[dict]:
    for index, (row, guess) in enumerate(zip(rows, decoded.predictions)):
        distance = abs(float(row.label) - guess)
        yield {"distance": distance, "right": float(row.label), "predicted": guess, "row": index} | _texts(row)


def _choices(rows, decoded: Decoded) -> Iterator[dict]:
    for index, (row, guess, sure) in enumerate(zip(rows, decoded.predictions, decoded.confidences)):
        if guess != row.label:
            yield {
                "confidence": sure, "right": row.choices[row.label], "predicted": row.choices[guess], "row": index,
                "context": row.context,
            }  # fmt: skip


def _words(labels, rows, decoded: Decoded) -> Iterator[dict]:
    for index, (row, guesses, sures) in enumerate(zip(rows, decoded.predictions, decoded.confidences)):
        for word, (tag, guess, sure) in enumerate(zip(row.tags, guesses, sures)):
            if tag != guess:
                yield {
                    "confidence": sure, "right": labels[tag], "predicted": labels[guess], "row": index,
                    "word": row.words[word], "sentence": " ".join(row.words),
                }  # fmt: skip


def _questions(rows, decoded: Decoded) -> Iterator[dict]:
    for row, sure in zip(rows, decoded.confidences):
        guess = decoded.predictions[row.id]
        if not any(exact_match(answer, guess) for answer in row.answers or ("",)):
            yield {
                "confidence": sure, "right": " | ".join(dict.fromkeys(row.answers)) or "(no answer)",
                "predicted": guess or "(no answer)", "id": row.id, "question": row.question, "context": row.context,
            }  # fmt: skip
