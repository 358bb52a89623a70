"""A checkpoint that is wrong in any way: one error that names what is wrong, and the model is as it was."""

import json

import numpy as np
import pytest
from checkpoint_files import GOLDEN, edit_config, edit_tensors, golden_copy, same_weights, tokenizer, weights
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from bertlab.checkpoints import load, load_into, read_config, save
from bertlab.common.errors import BertLabError, CheckpointError, ConfigError, MissingDependencyError, in_shell
from bertlab.models import BertForPreTraining

WORDS = "bert.embeddings.word_embeddings.weight"
QUERY = "bert.encoder.layer.1.attention.self.query.weight"


# === Tensors ===


def spoil(arrays):
    arrays[QUERY][0, 0] = np.nan


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda a: a.pop(QUERY), r"missing: backbone/encoder/layer_1/attention/query/kernel \(encoder.layer.1"),
        (lambda a: [a.pop(name) for name in list(a) if "layer.2" in name], r"missing: .* and 12 more$"),
        (lambda a: a.update({"bert.gate.weight": np.ones(3, np.float32)}), "unexpected: bert.gate.weight"),
        (lambda a: a.update({QUERY: a[QUERY][:, :-1]}),
         r"layer_1/attention/query/kernel has shape \(32, 32\), but .* has \(31, 32\)"),
        (spoil, f"{QUERY} has a value that is infinite or not a number"),
        (lambda a: a.update({QUERY: a[QUERY].astype(np.complex64)}), f"{QUERY} is of type C64; only F64, F32, F16, BF"),
        (lambda a: a.update({WORDS.removeprefix("bert."): a[WORDS]}), "are the same variable"),
        (lambda a: a.update({"cls.predictions.decoder.weight": a[WORDS] + 1}),
         'differs from embeddings.word_embeddings.weight.*"tie_word_embeddings": false'),
    ],
    ids=["missing", "many missing", "unexpected", "shape", "not a number", "type", "twice", "not tied"],
)  # fmt: skip
def test_a_tensor_that_does_not_fit_is_named(assert_refused, folder, edit, message):
    edit_tensors(folder, edit)
    assert_refused(folder, message)


def test_a_weight_under_another_name_is_not_answered_with_loading_without_it(model, folder):
    edit_tensors(folder, lambda a: a.update({"bert.encoder.layer.1.other.weight": a.pop(QUERY)}))
    with pytest.raises(CheckpointError, match="rename them in the file if they are the missing ones") as told:
        load_into(model, folder)
    assert "strict" not in str(told.value)


# === Config against weights ===


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_hidden_layers": 2}, "unexpected: bert.encoder.layer.2"),
        ({"num_hidden_layers": 4}, "missing: backbone/encoder/layer_3/"),
        ({"hidden_size": 64}, r"embeddings has shape \(61, 64\), but .* has \(61, 32\)"),
        ({"vocab_size": 62}, r"token/embeddings has shape \(62, 32\), but .* has \(61, 32\)"),
        ({"max_position_embeddings": 512}, r"position/embeddings has shape \(512, 32\), but .* has \(16, 32\)"),
        ({"type_vocab_size": 3}, r"segment/embeddings has shape \(3, 32\)"),
        ({"intermediate_size": 65}, r"inner/kernel has shape \(32, 65\)"),
        ({"hidden_size": 10**7, "num_attention_heads": 1}, r"has shape \(61, 10000000\)"),
        ({"tie_word_embeddings": False}, r"missing: masked_lm_head/unembedding \(cls.predictions.decoder.weight\)"),
        ({"num_hidden_layers": 10**9}, "the config has 1000000000 layers, the file only 62 tensors"),
        ({"is_decoder": True}, "is_decoder is true; only encoders"),
    ],
)
def test_a_config_that_contradicts_the_weights_is_refused_before_anything_is_built(values, message, folder):
    edit_config(folder, **values)
    with pytest.raises(CheckpointError, match=message):
        load(folder)


def test_a_model_of_other_numerics_is_not_filled(folder):
    other = BertForPreTraining(read_config(folder).replace(num_heads=2, hidden_act="relu"))
    before = weights(other)
    with pytest.raises(CheckpointError, match="num_heads is 4 .* and 2 in the model's; hidden_act is 'gelu'"):
        load_into(other, folder)
    assert same_weights(before, weights(other))


def test_our_own_format_is_held_to_its_config_too(tmp_path):
    save(load(GOLDEN / "gelu"), tmp_path, format="bertlab")
    path = tmp_path / "bertlab.safetensors"
    with safe_open(path, "numpy") as file:
        header = json.loads(file.metadata()["bertlab"])
    header["config"]["position_embedding"] = "sinusoidal"
    save_file(load_file(path), path, {"bertlab": json.dumps(header)})
    with pytest.raises(CheckpointError, match="unexpected: backbone/embeddings/position/embeddings"):
        load(tmp_path)


def test_a_number_of_labels_that_contradicts_the_classifier_is_refused(tmp_path):
    save(load(GOLDEN / "gelu", "sequence_classification", num_labels=3, fresh_head=True), tmp_path)
    edit_config(tmp_path, id2label={"0": "no", "1": "yes"})
    with pytest.raises(CheckpointError, match="describes 2 labels, but the classifier has 3"):
        load(tmp_path)


@pytest.mark.parametrize(("content", "message"), [("{", "not valid JSON"), ("[]", "a JSON object"), ("", "JSON")])
def test_a_config_that_is_no_json_object_is_named(assert_refused, folder, content, message):
    (folder / "config.json").write_text(content)
    assert_refused(folder, f"config.json: .*{message}")


def test_a_config_without_a_size_is_named(assert_refused, folder):
    edit_config(folder, hidden_size=None)
    assert_refused(folder, "config.json: 'hidden_size' is missing", ConfigError)


# === Vocabulary ===


@pytest.mark.parametrize(("pieces", "advice"), [(60, "padded_vocabulary=True"), (62, "belongs to the weights")])
def test_a_vocabulary_that_is_off_by_one_is_refused(assert_refused, folder, pieces, advice):
    tokenizer(pieces).vocabulary.save(folder / "vocab.txt")
    assert_refused(folder, f"vocab.txt: has {pieces} tokens, but the config's vocab_size is 61; .*{advice}")


def test_in_a_shell_the_advice_is_a_command(folder):
    tokenizer(60).vocabulary.save(folder / "vocab.txt")
    with in_shell(), pytest.raises(CheckpointError, match=r"bertlab convert … --to bertlab --padded-vocabulary"):
        load(folder)
    with in_shell(), pytest.raises(CheckpointError, match=r"with a new head, use `bertlab finetune`"):
        load(GOLDEN / "gelu", "sequence_classification", num_labels=3)


def test_a_padded_token_table_loads_on_request(folder):
    tokenizer(60).vocabulary.save(folder / "vocab.txt")
    load(folder, padded_vocabulary=True)
    tokenizer(62).vocabulary.save(folder / "vocab.txt")
    with pytest.raises(CheckpointError, match="has 62 tokens"):
        load(folder, padded_vocabulary=True)


def test_our_own_format_knows_its_vocabulary_by_content(model, assert_refused, tmp_path):
    save(model, tmp_path, tokenizer=tokenizer(), format="bertlab")
    text = (tmp_path / "vocab.txt").read_text()
    (tmp_path / "vocab.txt").write_text(text.replace("\na\nb\n", "\nb\na\n"))
    assert_refused(tmp_path, "vocab.txt: is not the vocabulary that bertlab.safetensors was saved with")


# === Files ===


@pytest.mark.parametrize("format", ["huggingface", "bertlab"])
@pytest.mark.parametrize("keep", [0, 5, 8, 100, 0.5, -1])
def test_a_truncated_file_is_named(model, assert_refused, tmp_path, format, keep):
    save(model, tmp_path, format=format)
    (path,) = tmp_path.glob("*.safetensors")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep) if isinstance(keep, float) else keep])
    assert_refused(tmp_path, f"{path.name}: cannot be read as safetensors .*truncated, damaged")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_garbage_in_the_header_gets_past_the_errors(model, tmp_path_factory, data):
    """Bytes of the header are overwritten: loading either succeeds or raises one of ours, and never does half."""
    folder = golden_copy("gelu", tmp_path_factory.mktemp("garbage") / "checkpoint")
    content = bytearray((folder / "model.safetensors").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 3000))] = data.draw(st.integers(0, 255))
    (folder / "model.safetensors").write_bytes(content)
    before = weights(model)
    try:
        load_into(model, folder)
    except BertLabError:
        assert same_weights(before, weights(model))
    else:
        model.set_weights(before)


INDEX = "model.safetensors.index.json"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("x", "", "no model.safetensors; the folder was not copied or downloaded completely"),
        ("pytorch_model.bin", "\x80\x02.", "pytorch_model.bin: .*pickle can run any code.*save_pretrained"),
        (INDEX, f'{{"weight_map": {{"{WORDS}": "one.safetensors"}}}}', "one.safetensors: there is no such file"),
        *((INDEX, content, f"{INDEX}: ")
          for content in ("{}", "garbage", '{"weight_map": {"a": 1}}', '{"weight_map": {"a": "../x"}}')),
    ],
)  # fmt: skip
def test_what_is_there_in_place_of_the_weights_is_named(assert_refused, folder, file, content, message):
    (folder / "model.safetensors").unlink()
    (folder / file).write_text(content, "latin-1")
    assert_refused(folder, message)


def test_a_tensor_that_the_index_lists_and_no_shard_holds_is_named(assert_refused, folder):
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    weight_map = {WORDS: "part.safetensors", "bert.lost.weight": "part.safetensors"}
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))
    assert_refused(folder, "index.json: lists bert.lost.weight, which the files do not hold")


@pytest.mark.parametrize(
    ("entry", "message"),
    [("{", "damaged"), ("[]", "damaged"), ('{"format_version": 1}', "lacks a known kind"),
     ('{"format_version": 3}', "format version 3; this BertLab reads versions up to 2")],
)  # fmt: skip
def test_a_damaged_header_of_our_own_format_is_named(assert_refused, tmp_path, entry, message):
    save_file({"x": np.zeros(1, np.float32)}, tmp_path / "bertlab.safetensors", {"bertlab": entry})
    assert_refused(tmp_path, f"bertlab.safetensors: .*{message}")


def test_an_empty_folder_is_an_error_that_names_the_expected_files(assert_refused, tmp_path):
    assert_refused(tmp_path, "no checkpoint here; expected a folder with config.json and model.safetensors")


def test_a_path_that_does_not_exist_is_not_taken_for_a_published_name(assert_refused, tmp_path):
    assert_refused(tmp_path / "nothing" / "here", "there is no such folder or checkpoint")
    assert_refused("./bert-base", "there is no such folder or checkpoint")


def test_a_published_name_without_the_hub_client_says_what_to_install(assert_refused, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)  # importing it now raises ImportError
    assert_refused("bert-base-uncased", r"pip install 'bertlab\[hub\]'", MissingDependencyError)
