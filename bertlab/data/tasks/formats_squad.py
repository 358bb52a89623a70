"""SQuAD's JSON, versions 1.1 and 2.0.

    {"version": "v2.0", "data": [{"title": …, "paragraphs": [{"context": …, "qas": [
        {"id": …, "question": …, "is_impossible": false, "answers": [{"text": …, "answer_start": 12}]}]}]}]}

Sources: Rajpurkar et al. 2016 (1.1) and 2018 (2.0, with unanswerable questions).
"""

from collections.abc import Iterator
from pathlib import Path

from bertlab.common.errors import DataError
from bertlab.data.documents_lines import check_surrogates
from bertlab.data.tasks.formats import Problems, Record, RecordError, read_json
from bertlab.data.tasks.formats_records import check_unique_id, make_question
from bertlab.data.tasks.rows import QuestionRow


def read_squad(path: str | Path, problems: Problems) -> list[QuestionRow]:
    """The questions of a SQuAD file, in its order.

    An impossible question has no answers (its `plausible_answers` are not answers). Raises DataError, or adds
    to `problems`, if an answer's text is not in the context at its `answer_start`, an id is a duplicate, or a key is
    missing. Characters are Unicode code points, as in the official files.
    """
    rows, seen = [], set()
    for where, question in _questions(path):
        try:
            row = _row(question)
            check_unique_id(row.id, seen)
        except RecordError as error:
            problems.add(f"{where}: {error}")
            continue
        rows.append(row)
    return rows


def is_squad(content) -> bool:
    """Whether a file's JSON has SQuAD's outermost form."""
    return isinstance(content, dict) and isinstance(content.get("data"), list)


def _questions(path) -> Iterator[Record]:
    """Every question of the file with its context, and its location: FILE article 3 paragraph 0 question 2."""
    content = read_json(path)
    if not is_squad(content):
        raise DataError(f"{path}: expected SQuAD's form, an object with a list under 'data'")
    for a, article in enumerate(content["data"]):
        for p, paragraph in enumerate(_list_in(article, "paragraphs", f"{path} article {a}")):
            where = f"{path} article {a} paragraph {p}"
            for q, question in enumerate(_list_in(paragraph, "qas", where)):
                yield Record(f"{where} question {q}", {"context": paragraph.get("context"), "question": question})


def _list_in(value, key: str, where: str) -> list:
    if not isinstance(value, dict) or not isinstance(value.get(key), list):
        raise DataError(f"{where}: expected an object with a list under {key!r}")
    return value[key]


def _row(record: dict) -> QuestionRow:
    try:
        check_surrogates(record)
    except ValueError as error:
        raise RecordError(f"not valid JSON ({error})") from None
    context, question = record["context"], record["question"]
    if not isinstance(question, dict):
        raise RecordError(f"expected a JSON object, found {type(question).__name__}")
    for key, value in (("context", context), ("question", question.get("question")), ("id", question.get("id"))):
        if not isinstance(value, str):
            raise RecordError(f"{key!r} must be text, found {type(value).__name__}")
    answers = [] if question.get("is_impossible") else question.get("answers", [])
    try:
        texts = [answer["text"] for answer in answers]
        starts = [answer["answer_start"] for answer in answers]
    except (KeyError, TypeError):
        raise RecordError("each answer must be an object with 'text' and 'answer_start'") from None
    return make_question(question["id"], question["question"], context, texts, starts)
