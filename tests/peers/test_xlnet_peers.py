"""XLNet against transformers: fine-tuning heads, padding on both sides, the two streams, folders in both directions.

The encoder's hidden states, attention and gradients: tests/peers/test_parity.py.
"""

import numpy as np
import pytest

from bertlab import checkpoints, models

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers
CLASSES = {
    "XLNetModel": models.Backbone,
    "XLNetLMHeadModel": models.PreTrainingModel,
    "XLNetForSequenceClassification": models.SequenceClassifier,
    "XLNetForTokenClassification": models.TokenClassifier,
    "XLNetForMultipleChoice": models.MultipleChoiceClassifier,
    "XLNetForQuestionAnsweringSimple": models.QuestionAnswerer,
}
IDS = np.array([[17, 40, 9, 12, 4, 3], [5, 5, 5, 8, 4, 3]])  # padding, 5, on the left
SEGMENTS = np.array([[0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 2]])
INPUTS = {"input_ids": IDS, "attention_mask": (IDS != 5) * 1, "token_type_ids": SEGMENTS}


def theirs(name):
    torch.manual_seed(0)
    config = transformers.XLNetConfig(vocab_size=61, d_model=16, n_layer=2, n_head=2, d_inner=24,
                                      num_labels=3 if "Classification" in name else 2)  # fmt: skip
    model = getattr(transformers, name)(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def arrays(found):
    if "start_logits" in found:
        return np.stack([np.asarray(found["start_logits"]), np.asarray(found["end_logits"])])
    for name in ("logits", "masked_lm_logits", "last_hidden_state", "sequence_output"):
        if name in found:
            return np.asarray(found[name])


def outputs(model, inputs):
    with torch.no_grad():
        return arrays(model(**{name: torch.from_numpy(value) for name, value in inputs.items()}))


def ours(model, inputs):
    found = model({name: value.astype("int32") for name, value in inputs.items()})
    return arrays(found) if isinstance(found, dict) else np.asarray(found)


def check(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("name", CLASSES)
def test_outputs_are_equal_and_the_folder_is_written_back(name, tmp_path):
    reference = theirs(name)
    reference.save_pretrained(tmp_path / "theirs")
    inputs = {key: value[:, None] for key, value in INPUTS.items()} if "Choice" in name else INPUTS
    expected = outputs(reference, inputs)
    model = checkpoints.load(tmp_path / "theirs")
    assert type(model) is CLASSES[name]
    check(ours(model, inputs), expected)
    checkpoints.save(model, tmp_path / "ours")
    again = getattr(transformers, name).from_pretrained(tmp_path / "ours").eval()
    np.testing.assert_allclose(outputs(again, inputs), expected, rtol=0, atol=1e-6)


def test_the_query_stream_predicts_what_theirs_predicts(tmp_path):
    reference = theirs("XLNetLMHeadModel")
    reference.save_pretrained(tmp_path)
    order = np.array([[2, 0, 1, 0, 3, 0], [0, 0, 0, 1, 0, 2]])
    places = np.array([[2, 0, 4], [3, 5, 3]])
    is_target = order > 0
    sees = (order[:, None, :] < order[:, :, None]) | (~is_target[:, None, :] & ~is_target[:, :, None])  # (B, T, T)
    mapping = np.eye(6, dtype="float32")[places]  # (B, P, T)
    target = {"perm_mask": 1.0 - sees.astype("float32"), "target_mapping": mapping}
    expected = outputs(reference, INPUTS | {"attention_mask": INPUTS["attention_mask"].astype("float32")} | target)
    model = checkpoints.load(tmp_path)
    check(ours(model, INPUTS | {"order_ids": order, "masked_lm_positions": places}), expected)
