"""ModernBERT: rotary positions, local and global layers, gated networks, configs of two ages, and the commands.

Parity: tests/peers/test_parity.py, tests/peers/test_today_peers.py (heads and folders).
"""

import json

import numpy as np
import pytest
from bertlab_command import run
from checkpoint_files import edit_tensors, same_weights, tensors, weights
from keras import ops

from bertlab import checkpoints, families, layers, models
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.families import config_from_huggingface

SMALL = dict(vocab_size=61, hidden_size=16, num_layers=4, num_heads=2, intermediate_size=24, max_position_embeddings=40,
             local_attention=4, pad_token_id=0)  # fmt: skip
RNG = np.random.default_rng(0)


def modernbert(**changes):
    return families.family("modernbert").config(**(SMALL | changes))


def random_model(model):
    """The model with weights of a size at which every token attends to each in another way."""
    for weight in model.trainable_weights:
        weight.assign(RNG.normal(1.0 if weight.name == "gamma" else 0.0, 0.3, weight.shape))
    return model


# --- layers ---


def test_a_rotated_product_depends_on_the_distance_alone():
    query, key = (ops.convert_to_tensor(RNG.normal(size=(1, 1, 1, 8)).astype("float32")) for _ in range(2))

    def product(at, of):
        turned = (layers.rotate(x, layers.rotation(np.array([[p]]), 8, 100.0)) for x, p in ((query, at), (key, of)))
        return float(ops.sum(next(turned) * next(turned)))

    assert product(3, 1) == pytest.approx(product(12, 10), rel=1e-5)
    assert product(3, 1) != pytest.approx(product(1, 3), rel=1e-2)


def test_local_layers_see_their_window_and_every_third_layer_the_whole_row():
    ids = RNG.integers(1, 61, (1, 9))
    attentions = random_model(models.Backbone(modernbert()))({"input_ids": ids}, return_all=True)["attentions"]
    distance = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    for number, seen in enumerate(attentions):
        expected = distance <= 2 if number % 3 else distance >= 0
        assert ((np.asarray(seen)[0] > 0) == expected).all()


def test_the_embeddings_are_normalised_once_and_nothing_has_a_bias():
    paths = set(checkpoints.kinds.variables_of(models.PreTrainingModel(modernbert())))
    assert "backbone/encoder/layer_0/attention_norm/gamma" not in paths
    assert "backbone/encoder/layer_1/attention_norm/gamma" in paths
    assert [path for path in paths if path.endswith(("bias", "beta"))] == ["masked_lm_head/bias"]


def test_matrices_that_end_a_sublayer_begin_smaller():
    layer = models.Backbone(modernbert(hidden_size=128)).encoder.layers_[0]
    inner, out = (np.std(part.kernel) for part in (layer.attention.query, layer.attention.out))
    assert inner / out == pytest.approx(np.sqrt(2 * 4), rel=0.05)


def test_packed_rows_give_the_same_vectors_as_padded_ones():
    model = random_model(models.Backbone(modernbert()))
    lengths = (7, 3, 11)
    texts = [RNG.integers(1, 61, length) for length in lengths]
    packed = {
        "input_ids": np.concatenate([*texts, [0, 0]])[None],
        "position_ids": np.concatenate([*map(np.arange, lengths), [0, 0]])[None],
        "sequence_ids": np.repeat([1, 2, 3, 0], [*lengths, 2])[None],
    }
    padded = np.stack([np.pad(text, (0, 11 - len(text))) for text in texts])
    mask = (np.arange(11) < np.array(lengths)[:, None]).astype("int32")
    alone = np.asarray(model({"input_ids": padded, "attention_mask": mask})["sequence_output"])
    together = np.asarray(model(packed)["sequence_output"])[0, :-2]
    np.testing.assert_allclose(together, alone[mask == 1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_predicted_places_alone_are_the_same_as_in_the_whole_row(masked):
    model = random_model(models.PreTrainingModel(modernbert()))
    inputs = {"input_ids": RNG.integers(1, 61, (2, 12))}
    if masked:
        inputs["attention_mask"] = (np.arange(12) < np.array([[12], [8]])).astype("int32")
    places = np.array([[1, 3, 11], [2, 7, 0]])
    whole = np.take_along_axis(np.asarray(model(inputs)["masked_lm_logits"]), places[..., None], axis=1)
    some = model(inputs | {"masked_lm_positions": places})["masked_lm_logits"]
    np.testing.assert_allclose(some, whole, rtol=1e-4, atol=1e-4)


def test_the_mean_is_over_real_tokens_also_where_few_places_are_computed():
    model = random_model(models.PreTrainingModel(modernbert(pooling="mean"), next_sentence=True))
    ids, mask = np.array([[5, 9, 7, 0, 0]]), np.array([[1, 1, 1, 0, 0]])
    some = model({"input_ids": ids, "attention_mask": mask, "masked_lm_positions": np.array([[1]])})
    alone = model({"input_ids": ids[:, :3]})
    np.testing.assert_allclose(some["next_sentence_logits"], alone["next_sentence_logits"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(some["masked_lm_logits"][:, 0], alone["masked_lm_logits"][:, 1], rtol=1e-4, atol=1e-4)
    with pytest.raises(ConfigError, match="attention_mask has 3 axes"):
        model({"input_ids": ids, "attention_mask": np.ones((1, 5, 5))})


def test_far_positions_are_exact_in_16_bits():
    far = np.array([[4096, 4097, 4099]])
    near = {"input_ids": np.array([[5, 9, 7]]), "position_ids": far - 4096}
    model = random_model(models.Backbone(modernbert(), dtype="mixed_bfloat16"))
    there = np.asarray(ops.cast(model(near | {"position_ids": far})["sequence_output"], "float32"))
    here = np.asarray(ops.cast(model(near)["sequence_output"], "float32"))
    np.testing.assert_allclose(there, here, atol=0.1)


# --- configs ---

OLDER = {
    "model_type": "modernbert", "vocab_size": 61, "hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2,
    "intermediate_size": 24, "norm_eps": 1e-5, "global_attn_every_n_layers": 2, "global_rope_theta": 5000.0,
    "local_rope_theta": 50.0, "local_attention": 6, "hidden_activation": "gelu", "pad_token_id": 3,
    "position_embedding_type": "absolute", "layer_norm_eps": 1e-5, "reference_compile": False,
}  # fmt: skip
NEWER = {name: value for name, value in OLDER.items() if "rope" not in name and "every" not in name} | {
    "layer_types": ["full_attention", "sliding_attention"] * 2,
    "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 5000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 50.0},
    },
}


def test_a_config_of_transformers_4_and_one_of_5_are_the_same():
    config = config_from_huggingface(OLDER)
    assert config == config_from_huggingface(NEWER) == config_from_huggingface(config.to_huggingface())
    assert (config.global_every, config.reach, config.global_theta, config.local_theta) == (2, 3, 5000.0, 50.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attention_bias": True}, "attention_bias True is not supported"),
        ({"norm_bias": True}, "norm_bias True is not supported"),
        ({"decoder_bias": False}, "decoder_bias False is not supported"),
        ({"classifier_activation": "relu"}, "classifier_activation 'relu' is not supported"),
        ({"classifier_pooling": "max"}, "pooling 'max' is not known; choose one of cls, mean"),
        ({"local_attention": 5}, "local_attention 5 must be even"),
        ({"hidden_size": 18, "num_attention_heads": 6}, "rotary positions turn pairs .* / num_heads 3 must be even"),
        ({"layer_types": ["sliding_attention"] * 4}, "layer_types .* is not supported: expected 'full_attention' in"),
        ({"layer_types": "all"}, "layer_types 'all' is not supported"),
        ({"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}, "rope_parameters of full_attention"),
        ({"rope_parameters": 3}, "rope_scaling and rope_parameters other than"),
        ({"rope_scaling": {"factor": 2.0}}, "rope_scaling and rope_parameters other than"),
        ({"global_rope_theta": 0.0}, "global_theta must be positive"),
        ({"mlp_dropout": 1.0}, r"inner_dropout must lie in \[0, 1\)"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_refused_in_one_line(changes, message):
    with pytest.raises(ConfigError, match=f"^folder/config.json: {message}"):
        config_from_huggingface(OLDER | changes, "folder/config.json")


# --- folders ---


def test_query_key_and_value_are_one_matrix_in_a_folder(tmp_path):
    model = random_model(models.PreTrainingModel(modernbert()))
    folder = checkpoints.save(model, tmp_path / "saved")
    assert tensors(folder)["model.layers.2.attn.Wqkv.weight"].shape == (48, 16)
    loaded = checkpoints.load(folder)
    assert same_weights(weights(model), weights(loaded))
    assert loaded.load_report.origins[2].source == "model.safetensors: model.layers.0.attn.Wqkv.weight"


def test_a_joined_matrix_of_another_size_is_named_before_anything_is_loaded(tmp_path):
    folder = checkpoints.save(models.PreTrainingModel(modernbert()), tmp_path / "saved")
    name = "model.layers.1.attn.Wqkv.weight"
    edit_tensors(folder, lambda arrays: arrays.update({name: arrays[name][:-1]}))
    with pytest.raises(CheckpointError, match=r"Wqkv.weight: has shape \(16, 47\); expected 3 equal parts"):
        checkpoints.load(folder)


@pytest.mark.slow
def test_a_pretrained_model_is_fine_tuned_with_a_new_head_of_every_kind(tmp_path):
    folder = checkpoints.save(models.PreTrainingModel(modernbert()), tmp_path / "saved")
    for kind, part in (("sequence_classification", "backbone/pooler"), ("token_classification", "transform"),
                       ("multiple_choice", "backbone/pooler"), ("question_answering", "transform")):  # fmt: skip
        new = {f"{part}/dense/kernel", f"{part}/norm/gamma", "head/dense/kernel", "head/dense/bias"}
        assert set(checkpoints.load(folder, kind, fresh_head=True).load_report.initialised) == new


def test_a_summary_counts_every_parameter(tmp_path):
    model = models.PreTrainingModel(modernbert())
    checkpoints.save(model, tmp_path)
    assert json.loads(run("summary", tmp_path, "--json"))["total"] == model.count_params()
