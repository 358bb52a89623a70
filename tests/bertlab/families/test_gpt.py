"""GPT and GPT-2: sizes, folders, configs, tokenizer. Parity with transformers: tests/peers/test_parity.py."""

import json

import numpy as np
import pytest
from checkpoint_files import same_weights, tensors, weights, write_tensors

from bertlab import checkpoints, families, models
from bertlab.common.errors import ConfigError
from bertlab.families import config_from_huggingface
from bertlab.tokenizers.bpe import BytePairTokenizer
from bertlab.tokenizers.bpe.vocabulary import byte_characters
from bertlab.training.objectives import NextToken, objectives_for

SMALL = dict(vocab_size=61, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=64, max_position_embeddings=12,
             pad_token_id=0)  # fmt: skip
both = pytest.mark.parametrize("name", ["gpt2", "openai-gpt"])


def small(name, **changes):
    return families.family(name).config(**(SMALL | changes))


@both
def test_a_token_depends_on_the_tokens_before_it_alone(name):
    model = models.PreTrainingModel(small(name))
    one, other = np.array([[5, 9, 7, 3]]), np.array([[5, 9, 8, 8]])
    logits = [np.asarray(model({"input_ids": ids})["masked_lm_logits"])[0] for ids in (one, other)]
    np.testing.assert_array_equal(logits[0][:2], logits[1][:2])
    assert np.abs(logits[0][2:] - logits[1][2:]).max() > 0
    assert [type(one) for one in objectives_for(model.config, pairs=False)] == [NextToken]


@both
def test_a_classifier_reads_the_last_real_token(name):
    model = models.SequenceClassifier(small(name), num_labels=3)
    ids, mask = np.array([[5, 9, 7, 0]]), np.array([[1, 1, 1, 0]])
    padded = model({"input_ids": ids, "attention_mask": mask})
    np.testing.assert_allclose(padded, model({"input_ids": ids[:, :3]}), rtol=1e-5, atol=1e-6)
    vectors = model.backbone({"input_ids": ids[:, :3]})
    np.testing.assert_array_equal(vectors["pooled_output"], vectors["sequence_output"][:, -1])


@both
def test_kernels_are_stored_as_they_are_and_query_key_and_value_together(name, tmp_path):
    model = models.PreTrainingModel(small(name))
    folder = checkpoints.save(model, tmp_path / "saved")
    stored = tensors(folder)
    layer = model.backbone.encoder.layers_[1]
    np.testing.assert_array_equal(stored["transformer.h.1.mlp.c_fc.weight"], layer.feed_forward.inner.kernel)
    np.testing.assert_array_equal(stored["transformer.h.1.attn.c_attn.weight"][:, 16:32], layer.attention.key.kernel)
    assert stored["transformer.h.1.attn.c_attn.bias"].shape == (48,)
    assert same_weights(weights(model), weights(checkpoints.load(folder)))


def test_an_older_folder_without_prefix_and_with_causal_masks_is_read(tmp_path):
    model = models.PreTrainingModel(small("gpt2"))
    folder = checkpoints.save(model, tmp_path / "saved")
    older = {name.removeprefix("transformer."): array for name, array in tensors(folder).items()}
    older |= {f"h.{i}.attn.bias": np.ones((1, 1, 12, 12), "float32") for i in range(2)}
    write_tensors(folder, older)
    loaded = checkpoints.load(folder)
    assert type(loaded) is models.PreTrainingModel and same_weights(weights(model), weights(loaded))


def test_published_configs_are_read():
    published = {"model_type": "gpt2", "n_embd": 1280, "n_layer": 36, "n_head": 20, "n_positions": 1024, "n_ctx": 1024,
                 "vocab_size": 50257, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05,
                 "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1}  # fmt: skip
    assert config_from_huggingface(published) == families.family("gpt2").config.named("large")
    published = {"model_type": "openai-gpt", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 512,
                 "vocab_size": 40478, "afn": "gelu", "layer_norm_epsilon": 1e-05}  # fmt: skip
    config = config_from_huggingface(published)
    assert config == families.family("openai-gpt").config() and config.to_huggingface()["afn"] == "gelu"


@pytest.mark.parametrize("name", ["scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn"])
def test_what_is_not_supported_is_refused(name):
    with pytest.raises(ConfigError, match=f"{name} True is not supported"):
        config_from_huggingface(small("gpt2").to_huggingface() | {name: True})


def test_gpt2s_tokenizer_has_one_special_token_for_everything(tmp_path):
    pieces = [*byte_characters(), "th", "the", "<|endoftext|>"]
    (tmp_path / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\nt h\nth e\n")
    small("gpt2", vocab_size=len(pieces)).save(tmp_path / "config.json")
    tokenizer = checkpoints.load_tokenizer(tmp_path)
    assert isinstance(tokenizer, BytePairTokenizer) and set(tokenizer.vocabulary.special_ids) == {len(pieces) - 1}
    assert tokenizer.encode("the") == [pieces.index("the")]
    tokenizer.save(tmp_path / "again")
    assert BytePairTokenizer.load(tmp_path / "again").vocabulary == tokenizer.vocabulary
