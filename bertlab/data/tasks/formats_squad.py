"""SQuAD's JSON, versions 1.1 and 2.0.

    {"version": "v2.0", "data": [{"title": …, "paragraphs": [{"context": …, "qas": [
        {"id": …, "question": …, "is_impossible": false, "answers": [{"text": …, "answer_start": 12}]}]}]}]}

Sources: Rajpurkar et al. 2016 (1.1) and 2018 (2.0, with unanswerable questions).
"""

from collections.abc import Iterator
from pathlib import Path

from bertlab.common.errors import DataError
from bertlab.data.documents_lines import Problems, RecordError
from bertlab.data.tasks.formats import Record, json_object, read_json
from bertlab.data.tasks.formats_records import Columns, rows_from_records
from bertlab.data.tasks.rows import QuestionRow


def read_squad(path: str | Path, problems: Problems) -> list[QuestionRow]:
    """The questions of a SQuAD file, in its order.

    An impossible question has no answers (its `plausible_answers` are not answers). Raises DataError, or adds
    to `problems`, if an answer's text is not in the context at its `answer_start`, an id is a duplicate, or a key is
    missing. Characters are Unicode code points, as in the official files.
    """
    return rows_from_records(_records(path, problems), Columns("question"), problems)


def is_squad(content) -> bool:
    """Whether a file's JSON has SQuAD's outermost form."""
    return isinstance(content, dict) and isinstance(content.get("data"), list)


def _records(path, problems: Problems) -> Iterator[Record]:
    """Every question of the file with its location: FILE article 3 paragraph 0 question 2."""
    content = read_json(path)
    if not is_squad(content):
        raise DataError(f"{path}: expected SQuAD's form, an object with a list under 'data'")
    for a, article in enumerate(content["data"]):
        for p, paragraph in enumerate(_list_in(article, "paragraphs", f"{path} article {a}")):
            where = f"{path} article {a} paragraph {p}"
            for q, question in enumerate(_list_in(paragraph, "qas", where)):
                with problems.at(f"{where} question {q}"):
                    yield Record(f"{where} question {q}", _columns(paragraph.get("context"), question))


def _list_in(value, key: str, where: str) -> list:
    if not isinstance(value, dict) or not isinstance(value.get(key), list):
        raise DataError(f"{where}: expected an object with a list under {key!r}")
    return value[key]


def _columns(context, question) -> dict:
    question = json_object(question | {"context": context} if isinstance(question, dict) else question)
    for key in ("context", "question", "id"):
        if not isinstance(question.get(key), str):
            raise RecordError(f"{key!r} must be text, found {type(question.get(key)).__name__}")
    answers = [] if question.get("is_impossible") else question.get("answers", [])
    try:
        texts, starts = ([answer[key] for answer in answers] for key in ("text", "answer_start"))
    except (KeyError, TypeError):
        raise RecordError("each answer must be an object with 'text' and 'answer_start'") from None
    return question | {"answers": texts, "answer_starts": starts}
