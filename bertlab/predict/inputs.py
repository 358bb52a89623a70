"""From raw strings to rows: the input from Python, or a line of the shell, for each task type.

sentence           "a text"
pair               ("one text", "another")                          one<TAB>another
multiple-choice    ("context", ["choice", "choice"])                context<TAB>choice<TAB>choice
tagging            "words between spaces" or ["words", …]
question           {"question": …, "context": …} or a pair of both  question<TAB>context, or the JSON object
"""

from collections.abc import Sequence

from bertlab.common.errors import DataError
from bertlab.data.documents_lines import json_of
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, Row, SentenceRow, TaggingRow

EXPECTED = {
    "sentence": "a text",
    "pair": "two texts, or a line with a tab between them",
    "multiple-choice": "a context and two choices or more, or a line with tabs between them",
    "tagging": "a text with blanks between its words, or a list of words",
    "question": 'a question and a context: {"question": …, "context": …}, or a line with a tab between them',
}


def row_of(shape: str, value, number: int, location: str = "") -> Row:
    """The row of one input, the number-th from 1. Raises DataError with its location ("input 7" by default)."""
    row = _row(shape, value, number)
    if row is None:
        raise DataError(f"{location or f'input {number}'}: expected {EXPECTED[shape]}; found {value!r:.80}")
    return row


def _row(shape: str, value, number: int) -> Row | None:
    if shape == "sentence":
        return SentenceRow(value) if isinstance(value, str) else None
    if shape == "tagging":
        words = value.split() if isinstance(value, str) else value
        return TaggingRow(tuple(words)) if _are_texts(words) else None
    if shape == "pair":
        return PairRow(*value) if _are_texts(value) and len(value) == 2 else None
    if shape == "multiple-choice":
        return _choices(value)
    return _question(value, number)


def _choices(value) -> MultipleChoiceRow | None:
    if isinstance(value, dict):
        value = (value.get("context"), value.get("choices"))
    if not isinstance(value, Sequence) or len(value) != 2 or not isinstance(value[0], str):
        return None
    return MultipleChoiceRow(value[0], tuple(value[1])) if _are_texts(value[1]) and len(value[1]) > 1 else None


def _question(value, number: int) -> QuestionRow | None:
    if isinstance(value, dict):
        question, context = value.get("question"), value.get("context")
        name = value.get("id", str(number))
    elif _are_texts(value) and len(value) == 2:
        (question, context), name = value, str(number)
    else:
        return None
    return QuestionRow(str(name), question, context) if _are_texts([question, context]) else None


def _are_texts(values) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values)


def input_of_line(shape: str, line: str, location: str):
    """The input on a line of a file; location: "FILE line 7", for messages. Raises DataError for invalid JSON."""
    if shape in ("multiple-choice", "question") and line.lstrip().startswith("{"):
        try:
            return json_of(line)
        except ValueError as error:
            raise DataError(f"{location}: not valid JSON ({error})") from None
    if shape == "multiple-choice":
        context, *choices = line.split("\t")
        return context, choices
    return tuple(line.split("\t")) if shape in ("pair", "question") else line
