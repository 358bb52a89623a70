"""Families of models: sizes, round trips, what is refused, and that nothing outside a family's file knows its name.

Parity with transformers: tests/peers/test_parity.py.
"""

import json
import re
import tokenize
from pathlib import Path

import keras
import numpy as np
import pytest
from checkpoint_files import same_weights, tokenizer, weights

import bertlab
from bertlab import checkpoints, families, models
from bertlab.checkpoints.kinds import KINDS
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.families.names import HUGGINGFACE, Names, dense, norm
from bertlab.models.outline import outline
from bertlab.tokenizers.wordpiece import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.base import Tokenizer

SMALL = dict(vocab_size=61, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=24, max_position_embeddings=12)
every_family = pytest.mark.parametrize("name", families.model_types())


# Settings that do not fit these sizes: ids of padding beyond the vocabulary, a width that the family derives.
OWN_SIZES = {
    "elmo": {"filters": ((1, 4), (2, 6)), "num_highway": 1, "max_characters": 8},
    "gpt2": {"pad_token_id": 0},
    "marian": {"pad_token_id": 0},
    "modernbert": {"pad_token_id": 0},
    "openai-gpt": {"intermediate_size": 64},
}


ARGUMENTS = {"multi_task": {"tasks": {"tone": {"kind": "sequence_classification"}}}}  # kind of model → what it needs


def small(name):
    return families.family(name).config(**(SMALL | OWN_SIZES.get(name, {})))


def inputs(pad_id):
    ids = np.array([[2, 17, 40, 9, 3], [2, 8, 3, pad_id, pad_id]], "int32")
    return {"input_ids": ids, "attention_mask": (ids != pad_id).astype("int32")}


@pytest.mark.parametrize(
    ("name", "size", "count"),
    [("bert", "base", 109_482_240), ("bert", "large", 335_141_888), ("distilbert", "base", 66_362_880),
     ("roberta", "base", 124_645_632), ("roberta", "large", 355_359_744), ("albert", "base", 11_683_584),
     ("openai-gpt", "base", 116_534_784), ("gpt2", "base", 124_439_808),
     ("modernbert", "base", 149_014_272), ("modernbert", "large", 394_781_696),
     ("electra", "small", 13_483_008), ("electra", "base", 108_891_648), ("electra", "large", 334_092_288),
     ("albert", "large", 17_683_968), ("albert", "xlarge", 58_724_864), ("albert", "xxlarge", 222_595_584),
     ("xlnet", "base", 116_718_336), ("xlnet", "large", 360_268_800)],
)  # fmt: skip
def test_the_published_sizes_have_the_published_number_of_parameters(name, size, count):
    backbone = outline(lambda: models.Backbone(families.family(name).config.named(size)))
    assert backbone.count_params() == count


@every_family
@pytest.mark.parametrize("format", ["huggingface", "bertlab"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_the_same_after_saving_and_loading(name, kind, format, tmp_path):
    its_family = families.family(name)
    if kind == "sequence_to_sequence" and its_family.decoder is None:
        pytest.skip("this family has no decoder")
    has_head = kind in its_family.huggingface.heads or kind == "encoder" and its_family.decoder is None
    if format == "huggingface" and (not has_head or small(name).huggingface_lacks()):
        pytest.skip("transformers has no such model of this family")
    model = getattr(models, KINDS[kind])(small(name), **ARGUMENTS.get(kind, {}))
    loaded = checkpoints.load(checkpoints.save(model, tmp_path / "saved", format=format))
    assert type(loaded) is type(model) and loaded.config == model.config
    assert same_weights(weights(model), weights(loaded))


@every_family
def test_config_files_round_trip(name, tmp_path):
    config = small(name).replace(hidden_act="gelu_tanh", hidden_dropout=0.2)
    config.save(tmp_path / "config.json")
    assert families.load_config(tmp_path / "config.json") == config


@every_family
def test_a_keras_file_makes_the_same_model_again(name, tmp_path):
    model = models.SequenceClassifier(small(name), num_labels=3)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    batch = inputs(model.config.pad_token_id)
    np.testing.assert_allclose(np.asarray(loaded(batch)), np.asarray(model(batch)), rtol=1e-6, atol=1e-6)


@every_family
def test_padding_does_not_change_what_a_row_is(name):
    model = models.Backbone(small(name))
    batch = inputs(model.config.pad_token_id)
    whole = np.asarray(model(batch)["sequence_output"])[1, :3]
    alone = np.asarray(model({"input_ids": batch["input_ids"][1:, :3]})["sequence_output"])[0]
    np.testing.assert_allclose(whole, alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["distilbert", "roberta"])
def test_without_segments_the_segment_of_a_token_does_not_count(name):
    model = models.Backbone(small(name))
    batch = inputs(model.config.pad_token_id)
    with_segments = model(batch | {"token_type_ids": np.ones_like(batch["input_ids"])})
    np.testing.assert_array_equal(with_segments["sequence_output"], model(batch)["sequence_output"])


def test_robertas_positions_begin_after_padding_and_leave_padding_out():
    model = models.Backbone(small("roberta"))
    ids = np.array([[5, 1, 7, 8, 1]], "int32")
    explicit = {"input_ids": ids, "position_ids": np.array([[0, -1, 1, 2, -1]], "int32")}
    np.testing.assert_array_equal(model({"input_ids": ids})["sequence_output"], model(explicit)["sequence_output"])
    assert model.config.max_tokens == 10
    with pytest.raises(ConfigError, match="input_ids has 11 tokens per row, but this model has only 10 positions"):
        model({"input_ids": np.full((1, 11), 5)})


# --- starting from a checkpoint ---


def test_from_preset_makes_a_new_head_where_the_checkpoint_has_none():
    model = models.SequenceClassifier.from_preset("bertlab-mini", num_labels=3)
    assert model.load_report.initialised == ["head/dense/kernel", "head/dense/bias"]
    assert model({"input_ids": np.array([[2, 17, 3]])}).shape == (1, 3)


@pytest.mark.parametrize("name", ["distilbert", "roberta"])
def test_from_preset_keeps_the_head_that_a_checkpoint_has(name, tmp_path):
    model = models.SequenceClassifier(small(name), num_labels=4)
    folder = checkpoints.save(model, tmp_path / "saved")
    again = models.SequenceClassifier.from_preset(folder)
    assert same_weights(weights(model), weights(again))
    other = models.TokenClassifier.from_preset(folder, num_labels=2)
    assert other.load_report.initialised == ["head/dense/kernel", "head/dense/bias"]


def test_a_classifier_begins_with_a_new_pooler_where_the_family_has_none(tmp_path):
    folder = checkpoints.save(models.PreTrainingModel(small("distilbert")), tmp_path / "saved")
    model = models.SequenceClassifier.from_preset(folder, num_labels=3)
    new = ["backbone/pooler/dense/kernel", "backbone/pooler/dense/bias", "head/dense/kernel", "head/dense/bias"]
    assert model.load_report.initialised == new and not model.load_report.missing


@pytest.mark.parametrize("name", ["bert", "roberta", "albert"])
def test_the_encoder_of_a_model_that_was_trained_without_pairs_has_no_pooler(name, tmp_path):
    model = models.PreTrainingModel(small(name), next_sentence=False)
    encoder = checkpoints.load(checkpoints.save(model, tmp_path / "saved"), "encoder")
    assert encoder.pooler is None and not encoder.load_report.missing
    with pytest.raises(CheckpointError, match="missing: backbone/pooler"):
        checkpoints.load(tmp_path / "saved", "encoder", pooler=True)


# --- what is refused ---


def test_a_checkpoint_of_another_family_is_refused(tmp_path):
    folder = checkpoints.save(models.PreTrainingModel(small("roberta")), tmp_path / "saved")
    model = models.PreTrainingModel(small("bert"), next_sentence=False)
    before = weights(model)
    with pytest.raises(CheckpointError, match="the checkpoint is of the family 'roberta', the model of 'bert'"):
        checkpoints.load_into(model, folder)
    assert same_weights(before, weights(model))


@pytest.mark.parametrize("claimed", ["distilbert", "roberta"])
def test_a_config_that_names_the_wrong_family_is_refused(claimed, tmp_path):
    checkpoints.save(models.PreTrainingModel(small("bert")), tmp_path)
    small(claimed).save(tmp_path / "config.json")
    with pytest.raises(CheckpointError, match="the names are those of bert.*; correct `model_type`"):
        checkpoints.load(tmp_path, "pretraining")


def test_a_part_that_transformers_does_not_have_is_refused_before_anything_is_written(tmp_path):
    model = models.PreTrainingModel(small("distilbert"), next_sentence=True)
    with pytest.raises(CheckpointError, match="have no backbone/pooler, next_sentence_head: .*format='bertlab'"):
        checkpoints.save(model, tmp_path / "saved")
    assert not list(tmp_path.glob("saved/*"))


def test_a_kind_of_tokenizer_that_is_not_there_gives_one_clear_error_and_the_weights_load(tmp_path):
    model = models.PreTrainingModel(small("roberta"))
    checkpoints.save(model, tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordLevel", "vocab": {}}}))
    with pytest.raises(CheckpointError, match="comes with a WordLevel tokenizer, which is not supported"):
        checkpoints.load_tokenizer(tmp_path)
    assert not checkpoints.has_tokenizer(tmp_path)
    assert same_weights(weights(model), weights(checkpoints.load(tmp_path)))


def test_distilberts_tokenizer_is_berts_and_keeps_the_protocol(tmp_path):
    checkpoints.save(models.PreTrainingModel(small("distilbert")), tmp_path, tokenizer())
    loaded = checkpoints.load_tokenizer(tmp_path)
    assert loaded.vocabulary.pieces == tokenizer().vocabulary.pieces
    assert isinstance(loaded, WordPieceTokenizer) and isinstance(loaded, Tokenizer)


# --- a family is in its own file ---

PACKAGE = Path(bertlab.__file__).parent
OWN = re.compile(
    r"distil_?bert|\belmo|roberta(?!processing)|openai|marian|embed_tokens|final_logits|\bgpt|c_attn|\bwte\b|\balbert|electra|xlnet|rel_attn|lm_loss|word_embedding\b|logits_proj|modern_?bert|tok_embeddings|Wqkv|sliding_attention|discriminator_pred|generator_pred|generator_lm|\.word_embeddings|sop_classifier|layer_groups|attention\.self|q_lin|lm_head\b(?<!masked_lm_head)|cls[./]predictions",
    re.I,
)
# The list of families, the exported names, the model on one page.
MAY_NAME_THEM = {"families/__init__.py", "__init__.py", "minimal.py"}


def code_of(path):
    """A file's code, without comments and docstrings."""
    with tokenize.open(path) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    kept, previous = [], tokenize.NEWLINE
    for token in tokens:
        is_docstring = token.type == tokenize.STRING and previous in (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL)
        if token.type != tokenize.COMMENT and not is_docstring:
            kept.append(token.string)
        previous = token.type if token.type not in (tokenize.COMMENT,) else previous
    return " ".join(kept)


def test_no_family_and_no_published_name_of_a_weight_is_in_code_outside_the_families_files():
    modules = {type(families.family(name).config()).__module__ for name in families.model_types()}
    own_files = {module.removeprefix("bertlab.").replace(".", "/") + ".py" for module in modules}
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in own_files | MAY_NAME_THEM and (match := OWN.search(code_of(path))):
            found[name] = match.group()
    assert not found


@pytest.mark.parametrize(
    ("rows", "told"),
    [((dense("pooler/dense", "x"), norm("embeddings/norm", "x")), "a name of its own for embeddings/norm; got 'x'"),
     ((dense("encoder/layer_{i}/attention/query", "q"),), "expected a name with the number of the layer")],
)  # fmt: skip
def test_two_weights_of_one_name_are_refused(rows, told):
    with pytest.raises(ConfigError, match=told):
        Names(spelling=HUGGINGFACE, backbone=rows, heads={})
    with pytest.raises(ConfigError, match=told):
        Names(spelling=HUGGINGFACE, backbone=(), heads={"pretraining": rows})
