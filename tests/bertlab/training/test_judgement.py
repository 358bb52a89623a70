"""`bertlab evaluate` on labelled rows: the metrics of a fine-tuned model, class by class, and its calibration."""

import csv
import dataclasses
import json

import numpy as np
import pytest
from bertlab_command import run
from finetuned_models import TOKENIZER, info_of, model_of, predictor_of
from finetuning_case import RECIPE, finetuned, save_checkpoint, task_of
from refusals import refused

from bertlab.common.errors import DataError
from bertlab.data.tasks.class_report import averages, calibration, class_scores, confusion_counts
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow
from bertlab.predict import evaluate, load_labelled
from bertlab.training.finetuning.judgement import judge
from bertlab.training.finetuning.task_info import save_finetuned
from bertlab.training.finetuning.task_kinds import decoded_labels

TEXTS = ["good film .", "the film was bad", "it is in paris", "a film", "not where it was", "bad bad film"]
ROWS = {
    "sentence": [SentenceRow(text, index % 3) for index, text in enumerate(TEXTS)],
    "pair": [PairRow(text, "it was", index % 2) for index, text in enumerate(TEXTS)],
    "number": [PairRow(text, "it was", index / 2) for index, text in enumerate(TEXTS)],
    "tagging": [TaggingRow(tuple(text.split()), tuple(i % 3 for i, _ in enumerate(text.split()))) for text in TEXTS],
    "multiple-choice": [MultipleChoiceRow(text, ("good", "bad"), index % 2) for index, text in enumerate(TEXTS)],
    "question": [QuestionRow(f"q{i}", "where is it", text, (text[:4],), (0,)) for i, text in enumerate(TEXTS)],
}


# --- class by class ---


def test_precision_recall_and_f1_follow_from_the_confusions():
    counts = confusion_counts([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 0, 0], 4)
    assert counts.tolist() == [[2, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    scores = class_scores("abcd", np.diag(counts), counts.sum(axis=1), counts.sum(axis=0))
    assert (scores[0].precision, scores[0].recall, scores[0].support) == (2 / 4, 2 / 3, 3)
    assert scores[0].f1 == pytest.approx(4 / 7)  # 2 · 2 / (3 + 4)
    assert (scores[2].precision, scores[2].recall, scores[2].f1, scores[2].support) == (0, 0, 0, 1)
    means = averages(scores)  # d neither occurs nor was predicted
    assert means["macro"]["recall"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert means["weighted"]["recall"] == pytest.approx(3 / 6)  # three of six are right


def test_the_calibration_error_is_the_mean_distance_of_confidence_and_accuracy():
    sure = [0.95] * 10 + [0.55] * 10
    judged = calibration(sure, [True] * 7 + [False] * 3 + [True] * 5 + [False] * 5)
    assert [(one.low, one.high, one.count) for one in judged.bins] == [(0.5, 0.6, 10), (0.9, 1.0, 10)]
    assert [one.accuracy for one in judged.bins] == [0.5, 0.7]
    assert judged.error == pytest.approx((0.25 + 0.05) / 2)
    assert calibration([1.0, 1.0], [True, True]).error == 0


# --- the rows of each task type ---


@pytest.mark.parametrize("shape", list(ROWS))
def test_every_task_type_is_judged_and_its_files_agree_with_its_predictions(tmp_path, shape):
    predictor, rows = predictor_of(shape), ROWS[shape]
    judgement = evaluate(predictor, rows, tmp_path)
    predictions = predictor.predict_rows(rows)
    values = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert values["metrics"] == judgement.metrics and values["rows"] == len(rows)
    with (tmp_path / "predictions.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    files = {path.name for path in tmp_path.iterdir()}
    if shape == "number":
        distances = [abs(row.label - one.value) for row, one in zip(rows, predictions)]
        assert judgement.metrics["mean_absolute_error"] == pytest.approx(np.mean(distances))
        assert [float(line["distance"]) for line in table] == pytest.approx(distances)
        assert "confusion.png" in files and values["calibration"] is None
        return
    right = [line["correct"] == "True" for line in table]
    assert sum(one["count"] for one in values["calibration"]["bins"]) == len(table)
    assert "calibration.png" in files and "expected calibration error" in (tmp_path / "report.txt").read_text()
    if shape == "question":
        assert values["metrics"]["exact"] == np.mean(right)
        assert [line["predicted"] for line in table] == [one.text or "(no answer)" for one in predictions]
        return
    assert judgement.metrics["accuracy"] == pytest.approx(np.mean(right))
    counts = np.array(values["confusion"]["counts"])
    assert counts.sum() == len(table) and np.trace(counts) == sum(right)
    if shape == "tagging":
        assert [one["label"] for one in values["classes"]] == ["X"]  # types of entities, not tags
        assert len(table) == sum(len(row.words) for row in rows)
        return
    assert sum(one["support"] for one in values["classes"]) == len(rows)


def test_labels_of_a_row_are_judged_one_by_one():
    info = dataclasses.replace(info_of("sentence"), labels=("joy", "fear"), multi_label=True, metrics=("multi_label",))
    rows = [SentenceRow("a", (0,)), SentenceRow("b", ()), SentenceRow("c", (0, 1))]
    chances = [(0.9, 0.2), (0.6, 0.1), (0.7, 0.4)]
    judgement = judge(info, rows, decoded_labels(np.array(chances)))
    joy, fear = judgement.classes
    assert (joy.precision, joy.recall, joy.support) == (2 / 3, 1.0, 2)
    assert (fear.precision, fear.recall, fear.support, fear.predicted) == (0, 0, 1, 0)
    assert sum(one.count for one in judgement.calibration.bins) == 6
    assert judgement.confusion is None
    # wrong: joy of b (0.6) and no fear for c (0.6 sure); right: 0.9, 0.8, 0.9, 0.7
    assert judgement.calibration.error == pytest.approx((0.1 + 0.2 + 0.1 + 0.3 + 2 * 0.6) / 6)


def test_rows_without_labels_are_refused_with_their_number():
    rows = [*ROWS["sentence"], SentenceRow("a film")]
    refused("1 of 7 rows have no label, the first is row 7", evaluate, predictor_of("sentence"), rows)


# --- from the shell ---


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "model"
    save_finetuned(model_of("sentence"), folder, TOKENIZER, info_of("sentence"), "huggingface")
    return folder


def test_the_command_judges_a_file_with_ones_own_columns(tuned, tmp_path):
    names = info_of("sentence").labels
    lines = ["review,tone", *(f"{row.text},{names[row.label]}" for row in ROWS["sentence"])]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = ("--column", "text=review", "--column", "label=tone")
    told = run("evaluate", tuned, tmp_path / "rows.csv", *columns, "--out", tmp_path / "judged")
    expected = evaluate(predictor_of("sentence"), ROWS["sentence"])
    assert expected.report() in told
    assert {path.name for path in (tmp_path / "judged").iterdir()} == {
        "evaluation.json", "report.txt", "predictions.csv", "confusion.png", "calibration.png",
    }  # fmt: skip
    printed = json.loads(run("evaluate", tuned, tmp_path / "rows.csv", *columns, "--json"))
    assert printed == expected.to_dict()
    fewer = json.loads(run("evaluate", tuned, tmp_path / "rows.csv", *columns, "--rows", 2, "--json"))
    assert fewer["rows"] == 2


def test_a_folder_of_another_command_is_refused_and_ones_own_is_written_again(tmp_path):
    other, own = tmp_path / "fine-tuned", tmp_path / "judged"
    other.mkdir()
    (other / "confusion.png").write_bytes(b"of the fine-tuning")
    with pytest.raises(DataError, match="fine-tuned: holds confusion.png but no evaluation.json.* another folder"):
        evaluate(predictor_of("sentence"), ROWS["sentence"], other)
    assert [(path.name, path.read_bytes()) for path in other.iterdir()] == [("confusion.png", b"of the fine-tuning")]
    for rows in (ROWS["sentence"], ROWS["sentence"][:2]):
        evaluate(predictor_of("sentence"), rows, own)
    assert json.loads((own / "evaluation.json").read_text())["rows"] == 2


def test_a_label_that_the_model_does_not_know_and_a_task_with_other_labels_are_refused(tuned, tmp_path):
    (tmp_path / "rows.csv").write_text("text,label\na film,negative\na film,awful\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 3: unknown label 'awful'; expected one of negative, positive, mixed"):
        load_labelled(tmp_path / "rows.csv", info_of("sentence"))
    (tmp_path / "RTE").mkdir()
    (tmp_path / "RTE" / "dev.tsv").write_text(
        "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tentailment\n", encoding="utf-8"
    )
    with pytest.raises(DataError, match="rte has pair rows .* but the model was fine-tuned on made-up and predicts"):
        load_labelled("rte", info_of("sentence"), data_dir=tmp_path)
    several = dataclasses.replace(info_of("sentence"), multi_label=True)
    (tmp_path / "rows.csv").write_text("text,label\na film,negative\n", encoding="utf-8")
    refused("label_separator", load_labelled, tmp_path / "rows.csv", several)


@pytest.mark.parametrize(
    "arguments, told",
    [(("m",), "either --data"), (("m", "rows.csv", "--data", "d"), "either --data"),
     (("m", "--data", "d", "--split", "test"), "need ROWS"), (("m", "--data", "d", "--column", "text=a"), "need ROWS")],
)  # fmt: skip
def test_examples_and_rows_exclude_each_other(arguments, told):
    assert told in run("evaluate", *arguments, code=2)


# --- the test split of a fine-tuning ---


@pytest.mark.slow
def test_labelled_test_rows_are_judged_at_the_end_of_a_fine_tuning(tmp_path):
    checkpoint = save_checkpoint(tmp_path / "pretrained")
    task = task_of("sentence")
    short = RECIPE.replace(epochs=1)
    test = [dataclasses.replace(row, label=1 - row.label) for row in task.validation]  # all the other way round
    result = finetuned(checkpoint, dataclasses.replace(task, test=test), tmp_path / "out", short)
    assert result.test["accuracy"] == pytest.approx(1 - result.dev["accuracy"])
    assert json.loads((tmp_path / "out" / "results.json").read_text())["test"] == result.test
    assert json.loads((tmp_path / "out" / "test" / "evaluation.json").read_text())["metrics"] == result.test
    assert f"test rows: accuracy {result.test['accuracy']:.4f}" in result.summary()
    assert finetuned(checkpoint, dataclasses.replace(task, test=test), tmp_path / "out", short) == result

    bare = [dataclasses.replace(row, label=None) for row in test]
    assert finetuned(checkpoint, dataclasses.replace(task, test=bare), tmp_path / "bare", short).test is None
    with pytest.raises(DataError, match="1 of 13 test rows have no label"):
        finetuned(checkpoint, dataclasses.replace(task, test=[*test[1:], bare[0]]), tmp_path / "some", short)
