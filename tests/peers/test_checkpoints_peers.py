"""Folders that transformers writes, read by us; folders that we write, read by transformers.

Outputs of transformers' models: test_parity.py (every layer), test_today_peers.py (every head). Tokenizers that differ
from BERT's defaults: test_wordpiece_huggingface.py.
"""

import numpy as np
import pytest
from finetuning_case import CONFIG, TOKENIZER
from notebook_loading import loaded
from peer_outputs import ours_of, theirs_of

from bertlab.checkpoints import load, load_tokenizer, save
from bertlab.checkpoints.kinds import model_class
from bertlab.common.errors import CheckpointError
from bertlab.config import BertConfig
from bertlab.predict import Predictor
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

pytestmark = pytest.mark.peers
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


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
    found, reference = np.asarray(found), np.asarray(reference)
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


def test_a_sharded_bfloat16_folder_written_by_transformers_loads(tmp_path):
    config = transformers.BertConfig(vocab_size=97, hidden_size=64, num_hidden_layers=3, num_attention_heads=8,
                                     intermediate_size=256, max_position_embeddings=40)  # fmt: skip
    theirs = transformers.BertForPreTraining(config).bfloat16()
    theirs.save_pretrained(tmp_path, max_shard_size="100kB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    ours = load(tmp_path)
    target = theirs.bert.encoder.layer[2].output.dense.weight.float().detach().numpy().T
    np.testing.assert_array_equal(ours.backbone.encoder.layers_[2].feed_forward.outer.kernel.numpy(), target)


# === Models of ours ===


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


@pytest.mark.parametrize(
    ("class_name", "kind", "options"),
    [
        ("BertModel", "encoder", {}),
        ("BertForMaskedLM", "pretraining", {"next_sentence": False}),
        ("BertForSequenceClassification", "sequence_classification", {"num_labels": 3}),
        ("BertForTokenClassification", "token_classification", {"num_labels": 5}),
        ("BertForMultipleChoice", "multiple_choice", {}),
        ("BertForQuestionAnswering", "question_answering", {}),
    ],
)
def test_transformers_loads_a_model_of_ours_without_a_missing_or_unexpected_key(class_name, kind, options, tmp_path):
    ours = make_ours(kind, options)
    save(ours, tmp_path, dtype="float32" if kind == "encoder" else None)
    theirs, inputs = load_theirs(class_name, tmp_path), batch(ours.config, 12, rows=4)
    if kind == "multiple_choice":
        inputs = {name: array.reshape(2, 2, 12) for name, array in inputs.items()}
    assert_close(ours_of(ours, inputs), theirs_of(theirs, inputs))
    if kind == "encoder":
        pooled = theirs(**{name: torch.from_numpy(array) for name, array in inputs.items()}).pooler_output
        assert_close(ours(inputs)["pooled_output"], pooled.detach())


@pytest.mark.parametrize("tied", [True, False])
def test_transformers_loads_a_pretraining_model_of_ours(tied, tmp_path):
    ours = make_ours("pretraining", {"tied": tied})
    save(ours, tmp_path)
    theirs = load_theirs("BertForPreTraining", tmp_path)
    assert_same_pretraining_outputs(ours, theirs, batch(ours.config, 40))


# === Tokenizers and names ===

TEXT = "Bad cabbage, DÉCADE-old 中"
PIECES = [*SPECIAL_TOKENS, *"abcdefgol,-中D", *("##" + letter for letter in "abcdefgl")]


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_tokenizer_gives_the_same_ids_in_both_directions(lowercase, tmp_path):
    Vocabulary(PIECES).save(tmp_path / "vocab.txt")
    theirs = transformers.BertTokenizer(vocab=str(tmp_path / "vocab.txt"), do_lower_case=lowercase)
    theirs.save_pretrained(tmp_path / "theirs")
    ours = load_tokenizer(tmp_path / "theirs")
    assert ours.lowercase is lowercase
    save(make_ours("encoder", {}), tmp_path / "ours", tokenizer=WordPieceTokenizer(Vocabulary(PIECES), lowercase))
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "ours")
    for each in (theirs, again):
        assert each(TEXT, add_special_tokens=False)["input_ids"] == ours.encode(TEXT)


def test_a_published_name_is_found_in_the_cache_without_a_network_or_what_to_check_is_named(tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(CheckpointError, match="'someone/bert-tiny' is not a folder and cannot be downloaded"):
        load("someone/bert-tiny")
    repository, commit = tmp_path / "models--someone--bert-tiny", "0123456789abcdef0123456789abcdef01234567"
    save(make_ours("pretraining", {}), repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    assert load("someone/bert-tiny").config.hidden_size == 32


# === What is made with their folders: predictions, and the loading that notebook 05 builds ===

LABELS = ["joy", "fear", "surprise"]


def config_of(**more):
    return transformers.BertConfig(
        vocab_size=CONFIG.vocab_size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32, **more,
    )  # fmt: skip


def saved(model, folder):
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in TOKENIZER.vocabulary.pieces))


def test_a_next_sentence_model_is_a_classifier_of_pairs(tmp_path):
    torch.manual_seed(1)
    model = transformers.BertForNextSentencePrediction(config_of(hidden_act="swish")).eval()
    torch.nn.init.normal_(model.cls.seq_relationship.weight, std=2.0)
    saved(model, tmp_path)
    vocabulary = TOKENIZER.vocabulary
    first, second = TOKENIZER.encode("the film was good"), TOKENIZER.encode("it was in paris")
    ids = [vocabulary.cls_id, *first, vocabulary.sep_id, *second, vocabulary.sep_id]
    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    with torch.no_grad():
        logits = model(torch.tensor([ids]), token_type_ids=torch.tensor([segments])).logits
    expected = dict(zip(("is next", "is not next"), torch.softmax(logits, -1)[0].tolist()))
    (predicted,) = Predictor.load(tmp_path)([("the film was good", "it was in paris")])
    assert predicted.probabilities == pytest.approx(expected, abs=1e-5)


def test_a_multi_label_folder_is_predicted_label_by_label(tmp_path):
    torch.manual_seed(1)
    config = config_of(
        problem_type="multi_label_classification", id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config).eval()
    torch.nn.init.normal_(model.classifier.weight, std=2.0)  # far from one half
    saved(model, tmp_path)
    vocabulary = TOKENIZER.vocabulary
    ids = [vocabulary.cls_id, *TOKENIZER.encode("the film was good"), vocabulary.sep_id]
    with torch.no_grad():
        chances = torch.sigmoid(model(torch.tensor([ids])).logits)[0].tolist()
    (predicted,) = Predictor.load(tmp_path)(["the film was good"])
    assert predicted.probabilities == pytest.approx(dict(zip(LABELS, chances)), abs=1e-5)
    assert set(predicted.labels) == {label for label, chance in zip(LABELS, chances) if chance > 0.5}


def test_the_notebooks_layers_give_what_transformers_gives_and_have_as_many_parameters(tmp_path):
    """BERT-base, 12 × 768, with random numbers everywhere, biases and LayerNorms too."""
    model = transformers.BertForPreTraining(transformers.BertConfig()).eval()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(centre + 0.05 * torch.randn(parameter.shape, generator=generator))
    model.save_pretrained(tmp_path)
    notebook, inputs = loaded(tmp_path), batch(model.config, 24)
    assert notebook["missing"] == notebook["unused"] == []
    with torch.no_grad():
        theirs = model(**{k: torch.from_numpy(v) for k, v in inputs.items()}, output_hidden_states=True)
        pooled = model.bert.pooler(theirs.hidden_states[-1])
    order = ("input_ids", "token_type_ids", "attention_mask")
    outputs = notebook["run"](*(inputs[name].astype("int32") for name in order))
    targets = (theirs.hidden_states[-1], pooled, theirs.prediction_logits, theirs.seq_relationship_logits)
    for got, target in zip(outputs, targets):
        got, target = np.asarray(got), target.numpy()
        difference = np.abs(got - target).max() / max(1, np.abs(target).max())
        assert got.shape == target.shape and difference <= 2e-5
    sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    counted = notebook["parameter_count"](*(notebook["config"][size] for size in sizes), pretraining_heads=True)
    assert counted == model.num_parameters() == 110_106_428
