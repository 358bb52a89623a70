"""Contrastive tuning of sentence vectors: its loss by hand, what it learns, and resuming."""

import json
import shutil
import sys

import keras
import numpy as np
import pytest
from bertlab_command import run
from finetuning_case import finetuned, save_checkpoint, task_of
from keras import ops
from killing import Killed
from other_backends import last_line
from refusals import refused
from safetensors.numpy import load_file

from bertlab import checkpoints
from bertlab.analysis.vectors import encode_texts
from bertlab.common.errors import ConfigError, DataError
from bertlab.data.tasks.load import read_pairs
from bertlab.data.tasks.rows import PairRow
from bertlab.training.contrastive import tuning
from bertlab.training.contrastive.settings import ContrastiveSettings
from bertlab.training.contrastive.tuning import VECTORS, ContrastiveTuner, _Run, contrastive_loss, tune_vectors
from bertlab.training.devices.accumulation import split

SHORT = ContrastiveSettings(learning_rate=5e-3, batch_size=8, epochs=3, max_length=16, interval=2)


def texts(rng, word):
    return " ".join([*rng.choice(["film", "the", "was", "it"], 3), word, *rng.choice(["a", ".", "not"], 2)])


def pairs_by_word(count, seed=1):
    """Pairs that share a word; the others of their texts are drawn."""
    rng = np.random.default_rng(seed)
    names = rng.choice(["good", "bad", "paris", "rome", "city"], count)
    return [PairRow(texts(rng, name), texts(rng, name)) for name in names]


def graded_by_word(count, seed=2):
    rng = np.random.default_rng(seed)
    names = rng.choice(["good", "bad", "paris", "rome", "city"], (count, 2))
    return [PairRow(texts(rng, a), texts(rng, b), float(a == b)) for a, b in names]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("contrastive") / "model", hidden_dropout=0.1)


def test_the_loss_is_the_cross_entropy_of_choosing_ones_own_partner():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 5, 7))
    expected = 0.0
    for i in range(5):
        cosines = [first[i] @ second[j] / np.linalg.norm(first[i]) / np.linalg.norm(second[j]) for j in range(5)]
        powers = np.exp(np.array(cosines) / 0.05)
        expected -= np.log(powers[i] / powers.sum()) / 5
    assert float(contrastive_loss(first, second, 0.05)) == pytest.approx(expected, rel=1e-4)
    assert float(contrastive_loss(first * 3, second * 0.1, 0.05)) == pytest.approx(expected, rel=1e-4)


def test_a_batch_of_the_tuner_has_the_loss_of_the_vectors_that_encode_gives(checkpoint, tmp_path):
    pairs = pairs_by_word(6)
    run = _Run(checkpoint, pairs, tmp_path, SHORT, (), print)
    batch = run._batch(0)
    tuner = ContrastiveTuner(run.backbone, 0.05)
    order = np.random.default_rng((1, 0)).permutation(6)
    chosen = [pairs[i].text_a for i in order] + [pairs[i].text_b for i in order]
    vectors = encode_texts(run.backbone, run.tokenizer, chosen)
    np.testing.assert_allclose(np.array(tuner(batch)), vectors, atol=1e-5)
    loss = tuner.compute_loss(batch, None, tuner(batch))
    assert float(loss) == pytest.approx(float(contrastive_loss(vectors[:6], vectors[6:], 0.05)), rel=1e-4)


@pytest.mark.slow
def test_pairs_that_belong_together_move_together_and_the_folder_is_a_model_for_encode(checkpoint, tmp_path):
    pairs, graded = pairs_by_word(96), graded_by_word(60)
    result = tune_vectors(checkpoint, pairs, tmp_path / "out", SHORT.replace(epochs=6), graded)
    assert result.epochs[-1]["loss"] < result.epochs[0]["loss"]
    assert result.epochs[-1]["spearman"] > result.before + 0.1, result
    assert json.loads((tmp_path / "out/results.json").read_text())["before"] == result.before
    assert tune_vectors(checkpoint, pairs, tmp_path / "out", SHORT.replace(epochs=6), graded) == result  # read again
    with pytest.raises(ConfigError, match="temperature was 0.05, is 0.1"):
        tune_vectors(checkpoint, pairs, tmp_path / "out", SHORT.replace(epochs=6, temperature=0.1), graded)

    (tmp_path / "lines.txt").write_text(f"{graded[0].text_a}\n{graded[0].text_b}\n", encoding="utf-8")
    run("encode", tmp_path / "lines.txt", "--model", tmp_path / "out", "--out", tmp_path / "v.npy")
    assert np.load(tmp_path / "v.npy").shape == (2, 16)
    before, after = (checkpoints.load(each, "encoder") for each in (checkpoint, tmp_path / "out"))
    np.testing.assert_array_equal(np.array(after.pooler.dense.kernel), np.array(before.pooler.dense.kernel))


@pytest.mark.slow
def test_a_killed_run_resumes_with_the_same_bytes(checkpoint, tmp_path, monkeypatch):
    pairs, said = pairs_by_word(24), []
    tuning.tune_vectors(checkpoint, pairs, tmp_path / "whole", SHORT)
    step = tuning._Run._step

    def die_at_six(self, tuner, progress, total):
        if progress.step == 5:
            raise Killed
        return step(self, tuner, progress, total)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(tuning._Run, "_step", die_at_six)
        tuning.tune_vectors(checkpoint, pairs, tmp_path / "parts", SHORT)
    tuning.tune_vectors(checkpoint, pairs, tmp_path / "parts", SHORT, say=said.append)
    assert "resumes from step 4 of 9" in said
    whole, parts = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts"))
    assert whole == parts and not (tmp_path / "parts/states").exists()
    steps = [line.split(",")[0] for line in (tmp_path / "parts/logs/metrics.csv").read_text().splitlines()]
    assert steps == ["step", "2", "3", "4", "6", "6", "8", "9"]  # intervals of 2, epochs of 3


def test_single_texts_are_read_twice_with_different_dropout(checkpoint, tmp_path):
    (tmp_path / "lines.txt").write_text("good film\n\nit was bad\nparis is a city\nthe film was not good .\n")
    pairs = read_pairs(tmp_path / "lines.txt")
    assert len(pairs) == 4 and all(row.text_a == row.text_b for row in pairs)
    run = _Run(checkpoint, pairs, tmp_path / "x", SHORT, (), print)
    first, second = np.split(np.array(ContrastiveTuner(run.backbone, 0.05)(run._batch(0), training=True)), 2)
    assert np.abs(first - second).max() > 1e-3
    undropped = save_checkpoint(tmp_path / "undropped")
    refused("teaches nothing without dropout", tune_vectors, undropped, pairs, tmp_path / "y", SHORT, error=ConfigError)


def test_a_folder_with_another_model_or_other_results_is_refused(checkpoint, tmp_path):
    other = shutil.copytree(checkpoint, tmp_path / "other")
    kept = (other / "model.safetensors").read_bytes()
    for start in (
        lambda model, out: tune_vectors(model, pairs_by_word(4), out, SHORT),
        lambda model, out: finetuned(model, task_of("sentence"), out),
    ):
        with pytest.raises(ConfigError, match="other: holds the model to start from, which would be replaced"):
            start(other, tmp_path / "other" / ".." / "other")
        with pytest.raises(ConfigError, match="other: holds a model but no settings.json; choose another folder"):
            start(checkpoint, other)
    assert (other / "model.safetensors").read_bytes() == kept
    (tmp_path / "results.json").write_text('{"task": "tone"}')
    with pytest.raises(ConfigError, match="holds results but no settings.json; choose another folder"):
        tune_vectors(checkpoint, pairs_by_word(4), tmp_path, SHORT)


def test_files_of_the_user_stay(checkpoint, tmp_path):
    own = tmp_path / "states/state-of-the-art.txt"
    own.parent.mkdir()
    own.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds states but no settings.json"):
        tune_vectors(checkpoint, pairs_by_word(8), tmp_path, SHORT)
    out = tmp_path / "out"

    def say(line):  # called while there are states
        (out / "states").mkdir(exist_ok=True)
        (out / "states/mine.txt").write_text("mine", encoding="utf-8")

    tune_vectors(checkpoint, pairs_by_word(8), out, SHORT.replace(epochs=2), say=say)
    assert [path.name for path in (out / "states").iterdir()] == ["mine.txt"]
    assert own.read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
def test_the_command_reads_pairs_and_grades_of_files(checkpoint, tmp_path):
    rows = "\n".join(["question,answer", *(f"{row.text_a},{row.text_b}" for row in pairs_by_word(10)), ""])
    (tmp_path / "pairs.csv").write_text(rows, encoding="utf-8")
    grades = "\n".join(["sentence1\tsentence2\tscore", *(f"{row.text_a}\t{row.text_b}\t{row.label}"
                        for row in graded_by_word(9)), ""])  # fmt: skip
    (tmp_path / "dev.tsv").write_text(grades, encoding="utf-8")
    told = run("tune-vectors", tmp_path / "pairs.csv", "--column", "text_a=question", "--column", "text_b=answer",
               "--model", checkpoint, "--graded", tmp_path / "dev.tsv", "--out", tmp_path / "out")  # fmt: skip
    assert "before   spearman" in told and "epoch 1" in told


def test_two_texts_are_a_pair_also_beside_a_column_named_text(tmp_path):
    (tmp_path / "own.csv").write_text("text,text_a,text_b\nx,a,b\ny,c,d\n")
    (tmp_path / "qa.csv").write_text("text,question,answer\nx,a,b\ny,c,d\n")
    expected = [PairRow("a", "b"), PairRow("c", "d")]
    assert read_pairs(tmp_path / "own.csv") == expected
    assert read_pairs(tmp_path / "qa.csv", {"text_a": "question", "text_b": "answer"}) == expected
    assert read_pairs(tmp_path / "own.csv", {"text": "text"}) == [PairRow("x", "x"), PairRow("y", "y")]
    assert read_pairs(tmp_path / "qa.csv") == [PairRow("x", "x"), PairRow("y", "y")]


def test_empty_texts_are_reported_or_skipped_and_a_text_file_has_no_columns(checkpoint, tmp_path):
    (tmp_path / "rows.csv").write_text("text_a,text_b\na,b\n ,b\nc,d\n")
    (tmp_path / "rows.txt").write_text("a\nb\n")
    arguments = ["tune-vectors", tmp_path / "rows.csv", "--model", checkpoint, "--out", tmp_path / "out"]
    refused("rows.csv line 3: a text is empty.*--skip-errors leaves such", run, *arguments)
    assert "left out: " in run(*arguments, "--skip-errors")
    refused("a .txt file has no columns; leave out columns", read_pairs, tmp_path / "rows.txt", {"text": "review"})


def test_files_without_two_pairs_and_wrong_grades_are_refused(checkpoint, tmp_path):
    (tmp_path / "one.txt").write_text("a film\n")
    refused("at least two texts or pairs, got 1", read_pairs, tmp_path / "one.txt")
    (tmp_path / "labelled.csv").write_text("text_a,text_b,label\na,b,entailment\nc,d,neutral\n")
    assert read_pairs(tmp_path / "labelled.csv") == [PairRow("a", "b"), PairRow("c", "d")]
    with pytest.raises(DataError, match="graded pair 1: expected two texts and a number"):
        tune_vectors(checkpoint, pairs_by_word(4), tmp_path / "out", SHORT, [PairRow("a", "b")])


# === Parts, devices, 16 bits ===


@pytest.mark.slow
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_a_batch_in_parts_has_the_loss_and_the_update_of_the_whole_one(tmp_path, dropout):
    """With dropout, whose masks depend on the parts: against the gradient of all parts together with these masks."""
    checkpoint = save_checkpoint(tmp_path / "model", hidden_dropout=dropout)
    run = _Run(checkpoint, pairs_by_word(8), tmp_path / "out", SHORT.replace(accumulation=4), (), print)
    batch = run._batch(0)
    tuner = ContrastiveTuner(run.backbone, 0.05, accumulation=4)
    tuner.compile(keras.optimizers.SGD(0.5), jit_compile=False)
    start, before = [ops.convert_to_numpy(variable).copy() for variable in tuner.variables], tuner.get_weights()
    parts = split({name: ops.convert_to_tensor(values) for name, values in batch.items()}, 4)
    vectors = [ops.convert_to_numpy(tuner({n: v[k] for n, v in parts.items()}, training=True)) for k in range(4)]
    places = np.concatenate(ops.convert_to_numpy(parts["rows"]))
    ordered = np.concatenate(vectors)[np.argsort(places)]
    expected = float(contrastive_loss(ordered[:8], ordered[8:], 0.05))

    for variable, value in zip(tuner.variables, start):
        variable.assign(value)
    np.testing.assert_allclose(ops.convert_to_numpy(tuner.with_totals(batch)[VECTORS]), ordered, atol=1e-5)
    now = [ops.convert_to_numpy(variable) for variable in tuner.variables]
    assert all(map(np.array_equal, now, start))  # the seeds of dropout, too
    assert float(tuner.train_on_batch(batch, return_dict=True)["loss"]) == pytest.approx(expected, rel=1e-4)
    moved = [(old - new) / 0.5 for old, new in zip(before, tuner.get_weights()) if new.dtype.kind == "f"]
    if not dropout:
        whole = ContrastiveTuner(run.backbone, 0.05)
        for variable, value in zip(tuner.variables, start):
            variable.assign(value)
        whole.compile(keras.optimizers.SGD(0.5), jit_compile=False)
        whole.train_on_batch(batch)
        gradients = [(old - new) / 0.5 for old, new in zip(before, whole.get_weights()) if new.dtype.kind == "f"]
        for found, wanted in zip(moved, gradients, strict=True):
            np.testing.assert_allclose(found, wanted, atol=2e-5)
    assert max(np.abs(one).max() for one in moved) > 1e-3


@pytest.mark.slow
def test_bfloat16_learns_and_its_weights_are_float32_and_a_curve_is_drawn(checkpoint, tmp_path):
    pairs, graded = pairs_by_word(96), graded_by_word(60)
    settings = SHORT.replace(epochs=6, precision="bfloat16", accumulation=2)
    result = tune_vectors(checkpoint, pairs, tmp_path / "out", settings, graded)
    assert result.epochs[-1]["spearman"] > result.before + 0.1
    assert {value.dtype for value in load_file(tmp_path / "out/model.safetensors").values()} == {np.dtype("float32")}
    assert (tmp_path / "out/curve.png").stat().st_size > 10_000
    assert json.loads((tmp_path / "out/settings.json").read_text())["precision"] == "bfloat16"


def test_batches_of_several_lengths_are_tuned_in_parts(checkpoint, tmp_path):
    long = [PairRow(f"{row.text_a} {row.text_a} {row.text_b}", row.text_b) for row in pairs_by_word(16)]
    settings = SHORT.replace(epochs=2, max_length=32, accumulation=2, batch_size=2)  # short pairs, long pairs, both
    result = tune_vectors(checkpoint, [*pairs_by_word(16), *long], tmp_path / "out", settings)
    assert np.isfinite(result.epochs[-1]["loss"])


def test_parts_that_cannot_be_divided_are_refused(checkpoint, tmp_path):
    refused("batch_size 8 cannot be divided into 3 equal parts", SHORT.replace, accumulation=3, error=ConfigError)
    with pytest.raises(ConfigError, match="expected at least 8 pairs for 8 parts of a batch, got 6"):
        tune_vectors(checkpoint, pairs_by_word(6), tmp_path / "out", SHORT.replace(accumulation=8))


ON_TWO = """
import sys
sys.path[:0] = {paths!r}
from test_contrastive import SHORT, pairs_by_word
from bertlab.training.contrastive.tuning import tune_vectors
result = tune_vectors({checkpoint!r}, pairs_by_word(32), {out!r}, SHORT.replace(epochs=1, devices=2, accumulation=2))
print(result.epochs[0]["loss"])
"""


@pytest.mark.exhaustive
def test_two_devices_give_the_update_of_one(tmp_path):
    checkpoint = save_checkpoint(tmp_path / "model")
    one = tune_vectors(checkpoint, pairs_by_word(32), tmp_path / "one", SHORT.replace(epochs=1, accumulation=2))
    code = ON_TWO.format(paths=sys.path, checkpoint=str(checkpoint), out=str(tmp_path / "two"))
    assert float(last_line(code, backend="tensorflow")) == pytest.approx(one.epochs[0]["loss"], rel=1e-5)
    expected = load_file(tmp_path / "one/model.safetensors")
    for name, value in load_file(tmp_path / "two/model.safetensors").items():
        np.testing.assert_allclose(value, expected[name], atol=2e-4, err_msg=name)
