"""Sentences with any number of labels: reading, loss, metrics, fine-tuning, prediction, transformers' folders."""

import dataclasses
import json

import numpy as np
import pytest
from click.testing import CliRunner
from finetuning_case import RECIPE, TOKENIZER, finetuned, save_checkpoint
from refusals import refused

from bertlab.cli import cli
from bertlab.common.errors import ConfigError, DataError
from bertlab.data.tasks.load import load_task
from bertlab.data.tasks.metrics import multi_label_scores
from bertlab.data.tasks.rows import SentenceRow, TaskData
from bertlab.predict import Predictor
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.finetuning.task_group import class_weights
from bertlab.training.finetuning.task_kinds import MultiLabel, TaskInfo

LABELS = ("bad", "city", "good")


def csv_of(path, *cells):
    path.write_text("text,label\n" + "".join(f'text {n},"{cell}"\n' for n, cell in enumerate(cells)))
    return path


def task(rows: int = 320) -> TaskData:
    """Each of three words in a sentence is a label of it."""
    rng = np.random.default_rng(3)
    words = ("bad", "city", "good")
    made = []
    for _ in range(rows):
        labels = tuple(int(n) for n in np.flatnonzero(rng.integers(0, 2, 3)))
        made.append(SentenceRow(" ".join(["the", *(words[n] for n in labels), "was", "it"]), labels))
    return TaskData("several", "sentence", LABELS, made[:-40], made[-40:], multi_label=True)


# --- reading ---


def test_a_separator_splits_a_cell_and_an_empty_cell_has_no_label(tmp_path):
    data = load_task(csv_of(tmp_path / "a.csv", "good|bad", "city", "", "bad | bad"), label_separator="|")
    assert (data.labels, data.multi_label) == (LABELS, True)
    assert [row.label for row in data.train] == [(0, 2), (1,), (), (0,)]


def test_an_empty_label_without_a_separator_is_refused_with_the_option_for_several_labels(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('text,label\na,"x,y"\nb,\n', encoding="utf-8")
    refused("'label' is empty; .*any number of labels, give label_separator=','", load_task, path)


def test_lists_are_several_labels_without_being_asked_for(tmp_path):
    lines = [{"text": "a", "label": ["x", "y"]}, {"text": "b", "label": []}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    data = load_task(tmp_path / "a.jsonl")
    assert (data.labels, [row.label for row in data.train]) == (("x", "y"), [(0, 1), ()])


def test_declared_labels_may_be_given_by_index_and_unknown_ones_are_named(tmp_path):
    path = csv_of(tmp_path / "a.csv", "0,good", "bad")
    data = load_task(path, label_separator=",", labels=LABELS)
    assert [row.label for row in data.train] == [(0, 2), (0,)]
    with pytest.raises(DataError, match="a.csv line 2: unknown label '0'; expected one of x, good"):
        load_task(path, label_separator=",", labels=("x", "good", "7"))


def test_what_cannot_have_several_labels_is_refused(tmp_path):
    path = csv_of(tmp_path / "a.csv", "1", "2")
    for options in ({"labels": ()}, {"label_separator": ""}):
        refused("is for sentences and pairs with classes", load_task, path, **{"label_separator": ","} | options)
    refused("no training row has a label", load_task, csv_of(tmp_path / "b.csv", "", ""), label_separator=",")
    refused("leave out label_separator", load_task, "package", label_separator=",")


def test_the_rows_are_shown_with_all_their_labels(tmp_path):
    path = csv_of(tmp_path / "a.csv", "good|bad", "city", "", "bad")
    shown = CliRunner().invoke(cli, ["task", "show", str(path), "--label-separator", "|"]).output
    assert "3 labels, any number for each row: bad, city, good" in shown
    assert "bad 50.0%" in shown and "[bad, good] text 0" in shown and "[no label] text 2" in shown


# --- metrics and loss ---


def test_scores_by_hand():
    gold, predicted = [(0, 1), (2,), (), (0,)], [(0,), (2,), (), (1,)]
    scores = multi_label_scores(gold, predicted, 4)
    # label 0: 1 hit of 2 + 1; label 1: 0 of 1 + 1; label 2: 1 of 1 + 1; label 3 never occurs
    assert scores == pytest.approx({"micro_f1": 2 * 2 / (4 + 3), "macro_f1": (2 / 3 + 0 + 1) / 3, "exact_match": 0.5})


def test_the_loss_is_binary_cross_entropy_and_ignores_filled_up_rows():
    task_kind = MultiLabel(TaskInfo("several", "sentence", LABELS, ("multi_label",), multi_label=True), TOKENIZER)
    logits = np.array([[2.0, -1.0, 0.5], [80.0, -80.0, 0.0], [1.0, 1.0, 1.0]], "float32")
    targets = np.array([[1, 0, 1], [1, 0, 0], [np.nan] * 3], "float32")
    chance = 1 / (1 + np.exp(-logits[:2].astype("float64")))
    expected = -np.mean(np.log(np.where(targets[:2] == 1, chance, 1 - chance)))
    assert float(task_kind.loss(targets, logits)) == pytest.approx(expected, rel=1e-5)


# --- a whole fine-tuning ---


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    checkpoint = save_checkpoint(folder / "checkpoint")
    return folder / "out", finetuned(checkpoint, task(), folder / "out", dataclasses.replace(RECIPE, epochs=15))


@pytest.mark.slow
def test_a_model_learns_which_labels_apply(trained):
    folder, result = trained
    assert result.metric == "micro_f1" and result.dev["micro_f1"] > 0.9
    assert set(result.dev) == {"micro_f1", "macro_f1", "exact_match"}
    written = (folder / "predictions" / "dev.tsv").read_text().splitlines()
    assert len(written) == 41 and set(written[1].split("\t")[1].split(",")) <= {*LABELS, ""}


@pytest.mark.slow
def test_its_folder_predicts_several_labels_in_python_and_in_the_shell(trained, tmp_path):
    folder, _ = trained
    one, none = Predictor.load(folder)(["the bad good was it", "the was it"])
    assert set(one.labels) == {"bad", "good"} and none.labels == [] and none.line == "(no label)"
    assert list(one.probabilities.values()) == sorted(one.probabilities.values(), reverse=True)
    (tmp_path / "lines.txt").write_text("the bad good was it\n")
    printed = CliRunner().invoke(cli, ["predict", str(folder), str(tmp_path / "lines.txt"), "--json"]).output
    assert set(json.loads(printed)["labels"]) == {"bad", "good"}


@pytest.mark.slow
def test_without_task_json_the_problem_type_of_config_json_decides(trained):
    folder, _ = trained
    assert json.loads((folder / "config.json").read_text())["problem_type"] == "multi_label_classification"
    (folder / "task.json").rename(folder / "task.json.kept")
    try:
        predictor = Predictor.load(folder)
        assert predictor.info.multi_label and predictor.info.labels == LABELS
        assert set(predictor(["the bad good was it"])[0].labels) == {"bad", "good"}
    finally:
        (folder / "task.json.kept").rename(folder / "task.json")


def test_balanced_weights_need_one_class_per_row():
    refused("one number per label", class_weights, task(), Recipe(class_weights="balanced"), error=ConfigError)
    assert class_weights(task(), Recipe(class_weights=(1.0, 2.0, 3.0))).tolist() == [1, 2, 3]
