"""Reading tables: bytes, lines, columns, and the rows of every shape that come of them."""

import json

import pytest
from refusals import refused

from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import read_lines, read_table
from bertlab.data.tasks.formats_records import Columns, guess_shape, rows_from_records
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def records(path, **options):
    return list(read_table(path, Problems(), **options))


def columns_of(path, **options):
    return [record.columns for record in records(path, **options)]


# --- lines and tables ---


def test_a_line_ends_at_line_feeds_only_and_the_byte_order_mark_is_dropped(tmp_path):
    path = write(tmp_path / "a.tsv", "\ufeffone\u2028still one\x0c\r\ntwo\x85\nthree")
    assert list(read_lines(path)) == [(1, "one\u2028still one\x0c"), (2, "two\x85"), (3, "three")]


def test_quotation_marks_in_a_tsv_are_characters(tmp_path):
    path = write(tmp_path / "a.tsv", 'text\tlabel\n"unbalanced\t1\n\n"balanced"\t0\n')
    assert columns_of(path) == [{"text": '"unbalanced', "label": "1"}, {"text": '"balanced"', "label": "0"}]


def test_quoted_csv_fields_hold_commas_quotes_and_line_breaks_and_keep_their_first_line_number(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\n"one,\n""two""",1\nthree,0\n')
    assert columns_of(path) == [{"text": 'one,\n"two"', "label": "1"}, {"text": "three", "label": "0"}]
    assert [record.where.split()[-1] for record in records(path)] == ["2", "4"]


def test_a_table_without_a_header_line_takes_the_names_it_is_given(tmp_path):
    path = write(tmp_path / "a.tsv", "gj04\t1\t\tOur friends.\n")
    assert columns_of(path, header=("source", "label", "star", "text"))[0]["text"] == "Our friends."


ONE = '{"text": "one"}'


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.tsv", "text\none\n3\t4\n", r"line 3: 2 columns separated by tabs, expected 1 \(text\)"),
        ("a.csv", "text\none\n3,4\n", r"line 3: 2 columns separated by commas, expected 1 \(text\)"),
        ("a.jsonl", f"{ONE}\n\n[1]\n", "line 3: expected a JSON object, found list"),
        ("a.jsonl", f'{ONE}\n{{"text": \n', "line 2: not valid JSON"),
        ("a.jsonl", f'{ONE}\n{{"text": "\\ud83d"}}', r"line 2: not valid JSON \(half of a surrogate pair, '\\ud83d'"),
        ("a.jsonl", f'{ONE}\n{{"text": {"1" * 5000}}}\n', r"line 2: not valid JSON \(.*value has 5000 digits"),
        ("a.jsonl", f'{ONE}\n{{"text": {"[" * 100_000}}}\n', r"line 2: not valid JSON \(.*nested too deeply"),
        ("a.json", f'[{ONE}, {{"text": "\\ud83d"}}]', r"record 1: not valid JSON \(half of a surrogate pair"),
    ],
    ids=range(8),
)
def test_a_defective_record_stops_with_its_place_or_is_skipped(tmp_path, name, content, message):
    path = write(tmp_path / name, content)
    refused(f"{name} {message}", records, path)
    problems = Problems("skip")
    assert [record.columns for record in read_table(path, problems)] == [{"text": "one"}]
    assert len(problems.messages) == 1


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("none.tsv", None, ": there is no such file"),
        ("a.tsv", "", ": the file is empty"),
        ("a.tsv", b"sentence\nfine\ncaf\xe9\n", " line 3: byte 4 is not UTF-8; convert"),
        ("a.csv", "x,x\n1,2\n", " line 1: two columns have the same name"),
        ("a.csv", 'text,label\nfine,1\n"never closed,0\nmore,1\n', " line 3: not valid CSV"),
        ("a.xlsx", "x\n", ": unknown suffix '.xlsx'"),
        ("a.json", ONE, ": expected a JSON array of objects"),
        ("a.json", "[1,\n 2 3]", " line 2 column 4: not valid JSON"),
        ("a.json", b'[\n"\xff"]', " line 2: not UTF-8 at byte 3"),
        ("a.json", f"[{'1' * 5000}]", ": not valid JSON"),
        ("a.json", "[" * 100_000, ": not valid JSON"),
    ],
    ids=range(11),
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name, content, message):
    if content is not None:
        write(tmp_path / name, content)
    refused(name + message, records, tmp_path / name)


def test_the_policy_is_to_stop_or_to_skip():
    refused("on_error must be 'stop' or 'skip', not 'ignore'", Problems, "ignore")


# --- rows of every shape ---


def rows_of(path, columns):
    return rows_from_records(read_table(path, Problems()), columns, Problems())


ROME = {"id": "q1", "question": "Where?", "context": "Rome is in Italy.", "answers": "Italy", "answer_starts": 11}
NESTED = ROME | {"answers": {"text": ["Italy"], "at": [11]}}
REVIEWS = Columns("sentence", {"text": "review", "label": "stars"}, ("bad", "good"))
TWO_CLASSES, TWO_TAGS = Columns("sentence", labels=("bad", "good")), Columns("tagging", labels=("O", "B-LOC"))
UNANSWERED = Columns("question", may_lack_answers=True)


@pytest.mark.parametrize(
    "name, content, columns, expected",
    [
        ("a.csv", "stars,review\ngood,Nice.\n1,Fine.\n", REVIEWS, [SentenceRow("Nice.", 1), SentenceRow("Fine.", 1)]),
        ("a.jsonl", {"text_a": "x", "text_b": "y", "label": 3.8}, Columns("pair"), [PairRow("x", "y", 3.8)]),
        (
            "a.jsonl", {"context": "He", "choices": ["runs", "flies"], "label": 1}, Columns("multiple-choice"),
            [MultipleChoiceRow("He", ("runs", "flies"), 1)],
        ),
        (
            "a.csv", "context,one,two,label\nHe,runs,flies,1\n",
            Columns("multiple-choice", {"choices": ("one", "two")}), [MultipleChoiceRow("He", ("runs", "flies"), 1)],
        ),
        ("a.jsonl", {"words": ["in", "Rome"], "tags": ["O", "B-LOC"]}, TWO_TAGS, [TaggingRow(("in", "Rome"), (0, 1))]),
        ("a.csv", "words,tags\nin Rome,0 1\n", TWO_TAGS, [TaggingRow(("in", "Rome"), (0, 1))]),
        ("a.jsonl", ROME, Columns("question"), [QuestionRow("q1", "Where?", ROME["context"], ("Italy",), (11,))]),
        (
            "a.jsonl", NESTED, Columns("question", {"answers": "answers.text", "answer_starts": "answers.at"}),
            [QuestionRow("q1", "Where?", ROME["context"], ("Italy",), (11,))],
        ),
    ],
)  # fmt: skip
def test_columns_become_rows_of_every_shape(tmp_path, name, content, columns, expected):
    text = content if isinstance(content, str) else json.dumps(content)
    assert rows_of(write(tmp_path / name, text), columns) == expected


@pytest.mark.parametrize(
    "columns, record, message",
    [
        (TWO_CLASSES, {"text": "x", "label": "ugly"}, "unknown label 'ugly'; expected one of bad, good"),
        *((TWO_CLASSES, {"text": "x", "label": value}, "unknown label") for value in ("2", "-1", "1.0", "²")),
        *(
            (Columns("pair"), {"text_a": "x", "text_b": "y", "label": value}, "column 'label': expected a number")
            for value in ("much", "nan")
        ),
        (Columns("multiple-choice", {"choices": ("context",)}), {"context": "He", "label": 1}, ".* two choices"),
        (TWO_TAGS, {"words": "in Rome", "tags": "O"}, "2 words but 1 tags; expected one tag for each word"),
        (TWO_TAGS, {"words": ["in", 1912], "tags": ["O", "O"]}, "word 2 is 1912; expected text"),
        (TWO_TAGS, {"words": ["in", "New York"], "tags": ["O", "O"]}, "word 2 is 'New York'; .* without white space"),
        (TWO_TAGS, {"words": ["in", ""], "tags": ["O", "O"]}, "word 2 is ''"),
        (TWO_TAGS, {"words": 5, "tags": ["O"]}, "column 'words': expected a list, .* found 5"),
        (TWO_TAGS, {"words": ["in"], "tags": 5}, "column 'tags': expected a list, .* found 5"),
        (TWO_TAGS, {"words": ["in"], "tags": [None]}, "tag 1 is None; expected a name"),
        (TWO_TAGS, {"words": [], "tags": []}, "expected at least one word"),
        (Columns("question"), ROME | {"answer_starts": 10}, "question q1: the context has ' Ital' at answer_start 10"),
        (Columns("question"), ROME | {"answer_starts": -1}, "question q1: answer_start must be a whole number"),
        (Columns("question"), ROME | {"answer_starts": 99}, "question q1: the context has '' at answer_start 99"),
        (Columns("question"), ROME | {"answers": 1912}, "question q1: an answer must be text, not 1912"),
        (Columns("question"), ROME | {"answers": {"text": "Italy"}}, "question q1: an answer must be text"),
        (Columns("question"), ROME | {"question": 5}, "column 'question': expected text, found int"),
        (Columns("question", {"id": "key"}), ROME, "there is no column 'key'"),
    ],
)
def test_a_record_of_another_form_is_an_error_at_its_line(tmp_path, columns, record, message):
    refused(f"a.jsonl line 1: {message}", rows_of, write(tmp_path / "a.jsonl", json.dumps(record)), columns)


def test_a_row_without_a_label_is_in_order_in_a_test_set_only(tmp_path):
    path = write(tmp_path / "a.tsv", "text\tlabel\nx\t\n")
    bare = write(tmp_path / "b.tsv", "text\nx\n")
    test_columns = Columns("sentence", labels=("a", "b"), may_lack_answers=True)
    assert rows_of(path, test_columns) == rows_of(bare, test_columns) == [SentenceRow("x", None)]
    refused("line 2: column 'label' is empty", rows_of, path, TWO_CLASSES)
    refused("line 2: there is no column 'label'; the columns are text", rows_of, bare, TWO_CLASSES)


def test_questions_without_an_id_are_numbered_and_a_repeated_id_is_an_error_at_its_line(tmp_path):
    bare = write(tmp_path / "bare.csv", "question,context\nWho?,He.\nWhere?,Here.\n")
    assert [row.id for row in rows_of(bare, UNANSWERED)] == ["row-1", "row-2"]
    path = write(tmp_path / "a.csv", "id,question,context\n,Who?,He.\na,Who?,She.\n,Where?,Here.\n")
    assert [row.id for row in rows_of(path, UNANSWERED)] == ["row-1", "a", "row-3"]
    path = write(tmp_path / "b.csv", "id,question,context\na,Who?,He.\na,Where?,Here.\n")
    refused("b.csv line 3: duplicate id 'a'", rows_of, path, UNANSWERED)


def test_the_shape_is_guessed_from_the_columns_or_from_the_roles_given():
    assert guess_shape(["text", "label"], {}) == "sentence"
    assert guess_shape(["text_a", "text_b", "id"], {}) == "pair"
    assert guess_shape(["tokens", "ner"], {"words": "tokens", "tags": "ner"}) == "tagging"
    assert guess_shape(["id", "question", "context", "answers"], {}) == "question"
    assert guess_shape(["context", "choices", "label"], {}) == "multiple-choice"
    refused("review, stars match no task type .*columns=", guess_shape, ["review", "stars"], {})


def test_a_role_that_the_shape_does_not_have_is_refused():
    refused("a sentence task has no field txt; its fields are text, label", Columns, "sentence", {"txt": "review"})
    refused("unknown shape 'triple'", Columns, "triple")


# === SQuAD ===

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
    refused(r"squad\.json article 0 paragraph 0 question 0.*" + message.split(": ")[-1], read_squad, path, Problems())
    problems = Problems("skip")
    assert [row.id for row in read_squad(path, problems)] == ["q9"]
    assert len(problems.messages) == 1 and message in problems.messages[0]


def test_an_id_that_comes_twice_is_an_error(tmp_path):
    refused("question 1: duplicate id 'q1'", read_squad, squad(tmp_path, question(), question()), Problems())


def test_data_of_another_form_is_refused_with_what_was_expected(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"data": [{"title": "T"}]}')
    refused("article 0: expected an object with a list under 'paragraphs'", read_squad, path, Problems())
