"""Saving and loading: round trips in both formats, other classes than the checkpoint's own, reports, tokenizers."""

import json
import stat
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from checkpoint_files import (
    GOLDEN,
    edit_config,
    edit_tensors,
    same_weights,
    tensors,
    tokenizer,
    weights,
    write_tensors,
)

from bertlab.checkpoints import has_tokenizer, load, load_into, load_tokenizer, read_config, save
from bertlab.checkpoints.kinds import KINDS, model_class
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.config import BertConfig
from bertlab.models import BertEncoder, BertForPreTraining, BertForSequenceClassification

SMALL = BertConfig(
    vocab_size=61, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=24, max_position_embeddings=12
)
MODELS = {
    "encoder": {},
    "encoder without pooler": {"pooler": False},
    "pretraining": {},
    "pretraining without next sentence": {"next_sentence": False},
    "pretraining untied": {"tied": False},
    "sequence_classification": {"num_labels": 3},
    "token_classification": {"num_labels": 5},
    "multiple_choice": {},
    "question_answering": {},
}


def make(name: str, config: BertConfig = SMALL):
    """A model whose every weight is random, biases too."""
    model = model_class(name.split()[0])(config, **MODELS[name])
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(0, 0.1, weight.shape) for weight in model.get_weights()])
    return model


@pytest.fixture(scope="module")
def golden():
    return load(GOLDEN / "gelu")


# === Round trips ===


@pytest.mark.parametrize("format", ["huggingface", "bertlab"])
@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_comes_back_as_the_same_class_with_the_same_weights(name, format, tmp_path):
    model = make(name)
    save(model, tmp_path, format=format)
    loaded = load(tmp_path)
    assert type(loaded) is type(model)
    assert loaded.config == model.config
    assert same_weights(weights(loaded), weights(model))
    assert len(loaded.load_report.loaded) == len(model.weights)
    assert not loaded.load_report.initialised and not loaded.load_report.unused


def test_a_pre_norm_causal_sinusoidal_model_is_refused_by_one_format_and_kept_by_the_other(tmp_path):
    model = make("pretraining", SMALL.replace(pre_norm=True, causal=True, position_embedding="sinusoidal"))
    with pytest.raises(CheckpointError, match="no equivalent of pre_norm and causal and sinusoidal.*format='bertlab'"):
        save(model, tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()
    save(model, tmp_path / "ours", format="bertlab")
    assert same_weights(weights(load(tmp_path / "ours")), weights(model))


def test_float16_files_are_half_as_large_and_load_into_float32(tmp_path):
    model = make("pretraining")
    for dtype in ("float32", "float16"):
        save(model, tmp_path / dtype, dtype=dtype)
    sizes = {dtype: (tmp_path / dtype / "model.safetensors").stat().st_size for dtype in ("float32", "float16")}
    loaded = load(tmp_path / "float16")
    assert sizes["float16"] < 0.7 * sizes["float32"]
    assert json.loads((tmp_path / "float16" / "config.json").read_text())["dtype"] == "float16"
    for found, original in zip(weights(loaded), weights(model), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, original.astype(np.float16))


def test_bfloat16_files_load_into_float32(folder):
    original = tensors(folder)["bert.pooler.dense.bias"]
    edit_tensors(folder, lambda arrays: arrays.update({k: v.astype(ml_dtypes.bfloat16) for k, v in arrays.items()}))
    bias = load(folder).backbone.pooler.dense.bias.numpy()
    np.testing.assert_array_equal(bias, original.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_saving_twice_writes_the_same_bytes_and_leaves_no_other_file(tmp_path):
    model = make("sequence_classification")
    for format in ("huggingface", "bertlab"):
        contents = []
        for _ in range(2):
            save(model, tmp_path / format, tokenizer=tokenizer(), format=format)
            contents.append({path.name: path.read_bytes() for path in (tmp_path / format).iterdir()})
        assert contents[0] == contents[1]
        assert not [name for name in contents[0] if "partial" in name]


def test_saved_weights_have_the_same_readers_as_the_config(tmp_path):
    save(make("encoder"), tmp_path)
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("config.json", "model.safetensors")}
    assert modes["model.safetensors"] == modes["config.json"]


def test_a_save_that_fails_leaves_the_checkpoint_that_was_there(tmp_path):
    model = make("encoder")
    save(model, tmp_path)
    before = (tmp_path / "model.safetensors").read_bytes()
    model.embeddings.token.embeddings.assign(np.full((61, 16), 1e5))
    with pytest.raises(CheckpointError, match="backbone/embeddings/token/embeddings.*as float16.*nothing was saved"):
        save(model, tmp_path, dtype="float16")
    assert (tmp_path / "model.safetensors").read_bytes() == before


def test_a_folder_holds_one_format_only(tmp_path):
    save(make("encoder"), tmp_path)
    with pytest.raises(CheckpointError, match="holds model.safetensors, a checkpoint of another format"):
        save(make("encoder"), tmp_path, format="bertlab")


def test_a_file_where_the_folder_should_be_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="file: cannot be made"):
        save(make("encoder"), tmp_path / "file")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"format": "pickle"}, "no format 'pickle'.*huggingface"), ({"dtype": "int8"}, "'int8'.*float32, float16")],
)
def test_an_unknown_format_or_dtype_is_named_with_the_known_ones(wrong, message, tmp_path):
    with pytest.raises(CheckpointError, match=message):
        save(make("encoder"), tmp_path / "x", **wrong)


# === Variants of Hugging Face's files ===


def as_gamma_and_beta(arrays):
    for name in list(arrays):
        if "LayerNorm" in name:
            arrays[name.replace(".weight", ".gamma").replace(".bias", ".beta")] = arrays.pop(name)


def without_prefix(arrays):
    for name in list(arrays):
        arrays[name.removeprefix("bert.")] = arrays.pop(name)


def with_copies_and_buffers(arrays):
    arrays["cls.predictions.decoder.weight"] = arrays["bert.embeddings.word_embeddings.weight"]
    arrays["cls.predictions.decoder.bias"] = arrays["cls.predictions.bias"]
    arrays["bert.embeddings.position_ids"] = np.arange(16)[None]


def with_the_bias_under_the_decoder_only(arrays):
    arrays["cls.predictions.decoder.bias"] = arrays.pop("cls.predictions.bias")


@pytest.mark.parametrize(
    "change", [as_gamma_and_beta, without_prefix, with_copies_and_buffers, with_the_bias_under_the_decoder_only]
)
def test_older_names_are_the_same_model(golden, change, folder):
    edit_tensors(folder, change)
    assert same_weights(weights(load(folder)), weights(golden))


def test_a_checkpoint_in_shards_is_the_same_model(golden, folder):
    arrays = tensors(folder)
    (folder / "model.safetensors").unlink()
    parts = {"model-1-of-2.safetensors": list(arrays)[::2], "model-2-of-2.safetensors": list(arrays)[1::2]}
    for file, names in parts.items():
        write_tensors(folder, {name: arrays[name] for name in names}, file)
    weight_map = {name: file for file, names in parts.items() for name in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    assert same_weights(weights(load(folder)), weights(golden))


def test_a_checkpoint_without_pooler_or_next_sentence_head_loads_without_them(folder):
    edit_config(folder, architectures=["BertForMaskedLM"])
    edit_tensors(folder, lambda a: [a.pop(name) for name in list(a) if "pooler" in name or "seq_relationship" in name])
    model = load(folder)
    assert isinstance(model, BertForPreTraining)
    assert model.next_sentence_head is None and model.backbone.pooler is None


def test_a_published_classifier_is_recognised_by_its_architecture(tmp_path):
    save(make("token_classification"), tmp_path)
    edit_config(tmp_path, architectures=None)
    with pytest.raises(CheckpointError, match="give model_class, one of sequence_classification, token_"):
        load(tmp_path)
    assert load(tmp_path, "token_classification", num_labels=5).num_labels == 5


# === Into another class ===


def test_fine_tuning_starts_from_the_pretrained_encoder_and_a_fresh_head(golden):
    model = load(GOLDEN / "gelu", "sequence_classification", num_labels=3, fresh_head=True)
    report = model.load_report
    assert report.initialised == ["head/dense/kernel", "head/dense/bias"]
    assert report.missing == []
    assert "masked_lm_head/bias" in report.unused
    assert same_weights(weights(model.backbone), weights(golden.backbone))


def test_without_asking_for_a_fresh_head_a_missing_one_is_an_error_that_shows_how_to_ask():
    with pytest.raises(CheckpointError, match=r"missing: head/dense/kernel \(classifier.weight\).*fresh_head=True"):
        load(GOLDEN / "gelu", BertForSequenceClassification, num_labels=3)


def test_a_head_of_another_kind_is_not_taken_for_ones_own(tmp_path):
    save(make("question_answering"), tmp_path)  # its head is (16, 2), like that of two labels
    with pytest.raises(CheckpointError, match="missing: head/dense/kernel"):
        load(tmp_path, "token_classification", num_labels=2)


def test_the_encoder_alone_comes_out_of_any_checkpoint(golden):
    encoder = load(GOLDEN / "gelu", "encoder")
    assert type(encoder) is BertEncoder
    assert same_weights(weights(encoder), weights(golden.backbone))


def test_load_into_fills_a_model_and_says_where_each_variable_came_from(golden):
    model = BertForPreTraining(read_config(GOLDEN / "gelu"))
    report = load_into(model, GOLDEN / "gelu")
    assert same_weights(weights(model), weights(golden))
    table = str(report)
    assert "backbone/embeddings/token/embeddings" in table
    assert "model.safetensors: bert.embeddings.word_embeddings.weight" in table
    assert f"{len(model.weights)} variables loaded, 0 initialised" in report.summary()


def test_load_into_works_for_an_encoder_of_any_name():
    encoder = BertEncoder(read_config(GOLDEN / "gelu"), name="student")
    load_into(encoder, GOLDEN / "gelu")
    assert same_weights(weights(encoder), weights(load(GOLDEN / "gelu", "encoder")))


def test_a_frozen_encoder_is_loaded_too(golden):
    model = BertForPreTraining(read_config(GOLDEN / "gelu"))
    model.backbone.trainable = False
    load_into(model, GOLDEN / "gelu")
    assert same_weights(weights(model.backbone), weights(golden.backbone))


def test_strict_false_keeps_the_initial_value_of_what_is_missing_and_reports_it(folder):
    edit_tensors(folder, lambda a: a.update(extra=np.zeros(3, np.float32)))
    edit_tensors(folder, lambda a: a.pop("bert.pooler.dense.bias"))
    report = load(folder, strict=False).load_report
    assert report.missing == ["backbone/pooler/dense/bias"]
    assert report.unexpected == ("extra",)
    assert "initialised (missing)" in str(report)


def test_another_config_may_change_dropout_and_nothing_that_contradicts_the_checkpoint():
    config = read_config(GOLDEN / "gelu")
    assert load(GOLDEN / "gelu", config=config.replace(hidden_dropout=0.3)).config.hidden_dropout == 0.3
    with pytest.raises(CheckpointError, match="num_heads is 4 in the checkpoint's config and 8 in the model's"):
        load(GOLDEN / "gelu", config=config.replace(num_heads=8))


@pytest.mark.slow
def test_a_model_can_be_loaded_in_mixed_precision():
    model = load(GOLDEN / "gelu", dtype="mixed_bfloat16")
    assert model.backbone.embeddings.token.embeddings.dtype == "float32"
    assert model.compute_dtype == "bfloat16"


def test_an_unknown_model_class_is_named_with_the_known_ones():
    with pytest.raises(CheckpointError, match="no model class 'classifier'; choose one of " + ", ".join(KINDS)):
        load(GOLDEN / "gelu", "classifier")


# === Tokenizers ===


@pytest.mark.parametrize("format", ["huggingface", "bertlab"])
def test_the_tokenizer_is_saved_with_the_model_and_comes_back(format, tmp_path):
    save(make("encoder"), tmp_path, tokenizer=tokenizer(), format=format)
    assert has_tokenizer(tmp_path)
    assert load_tokenizer(tmp_path).vocabulary == tokenizer().vocabulary
    assert load(tmp_path).config == SMALL


def test_a_tokenizer_that_is_larger_than_the_token_table_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="has 61 tokens, but the model's vocab_size is 40"):
        save(make("encoder", SMALL.replace(vocab_size=40)), tmp_path, tokenizer=tokenizer())


@pytest.mark.parametrize(("piece", "lowercase"), [("Berlin", False), ("berlin", True)])
def test_without_a_tokenizer_config_the_vocabulary_tells_whether_it_is_cased(piece, lowercase, folder):
    pieces = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", piece]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    assert load_tokenizer(folder).lowercase is lowercase


def test_a_folder_that_has_only_a_tokenizer_json_gives_its_tokenizer(folder):
    vocab = {piece: i for i, piece in enumerate(tokenizer().vocabulary.pieces)}
    normalizer = {"type": "BertNormalizer", "lowercase": False, "strip_accents": None, "handle_chinese_chars": True}
    content = {"normalizer": normalizer, "model": {"type": "WordPiece", "vocab": vocab, "max_input_chars_per_word": 90}}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    found = load_tokenizer(folder)
    assert found.vocabulary == tokenizer().vocabulary
    assert (found.lowercase, found.max_chars_per_word) == (False, 90)
    load(folder)  # and the size of its vocabulary is right


def test_a_folder_without_a_vocabulary_says_so():
    assert not has_tokenizer(GOLDEN / "gelu")
    with pytest.raises(CheckpointError, match="neither vocab.txt nor tokenizer.json"):
        load_tokenizer(GOLDEN / "gelu")


# === Our own format, as earlier versions wrote it ===

VERSION_1 = GOLDEN / "native_version_1"  # pre-LN and untied, so that it has every part that was renamed since


def test_a_checkpoint_of_format_version_1_computes_what_it_computed_when_it_was_written():
    model = load(VERSION_1)
    assert not model.load_report.initialised and not model.load_report.unexpected
    expected = dict(np.load(VERSION_1 / "outputs.npz"))
    found = model({name: expected[name] for name in ("input_ids", "token_type_ids", "attention_mask")})
    assert set(found) == {"sequence_output", "pooled_output", "masked_lm_logits", "next_sentence_logits"}
    for name, output in found.items():
        np.testing.assert_allclose(np.asarray(output), expected[name], rtol=1e-5, atol=1e-6)


def test_saved_again_it_has_todays_names_and_the_same_weights(tmp_path):
    model = load(VERSION_1)
    again = load(save(model, tmp_path / "new", format="bertlab"))
    assert same_weights(weights(model), weights(again))
    assert "bertlab.safetensors: backbone/encoder/layer_0/feed_forward/inner/kernel" in str(again.load_report)
    assert "bertlab.safetensors: backbone/encoder/layer_0/feed_forward/expand/kernel" not in str(again.load_report)


# === The shape of the thing ===


def test_importing_the_module_loads_no_backend():
    code = "import sys, bertlab.checkpoints; print([m for m in ('tensorflow', 'keras', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_config_that_is_no_bert_is_refused(folder):
    edit_config(folder, model_type="t5")
    with pytest.raises(ConfigError, match="config.json: model_type is 't5'; expected one of albert, bert, distil"):
        load(folder)
