"""ModernBERT's fine-tuning heads against transformers: outputs, and folders in both directions."""

import numpy as np
import pytest
from peer_outputs import ours_of, theirs_of

from bertlab import checkpoints, models

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers
CLASSES = {
    "ModernBertModel": models.Backbone,
    "ModernBertForMaskedLM": models.PreTrainingModel,
    "ModernBertForSequenceClassification": models.SequenceClassifier,
    "ModernBertForTokenClassification": models.TokenClassifier,
    "ModernBertForMultipleChoice": models.MultipleChoiceClassifier,
    "ModernBertForQuestionAnswering": models.QuestionAnswerer,
}
IDS = np.array([[2, 17, 40, 9, 12, 8, 9, 3], [2, 8, 3, 0, 0, 0, 0, 0]])
INPUTS = {"input_ids": IDS, "attention_mask": (IDS != 0) * 1}


def theirs(name, pooling):
    torch.manual_seed(0)
    config = transformers.ModernBertConfig(vocab_size=61, hidden_size=16, num_hidden_layers=4, num_attention_heads=2,
                                           intermediate_size=24, max_position_embeddings=12, pad_token_id=0,
                                           local_attention=4, classifier_pooling=pooling, bos_token_id=2,
                                           eos_token_id=3, cls_token_id=2, sep_token_id=3,
                                           attn_implementation="eager",
                                           num_labels=3 if "Classification" in name else 2)  # fmt: skip
    model = getattr(transformers, name)(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("name", CLASSES)
def test_outputs_are_equal_and_the_folder_is_written_back(name, pooling, tmp_path):
    reference = theirs(name, pooling)
    reference.save_pretrained(tmp_path / "theirs")
    inputs = {key: value[:, None] for key, value in INPUTS.items()} if "Choice" in name else INPUTS
    expected = theirs_of(reference, inputs)
    model = checkpoints.load(tmp_path / "theirs")
    assert type(model) is CLASSES[name]
    np.testing.assert_allclose(ours_of(model, inputs), expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))
    checkpoints.save(model, tmp_path / "ours")
    again = getattr(transformers, name).from_pretrained(tmp_path / "ours", attn_implementation="eager").eval()
    np.testing.assert_allclose(theirs_of(again, inputs), expected, rtol=1e-6)


@pytest.mark.parametrize("size", ["base", "large"])
def test_the_published_sizes_have_as_many_parameters(size):
    from bertlab.families import family
    from bertlab.models.outline import outline

    config = family("modernbert").config.named(size)
    with torch.device("meta"):
        reference = transformers.ModernBertForMaskedLM(transformers.ModernBertConfig(**config.to_huggingface()))
    assert outline(lambda: models.PreTrainingModel(config)).count_params() == reference.num_parameters()
