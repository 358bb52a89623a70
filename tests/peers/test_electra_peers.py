"""ELECTRA's discriminator and fine-tuning heads against transformers: outputs, and folders in both directions."""

import numpy as np
import pytest

from bertlab import checkpoints, models

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers
CLASSES = {
    "ElectraForPreTraining": models.ReplacedTokenDetector,
    "ElectraForSequenceClassification": models.SequenceClassifier,
    "ElectraForTokenClassification": models.TokenClassifier,
    "ElectraForMultipleChoice": models.MultipleChoiceClassifier,
    "ElectraForQuestionAnswering": models.QuestionAnswerer,
}
IDS = np.array([[2, 17, 40, 9, 12, 3], [2, 8, 3, 0, 0, 0]])
INPUTS = {"input_ids": IDS, "attention_mask": (IDS != 0) * 1, "token_type_ids": np.array([[0, 0, 0, 1, 1, 1], [0] * 6])}


def theirs(name, width):
    torch.manual_seed(0)
    config = transformers.ElectraConfig(vocab_size=61, embedding_size=width, hidden_size=16, num_hidden_layers=2,
                                        num_attention_heads=2, intermediate_size=24, max_position_embeddings=12,
                                        num_labels=3 if "Classification" in name else 2)  # fmt: skip
    model = getattr(transformers, name)(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def outputs(model, inputs):
    with torch.no_grad():
        found = model(**{name: torch.from_numpy(value) for name, value in inputs.items()})
    return np.stack([found.start_logits, found.end_logits]) if "start_logits" in found else found.logits.numpy()


def ours(model, inputs):
    found = model({name: value.astype("int32") for name, value in inputs.items()})
    return np.stack([found["start_logits"], found["end_logits"]]) if isinstance(found, dict) else np.asarray(found)


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("name", CLASSES)
def test_outputs_are_equal_and_the_folder_is_written_back(name, width, tmp_path):
    reference = theirs(name, width)
    reference.save_pretrained(tmp_path / "theirs")
    inputs = {key: value[:, None] for key, value in INPUTS.items()} if "Choice" in name else INPUTS
    expected = outputs(reference, inputs)
    model = checkpoints.load(tmp_path / "theirs", CLASSES[name])
    np.testing.assert_allclose(ours(model, inputs), expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))
    checkpoints.save(model, tmp_path / "ours")
    again = getattr(transformers, name).from_pretrained(tmp_path / "ours").eval()
    np.testing.assert_array_equal(outputs(again, inputs), expected)
