"""Checkpoints in our own format that earlier versions of BertLab wrote."""

import numpy as np
from checkpoint_files import GOLDEN, same_weights, weights

from bertlab.checkpoints import load, save

VERSION_1 = GOLDEN / "native_version_1"  # pre-LN and untied, so that it has every part that was renamed since


def outputs(model) -> dict[str, np.ndarray]:
    with np.load(VERSION_1 / "outputs.npz") as file:
        expected = dict(file)
    found = model({name: expected[name] for name in ("input_ids", "token_type_ids", "attention_mask")})
    return {name: (np.asarray(found[name]), expected[name]) for name in found}


def test_a_checkpoint_of_format_version_1_computes_what_it_computed_when_it_was_written():
    model = load(VERSION_1)

    assert not model.load_report.initialised and not model.load_report.unexpected
    compared = outputs(model)
    assert set(compared) == {"sequence_output", "pooled_output", "masked_lm_logits", "next_sentence_logits"}
    for found, expected in compared.values():
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_saved_again_it_has_todays_names_and_the_same_weights(tmp_path):
    model = load(VERSION_1)
    again = load(save(model, tmp_path / "new", format="bertlab"))

    assert same_weights(weights(model), weights(again))
    assert "bertlab.safetensors: backbone/encoder/layer_0/feed_forward/inner/kernel" in str(again.load_report)
    assert "bertlab.safetensors: backbone/encoder/layer_0/feed_forward/expand/kernel" not in str(again.load_report)
