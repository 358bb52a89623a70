"""An encoder–decoder as two ONNX files: the guide's loop, without BertLab, writes the same targets."""

import json
import re
from pathlib import Path

import keras
import numpy as np
import pytest
from bertlab_command import run
from translation_model import END, SOURCES, START, TOKENIZER, random_model

from bertlab import checkpoints
from bertlab.families import MarianConfig, TransformerConfig
from bertlab.generation import TranslationSettings, translate
from bertlab.models import SequenceToSequenceModel

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("tf2onnx")
pytestmark = pytest.mark.peers
GUIDE = Path(__file__).parents[2] / "docs" / "translation.md"
MODELS = {
    "2017": (TransformerConfig, {}),
    "2017 pre-norm": (TransformerConfig, {"pre_norm": True}),
    "published": (
        MarianConfig,
        {"pad_token_id": START, "decoder_start_token_id": START, "eos_token_id": END, "decoder_layers": 1},
    ),
}
LONGER = [[5, 6, 7, 8, 9, 10, 11, 12, 5, 6, 7, END], [12, 9, END]]


def exported(model, folder, *options):
    """Exports a model with its tokenizer by the command: the folder `translator`, and the command's output."""
    saved = checkpoints.save(model, folder / "saved", TOKENIZER, format="bertlab")
    return folder / "translator", run("export", saved, "--onnx", "--out", folder / "translator", *options)


def padded(sources):
    """ids and mask, (B, S) int64; padding has the id of a word, so that only the mask hides it."""
    longest = max(map(len, sources))
    ids, mask = np.full((len(sources), longest), 7), np.zeros((len(sources), longest), np.int64)
    for row, used, source in zip(ids, mask, sources):
        row[: len(source)], used[: len(source)] = source, 1
    return ids, mask


def guides_loop(folder, monkeypatch):
    """The function `translate` of the guide, which reads the files of the folder `translator`."""
    (block,) = re.findall(r"```python\n(import json\n.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    monkeypatch.chdir(folder)
    names = {}
    exec(block, names)
    return names["translate"]


@pytest.mark.parametrize("name", MODELS)
def test_the_guides_loop_writes_the_targets_of_the_library(name, tmp_path, monkeypatch):
    kind, changes = MODELS[name]
    model = random_model(kind, **changes)
    if kind is MarianConfig:  # padding would win everywhere, if the loop did not leave it out
        (bias,) = [variable for variable in model.weights if variable.path.endswith("masked_lm_head/bias")]
        bias.assign(np.where(np.arange(bias.shape[1]) == START, 30.0, 0.0)[None])
    exported(model, tmp_path)
    loop = guides_loop(tmp_path, monkeypatch)
    several = [[source] for source in (*SOURCES, *LONGER)] + [SOURCES, LONGER, [*SOURCES, *LONGER]]
    targets = [loop(*padded(sources), 12) for sources in several]
    settings = TranslationSettings(beams=1, max_new_tokens=12)
    assert targets == [translate(model, sources, settings, START, END) for sources in several]
    assert len({tuple(target) for target in targets[-1]}) > 1


def test_the_text_is_that_of_the_translate_command(tmp_path, monkeypatch):
    exported(random_model(), tmp_path)
    texts = ["a b c", "h", "d d e f a b"]
    sources = [[*TOKENIZER.encode(text), END] for text in texts]
    found = [TOKENIZER.decode(target) for target in guides_loop(tmp_path, monkeypatch)(*padded(sources), 9)]
    said = run("translate", tmp_path / "saved", *texts, "--beams", "1", "--max-new-tokens", "9")
    assert said.splitlines() == found


def sessions(folder):
    return [onnxruntime.InferenceSession(str(folder / f"{name}_model.onnx")) for name in ("encoder", "decoder")]


def logits_of(folder, ids, mask, target):
    encoder, decoder = sessions(folder)
    (vectors,) = encoder.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask})
    source = {"encoder_hidden_states": vectors, "encoder_attention_mask": mask}
    return decoder.run(["logits"], {"input_ids": target, **source})[0]


@pytest.mark.parametrize("rows, tokens, written", [(1, 1, 1), (3, 7, 2), (2, 40, 40)])
def test_the_logits_are_those_of_the_model_at_every_size(rows, tokens, written, tmp_path):
    model, rng = random_model(), np.random.default_rng(0)
    folder, _ = exported(model, tmp_path)
    ids, target = rng.integers(0, 13, (rows, tokens)), rng.integers(0, 13, (rows, written))
    mask = (np.arange(tokens) < rng.integers(1, tokens + 1, (rows, 1))).astype("int64")
    expected = np.asarray(model({"input_ids": ids, "attention_mask": mask, "decoder_input_ids": target})
                          ["masked_lm_logits"])  # fmt: skip
    found = logits_of(folder, ids, mask, target)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))


def test_int8_weights_are_smaller_and_give_nearly_the_same_scores(tmp_path):
    sizes = dict(vocab_size=13, hidden_size=128, intermediate_size=512, max_position_embeddings=40)
    keras.utils.set_random_seed(0)
    model = SequenceToSequenceModel(TransformerConfig(**sizes, num_layers=1, decoder_layers=1, num_heads=4))
    folder, output = exported(model, tmp_path, "--quantize", "int8")
    small = sum(path.stat().st_size for path in folder.iterdir())
    weights = 4 * sum(int(np.prod(variable.shape)) for variable in model.weights)
    assert small < 0.35 * weights and "MB →" in output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["saved", "translator"]
    ids, mask = padded(SOURCES)
    target = np.array([[START, 5, 6], [START, 9, 9], [START, 12, 7]])
    expected = np.asarray(model({"input_ids": ids, "attention_mask": mask, "decoder_input_ids": target})
                          ["masked_lm_logits"])  # fmt: skip
    difference = np.abs(logits_of(folder, ids, mask, target) - expected).max()
    assert 0 < difference < 0.1 * np.abs(expected).max()
    assert json.loads(sessions(folder)[1].get_modelmeta().custom_metadata_map["decoder_start_token_id"]) == START


def test_a_folder_without_a_tokenizer_has_the_ids_of_its_config_or_none(tmp_path):
    for name, (kind, changes) in MODELS.items():
        saved = checkpoints.save(random_model(kind, **changes), tmp_path / name / "saved", format="bertlab")
        out = tmp_path / name / "out"
        run("export", saved, "--onnx", "--out", out)
        about = sessions(out)[1].get_modelmeta().custom_metadata_map
        expected = {"suppress_tokens": "[]", "max_length": "40"}
        if kind is MarianConfig:
            expected = {"suppress_tokens": str([START]), "max_length": "40", "decoder_start_token_id": str(START),
                        "eos_token_id": str(END)}  # fmt: skip
        assert about == expected


def test_the_encoder_alone_is_one_file_as_before(tmp_path):
    model = random_model()
    saved = checkpoints.save(model, tmp_path / "saved", TOKENIZER, format="bertlab")
    path = tmp_path / "encoder.onnx"
    assert "→ sequence_output" in run("export", saved, "--onnx", "--encoder", "--out", path)
    session = onnxruntime.InferenceSession(str(path))
    ids, mask = padded(SOURCES)
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    given = {name: values.astype("int32") for name, values in given.items()}
    (vectors,) = session.run(["sequence_output"], given)
    expected = np.asarray(model.encode(given)[0]["sequence_output"])
    np.testing.assert_allclose(vectors[mask == 1], expected[mask == 1], atol=1e-4)
