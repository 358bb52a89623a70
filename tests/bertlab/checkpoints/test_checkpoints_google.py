"""Original TensorFlow 1 checkpoints, written here by TensorFlow's own Saver under the names of google-research/bert."""

import json
import re

import numpy as np
import pytest
from checkpoint_files import GOLDEN, expected, golden_inputs, same_weights, tensors, tokenizer, weights

from bertlab.checkpoints import load, load_tokenizer
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.models import BertForPreTraining, BertForQuestionAnswering, BertForSequenceClassification

CONFIG = {  # what a bert_config.json of google-research/bert has in it, for the size of golden/gelu
    "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 32,
    "initializer_range": 0.02, "intermediate_size": 64, "max_position_embeddings": 16, "num_attention_heads": 4,
    "num_hidden_layers": 3, "type_vocab_size": 2, "vocab_size": 61,
}  # fmt: skip


# How modeling.py and run_pretraining.py name a variable of Hugging Face's file, pattern by pattern.
GOOGLES_NAMES = (
    (r"LayerNorm\.weight", "LayerNorm.gamma"), (r"LayerNorm\.bias", "LayerNorm.beta"),
    (r"_embeddings\.weight", "_embeddings"),
    (r"seq_relationship\.weight", "seq_relationship.output_weights"),  # (2, H) there as well
    (r"(predictions|seq_relationship)\.bias", r"\1.output_bias"), (r"\.weight", ".kernel"), (r"layer\.", "layer_"),
    (r"\.", "/"),
)  # fmt: skip


def pretraining_variables() -> dict[str, np.ndarray]:
    """golden/gelu under the names of google-research/bert, kernels (in, out)."""
    found = {}
    for name, array in tensors(GOLDEN / "gelu").items():
        for theirs, googles in GOOGLES_NAMES:
            name = re.sub(theirs, googles, name)
        found[name] = array.T if name.endswith("kernel") else array
    return found


def write(folder, variables, name="bert_model.ckpt", config=CONFIG):
    """bert_config.json and the checkpoint's three files."""
    import tensorflow as tf

    folder.mkdir(exist_ok=True, parents=True)
    (folder / "bert_config.json").write_text(json.dumps(config))
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        made = [v1.get_variable(key, initializer=np.ascontiguousarray(array)) for key, array in variables.items()]
        session.run(v1.global_variables_initializer())
        v1.train.Saver(made).save(session, str(folder / name))
    return folder


def with_optimizer(variables):
    """The other contents of a run_pretraining.py checkpoint: Adam's two slots for each variable, and the step."""
    slots = {f"{key}/{slot}": np.zeros_like(array) for key, array in variables.items() for slot in ("adam_m", "adam_v")}
    return variables | slots | {"global_step": np.int64(1_000_000)}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return write(tmp_path_factory.mktemp("google") / "uncased_L-3_H-32_A-4", pretraining_variables())


def test_the_weights_are_those_of_the_same_model_at_hugging_face(published):
    model = load(published)
    assert isinstance(model, BertForPreTraining)
    assert same_weights(weights(model), weights(load(GOLDEN / "gelu")))
    assert "bert_model.ckpt: bert/encoder/layer_0/attention/self/query/kernel" in str(model.load_report)


def test_the_outputs_are_those_of_transformers(published):
    arrays = expected("gelu")
    outputs = load(published)(golden_inputs(arrays, 16))
    for name in ("pooled_output", "masked_lm_logits", "next_sentence_logits"):
        reference = arrays[f"16/output/{name}"]
        assert np.abs(outputs[name].numpy() - reference).max() <= 1e-5 * max(1, np.abs(reference).max())


@pytest.mark.slow
def test_the_optimizer_is_skipped(tmp_path):
    model = load(write(tmp_path, with_optimizer(pretraining_variables()), name="model.ckpt-1000000"))
    assert same_weights(weights(model), weights(load(GOLDEN / "gelu")))
    assert not model.load_report.unexpected


@pytest.mark.slow
def test_one_of_several_checkpoints_in_a_folder_is_chosen_by_its_path(tmp_path):
    variables = pretraining_variables()
    for step in (10, 20):
        variables["cls/seq_relationship/output_bias"] = np.array([step, 0], np.float32)
        write(tmp_path, variables, name=f"model.ckpt-{step}")
    with pytest.raises(CheckpointError, match=r"holds 2 checkpoints \(model.ckpt-10, model.ckpt-20\); give the path"):
        load(tmp_path)
    assert load(tmp_path / "model.ckpt-20").next_sentence_head.dense.bias.numpy()[0] == 20


def test_the_tokenizer_is_found_beside_the_checkpoint(published):
    tokenizer().vocabulary.save(published / "vocab.txt")
    assert load_tokenizer(published).lowercase is True
    assert load_tokenizer(published / "bert_model.ckpt").vocabulary == tokenizer().vocabulary


def encoder_variables():
    return {name: array for name, array in pretraining_variables().items() if name.startswith("bert/")}


@pytest.mark.slow
def test_a_classifier_of_run_classifier_loads_with_its_head(tmp_path):
    head = np.arange(96, dtype=np.float32).reshape(3, 32)  # (labels, H)
    extra = {"output_weights": head, "output_bias": np.ones(3, np.float32)}
    model = load(write(tmp_path, with_optimizer(encoder_variables() | extra)))
    assert isinstance(model, BertForSequenceClassification) and model.num_labels == 3
    np.testing.assert_array_equal(model.head.dense.kernel.numpy(), head.T)


def test_a_span_finder_of_run_squad_loads_with_its_head(tmp_path):
    head = np.arange(64, dtype=np.float32).reshape(2, 32)
    extra = {"cls/squad/output_weights": head, "cls/squad/output_bias": np.ones(2, np.float32)}
    model = load(write(tmp_path, encoder_variables() | extra))  # run_squad.py keeps the pooler, which has no use
    assert isinstance(model, BertForQuestionAnswering)
    np.testing.assert_array_equal(model.head.dense.kernel.numpy(), head.T)
    assert model.load_report.unused == ("backbone/pooler/dense/kernel", "backbone/pooler/dense/bias")


# === Damaged ===


OUTER = "bert/encoder/layer_1/output/dense/kernel"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({OUTER: None}, "missing: backbone/encoder/layer_1/feed_forward/outer/kernel"),
        ({"bert/embeddings/gate": np.ones(2, np.float32)}, "unexpected: bert/embeddings/gate"),
        ({"bert/pooler/dense/kernel": np.ones((32, 31), np.float32)}, r"has shape \(32, 32\), but .* has \(32, 31\)"),
    ],
)
def test_a_variable_that_does_not_fit_is_named(assert_refused, tmp_path, changes, message):
    variables = {name: array for name, array in (pretraining_variables() | changes).items() if array is not None}
    assert_refused(write(tmp_path, variables), message)


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("suffix", ["index", "data-00000-of-00001"])
def test_a_truncated_file_is_refused(assert_refused, tmp_path, suffix, keep):
    path = write(tmp_path, pretraining_variables()) / f"bert_model.ckpt.{suffix}"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    assert_refused(tmp_path, "bert_model.ckpt: .*cannot be read.*truncated or damaged")


def test_a_flipped_byte_is_found_by_the_checksum(assert_refused, tmp_path):
    path = write(tmp_path, pretraining_variables()) / "bert_model.ckpt.data-00000-of-00001"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert_refused(tmp_path, "cannot be read .*truncated or damaged")


def test_a_missing_file_is_named(assert_refused, tmp_path):
    write(tmp_path, pretraining_variables())
    (tmp_path / "bert_config.json").rename(tmp_path / "elsewhere.json")
    assert_refused(tmp_path, "bert_config.json: there is no such file", ConfigError)
    (tmp_path / "elsewhere.json").rename(tmp_path / "bert_config.json")
    (tmp_path / "bert_model.ckpt.data-00000-of-00001").unlink()
    assert_refused(tmp_path, "bert_model.ckpt: ")
    (tmp_path / "bert_model.ckpt.index").unlink()
    assert_refused(tmp_path, r"has a bert_config.json but no \*.ckpt.index")
