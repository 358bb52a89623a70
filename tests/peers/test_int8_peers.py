"""ONNX files with int8 weights in ONNX Runtime: their size, and their loss on labelled rows."""

import json

import keras
import numpy as np
import pytest
from bertlab_command import run
from finetuned_models import TOKENIZER, info_of, model_of, predictor_of

from bertlab.config import BertConfig
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow
from bertlab.export import OnnxModel, export_int8
from bertlab.models import SequenceClassifier
from bertlab.predict import Predictor, evaluate
from bertlab.predict.int8_loss import int8_loss
from bertlab.training.finetuning.task_info import save_finetuned

pytestmark = pytest.mark.peers
pytest.importorskip("onnxruntime")
pytest.importorskip("tf2onnx")


def files_of(model, folder, labels=()):
    export_int8(model, folder / "int8.onnx", folder / "full.onnx", labels)
    return [OnnxModel(folder / name, model.config) for name in ("full.onnx", "int8.onnx")]


def test_a_file_with_int8_weights_has_a_quarter_of_the_size_and_nearly_the_same_outputs(tmp_path):
    keras.utils.set_random_seed(0)
    config = BertConfig.named("tiny", vocab_size=4000)
    model = SequenceClassifier(config, 3)
    full, int8 = files_of(model, tmp_path, ("no", "maybe", "yes"))
    sizes = [(tmp_path / name).stat().st_size for name in ("full.onnx", "int8.onnx")]
    assert sizes[1] < 0.32 * sizes[0]
    rng = np.random.default_rng(0)
    inputs = {"input_ids": rng.integers(5, 4000, (4, 20)), "attention_mask": np.ones((4, 20)),
              "token_type_ids": np.zeros((4, 20))}  # fmt: skip
    expected = np.array(model({name: values.astype("int32") for name, values in inputs.items()}))
    np.testing.assert_allclose(full.predict_on_batch(inputs), expected, atol=1e-4)
    difference = np.abs(int8.predict_on_batch(inputs) - expected).max()
    assert 0 < difference < 0.1 * np.abs(expected).max() + 0.02
    metadata = int8._session.get_modelmeta().custom_metadata_map
    assert json.loads(metadata["labels"]) == ["no", "maybe", "yes"]


@pytest.mark.parametrize("shape", ["sentence", "number", "tagging", "multiple-choice", "question"])
def test_the_loss_on_labelled_rows_is_that_of_two_judgements(tmp_path, shape):
    texts = ["good film .", "the film was bad", "where is paris", "it was in france"] * 3
    rows = {
        "sentence": [SentenceRow(text, i % 3) for i, text in enumerate(texts)],
        "number": [PairRow(text, "a film", float(i % 5)) for i, text in enumerate(texts)],
        "tagging": [TaggingRow(tuple(text.split()), tuple(i % 3 for i in range(len(text.split())))) for text in texts],
        "multiple-choice": [MultipleChoiceRow(text, ("good", "bad"), i % 2) for i, text in enumerate(texts)],
        "question": [QuestionRow(f"q{i}", "where is it", text, (text.split()[-1],), (text.rindex(" ") + 1,))
                     for i, text in enumerate(texts)],
    }[shape]  # fmt: skip
    predictor = predictor_of(shape)
    full, int8 = files_of(predictor.model, tmp_path)
    loss = int8_loss(predictor, tmp_path / "full.onnx", tmp_path / "int8.onnx", rows)
    for model, figures in ((full, loss.full), (int8, loss.int8)):
        assert figures == evaluate(Predictor(model, predictor.tokenizer, predictor.info), rows).metrics
    assert loss.full == pytest.approx(evaluate(predictor, rows).metrics, abs=1e-4, nan_ok=True)
    assert 0 < loss.difference < 5 and (loss.same is None) == (shape == "number")
    assert f"on {len(rows)} rows: the largest difference of an output" in loss.summary()


def test_the_command_prints_size_and_loss_and_leaves_one_file(tmp_path):
    save_finetuned(model_of("sentence"), tmp_path / "tuned", TOKENIZER, info_of("sentence"), "huggingface")
    rows = "\n".join(["text,label", "good film,positive", "the film was bad,negative", "it was,mixed", ""])
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    out = tmp_path / "served" / "small.onnx"
    out.parent.mkdir()
    said = run(
        "export", tmp_path / "tuned", "--onnx", "--quantize", "int8", "--rows", tmp_path / "rows.csv", "--out", out
    )
    assert "MB →" in said and "on 3 rows:" in said and "accuracy" in said
    assert [path.name for path in out.parent.iterdir()] == ["small.onnx"]
