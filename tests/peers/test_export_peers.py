"""Exported models in ONNX Runtime, against ours; with int8 weights also their size, and their loss on labelled rows."""

import json

import keras
import numpy as np
import pytest
from bertlab_command import run
from finetuned_models import CONFIG, TOKENIZER, info_of, model_of, predictor_of

from bertlab import checkpoints
from bertlab.checkpoints.kinds import model_class
from bertlab.config import BertConfig
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow
from bertlab.export import OnnxModel, export_int8, export_onnx
from bertlab.families import family, model_types
from bertlab.generation import GenerationSettings, generate
from bertlab.models import BertEncoder, PreTrainingModel, SequenceClassifier
from bertlab.predict import Predictor, evaluate
from bertlab.predict.int8_loss import int8_loss
from bertlab.training.finetuning.task_info import save_finetuned

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("tf2onnx")
pytestmark = pytest.mark.peers
BATCHES = ((1, 3), (2, 7), (5, 16))  # rows, tokens
SIZES = dict(vocab_size=61, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=32, max_position_embeddings=20)
OWN_SIZES = {"gpt2": {"pad_token_id": 0}, "modernbert": {"pad_token_id": 0}, "openai-gpt": {"intermediate_size": 64}}
OWN_TOKEN_HEADS = ("gpt2", "modernbert", "xlnet")  # heads of tokens are the same layers in the other families


def exported(folder, out):
    """The command's output, and its file in ONNX Runtime."""
    return run("export", folder, "--onnx", "--out", out), onnxruntime.InferenceSession(str(out))


def assert_session_agrees(session, model, vocab_size, choices=False):
    """All outputs are the model's, for batches of several sizes with padding."""
    taken = {one.name for one in session.get_inputs()}
    assert {"input_ids", "attention_mask"} <= taken
    rng = np.random.default_rng(0)
    for rows, tokens in BATCHES:
        axes = (rows, 3, tokens) if choices else (rows, tokens)
        inputs = {
            "input_ids": rng.integers(6, vocab_size, axes).astype("int32"),
            "token_type_ids": rng.integers(0, 2, axes).astype("int32"),
            "attention_mask": (np.arange(tokens) < rng.integers(1, tokens + 1, (*axes[:-1], 1))).astype("int32"),
        }
        expected = model(inputs, training=False)
        expected = expected if isinstance(expected, dict) else {"logits": expected}
        given = {name: values for name, values in inputs.items() if name in taken}
        found = dict(zip([output.name for output in session.get_outputs()], session.run(None, given), strict=True))
        assert found.keys() == expected.keys()
        for output, values in found.items():
            np.testing.assert_allclose(values, np.array(expected[output]), atol=1e-4, err_msg=output)


@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "relu"])
def test_onnx_runtime_agrees_with_the_encoder_at_every_length(tmp_path, activation):
    keras.utils.set_random_seed(0)
    encoder = BertEncoder(CONFIG.replace(num_layers=3, hidden_act=activation))
    session = onnxruntime.InferenceSession(str(export_onnx(encoder, tmp_path / "encoder.onnx")))
    assert_session_agrees(session, encoder, CONFIG.vocab_size)


@pytest.mark.parametrize("shape", ["sentence", "pair", "number", "tagging", "multiple-choice", "question"])
def test_onnx_runtime_agrees_with_a_fine_tuned_model_of_every_task_type(tmp_path, shape):
    model = model_of(shape)
    save_finetuned(model, tmp_path / "tuned", TOKENIZER, info_of(shape), "huggingface")
    _, session = exported(tmp_path / "tuned", tmp_path / "tuned.onnx")
    names = ["batch", "choices", "tokens"] if shape == "multiple-choice" else ["batch", "tokens"]
    assert [one.shape for one in session.get_inputs()] == [names] * 3
    assert all(named == names[: len(named)] for one in session.get_outputs()
               if (named := [axis for axis in one.shape if isinstance(axis, str)]))  # fmt: skip
    assert_session_agrees(session, model, CONFIG.vocab_size, shape == "multiple-choice")
    labels = session.get_modelmeta().custom_metadata_map.get("labels", "[]")
    assert tuple(json.loads(labels)) == tuple(info_of(shape).labels)


def family_cases():
    """The encoder and a classifier of every family, and the heads that read every token: (model_type, kind)."""
    names = [name for name in model_types() if not family(name).decoder]  # a decoder's second row is no input here
    of_all = [(name, kind) for name in names for kind in ("encoder", "sequence_classification")]
    heads = ("token_classification", "question_answering", "multiple_choice")
    return of_all + [(name, kind) for name in OWN_TOKEN_HEADS for kind in heads]


@pytest.mark.parametrize(("name", "kind"), family_cases())
def test_onnx_runtime_agrees_with_every_family_and_head_at_every_length(tmp_path, name, kind):
    keras.utils.set_random_seed(0)
    model = model_class(kind)(family(name).config(**(SIZES | OWN_SIZES.get(name, {})), initializer_range=0.3))
    session = onnxruntime.InferenceSession(str(export_onnx(model, tmp_path / "model.onnx")))
    assert_session_agrees(session, model, 61, kind == "multiple_choice")


@pytest.mark.parametrize("model_type", ["gpt2", "openai-gpt", "bert"])
def test_onnx_runtime_gives_the_next_tokens_of_a_left_to_right_model(tmp_path, model_type):
    """The command exports it, for several lengths; `generate` chooses from the logits at a text's last token."""
    causal = {"causal": True} if model_type == "bert" else {}
    own = SIZES | OWN_SIZES.get(model_type, {}) | {"vocab_size": len(TOKENIZER.vocabulary), "initializer_range": 0.3}
    keras.utils.set_random_seed(0)
    model = PreTrainingModel(family(model_type).config(**own, **causal), next_sentence=False)
    checkpoints.save(model, tmp_path / "model", TOKENIZER, format="bertlab")
    output, session = exported(tmp_path / "model", tmp_path / "model.onnx")
    assert "→ logits" in output
    rng = np.random.default_rng(0)
    read = [one.name for one in session.get_inputs()]
    for rows, tokens in BATCHES:
        inputs = {
            "input_ids": rng.integers(5, own["vocab_size"], (rows, tokens)).astype("int32"),
            "token_type_ids": np.zeros((rows, tokens), "int32"),
            "attention_mask": np.ones((rows, tokens), "int32"),
        }
        inputs["attention_mask"][0, tokens - 1 :] = 0
        (values,) = session.run(["logits"], {name: inputs[name] for name in read})
        np.testing.assert_allclose(values, np.array(model(inputs)["masked_lm_logits"]), atol=1e-4)
    text = [6, 9, 7]
    for _ in range(4):
        inputs = {"input_ids": [text], "token_type_ids": [[0] * len(text)], "attention_mask": [[1] * len(text)]}
        (values,) = session.run(["logits"], {name: np.array(inputs[name], "int32") for name in read})
        text.append(int(values[0, -1].argmax()))
    assert [text[3:]] == generate(model, [text[:3]], GenerationSettings(max_new_tokens=4))


# === int8 weights ===


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
