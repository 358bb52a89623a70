"""The exported encoder in ONNX Runtime, against ours."""

import numpy as np
import pytest

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "relu"])
def test_onnx_runtime_agrees_with_the_encoder_at_every_length(tmp_path, activation):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    import keras
    from finetuned_models import CONFIG

    from bertlab.export import export_onnx
    from bertlab.models import BertEncoder

    keras.utils.set_random_seed(0)
    encoder = BertEncoder(CONFIG.replace(num_layers=3, hidden_act=activation))
    session = onnxruntime.InferenceSession(str(export_onnx(encoder, tmp_path / "encoder.onnx")))
    rng = np.random.default_rng(0)
    for rows, tokens in ((1, 3), (2, 7), (5, 16)):
        inputs = {
            "input_ids": rng.integers(5, CONFIG.vocab_size, (rows, tokens)).astype("int32"),
            "token_type_ids": rng.integers(0, 2, (rows, tokens)).astype("int32"),
            "attention_mask": (np.arange(tokens) < rng.integers(1, tokens + 1, (rows, 1))).astype("int32"),
        }
        expected = encoder(inputs, training=False)
        for output, values in zip(session.get_outputs(), session.run(None, inputs)):
            np.testing.assert_allclose(values, np.array(expected[output.name]), atol=1e-4)
