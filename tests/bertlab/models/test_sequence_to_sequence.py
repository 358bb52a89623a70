"""The Transformer of 2017: sizes, masks, positions, checkpoints. Parity with PyTorch and transformers: tests/peers."""

import json
import sys

import numpy as np
import pytest
from checkpoint_files import same_weights, weights
from click.testing import CliRunner
from layer_case import randomise
from safetensors.numpy import load_file, save_file

from bertlab import checkpoints, families, models
from bertlab.cli import cli
from bertlab.common.errors import CheckpointError, ConfigError, MissingDependencyError
from bertlab.families import MarianConfig, TransformerConfig
from bertlab.layers import sinusoids
from bertlab.models.outline import outline

SMALL = dict(vocab_size=61, hidden_size=16, num_layers=2, decoder_layers=3, num_heads=2, intermediate_size=24,
             max_position_embeddings=12)  # fmt: skip
SOURCE = {"input_ids": np.array([[5, 9, 7, 3], [8, 3, 0, 0]]), "attention_mask": np.array([[1, 1, 1, 1], [1, 1, 0, 0]])}
TARGET = np.array([[2, 17, 4, 6, 9], [2, 8, 3, 0, 0]])


def random_model(config=None, **changes):
    model = models.SequenceToSequenceModel(config or TransformerConfig(**(SMALL | changes)))
    randomise(model)
    return model


def logits(model, source=SOURCE, target=TARGET, **options):
    outputs = model(source | {"decoder_input_ids": np.asarray(target)}, **options)
    return np.asarray(outputs["masked_lm_logits"])


# --- sizes ---


def test_the_base_model_has_exactly_the_parameters_of_its_parts():
    """One table; 6 layers with 4 projections and a network each, 6 with 8; a bias everywhere but at the output."""
    h, f, pieces = 512, 2048, 37_000
    attention, network, norm = 4 * (h * h + h), (h * f + f) + (f * h + h), 2 * h
    by_hand = pieces * h + 6 * (attention + network + 2 * norm) + 6 * (2 * attention + network + 3 * norm)
    model = outline(lambda: models.SequenceToSequenceModel(TransformerConfig()))
    assert model.count_params() == by_hand == 63_082_496


def test_the_big_model_has_about_the_published_213_million():
    model = outline(lambda: models.SequenceToSequenceModel(TransformerConfig.named("big")))
    assert model.count_params() == 214_245_376


# --- what sees what ---


def test_a_token_of_the_target_depends_on_those_before_it_alone():
    model, other = random_model(), TARGET.copy()
    other[:, 3:] = 40
    before, after = logits(model), logits(model, target=other)
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert np.abs(before[:, 3:] - after[:, 3:]).max() > 1e-3


def test_padding_of_the_source_changes_nothing():
    model = random_model()
    alone = {name: value[1:, :2] for name, value in SOURCE.items()}
    np.testing.assert_allclose(logits(model)[1:], logits(model, alone, TARGET[1:]), rtol=1e-5, atol=1e-5)


def test_every_target_token_sees_the_whole_source_and_the_layers_read_the_last_encoder_layer():
    model = random_model()
    outputs = model(SOURCE | {"decoder_input_ids": TARGET}, return_all=True)
    cross = np.stack([np.asarray(one) for one in outputs["cross_attentions"]])  # (N, B, A, U, S)
    assert (cross[:, 0] > 0).all() and (cross[:, 1, :, :, 2:] == 0).all()
    np.testing.assert_array_equal(outputs["hidden_states"][-1], outputs["encoder_output"])
    first = model.decoder.layers_[0]
    x = outputs["decoder_hidden_states"][0]
    mask = SOURCE["attention_mask"][:, None].astype(bool)
    y = first(x, outputs["encoder_output"], memory_mask=mask)
    np.testing.assert_allclose(y, outputs["decoder_hidden_states"][1], rtol=1e-5, atol=1e-5)


def test_source_and_target_share_the_table_which_is_scaled_and_is_the_output_matrix_too():
    model = random_model()
    table = np.asarray(model.backbone.embeddings.token.embeddings)
    first = model(SOURCE | {"decoder_input_ids": TARGET}, return_all=True)
    positions = sinusoids(5, 16)
    np.testing.assert_allclose(first["decoder_hidden_states"][0], table[TARGET] * 4 + positions, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(first["hidden_states"][0], table[SOURCE["input_ids"]] * 4 + positions[:4], rtol=1e-5,
                               atol=1e-5)  # fmt: skip
    expected = np.asarray(first["decoder_output"]) @ table.T
    np.testing.assert_allclose(first["masked_lm_logits"], expected, rtol=1e-4, atol=1e-4)


def test_the_sines_in_halves_are_the_same_in_another_order():
    pairs, halves = sinusoids(7, 8), sinusoids(7, 8, halves=True)
    np.testing.assert_array_equal(halves, np.concatenate([pairs[:, ::2], pairs[:, 1::2]], axis=1))


def test_a_new_table_is_drawn_so_that_scaled_vectors_are_as_large_as_the_sines():
    config = TransformerConfig(vocab_size=2000, hidden_size=64)
    embeddings = families.family_of(config).embeddings(config)
    embeddings.build()
    assert np.std(np.asarray(embeddings.token.embeddings)) * 8 == pytest.approx(0.88, abs=0.02)  # cut at 2 deviations


# --- inputs that cannot be read ---


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"input_ids": np.ones((1, 3), "int32")}, "expected 'decoder_input_ids' beside 'input_ids'"),
        ({"input_ids": np.ones((1, 3), "int32"), "decoder_input_ids": np.ones((1, 13), "int32")},
         "decoder_input_ids has 13 tokens per row, but this model has only 12 positions"),
        ({"input_ids": np.ones((1, 13), "int32"), "decoder_input_ids": np.ones((1, 3), "int32")},
         "input_ids has 13 tokens per row"),
        ({name: np.ones((1, 3), "int32") for name in ("input_ids", "decoder_input_ids", "labels")},
         "no model reads an input called 'labels'"),
    ],
)  # fmt: skip
def test_inputs_that_it_cannot_read_are_named(inputs, message):
    with pytest.raises(ConfigError, match=message):
        random_model()(inputs)


def test_a_family_without_a_decoder_cannot_be_one():
    with pytest.raises(ConfigError, match="expected a configuration with a decoder, got one of the family 'bert'"):
        models.SequenceToSequenceModel(families.BertConfig.named("tiny"))


# --- checkpoints ---


def marian(**changes):
    return MarianConfig(**(SMALL | dict(pad_token_id=0, decoder_start_token_id=2, eos_token_id=3) | changes))


def test_a_folder_has_the_published_names_and_settings(tmp_path):
    model = random_model(marian())
    folder = checkpoints.save(model, tmp_path / "saved")
    stored, values = load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    layer = model.decoder.layers_[2].cross_attention
    np.testing.assert_array_equal(
        stored["model.decoder.layers.2.encoder_attn.k_proj.weight"], np.asarray(layer.key.kernel).T
    )
    assert stored["final_logits_bias"].shape == (1, 61) and "lm_head.weight" not in stored
    assert values["architectures"] == ["MarianMTModel"] and values["decoder_layers"] == 3
    assert values["decoder_ffn_dim"] == values["encoder_ffn_dim"] == 24 and values["decoder_vocab_size"] == 61


def test_an_older_folder_with_copies_of_the_table_and_the_sines_is_read(tmp_path):
    model = random_model(marian())
    folder = checkpoints.save(model, tmp_path / "saved")
    stored = load_file(folder / "model.safetensors")
    shared = stored["model.shared.weight"]
    copies = {"lm_head.weight": shared.copy(), "model.encoder.embed_tokens.weight": shared.copy(),
              "model.decoder.embed_positions.weight": sinusoids(12, 16, halves=True)}  # fmt: skip
    save_file(stored | copies, folder / "model.safetensors", {"format": "pt"})
    loaded = checkpoints.load(folder)
    assert type(loaded) is models.SequenceToSequenceModel and same_weights(weights(model), weights(loaded))


def test_the_encoder_of_a_translation_model_can_be_loaded_alone_and_is_not_written_for_transformers(tmp_path):
    folder = checkpoints.save(random_model(marian()), tmp_path / "saved")
    encoder = checkpoints.load(folder, "encoder")
    assert not encoder.load_report.missing and any("decoder/" in path for path in encoder.load_report.unused)
    with pytest.raises(CheckpointError, match="no encoder of model_type 'marian' without its decoder"):
        checkpoints.save(encoder, tmp_path / "alone")


@pytest.mark.parametrize("options", [(), ("--encoder",)])
def test_without_tf2onnx_the_command_names_the_package(tmp_path, monkeypatch, options):
    folder = checkpoints.save(random_model(marian()), tmp_path / "saved")
    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    result = CliRunner().invoke(cli, ["export", str(folder), "--onnx", "--out", str(tmp_path / "out"), *options])
    assert isinstance(result.exception, MissingDependencyError)


def test_source_and_target_may_have_a_table_each(tmp_path):
    model = random_model(marian(decoder_vocab_size=70))
    target = np.array([[2, 69, 61, 5, 9], [2, 8, 3, 0, 0]])
    before = logits(model, target=target)
    assert before.shape == (2, 5, 70)
    table = np.asarray(model.target_embeddings.token.embeddings)
    outputs = model(SOURCE | {"decoder_input_ids": target}, return_all=True)
    first = table[target] * 4 + sinusoids(5, 16, halves=True)
    np.testing.assert_allclose(outputs["decoder_hidden_states"][0], first, rtol=1e-5, atol=1e-5)
    for format in ("huggingface", "bertlab"):
        folder = checkpoints.save(model, tmp_path / format, format=format)
        loaded = checkpoints.load(folder)
        assert loaded.config == model.config
        np.testing.assert_array_equal(logits(loaded, target=target), before)
    values = json.loads((tmp_path / "huggingface" / "config.json").read_text())
    assert values["decoder_vocab_size"] == 70 and values["share_encoder_decoder_embeddings"] is False
    stored = load_file(tmp_path / "huggingface" / "model.safetensors")
    shapes = {name: array.shape for name, array in stored.items() if "layers" not in name}
    assert shapes == {"model.encoder.embed_tokens.weight": (61, 16), "model.decoder.embed_tokens.weight": (70, 16),
                      "final_logits_bias": (1, 70)}  # fmt: skip


def test_two_tables_of_one_size_are_two_tables():
    values = marian(decoder_vocab_size=61).to_huggingface()
    assert values["share_encoder_decoder_embeddings"] is False
    for left_out in ({}, {"decoder_vocab_size": None}):  # then it is that of sources
        assert families.config_from_huggingface(values | left_out).decoder_vocab_size == 61
    assert families.config_from_huggingface(marian().to_huggingface()).decoder_vocab_size is None


def test_the_model_of_2017_is_saved_in_our_own_format(tmp_path):
    model = random_model()
    with pytest.raises(CheckpointError, match="no equivalent of the order of the sines and cosines of 2017"):
        checkpoints.save(model, tmp_path / "theirs")
    loaded = checkpoints.load(checkpoints.save(model, tmp_path / "ours", format="bertlab"))
    np.testing.assert_array_equal(logits(loaded), logits(model))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decoder_ffn_dim": 48}, "encoder_ffn_dim is 24 and decoder_ffn_dim 48; expected the same number"),
        ({"decoder_vocab_size": 50}, "vocab_size is 61 and decoder_vocab_size 50; expected the same number, or "),
        ({"share_encoder_decoder_embeddings": "no"}, "embeddings is 'no'; expected true or false"),
        (
            {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": -3},
            "decoder_vocab_size must be a whole number of at least 1, not -3",
        ),
        ({"normalize_before": True}, "normalize_before True is not supported"),
        ({"scale_embedding": None}, None),
    ],
)
def test_settings_without_an_equivalent_are_refused(changes, message):
    values = marian().to_huggingface() | changes
    if message is None:
        del values["scale_embedding"]
        message = "scale_embedding False is not supported"
    with pytest.raises(ConfigError, match=message):
        families.config_from_huggingface(values)
