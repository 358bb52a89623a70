"""Folders that transformers writes, read by us; folders that we write, read by transformers."""

import numpy as np
import pytest

from bertlab.checkpoints import load, load_tokenizer, save
from bertlab.checkpoints.kinds import model_class
from bertlab.config import BertConfig
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

pytestmark = pytest.mark.peers
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = dict(vocab_size=97, max_position_embeddings=40)
CONFIGS = {
    "one head": dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=1, intermediate_size=20),
    "eight heads, tanh": dict(
        hidden_size=64, num_hidden_layers=3, num_attention_heads=8, intermediate_size=256, hidden_act="gelu_new"
    ),
    "relu, one segment": dict(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=24, hidden_act="relu",
        type_vocab_size=1,
    ),
    "sigmoid, other epsilon": dict(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, hidden_act="quick_gelu",
        layer_norm_eps=1e-5,
    ),
    "untied": dict(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, tie_word_embeddings=False
    ),
}  # fmt: skip


def randomize(model, seed=0, deviation=0.15):
    """Random values everywhere, biases and LayerNorms too."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(centre + deviation * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def batch(config, num_tokens, rows=3, seed=0):
    """Row 0 is full, the others padded; the second half of a row is segment 1 where there are two."""
    rng = np.random.default_rng(seed)
    lengths = np.array([num_tokens, *rng.integers(1, num_tokens + 1, rows - 1)])
    mask = (np.arange(num_tokens) < lengths[:, None]).astype(np.int64)
    second = (np.arange(num_tokens) >= lengths[:, None] // 2) * mask * (config.type_vocab_size > 1)
    return {
        "input_ids": rng.integers(1, config.vocab_size, mask.shape) * mask,
        "attention_mask": mask,
        "token_type_ids": second,
    }


def assert_close(found, reference):
    found, reference = np.asarray(found), reference.detach().numpy()
    assert found.shape == reference.shape
    assert np.abs(found - reference).max() <= 1e-5 * max(1, np.abs(reference).max())


def assert_same_pretraining_outputs(ours, theirs, inputs):
    found = ours(inputs, return_all=True)
    with torch.no_grad():
        reference = theirs(
            **{name: torch.from_numpy(array) for name, array in inputs.items()},
            output_hidden_states=True,
            output_attentions=True,
        )
    assert_close(found["masked_lm_logits"], reference.prediction_logits)
    assert_close(found["next_sentence_logits"], reference.seq_relationship_logits)
    for state, target in zip(found["hidden_states"], reference.hidden_states, strict=True):
        assert_close(state, target)
    for weights, target in zip(found["attentions"], reference.attentions, strict=True):
        assert_close(weights, target)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_folder_written_by_transformers_computes_the_same(name, tmp_path):
    config = transformers.BertConfig(attn_implementation="eager", **SIZES, **CONFIGS[name])
    theirs = randomize(transformers.BertForPreTraining(config))
    theirs.save_pretrained(tmp_path)
    ours = load(tmp_path)
    for num_tokens in (1, 2, 17, config.max_position_embeddings):
        assert_same_pretraining_outputs(ours, theirs, batch(config, num_tokens))


@pytest.mark.exhaustive
def test_a_base_model_of_512_tokens_computes_the_same(tmp_path):
    config = transformers.BertConfig(attn_implementation="eager")
    theirs = randomize(transformers.BertForPreTraining(config), deviation=0.03)
    theirs.save_pretrained(tmp_path)
    assert_same_pretraining_outputs(load(tmp_path), theirs, batch(config, 512, rows=2))


def test_a_sharded_bfloat16_folder_written_by_transformers_loads(tmp_path):
    config = transformers.BertConfig(**SIZES, **CONFIGS["eight heads, tanh"])
    theirs = randomize(transformers.BertForPreTraining(config)).bfloat16()
    theirs.save_pretrained(tmp_path, max_shard_size="100kB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    ours = load(tmp_path)
    target = theirs.bert.encoder.layer[2].output.dense.weight.float().detach().numpy().T
    np.testing.assert_array_equal(ours.backbone.encoder.layers_[2].feed_forward.outer.kernel.numpy(), target)


# === Fine-tuned models, both ways ===

HEADS = {
    "sequence_classification": ("BertForSequenceClassification", {"num_labels": 3}),
    "token_classification": ("BertForTokenClassification", {"num_labels": 5}),
    "multiple_choice": ("BertForMultipleChoice", {}),
    "question_answering": ("BertForQuestionAnswering", {}),
}


def run_both(ours, theirs, kind, config):
    inputs = batch(config, 12, rows=4)
    if kind == "multiple_choice":
        inputs = {name: array.reshape(2, 2, 12) for name, array in inputs.items()}
    with torch.no_grad():
        reference = theirs(**{name: torch.from_numpy(array) for name, array in inputs.items()})
    found = ours(inputs)
    if kind == "question_answering":
        assert_close(found["start_logits"], reference.start_logits)
        assert_close(found["end_logits"], reference.end_logits)
    else:
        assert_close(found, reference.logits)


@pytest.mark.parametrize("kind", HEADS)
def test_a_fine_tuned_model_of_transformers_is_recognised_and_computes_the_same(kind, tmp_path):
    class_name, options = HEADS[kind]
    config = transformers.BertConfig(**SIZES, **CONFIGS["one head"], **options)
    theirs = randomize(getattr(transformers, class_name)(config))
    theirs.save_pretrained(tmp_path)
    ours = load(tmp_path)
    assert type(ours) is model_class(kind)
    run_both(ours, theirs, kind, config)


def make_ours(kind, options):
    config = BertConfig(
        vocab_size=97, hidden_size=32, num_layers=2, num_heads=4, intermediate_size=48, max_position_embeddings=40,
        hidden_act="gelu_tanh",
    )  # fmt: skip
    model = model_class(kind)(config, **options)
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(0, 0.15, weight.shape) for weight in model.get_weights()])
    return model


def load_theirs(class_name, folder):
    """Asserts that nothing is missing, unexpected or of another shape."""
    their_class = getattr(transformers, class_name)
    model, info = their_class.from_pretrained(folder, output_loading_info=True, attn_implementation="eager")
    complaints = {name: list(keys) for name, keys in info.items() if keys}
    assert complaints == {}
    assert model.config.architectures == [class_name]
    return model.eval()


@pytest.mark.parametrize("kind", HEADS)
def test_transformers_loads_a_fine_tuned_model_of_ours_without_a_missing_or_unexpected_key(kind, tmp_path):
    class_name, options = HEADS[kind]
    ours = make_ours(kind, options)
    save(ours, tmp_path)
    run_both(ours, load_theirs(class_name, tmp_path), kind, ours.config)


@pytest.mark.parametrize("tied", [True, False])
def test_transformers_loads_a_pretraining_model_of_ours(tied, tmp_path):
    ours = make_ours("pretraining", {"tied": tied})
    save(ours, tmp_path)
    theirs = load_theirs("BertForPreTraining", tmp_path)
    assert_same_pretraining_outputs(ours, theirs, batch(ours.config, 40))


def test_transformers_loads_a_masked_language_model_of_ours(tmp_path):
    ours = make_ours("pretraining", {"next_sentence": False})
    save(ours, tmp_path)
    inputs = batch(ours.config, 9)
    reference = load_theirs("BertForMaskedLM", tmp_path)(
        **{name: torch.from_numpy(array) for name, array in inputs.items()}
    )
    assert_close(ours(inputs)["masked_lm_logits"], reference.logits)


def test_transformers_loads_an_encoder_of_ours(tmp_path):
    ours = make_ours("encoder", {})
    save(ours, tmp_path, dtype="float32")
    inputs = batch(ours.config, 9)
    reference = load_theirs("BertModel", tmp_path)(**{name: torch.from_numpy(array) for name, array in inputs.items()})
    assert_close(ours(inputs)["pooled_output"], reference.pooler_output)
    assert_close(ours(inputs)["sequence_output"], reference.last_hidden_state)


# === Tokenizers and names ===

TEXT = "Bad cabbage, DÉCADE-old 中"
PIECES = [*SPECIAL_TOKENS, *"abcdefgol,-中D", *("##" + letter for letter in "abcdefgl")]


@pytest.mark.parametrize("lowercase", [True, False])
def test_transformers_reads_our_tokenizer_and_gives_the_same_ids(lowercase, tmp_path):
    ours = WordPieceTokenizer(Vocabulary(PIECES), lowercase=lowercase)
    model = make_ours("encoder", {})
    save(model, tmp_path, tokenizer=ours)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs(TEXT, add_special_tokens=False)["input_ids"] == ours.encode(TEXT)


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_tokenizer_written_by_transformers_gives_the_same_ids(lowercase, tmp_path):
    Vocabulary(PIECES).save(tmp_path / "vocab.txt")
    theirs = transformers.BertTokenizer(vocab=str(tmp_path / "vocab.txt"), do_lower_case=lowercase)
    theirs.save_pretrained(tmp_path / "saved")
    ours = load_tokenizer(tmp_path / "saved")
    assert ours.lowercase is lowercase
    assert ours.encode(TEXT) == theirs(TEXT, add_special_tokens=False)["input_ids"]


def test_a_published_name_is_found_in_the_cache_without_a_network(tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    repository, commit = tmp_path / "models--someone--bert-tiny", "0123456789abcdef0123456789abcdef01234567"
    save(make_ours("pretraining", {}), repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    assert load("someone/bert-tiny").config.hidden_size == 32


def test_a_published_name_that_is_not_cached_is_an_error_that_names_what_to_check(tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    from bertlab.common.errors import CheckpointError

    with pytest.raises(CheckpointError, match="'someone/bert-tiny' is not a folder and cannot be downloaded"):
        load("someone/bert-tiny")
