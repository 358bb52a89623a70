"""The heads of ALBERT, DistilBERT and RoBERTa against transformers: outputs, and folders in both directions.

BERT: test_checkpoints_peers.py; ELECTRA, ModernBERT and XLNet have files of their own.
"""

import numpy as np
import pytest
from peer_outputs import ours_of, theirs_of

from bertlab import checkpoints, models

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers
CONFIGS = {
    "Albert": dict(embedding_size=8, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
                   max_position_embeddings=12, pad_token_id=0),
    "DistilBert": dict(dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=12),
    "Roberta": dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
                    max_position_embeddings=12, type_vocab_size=1, pad_token_id=1),
}  # fmt: skip
CLASSES = {
    "Model": models.Backbone,
    "ForMaskedLM": models.PreTrainingModel,
    "ForSequenceClassification": models.SequenceClassifier,
    "ForTokenClassification": models.TokenClassifier,
    "ForMultipleChoice": models.MultipleChoiceClassifier,
    "ForQuestionAnswering": models.QuestionAnswerer,
}


def theirs(family, kind):
    torch.manual_seed(0)
    labels = 3 if "Classification" in kind else 2
    config = getattr(transformers, f"{family}Config")(vocab_size=61, num_labels=labels, **CONFIGS[family])
    model = getattr(transformers, family + kind)(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def inputs_of(family, kind):
    pad = CONFIGS[family].get("pad_token_id", 0)
    ids = np.array([[2, 17, 40, 9, 12, 3], [2, 8, 3, pad, pad, pad]])
    inputs = {"input_ids": ids, "attention_mask": (ids != pad) * 1}
    if family == "Albert":
        inputs["token_type_ids"] = np.array([[0, 0, 0, 1, 1, 1], [0] * 6])
    return {name: value[:, None] for name, value in inputs.items()} if "Choice" in kind else inputs


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("family", CONFIGS)
def test_outputs_are_equal_and_the_folder_is_written_back(family, kind, tmp_path):
    reference, inputs = theirs(family, kind), inputs_of(family, kind)
    reference.save_pretrained(tmp_path / "theirs")
    expected = theirs_of(reference, inputs)
    model = checkpoints.load(tmp_path / "theirs")
    assert type(model) is CLASSES[kind]
    np.testing.assert_allclose(ours_of(model, inputs), expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))
    checkpoints.save(model, tmp_path / "ours")
    again, told = getattr(transformers, family + kind).from_pretrained(tmp_path / "ours", output_loading_info=True)
    assert not told["missing_keys"] and not told["unexpected_keys"]
    np.testing.assert_allclose(theirs_of(again.eval(), inputs), expected, rtol=1e-5, atol=1e-6)


def test_tokens_and_the_order_of_segments_are_predicted_as_theirs(tmp_path):
    reference, inputs = theirs("Albert", "ForPreTraining"), inputs_of("Albert", "")
    reference.save_pretrained(tmp_path)
    with torch.no_grad():
        expected = reference(**{name: torch.from_numpy(value) for name, value in inputs.items()})
    found = checkpoints.load(tmp_path)({name: value.astype("int32") for name, value in inputs.items()})
    for ours, their in (("masked_lm_logits", "prediction_logits"), ("next_sentence_logits", "sop_logits")):
        np.testing.assert_allclose(np.asarray(found[ours]), expected[their].numpy(), rtol=0, atol=2e-5)
