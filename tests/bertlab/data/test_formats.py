"""Reading tables: bytes, lines, columns, and the rows of every shape that come of them."""

import json

import pytest

from bertlab.common.errors import DataError
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import read_json, read_lines, read_table
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


def test_bytes_that_are_not_utf8_are_named_by_line_and_byte(tmp_path):
    path = write(tmp_path / "a.tsv", b"sentence\nfine\ncaf\xe9\n")
    with pytest.raises(DataError, match=r"a\.tsv line 3: byte 4 is not UTF-8; convert"):
        records(path)


def test_quotation_marks_in_a_tsv_are_characters(tmp_path):
    path = write(tmp_path / "a.tsv", 'text\tlabel\n"unbalanced\t1\n\n"balanced"\t0\n')
    assert columns_of(path) == [{"text": '"unbalanced', "label": "1"}, {"text": '"balanced"', "label": "0"}]


def test_quoted_csv_fields_hold_commas_quotes_and_line_breaks_and_keep_their_first_line_number(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\n"one,\n""two""",1\nthree,0\n')
    assert columns_of(path) == [{"text": 'one,\n"two"', "label": "1"}, {"text": "three", "label": "0"}]
    assert [record.where.split()[-1] for record in records(path)] == ["2", "4"]


def test_an_unclosed_quote_in_a_csv_is_an_error_at_its_line(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\nfine,1\n"never closed,0\nmore,1\n')
    with pytest.raises(DataError, match="a.csv line 3: not valid CSV"):
        records(path)


@pytest.mark.parametrize("name, content", [("a.tsv", "x\ty\n1\t2\n3\n"), ("a.csv", "x,y\n1,2\n3\n")])
def test_a_wrong_number_of_columns_stops_with_its_line_or_is_skipped_and_counted(tmp_path, name, content):
    path = write(tmp_path / name, content)
    with pytest.raises(DataError, match=r"line 3: 1 columns separated by (tabs|commas), expected 2 \(x, y\)"):
        records(path)
    problems = Problems("skip")
    assert [record.columns for record in read_table(path, problems)] == [{"x": "1", "y": "2"}]
    assert len(problems.messages) == 1 and "line 3" in problems.messages[0]


def test_a_table_without_a_header_line_takes_the_names_it_is_given(tmp_path):
    path = write(tmp_path / "a.tsv", "gj04\t1\t\tOur friends.\n")
    assert columns_of(path, header=("source", "label", "star", "text"))[0]["text"] == "Our friends."


def test_missing_and_empty_files_repeated_columns_and_unknown_suffixes_are_refused(tmp_path):
    with pytest.raises(DataError, match="none.tsv: there is no such file"):
        records(tmp_path / "none.tsv")
    with pytest.raises(DataError, match="the file is empty"):
        records(write(tmp_path / "a.tsv", ""))
    with pytest.raises(DataError, match="two columns have the same name"):
        records(write(tmp_path / "b.csv", "x,x\n1,2\n"))
    with pytest.raises(DataError, match="unknown suffix '.xlsx'"):
        records(write(tmp_path / "c.xlsx", "x\n"))
    with pytest.raises(DataError, match="on_error must be 'stop' or 'skip', not 'ignore'"):
        Problems("ignore")


def test_jsonl_reads_an_object_on_each_line_and_names_a_line_without_one(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "one", "label": 1}\n\n[1]\n{"text": \n')
    problems = Problems("skip")
    assert [record.columns for record in read_table(path, problems)] == [{"text": "one", "label": 1}]
    assert "line 3: expected a JSON object, found list" in problems.messages[0]
    assert "line 4: not valid JSON" in problems.messages[1]


@pytest.mark.parametrize(
    "value, reason",
    [
        ('"good \\ud83d"', r"half of a surrogate pair, '\\ud83d'"),
        ("1" * 5000, "value has 5000 digits"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_python_cannot_keep_is_named_by_its_line_or_skipped(tmp_path, value, reason):
    path = write(tmp_path / "a.jsonl", '{"text": "one"}\n{"text": ' + value + "}\n")
    with pytest.raises(DataError, match=rf"a\.jsonl line 2: not valid JSON \(.*{reason}"):
        records(path)
    problems = Problems("skip")
    assert [record.columns for record in read_table(path, problems)] == [{"text": "one"}]
    assert "line 2" in problems.messages[0]


def test_json_arrays_that_python_cannot_keep_are_refused(tmp_path):
    for name, value in (("digits", "1" * 5000), ("brackets", "[" * 100_000)):
        with pytest.raises(DataError, match=f"{name}.json: not valid JSON"):
            records(write(tmp_path / f"{name}.json", f"[{value}]"))
    halved = write(tmp_path / "a.json", '[{"text": "one"}, {"text": "\\ud83d"}]')
    with pytest.raises(DataError, match=r"a\.json record 1: not valid JSON \(half of a surrogate pair"):
        records(halved)
    assert [record.columns for record in read_table(halved, Problems("skip"))] == [{"text": "one"}]


def test_a_json_array_is_a_table_and_a_broken_one_names_line_and_column(tmp_path):
    assert columns_of(write(tmp_path / "a.json", '[{"text": "one"}]')) == [{"text": "one"}]
    with pytest.raises(DataError, match="expected a JSON array of objects"):
        records(write(tmp_path / "b.json", '{"text": "one"}'))
    with pytest.raises(DataError, match="c.json line 2 column 4: not valid JSON"):
        read_json(write(tmp_path / "c.json", "[1,\n 2 3]"))
    with pytest.raises(DataError, match="d.json line 2: not UTF-8 at byte 3"):
        read_json(write(tmp_path / "d.json", b'[\n"\xff"]'))


# --- rows of every shape ---


def rows_of(path, columns):
    return rows_from_records(read_table(path, Problems()), columns, Problems())


def test_named_columns_of_a_csv_become_sentences_with_the_labels_asked_for(tmp_path):
    path = write(tmp_path / "a.csv", "stars,review\ngood,Nice.\nbad,Dull.\n1,Fine.\n")
    columns = Columns("sentence", {"text": "review", "label": "stars"}, ("bad", "good"))
    assert rows_of(path, columns) == [SentenceRow("Nice.", 1), SentenceRow("Dull.", 0), SentenceRow("Fine.", 1)]


def test_an_unknown_label_is_named_with_its_line_and_the_known_ones(tmp_path):
    path = write(tmp_path / "a.tsv", "text\tlabel\nx\tgood\ny\tugly\n")
    with pytest.raises(DataError, match="a.tsv line 3: unknown label 'ugly'; expected one of bad, good"):
        rows_of(path, Columns("sentence", labels=("bad", "good")))


@pytest.mark.parametrize("value", ["2", "-1", "1.0", "²"])
def test_a_number_that_is_no_index_of_a_class_is_an_unknown_label(tmp_path, value):
    path = write(tmp_path / "a.tsv", f"text\tlabel\nx\t{value}\n")
    with pytest.raises(DataError, match="unknown label"):
        rows_of(path, Columns("sentence", labels=("bad", "good")))


def test_a_row_without_a_label_is_in_order_in_a_test_set_only(tmp_path):
    path = write(tmp_path / "a.tsv", "text\tlabel\nx\t\n")
    bare = write(tmp_path / "b.tsv", "text\nx\n")
    test_columns = Columns("sentence", labels=("a", "b"), may_lack_answers=True)
    assert rows_of(path, test_columns) == rows_of(bare, test_columns) == [SentenceRow("x", None)]
    with pytest.raises(DataError, match="line 2: column 'label' is empty"):
        rows_of(path, Columns("sentence", labels=("a", "b")))
    with pytest.raises(DataError, match="line 2: there is no column 'label'; the columns are text"):
        rows_of(bare, Columns("sentence", labels=("a", "b")))


def test_a_pair_with_a_real_number_is_regression_and_text_or_nan_instead_an_error(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text_a": "x", "text_b": "y", "label": 3.8}\n')
    assert rows_of(path, Columns("pair")) == [PairRow("x", "y", 3.8)]
    for value in ('"much"', '"nan"'):
        path = write(tmp_path / "b.jsonl", f'{{"text_a": "x", "text_b": "y", "label": {value}}}\n')
        with pytest.raises(DataError, match="line 1: column 'label': expected a number"):
            rows_of(path, Columns("pair"))


def test_choices_come_from_a_list_or_from_several_columns(tmp_path):
    listed = write(tmp_path / "a.jsonl", '{"context": "He", "choices": ["runs", "flies"], "label": 1}\n')
    spread = write(tmp_path / "b.csv", "context,one,two,label\nHe,runs,flies,1\n")
    expected = [MultipleChoiceRow("He", ("runs", "flies"), 1)]
    assert rows_of(listed, Columns("multiple-choice")) == expected
    assert rows_of(spread, Columns("multiple-choice", {"choices": ("one", "two")})) == expected
    with pytest.raises(DataError, match="at least two choices"):
        rows_of(listed, Columns("multiple-choice", {"choices": ("context",)}))


def test_words_and_tags_come_from_lists_or_from_text_with_spaces_and_must_be_as_many(tmp_path):
    columns = Columns("tagging", labels=("O", "B-LOC"))
    listed = write(tmp_path / "a.jsonl", '{"words": ["in", "Rome"], "tags": ["O", "B-LOC"]}\n')
    spaced = write(tmp_path / "a.csv", "words,tags\nin Rome,0 1\n")
    assert rows_of(listed, columns) == rows_of(spaced, columns) == [TaggingRow(("in", "Rome"), (0, 1))]
    with pytest.raises(DataError, match="line 2: 2 words but 1 tags; expected one tag for each word"):
        rows_of(write(tmp_path / "b.csv", "words,tags\nin Rome,O\n"), columns)


def test_questions_take_one_answer_or_several_also_from_inside_an_object(tmp_path):
    context = "Rome is in Italy."
    flat = {"id": 7, "question": "Where?", "context": context, "answers": "Italy", "answer_starts": 11}
    nested = {"id": "7", "question": "Where?", "context": context, "answers": {"text": ["Italy"], "at": [11]}}
    names = {"answers": "answers.text", "answer_starts": "answers.at"}
    expected = [QuestionRow("7", "Where?", context, ("Italy",), (11,))]
    assert rows_of(write(tmp_path / "a.jsonl", json.dumps(flat)), Columns("question")) == expected
    assert rows_of(write(tmp_path / "b.jsonl", json.dumps(nested)), Columns("question", names)) == expected


@pytest.mark.parametrize("start, found", [(10, "' Ital'"), (-1, "whole number"), (99, "''")])
def test_an_answer_that_is_not_at_its_start_is_an_error_that_shows_what_is(tmp_path, start, found):
    record = {"id": "q1", "question": "Where?", "context": "Rome is in Italy."}
    record |= {"answers": "Italy", "answer_starts": start}
    with pytest.raises(DataError, match=f"line 1: question q1: .*{found}"):
        rows_of(write(tmp_path / "a.jsonl", json.dumps(record)), Columns("question"))


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"answers": 1912}, "question q1: an answer must be text, not 1912"),
        ({"answers": {"text": "Italy"}}, "question q1: an answer must be text"),
        ({"question": 5}, "column 'question': expected text, found int"),
    ],
)
def test_a_question_of_another_type_is_an_error_at_its_line(tmp_path, changed, message):
    record = {"id": "q1", "question": "Where?", "context": "Rome is in Italy.", "answers": "Italy", "answer_starts": 11}
    with pytest.raises(DataError, match=f"line 1: {message}"):
        rows_of(write(tmp_path / "a.jsonl", json.dumps(record | changed)), Columns("question"))


def test_questions_without_an_id_are_numbered_and_a_repeated_id_is_an_error_at_its_line(tmp_path):
    bare = write(tmp_path / "bare.csv", "question,context\nWho?,He.\nWhere?,Here.\n")
    asked = Columns("question", may_lack_answers=True)
    assert [row.id for row in rows_of(bare, asked)] == ["row-1", "row-2"]
    path = write(tmp_path / "a.csv", "id,question,context\n,Who?,He.\na,Who?,She.\n,Where?,Here.\n")
    assert [row.id for row in rows_of(path, asked)] == ["row-1", "a", "row-3"]
    path = write(tmp_path / "b.csv", "id,question,context\na,Who?,He.\na,Where?,Here.\n")
    with pytest.raises(DataError, match="b.csv line 3: duplicate id 'a'"):
        rows_of(path, asked)
    with pytest.raises(DataError, match="line 2: there is no column 'key'"):
        rows_of(path, Columns("question", {"id": "key"}, may_lack_answers=True))


@pytest.mark.parametrize(
    "record, message",
    [
        ({"words": ["in", 1912], "tags": ["O", "O"]}, "word 2 is 1912; expected text"),
        ({"words": ["in", "New York"], "tags": ["O", "O"]}, "word 2 is 'New York'; expected text without white space"),
        ({"words": ["in", ""], "tags": ["O", "O"]}, "word 2 is ''"),
        ({"words": 5, "tags": ["O"]}, "column 'words': expected a list, .* found 5"),
        ({"words": ["in"], "tags": 5}, "column 'tags': expected a list, .* found 5"),
        ({"words": ["in"], "tags": [None]}, "tag 1 is None; expected a name"),
        ({"words": [], "tags": []}, "expected at least one word"),
    ],
)
def test_words_and_tags_of_another_form_are_an_error_at_their_line(tmp_path, record, message):
    path = write(tmp_path / "a.jsonl", json.dumps(record))
    with pytest.raises(DataError, match=f"a.jsonl line 1: {message}"):
        rows_of(path, Columns("tagging", labels=("O", "B")))


def test_the_shape_is_guessed_from_the_columns_or_from_the_roles_given():
    assert guess_shape(["text", "label"], {}) == "sentence"
    assert guess_shape(["text_a", "text_b", "id"], {}) == "pair"
    assert guess_shape(["tokens", "ner"], {"words": "tokens", "tags": "ner"}) == "tagging"
    assert guess_shape(["id", "question", "context", "answers"], {}) == "question"
    assert guess_shape(["context", "choices", "label"], {}) == "multiple-choice"
    with pytest.raises(DataError, match="review, stars match no task type .*columns="):
        guess_shape(["review", "stars"], {})


def test_a_role_that_the_shape_does_not_have_is_refused():
    with pytest.raises(DataError, match="a sentence task has no field txt; its fields are text, label"):
        Columns("sentence", {"txt": "review"})
    with pytest.raises(DataError, match="unknown shape 'triple'"):
        Columns("triple")
