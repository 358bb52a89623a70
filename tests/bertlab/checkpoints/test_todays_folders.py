"""Folders as other tools write them today: heads, tied tensors, padding, steps of sentence-transformers; messages.

The tokenizers: tests/bertlab/tokenizers/test_added_tokens.py. Against transformers: tests/peers/test_today_peers.py.
"""

import base64
import json

import numpy as np
import pytest
from bertlab_command import run
from checkpoint_files import edit_config, edit_tensors, same_weights, tensors, tokenizer, weights, write_tensors
from safetensors.numpy import load_file, save_file

from bertlab import checkpoints, families, models
from bertlab.analysis.fill_mask import fill_mask
from bertlab.analysis.lens import logit_lens
from bertlab.common.errors import CheckpointError, VocabularyError
from bertlab.generation import GenerationSettings, generate_text
from bertlab.tokenizers.sentence_pieces import from_tokenizer_json
from bertlab.training.finetuning.task_info import load_info

SIZES = dict(vocab_size=61, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=64, max_position_embeddings=12,
             pad_token_id=0)  # fmt: skip


def small(name, **changes):
    return families.family(name).config(**(SIZES | changes))


# === Heads ===


@pytest.mark.parametrize("name", ["roberta", "electra"])
def test_the_published_head_computes_gelu_with_any_hidden_act(name):
    changes = {"embedding_size": 16} if name == "electra" else {}
    found = [models.PreTrainingModel(small(name, hidden_act=act, **changes)) for act in ("gelu", "relu")]
    x = np.random.default_rng(0).normal(size=(1, 2, 16)).astype("float32")
    found[1].set_weights(found[0].get_weights())
    np.testing.assert_array_equal(*[np.asarray(model.token_logits(x)) for model in found])
    berts = [models.PreTrainingModel(small("bert", hidden_act=act)) for act in ("gelu", "relu")]
    berts[1].set_weights(berts[0].get_weights())
    assert np.abs(np.subtract(*[np.asarray(model.token_logits(x)) for model in berts])).max() > 0


@pytest.mark.parametrize("name", ["gpt2", "openai-gpt"])
def test_a_left_to_right_classifier_is_stored_as_score_without_a_bias(name, tmp_path):
    model = models.SequenceClassifier(small(name), num_labels=3)
    folder = checkpoints.save(model, tmp_path)
    stored = load_file(folder / "model.safetensors")
    np.testing.assert_array_equal(stored["score.weight"], np.asarray(model.head.dense.kernel).T)
    assert not any("bias" in key for key in stored if key.startswith("score"))
    again = checkpoints.load(folder)
    assert type(again) is models.SequenceClassifier and again.num_labels == 3
    assert same_weights(weights(model), weights(again))
    native = checkpoints.save(model, tmp_path / "native", format="bertlab")
    assert same_weights(weights(model), weights(checkpoints.load(native)))


def test_a_next_sentence_head_keeps_its_name(tmp_path):
    folder = checkpoints.save(models.NextSentenceClassifier(small("bert")), tmp_path)
    assert tensors(folder)["cls.seq_relationship.weight"].shape == (2, 16)
    assert json.loads((folder / "config.json").read_text())["architectures"] == ["BertForNextSentencePrediction"]
    model = checkpoints.load(folder)
    assert type(model) is models.NextSentenceClassifier
    info = load_info(folder, model)
    assert (info.shape, info.labels) == ("pair", ("is next", "is not next"))
    as_classifier = checkpoints.load(folder, "sequence_classification")
    assert type(as_classifier) is models.SequenceClassifier and same_weights(weights(model), weights(as_classifier))
    native = checkpoints.save(model, tmp_path / "native", format="bertlab")
    assert type(checkpoints.load(native)) is models.NextSentenceClassifier
    whole = checkpoints.save(models.PreTrainingModel(small("bert")), tmp_path / "whole")
    assert type(checkpoints.load(whole)) is models.PreTrainingModel


# === Weights ===


@pytest.mark.parametrize("sharded", [False, True])
def test_a_tied_table_is_found_under_its_alias_in_the_header(sharded, tmp_path):
    model = models.PreTrainingModel(small("roberta"))
    folder = checkpoints.save(model, tmp_path)
    stored, table = load_file(folder / "model.safetensors"), "roberta.embeddings.word_embeddings.weight"
    stored["lm_head.decoder.weight"] = stored.pop(table)
    save_file(stored, folder / "model.safetensors", {"format": "pt", table: "lm_head.decoder.weight"})
    if sharded:
        (folder / "model.safetensors").rename(folder / "part.safetensors")
        index = {"weight_map": {name: "part.safetensors" for name in stored}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert same_weights(weights(model), weights(checkpoints.load(folder)))


def test_padding_outside_of_the_vocabulary_is_not_written(tmp_path):
    with pytest.raises(CheckpointError, match="pad_token_id is 61; expected the id of one of the 61 tokens"):
        checkpoints.save(models.Backbone(small("bert", pad_token_id=61)), tmp_path / "bert")
    folder = checkpoints.save(models.PreTrainingModel(small("gpt2", pad_token_id=50256)), tmp_path / "gpt2")
    assert json.loads((folder / "config.json").read_text())["pad_token_id"] is None
    assert checkpoints.load(folder).config == small("gpt2", pad_token_id=50256)


def test_the_longest_row_is_written_for_the_tokenizer(tmp_path):
    checkpoints.save(models.Backbone(small("bert")), tmp_path, tokenizer())
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["model_max_length"] == 12
    assert checkpoints.load_tokenizer(tmp_path).vocabulary == tokenizer().vocabulary


def test_an_older_tokenizers_file_does_not_stay_beside_a_new_one(tmp_path):
    for name in ("tokenizer.json", "added_tokens.json"):
        (tmp_path / name).write_text("{}")
    tokenizer().save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokenizer_config.json", "vocab.txt"]


# === Messages ===


def test_pruned_heads_are_named(folder):
    edit_config(folder, pruned_heads={"0": [1]})
    with pytest.raises(CheckpointError, match="pruned_heads is .*take the one before pruning"):
        checkpoints.load(folder)
    edit_config(folder, pruned_heads=None)

    def prune(arrays):
        for name in list(arrays):
            if ".0.attention.self." in name:
                arrays[name] = arrays[name][8:]
            elif ".0.attention.output.dense.weight" in name:
                arrays[name] = arrays[name][:, 8:]

    edit_tensors(folder, prune)
    with pytest.raises(CheckpointError, match="heads were pruned: backbone/encoder/layer_0/attention"):
        checkpoints.load(folder)


def prefixed(prefix):
    return lambda stored: {prefix + name: array for name, array in stored.items()}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [*((prefixed(prefix), f"all names begin with '{prefix}', which is too much")
       for prefix in ("model.", "module.", "encoder.model.")),
     (lambda stored: {"layers.0.weight": np.zeros((2, 2), "float32")},
      "no name of the encoder's weights|the file only 1 tensors")],
)  # fmt: skip
def test_weights_of_other_names_are_named_and_a_random_model_never_loaded(folder, change, message, strict):
    write_tensors(folder, change(tensors(folder)))
    with pytest.raises(CheckpointError, match=message) as caught:
        checkpoints.load(folder, strict=strict)
    assert "strict=False" not in str(caught.value)


def test_the_advice_to_ignore_names_is_given_only_where_nothing_is_missing(folder):
    edit_tensors(folder, lambda a: a.update({"further.weight": np.zeros(2, "float32")}))
    with pytest.raises(CheckpointError, match="unexpected: further.weight .*load with strict=False"):
        checkpoints.load(folder)
    edit_tensors(folder, lambda a: a.pop(next(name for name in a if "layer.1" in name)))
    with pytest.raises(CheckpointError, match="missing: .*unexpected: further.weight") as caught:
        checkpoints.load(folder)
    assert "strict=False" not in str(caught.value)


# === Rows of padding ===


def padded(name, special=True):
    """A model with more rows than tokens, whose padding has the largest logits."""
    model = models.PreTrainingModel(small(name, vocab_size=64), next_sentence=False)
    table = np.array(model.backbone.embeddings.token.embeddings)
    table[61:] = 50 * np.sign(table[61:])
    model.backbone.embeddings.token.embeddings.assign(table)
    if name == "bert":
        bias = np.zeros(64, "float32")
        bias[61:] = 1e4
        model.masked_lm_head.bias.assign(bias)
    return model


def test_no_row_of_padding_is_predicted_at_a_mask():
    model = padded("bert")
    (best,) = fill_mask(model, tokenizer(), "a [MASK] b", top_k=64)
    assert len(best) == 61 and sum(one.probability for one in best) == pytest.approx(1, abs=1e-4)
    assert len(logit_lens(model, tokenizer(), "a [MASK] b", top_k=64)[0][0]) == 61
    assert generate_text(model, tokenizer(), ["a b"], GenerationSettings(max_new_tokens=2))


@pytest.mark.parametrize("settings", [{}, {"cache": False}, {"beams": 2}, {"sampling": True, "top_k": 3}])
def test_no_row_of_padding_is_written(settings):
    model = padded("gpt2")
    settings = GenerationSettings(max_new_tokens=3, **settings)
    assert isinstance(generate_text(model, tokenizer(), ["a b"], settings)[0], str)


# === sentence-transformers ===


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    return checkpoints.save(models.Backbone(small("bert")), folder, tokenizer())


def encoded(folder, tmp_path, *options):
    (tmp_path / "lines.txt").write_text("a b\nc\n")
    output = run("encode", tmp_path / "lines.txt", "--model", folder, "--out", tmp_path / "v.npy", *options)
    vectors = np.load(tmp_path / "v.npy")
    for path in tmp_path.glob("v.npy*"):
        path.unlink()
    return vectors, output


@pytest.mark.parametrize("pooling", ["cls", "max", "mean"])
@pytest.mark.parametrize("newer", [False, True])
def test_a_folder_of_sentence_transformers_decides_how_vectors_are_made(encoder_folder, pooling, newer, tmp_path):
    names = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens"}
    older = {name: own == pooling for own, name in names.items()} | {"pooling_mode_lasttoken": False}
    write_modules(encoder_folder, {"pooling_mode": pooling} if newer else older, ["Normalize"])
    vectors, output = encoded(encoder_folder, tmp_path)
    assert f"pooling {pooling}, normalised" in output
    expected, _ = encoded(encoder_folder, tmp_path, "--pooling", pooling, "--normalise")
    np.testing.assert_array_equal(vectors, expected)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    own, _ = encoded(encoder_folder, tmp_path, "--pooling", "mean", "--no-normalise")
    assert np.abs(own - vectors).max() > 1e-3


def test_steps_that_are_lacking_are_named(encoder_folder, tmp_path):
    write_modules(encoder_folder, {"pooling_mode_lasttoken": True}, ["Dense"])
    _, output = encoded(encoder_folder, tmp_path)
    assert "pooling mean, not normalised; left out, since BertLab lacks it: pooling_mode_lasttoken, Dense" in output


def write_modules(folder, pooling, further):
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 16, **pooling}))
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), *((name, f"2_{name}") for name in further)]
    package = "sentence_transformers.models"
    steps = [{"idx": i, "path": path, "type": f"{package}.{name}"} for i, (name, path) in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(steps))


# === Unigram in tokenizer.json ===

UNIGRAM = [["<pad>", 0.0], ["<unk>", 0.0], ["[CLS]", 0.0], ["[SEP]", 0.0], ["[MASK]", 0.0], ["\u2581", -2.0],
           ["a", -3.0], ["b", -3.5], ["\u2581ab", -4.0],
           ["\u03c2", -4.0], ["\u03c3", -4.0], ["\u03bf", -4.0]]  # fmt: skip


def unigram(folder, **changes):
    values = {
        "added_tokens": [{"id": 12, "content": "[E1]", "special": True, "normalized": False}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Replace", "pattern": {"String": "``"}, "content": '"'}, {"type": "NFKD"},
            {"type": "StripAccents"}, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"}]},
        "model": {"type": "Unigram", "unk_id": 1, "vocab": UNIGRAM, "byte_fallback": False},
    } | changes  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(values))
    return folder


def test_unigram_in_tokenizer_json_is_read_and_written_as_a_sentencepiece_model(tmp_path):
    pytest.importorskip("sentencepiece")
    found = checkpoints.load_tokenizer(unigram(tmp_path))
    assert found.tokenize("  AB  b [E1]\u00e1z") == ["\u2581ab", "\u2581", "b", "[E1]", "\u2581", "a", "<unk>"]
    assert found.tokenize("\u039f\u03a3") == ["\u2581", "\u03bf", "\u03c2"]  # \u03a3 at the end of a word
    assert found.settings() == {"lowercase": True, "keep_accents": False}
    found.save(tmp_path / "again")
    again = checkpoints.load_tokenizer(tmp_path / "again")
    assert again.vocabulary == found.vocabulary and again.encode("AB [E1]") == found.encode("AB [E1]")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"type": "Unigram", "vocab": [["a"]]}}, "with a list of tokens and scores"),
        ({"model": {"type": "Unigram", "vocab": UNIGRAM, "unk_id": None}}, "expected in unk_id the id of a token"),
        ({"model": {"type": "Unigram", "vocab": UNIGRAM, "unk_id": 1, "byte_fallback": True}}, "byte_fallback"),
        ({"normalizer": {"type": "NFC"}}, "the normalizer .*NFC.* is not supported"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "%"}}, "precompiled_charsmap is damaged"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "the pre_tokenizer .*Whitespace.* is not supported"),
    ],
)
def test_other_unigram_tokenizers_are_refused_by_name(changes, message, tmp_path):
    with pytest.raises(VocabularyError, match=message):
        from_tokenizer_json(unigram(tmp_path, **changes) / "tokenizer.json")


def test_the_table_of_characters_is_kept(tmp_path):
    step = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(b"map").decode()}
    model, settings = from_tokenizer_json(unigram(tmp_path, normalizer=step) / "tokenizer.json")
    assert b"\x12\x03map" in model and settings == {"lowercase": False, "keep_accents": True}
