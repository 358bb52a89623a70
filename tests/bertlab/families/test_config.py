"""BertConfig: what it refuses, what it reads and what it writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.common.errors import BertLabError, ConfigError
from bertlab.config import ACTIVATIONS, SIZES, BertConfig

configs = st.builds(
    lambda heads, head_size, **rest: BertConfig(num_heads=heads, hidden_size=2 * heads * head_size, **rest),
    heads=st.integers(1, 16),
    head_size=st.integers(1, 64),
    vocab_size=st.integers(1, 10**6),
    num_layers=st.integers(1, 48),
    intermediate_size=st.integers(1, 8192),
    max_position_embeddings=st.integers(1, 4096),
    type_vocab_size=st.integers(1, 4),
    hidden_act=st.sampled_from(ACTIVATIONS),
    hidden_dropout=st.floats(0, 0.99),
    attention_dropout=st.floats(0, 0.99),
    initializer_range=st.floats(1e-6, 1),
    layer_norm_eps=st.floats(1e-15, 1e-3),
    pad_token_id=st.integers(0, 10),
    pre_norm=st.booleans(),
    position_embedding=st.sampled_from(BertConfig.CHOICES["position_embedding"]),
    causal=st.booleans(),
)


def test_the_defaults_are_bert_base():
    assert BertConfig() == BertConfig.named("base")
    assert BertConfig().head_size == 64


@pytest.mark.parametrize("size", SIZES)
def test_every_published_size_has_heads_of_64_and_a_feed_forward_of_four_times_the_width(size):
    config = BertConfig.named(size)
    assert config.head_size == 64
    assert config.intermediate_size == 4 * config.hidden_size


def test_a_size_can_be_changed_in_part():
    config = BertConfig.named("tiny", vocab_size=100, hidden_act="relu")
    assert (config.num_layers, config.vocab_size, config.hidden_act) == (2, 100, "relu")


@given(configs)
def test_dictionaries_round_trip(config):
    assert BertConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert BertConfig.from_huggingface(json.loads(json.dumps(config.to_huggingface()))) == config


# The published `bert_config.json` of uncased base, and the `config.json` of the same model at Hugging Face, shortened.
GOOGLE = {
    "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768,
    "initializer_range": 0.02, "intermediate_size": 3072, "max_position_embeddings": 512, "num_attention_heads": 12,
    "num_hidden_layers": 12, "type_vocab_size": 2, "vocab_size": 30522,
}  # fmt: skip
HUGGINGFACE = GOOGLE | {
    "model_type": "bert", "architectures": ["BertForMaskedLM"], "layer_norm_eps": 1e-12, "pad_token_id": 0,
    "position_embedding_type": "absolute", "use_cache": True, "transformers_version": "4.6.0.dev0",
}  # fmt: skip


@pytest.mark.parametrize("published", [GOOGLE, HUGGINGFACE], ids=["google", "huggingface"])
def test_published_files_of_base_are_the_defaults(published):
    assert BertConfig.from_huggingface(published) == BertConfig()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("gelu", "gelu"), ("gelu_python", "gelu"), ("gelu_new", "gelu_tanh"), ("gelu_pytorch_tanh", "gelu_tanh"),
     ("gelu_fast", "gelu_tanh"), ("quick_gelu", "gelu_sigmoid"), ("relu", "relu"), ("swish", "silu"), ("silu", "silu")],
)  # fmt: skip
def test_their_activations_get_our_names(theirs, ours):
    assert BertConfig.from_huggingface(GOOGLE | {"hidden_act": theirs}).hidden_act == ours


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": 100, "num_heads": 3}, "hidden_size 100 cannot be divided among num_heads 3"),
        ({"num_layers": 0}, "num_layers must be a whole number of at least 1, not 0"),
        ({"num_layers": True}, "num_layers must be a whole number of at least 1, not True"),
        ({"vocab_size": "many"}, "vocab_size must be a whole number of at least 1, not 'many'"),
        ({"max_position_embeddings": 512.0}, "max_position_embeddings must be a whole number"),
        ({"hidden_dropout": 1.0}, r"hidden_dropout must lie in \[0, 1\), not 1.0"),
        ({"attention_dropout": float("nan")}, r"attention_dropout must lie in \[0, 1\), not nan"),
        ({"layer_norm_eps": 0.0}, "layer_norm_eps must be positive, not 0.0"),
        ({"initializer_range": -0.02}, "initializer_range must be positive, not -0.02"),
        ({"hidden_act": "swish"}, "hidden_act 'swish' is not known; choose one of gelu, "),
        ({"position_embedding": "rotary"}, "position_embedding 'rotary' is not known; choose one of learned, "),
        ({"position_embedding": "sinusoidal", "hidden_size": 3, "num_heads": 3}, "hidden_size 3 must be even"),
    ],
)
def test_contradictions_are_named(changes, message):
    with pytest.raises(ConfigError, match=message):
        BertConfig(**changes)


def test_a_field_or_a_size_that_does_not_exist_is_named():
    with pytest.raises(ConfigError, match="no field hiden_size"):
        BertConfig.from_dict({"hiden_size": 3})
    with pytest.raises(ConfigError, match="no size 'huge'; choose one of tiny, mini"):
        BertConfig.named("huge")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "expected a JSON object, got"),
        ('{"model_type": "roberta"}', "model_type is 'roberta'; expected 'bert'"),
        ("{}", "'vocab_size' is missing"),
        (json.dumps(GOOGLE | {"hidden_act": "mish"}), "hidden_act 'mish' is not known"),
        (json.dumps(GOOGLE | {"hidden_act": ["gelu"]}), "hidden_act"),
        (json.dumps(GOOGLE | {"hidden_dropout_prob": "none"}), "dropout"),
        (json.dumps(GOOGLE | {"position_embedding_type": "relative_key"}), "'relative_key' is not supported"),
        (json.dumps(GOOGLE | {"num_attention_heads": 7}), "cannot be divided among num_heads 7"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, content, message):
    path = tmp_path / "config.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=message) as caught:
        BertConfig.load(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BertLabError, match="there is no such file"):
        BertConfig.load(tmp_path / "config.json")
