"""Data sets of `datasets` and data frames of pandas in memory, as labelled data."""

import pytest

from bertlab.common.errors import DataError
from bertlab.data.tasks.load import load_task
from bertlab.data.tasks.rows import SentenceRow, TaggingRow

pytestmark = pytest.mark.peers


def data_set(datasets, rows, names):
    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=names)})
    return datasets.Dataset.from_list(rows, features=features)


def test_a_data_set_gives_rows_with_the_class_names_that_it_declares():
    datasets = pytest.importorskip("datasets")
    table = data_set(datasets, [{"text": "Nice.", "label": 1}, {"text": "No.", "label": 0}], ["neg", "pos"])
    hidden = data_set(datasets, [{"text": "?", "label": -1}], ["neg", "pos"])
    data = load_task(datasets.DatasetDict({"train": table, "test": hidden}))
    assert data.labels == ("neg", "pos")
    assert (data.train, data.test) == ([SentenceRow("Nice.", 1), SentenceRow("No.", 0)], [SentenceRow("?")])
    assert load_task(table).train == load_task(table.to_iterable_dataset()).train == data.train
    assert load_task(table.with_format("numpy")).train == data.train


def test_declared_names_in_another_order_keep_their_meaning_and_other_names_are_the_callers():
    datasets = pytest.importorskip("datasets")
    table = data_set(datasets, [{"text": "Nice.", "label": 1}, {"text": "No.", "label": 0}], ["neg", "pos"])
    assert [row.label for row in load_task(table, labels=("pos", "neg")).train] == [0, 1]
    assert [row.label for row in load_task(table, labels=("bad", "good")).train] == [1, 0]


def test_tags_declared_inside_a_list_are_found():
    datasets = pytest.importorskip("datasets")
    tags = datasets.List(datasets.ClassLabel(names=["O", "B-LOC"]))
    features = datasets.Features({"tokens": datasets.List(datasets.Value("string")), "ner_tags": tags})
    table = datasets.Dataset.from_list([{"tokens": ["in", "Rome"], "ner_tags": [0, 1]}], features=features)
    data = load_task(table, columns={"words": "tokens", "tags": "ner_tags"})
    assert (data.labels, data.train) == (("O", "B-LOC"), [TaggingRow(("in", "Rome"), (0, 1))])


def test_a_data_frame_is_read_row_by_row_and_an_empty_cell_is_a_missing_label():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": ["Nice.", "No."], "label": ["pos", "neg"]})
    assert load_task(frame).train == [SentenceRow("Nice.", 1), SentenceRow("No.", 0)]
    numbers = pandas.DataFrame({"text": ["a", "b", "c"], "label": pandas.array([1, 2, None], dtype="Int64")})
    with pytest.raises(DataError, match=r"rows \(train\) row 2: column 'label' is empty"):
        load_task(numbers)
    assert load_task(numbers[:2]).labels == ("1", "2")
