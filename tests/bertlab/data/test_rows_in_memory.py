"""Rows in memory as labelled data: the same rows and the same messages as from a file."""

import json
import types

import numpy as np
import pytest
from refusals import refused

from bertlab.common.errors import DataError
from bertlab.data.tasks.load import load_task
from bertlab.data.tasks.rows import SentenceRow, TaggingRow

ROWS = [
    {"text": "It works.", "label": "good"},
    {"text": "It fails.", "label": "bad"},
    {"text": "Fine.", "label": "good"},
]


class Frame:
    """The methods of a Polars data frame that are used."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        raise AssertionError("iterating over a frame gives its columns")

    def to_dicts(self):
        return self.rows


@pytest.mark.parametrize("form", [list, tuple, iter, Frame])
def test_a_table_gives_the_rows_of_a_file_with_the_same_content(form, tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    expected, data = load_task(file), load_task(form(ROWS))
    assert (data.shape, data.labels, data.train) == (expected.shape, expected.labels, expected.train)
    assert data.train[1] == SentenceRow("It fails.", 0) and data.name == "rows"


def test_a_dict_has_the_splits_and_only_a_test_split_may_lack_labels():
    with pytest.warns(UserWarning, match="left out 'unsupervised'; expected train, validation or test"):
        data = load_task({"train": ROWS, "dev": ROWS[:1], "test": [{"text": "New."}], "unsupervised": [{"a": 1}]})
    assert [len(rows) for rows in (data.train, data.validation, data.test)] == [3, 1, 1]
    assert data.test == [SentenceRow("New.", None)]
    refused(r"rows \(train\) row 1: there is no column 'label'", load_task, [*ROWS[:1], {"text": "New."}])


def test_splits_have_the_names_that_files_have_and_no_split_has_two_tables():
    data = load_task({"Train": ROWS, "val": ROWS[:1]})
    assert [len(rows) for rows in (data.train, data.validation)] == [3, 1]
    with pytest.raises(DataError, match="'dev' and 'validation' are both the validation split; give one table"):
        load_task({"train": ROWS, "dev": ROWS[:1], "validation": ROWS[1:]})


class Declared(list):
    """Rows with declared class names, as a data set of `datasets` has them."""

    def __init__(self, names, *indices):
        super().__init__({"text": f"text {index}", "label": index} for index in indices)
        self.features = {"label": types.SimpleNamespace(names=names)}


def test_each_split_has_its_own_declared_names():
    train, dev = Declared(["bad", "good", "ok"], 0, 1, 2), Declared(["good", "ok"], 0, 1)
    for splits in ({"train": train, "validation": dev}, {"validation": dev, "train": train}):
        data = load_task(splits)
        assert data.labels == ("bad", "good", "ok")
        assert ([row.label for row in data.train], [row.label for row in data.validation]) == ([0, 1, 2], [1, 2])
    assert [row.label for row in load_task(dev, labels=("bad", "good", "ok")).train] == [1, 2]
    assert [row.label for row in load_task(dev, labels=("no", "yes")).train] == [0, 1]  # indices of the caller's
    for labels in (("no", "so", "yes"), ("bad", "good")):
        refused("declares the labels good, ok; expected some of", load_task, dev, labels=labels)
    tagged = Declared(["good", "ok"])
    tagged.append({"words": ["in", "Rome"], "tags": [0, 1], "label": 0})  # tags are learnt, not the label
    data = load_task(tagged, shape="tagging", labels=("O", "B-LOC", "B-PER"))
    assert data.train == [TaggingRow(("in", "Rome"), (0, 1))]
    refused("unknown label 'bad'", load_task, {"train": dev, "validation": train})


def test_the_options_of_files_apply():
    pairs = [{"a": f"x{i}", "b": "y", "score": 0.5 * i} for i in range(8)]
    data = load_task(pairs, columns={"text_a": "a", "text_b": "b", "label": "score"}, validation_share=0.25, seed=1)
    assert data.labels == () and len(data.validation) == 2 and len(data.train) == 6
    several = load_task([{"text": "a", "label": "x|y"}, {"text": "b", "label": ""}], label_separator="|")
    assert several.multi_label and [row.label for row in several.train] == [(0, 1), ()]


def test_numbers_and_arrays_of_numpy_are_read_as_pythons():
    rows = [{"words": np.array(["in", "Rome"]), "tags": np.array([0, 1])}]
    assert load_task(rows, labels=("O", "B-LOC")).train == [TaggingRow(("in", "Rome"), (0, 1))]
    labels = load_task([{"text": "a", "label": np.int64(0)}, {"text": "b", "label": np.int64(1)}])
    assert labels.labels == ("0", "1") and labels.train[1].label == 1


def test_a_row_that_is_no_dict_is_named_or_left_out():
    refused(r"rows \(train\) row 1: expected a dict of columns, got str", load_task, [ROWS[0], "It works."])
    with pytest.warns(UserWarning, match="1 records left out"):
        assert len(load_task([*ROWS, "It works."], on_error="skip").train) == 3


@pytest.mark.parametrize(
    "data, options, told",
    [(3, {}, "expected a list of dicts, a data frame.*got int"), ({"text": ["a"]}, {}, "got the keys text"),
     (ROWS, {"data_dir": "x"}, "have no source, data_dir"), (ROWS, {"conll": {"tag_column": "1"}}, "leave out conll"),
     ([], {}, "rows: expected at least one record"), (b"text", {}, "got bytes")],
)  # fmt: skip
def test_what_is_no_table_and_options_that_do_not_apply_are_refused(data, options, told):
    refused(told, load_task, data, **options)


@pytest.mark.slow
def test_a_model_is_tuned_evaluated_and_asked_with_rows_in_memory(tmp_path):
    from finetuning_case import RECIPE, finetuned, save_checkpoint, task_of

    from bertlab.predict import Predictor, evaluate, load_labelled

    made = task_of("sentence")

    def table(rows):
        return [{"text": row.text, "label": made.labels[row.label]} for row in rows]

    task = load_task({"train": table(made.train), "validation": table(made.validation)})
    assert (task.labels, task.train, task.validation) == (made.labels, made.train, made.validation)
    result = finetuned(save_checkpoint(tmp_path / "model"), task, tmp_path / "out", RECIPE)
    predictor = Predictor.load(tmp_path / "out")
    judged = load_labelled(table(made.validation), predictor.info).train
    assert evaluate(predictor, judged).metrics["accuracy"] == result.dev["accuracy"]
    refused("'great'", load_labelled, [{"text": "a", "label": "great"}], predictor.info)
    asked = load_labelled({"test": [{"text": row.text} for row in made.validation]}, predictor.info).test
    assert predictor.predict_rows(asked) == predictor(row.text for row in made.validation)
