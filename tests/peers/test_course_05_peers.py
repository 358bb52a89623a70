"""Notebook 05's loading with a folder of published size that transformers has written."""

import numpy as np
import pytest
from notebook_loading import loaded

pytestmark = pytest.mark.peers
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def _batch():
    rng = np.random.default_rng(5)
    mask = (np.arange(24) < np.array([24, 9, 17])[:, None]).astype("int64")
    segments = (np.arange(24) >= np.array([11, 5, 8])[:, None]) * mask
    return {"input_ids": rng.integers(1, 30522, mask.shape) * mask, "token_type_ids": segments, "attention_mask": mask}


def test_the_notebooks_layers_give_what_transformers_gives_and_have_as_many_parameters(tmp_path):
    """BERT-base, 12 × 768, with random numbers everywhere, biases and LayerNorms too."""
    model = transformers.BertForPreTraining(transformers.BertConfig()).eval()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(centre + 0.05 * torch.randn(parameter.shape, generator=generator))
    model.save_pretrained(tmp_path)
    notebook, inputs = loaded(tmp_path), _batch()
    assert notebook["missing"] == notebook["unused"] == []
    with torch.no_grad():
        theirs = model(**{k: torch.from_numpy(v) for k, v in inputs.items()}, output_hidden_states=True)
        pooled = model.bert.pooler(theirs.hidden_states[-1])
    outputs = notebook["run"](*(array.astype("int32") for array in inputs.values()))
    targets = (theirs.hidden_states[-1], pooled, theirs.prediction_logits, theirs.seq_relationship_logits)
    for got, target in zip(outputs, targets):
        got, target = np.asarray(got), target.numpy()
        difference = np.abs(got - target).max() / max(1, np.abs(target).max())
        assert got.shape == target.shape and difference <= 2e-5
    sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    counted = notebook["parameter_count"](*(notebook["config"][size] for size in sizes), pretraining_heads=True)
    assert counted == model.num_parameters() == 110_106_428
