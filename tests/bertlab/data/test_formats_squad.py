"""SQuAD's JSON, 1.1 and 2.0."""

import json

import pytest

from bertlab.common.errors import DataError
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import read_table
from bertlab.data.tasks.formats_records import Columns, rows_from_records
from bertlab.data.tasks.rows import QuestionRow

CONTEXT = "The café 😀 opened in Łódź."  # an emoji counts as one character


def question(id="q1", **changes):
    answers = [{"text": "Łódź", "answer_start": 21}]
    return {"id": id, "question": "Where?", "answers": answers} | changes


def read_squad(path, problems):
    return rows_from_records(read_table(path, problems), Columns("question"), problems)


def squad(tmp_path, *questions, context=CONTEXT, version="1.1"):
    paragraph = {"context": context, "qas": list(questions)}
    content = {"version": version, "data": [{"title": "T", "paragraphs": [paragraph]}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_version_1_1_keeps_every_answer_and_its_start_in_characters(tmp_path):
    answers = [{"text": "Łódź", "answer_start": 21}, {"text": "in Łódź", "answer_start": 18}]
    rows = read_squad(squad(tmp_path, question(answers=answers)), Problems())
    assert rows == [QuestionRow("q1", "Where?", CONTEXT, ("Łódź", "in Łódź"), (21, 18))]


def test_version_2_0_has_questions_without_answers_and_plausible_ones_do_not_count(tmp_path):
    impossible = question("q2", is_impossible=True, answers=[], plausible_answers=[{"text": "The", "answer_start": 0}])
    rows = read_squad(squad(tmp_path, question(is_impossible=False), impossible, version="v2.0"), Problems())
    assert [row.answers for row in rows] == [("Łódź",), ()]


@pytest.mark.parametrize(
    "broken, message",
    [
        (question(answers=[{"text": "Łódź", "answer_start": 20}]), "question 0: question q1: the context has ' Łód'"),
        (question(answers=[{"text": "Łódź"}]), "each answer must be an object with 'text' and 'answer_start'"),
        (question(question="Where \ud83d?"), "half of a surrogate pair"),
        (question(question=None), "'question' must be text, found NoneType"),
        ("Where?", "expected a JSON object, found str"),
    ],
)
def test_a_defect_is_named_with_article_paragraph_and_question_or_skipped(tmp_path, broken, message):
    path = squad(tmp_path, broken, question("q9"))
    with pytest.raises(DataError, match=r"squad\.json article 0 paragraph 0 question 0.*" + message.split(": ")[-1]):
        read_squad(path, Problems())
    problems = Problems("skip")
    assert [row.id for row in read_squad(path, problems)] == ["q9"]
    assert len(problems.messages) == 1 and message in problems.messages[0]


def test_an_id_that_comes_twice_is_an_error(tmp_path):
    with pytest.raises(DataError, match="question 1: duplicate id 'q1'"):
        read_squad(squad(tmp_path, question(), question()), Problems())


def test_data_of_another_form_is_refused_with_what_was_expected(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"data": [{"title": "T"}]}')
    with pytest.raises(DataError, match="article 0: expected an object with a list under 'paragraphs'"):
        read_squad(path, Problems())
