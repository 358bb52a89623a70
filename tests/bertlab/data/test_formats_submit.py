"""Predictions in the form that each benchmark's server or script expects."""

import json

import numpy as np
import pytest

from bertlab.common.errors import DataError
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import read_conll
from bertlab.data.tasks.formats_published import TASKS, find_task, write_conll, write_glue, write_squad
from bertlab.data.tasks.rows import TaggingRow


def submitted(tmp_path, task, first, fill=0):
    rows = TASKS[task].sizes[2]
    path = write_glue(tmp_path, task, np.array([*first] + [fill] * (rows - len(first))))
    return path.name, path.read_text().splitlines()


@pytest.mark.parametrize(
    "task, file_name, values, written",
    [
        ("cola", "CoLA.tsv", [1, 0], ["1", "0"]),
        ("wnli", "WNLI.tsv", [1, 0], ["1", "0"]),
        ("rte", "RTE.tsv", [0, 1], ["entailment", "not_entailment"]),
        ("mnli", "MNLI-m.tsv", [2, 1], ["contradiction", "neutral"]),
        ("MNLI_mismatched", "MNLI-mm.tsv", [0, 1], ["entailment", "neutral"]),
        ("ax", "AX.tsv", [0, 2], ["entailment", "contradiction"]),
        ("sts-b", "STS-B.tsv", [3.25, 5.4, -0.1], ["3.250", "5.000", "0.000"]),
    ],
)
def test_each_glue_task_has_its_own_file_name_and_label_names(tmp_path, task, file_name, values, written):
    name, lines = submitted(tmp_path, find_task(task).name, values)
    assert name == file_name
    assert lines[: len(values) + 1] == ["index\tprediction", *(f"{i}\t{text}" for i, text in enumerate(written))]
    assert len(lines) == find_task(task).sizes[2] + 1


def test_a_submission_of_another_length_class_or_task_is_refused(tmp_path):
    with pytest.raises(DataError, match="rte: 2 predictions, but the official test set has 3000 rows"):
        write_glue(tmp_path, "rte", [0, 1])
    with pytest.raises(DataError, match="there is no class"):
        write_glue(tmp_path, "wnli", [2] * 146)
    with pytest.raises(DataError, match="'squad': expected a task of GLUE"):
        write_glue(tmp_path, "squad", [])


def test_squad_predictions_are_one_object_of_texts(tmp_path):
    write_squad(tmp_path / "p.json", {"q1": "Łódź", "q2": ""})
    assert json.loads((tmp_path / "p.json").read_text(encoding="utf-8")) == {"q1": "Łódź", "q2": ""}


def test_conll_output_has_word_gold_and_prediction_and_reads_back(tmp_path):
    rows = [TaggingRow(("in", "Rome"), (0, 1)), TaggingRow(("x",), (0,))]
    write_conll(tmp_path / "a.txt", rows, ("O", "B-LOC"), [[0, 0], [1]])
    assert (tmp_path / "a.txt").read_text() == "in O O\nRome B-LOC O\n\nx O B-LOC\n\n"
    back = [record.columns for record in read_conll(tmp_path / "a.txt", Problems(), {"tag_column": 1})]
    assert back[0] == {"words": ["in", "Rome"], "tags": ["O", "B-LOC"]}


def test_conll_output_refuses_what_would_break_its_columns(tmp_path):
    row = TaggingRow(("New York",), (0,))
    with pytest.raises(DataError, match="the word 'New York' contains white space"):
        write_conll(tmp_path / "a.txt", [row], ("O",), [[0]])
    with pytest.raises(DataError, match="sentence 0: 1 words but 2 predicted tags"):
        write_conll(tmp_path / "a.txt", [row], ("O",), [[0, 0]])
