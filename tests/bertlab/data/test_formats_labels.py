"""Reading labels: as classes or numbers, found or declared, by name or by index."""

import json

import pytest
from refusals import refused

from bertlab.common.errors import DataError
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.load import load_task
from bertlab.data.tasks.rows import MultipleChoiceRow, SentenceRow, TaggingRow


def table(path, *labels):
    """A .jsonl of numbered texts with these labels."""
    path.write_text("".join(json.dumps({"text": str(n), "label": label}) + "\n" for n, label in enumerate(labels)))
    return path


def labels_of(path, **options):
    return [row.label for row in load_task(path, **options).train]


@pytest.mark.parametrize(
    "written, classes",
    [
        (["10", "2", "1"], ("1", "2", "10")),
        (["no", "yes", "maybe"], ("maybe", "no", "yes")),
        ([1.0, 0.0], ("0", "1")),
        (["1.0", "0"], ("0", "1")),
        ([1, -1], ("-1", "1")),
        ([" b", "a", "b"], ("a", "b")),
        (["01", "1"], ("01", "1")),
        ([True, False], ("False", "True")),
        ([0.5, 1, 2], ()),
        (["1e3", "2"], ()),
    ],
)
def test_names_and_whole_numbers_are_classes_and_other_numbers_regression(tmp_path, written, classes):
    assert load_task(table(tmp_path / "a.jsonl", *written)).labels == classes


def test_minus_one_beside_zero_and_one_is_a_class_and_a_note_says_so(tmp_path):
    """Hugging Face's data sets have −1 where a row of a test set has no label."""
    problems = Problems()
    path = table(tmp_path / "a.jsonl", 0, 1, -1, 1)
    assert load_task(path, on_error=problems).labels == ("-1", "0", "1")
    assert problems.notes == [
        f"{path} line 3: the label -1 is read as a class like 0; where it marks rows without a label, delete these rows"
    ]
    load_task(table(tmp_path / "b.jsonl", -1, 1), on_error=(others := Problems()))
    assert others.notes == []


def test_tags_begin_with_no_entity(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"words": "a b c", "tags": "B-X O I-X"}')
    data = load_task(tmp_path / "a.jsonl")
    assert (data.labels, data.train) == (("O", "B-X", "I-X"), [TaggingRow(("a", "b", "c"), (1, 0, 2))])


def test_a_class_that_no_training_row_has_is_never_taken_for_the_index_of_another(tmp_path):
    table(tmp_path / "train.jsonl", 1, 2, 4, 5)
    table(tmp_path / "dev.jsonl", 5, 3)
    message = "dev.jsonl line 2: unknown label 3; expected one of 1, 2, 4, 5, which the training rows have"
    refused(message, load_task, tmp_path)
    table(tmp_path / "train.jsonl", "bad", "good")
    table(tmp_path / "dev.jsonl", 1)
    refused("dev.jsonl line 1: unknown label 1", load_task, tmp_path)


def test_an_index_stands_for_a_declared_class_unless_a_name_is_a_number(tmp_path):
    path = table(tmp_path / "a.jsonl", 1, 0)
    assert labels_of(path, labels=("bad", "good")) == [1, 0]
    assert labels_of(path, labels=("1", "0")) == [0, 1]
    refused("line 2: unknown label 0; expected one of 1, 2", load_task, path, labels=("1", "2"))


def test_declared_labels_name_the_choices(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"context": "He", "choices": ["runs", "flies"], "label": "B"}\n')
    assert load_task(path, labels=("A", "B")).train == [MultipleChoiceRow("He", ("runs", "flies"), 1)]
    refused("unknown label 'B'; expected one of 0, 1", load_task, path)


@pytest.mark.parametrize("written", [[0.5, "NA", 1.5], ["1", "0", "1", "unknown"], ["NA", "2.5", "NA", "3.5", "NA"]])
def test_one_cell_that_is_not_a_number_does_not_make_all_numbers_classes(tmp_path, written):
    odd = [value for value in written if str(value).isalpha()]
    path = table(tmp_path / "a.jsonl", *written)
    message = f"a.jsonl line {1 + written.index(odd[0])}: expected a number .*, got .{odd[0]}.; correct it, .*labels="
    refused(message, load_task, path)
    problems = Problems("skip")
    assert len(load_task(path, on_error=problems).train) == len(written) - len(odd)
    assert len(problems.messages) == len(odd)
    names = tuple(dict.fromkeys(map(str, written)))
    assert labels_of(path, labels=names) == [names.index(str(value)) for value in written]


def test_an_empty_label_is_one_defective_record(tmp_path):
    path = tmp_path / "a.jsonl"
    table(path, "x", "", "y", None, "  ", float("nan"), ["x"])
    refused("a.jsonl line 2: column 'label' is empty.*on_error='skip'", load_task, path)
    problems = Problems("skip")
    assert load_task(path, on_error=problems).train == [SentenceRow("0", 0), SentenceRow("2", 1)]
    assert [message.split(": ")[0].split()[-1] for message in problems.messages] == ["2", "4", "5", "6", "7"]


def test_rows_of_one_class_are_refused_with_the_class(tmp_path):
    with pytest.raises(DataError, match="a: every training row has the label 'x'; expected two classes or more"):
        load_task(table(tmp_path / "a.jsonl", "x", "x"))
    (tmp_path / "b.conll").write_text("Rome O\nwins O\n")
    refused("every word of the training rows has the tag 'O'", load_task, tmp_path / "b.conll")


@pytest.mark.parametrize(
    "labels, message",
    [
        (("a",), "the only label is 'a'"),
        (("a", "a"), "expected each label once, got a, a"),
        (("a", ""), "is empty"),
        ("ab", "must be several names"),
    ],
)
def test_labels_that_cannot_be_declared_are_refused(tmp_path, labels, message):
    refused(message, load_task, table(tmp_path / "a.jsonl", "a", "b"), labels=labels)
