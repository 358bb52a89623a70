"""Folders of examples: what is written is read again, by anyone; damage is named; batches can be had from any step."""

import json
import time

import numpy as np
import pytest
from example_text import SMALL, make_documents, make_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from bertlab.data.pretraining.batches import Batches, ExampleArrays, permuted
from bertlab.data.pretraining.collators import MaskTokens
from bertlab.data.pretraining.datasets import batches_of, seconds_waited
from bertlab.data.pretraining.examples import make_examples
from bertlab.data.pretraining.make import make_data
from bertlab.data.pretraining.masking import PieceTable
from bertlab.data.pretraining.records import ExampleFiles, Layout, masked_crc32c
from bertlab.data.pretraining.show import sample_of

TOKENIZER = make_tokenizer()
DOCUMENTS = make_documents(40)
VARIANTS = [SMALL, SMALL.replace(dynamic_masking=True), SMALL.replace(next_sentence=False)]


@pytest.fixture
def folder(tmp_path):
    make_data(DOCUMENTS, TOKENIZER, tmp_path / "made", SMALL, unit_characters=3_000)
    return tmp_path / "made"


def test_a_folder_with_another_vocabulary_of_the_same_size_is_refused(folder):
    path = folder / "vocab.txt"
    *before, one, two = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*before, two, one]) + "\n", encoding="utf-8")
    for read in (lambda: ExampleFiles(folder).tokenizer, lambda: sample_of(folder, 1)):
        refused("got another in vocab.txt; restore that file, or make the examples again", read)


def same(first: dict, second: dict) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("chosen", VARIANTS)
def test_rows_come_back_as_they_were(chosen):
    examples = make_examples(DOCUMENTS, TOKENIZER, chosen)
    layout = Layout.of(chosen)
    back = Layout.from_dict(json.loads(json.dumps(layout.to_dict()))).from_bytes(layout.to_bytes(examples))
    assert same(back, examples)
    assert all(back[name].dtype == examples[name].dtype for name in back)


@pytest.mark.parametrize("chosen", VARIANTS)
def test_tensorflow_reads_the_records(chosen, tmp_path):
    """TensorFlow's reader checks both checksums of every record."""
    import tensorflow as tf

    examples = make_examples(DOCUMENTS, TOKENIZER, chosen)
    Layout.of(chosen).to_bytes(examples).tofile(tmp_path / "x.tfrecord")
    records = [
        tf.train.Example.FromString(each.numpy()) for each in tf.data.TFRecordDataset(str(tmp_path / "x.tfrecord"))
    ]
    assert len(records) == len(examples["input_ids"])
    for row, record in enumerate(records):
        assert set(record.features.feature) == set(examples)
        stored = record.features.feature["input_ids"].bytes_list.value[0]
        assert np.frombuffer(stored, "<i4").tolist() == examples["input_ids"][row].tolist()


def test_the_checksum_is_crc32c():
    """RFC 3720, appendix B.4: the CRC32C of 32 zero bytes is 0x8A9136AA; TFRecord masks it."""
    crc = 0x8A9136AA
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked_crc32c(np.zeros((3, 32), np.uint8)).tolist() == [masked] * 3


def test_the_manifest_lists_what_is_in_the_folder(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    files = ExampleFiles(folder)
    rows = files.take(np.arange(len(files)))
    counts = manifest["counts"]
    assert counts["examples"] == len(files) == sum(shard["examples"] for shard in manifest["shards"])
    assert counts["documents"] == 40 and len(manifest["shards"]) > 1
    assert counts["random_next"] == rows["next_sentence_labels"].sum()
    assert counts["predictions"] == rows["masked_lm_weights"].sum()
    assert counts["tokens_in_rows"] == rows["attention_mask"].sum()
    assert manifest["vocabulary"]["sha256"] == TOKENIZER.vocabulary.sha256
    assert manifest["seed"] == SMALL.seed and manifest["settings"] == SMALL.to_dict()
    files.check()


def test_a_truncated_shard_is_named_with_its_record(folder):
    path = folder / "examples-00001.tfrecord"
    size = Layout.of(SMALL).size
    path.write_bytes(path.read_bytes()[: 3 * size + 10])
    refused(r"examples-00001.tfrecord: record 3 of \d+ is truncated", ExampleFiles, folder)


def test_a_damaged_record_is_named(folder):
    path = folder / "examples-00001.tfrecord"
    size = Layout.of(SMALL).size
    content = bytearray(path.read_bytes())
    content[2 * size + 200] ^= 1  # in the data: found by its checksum
    path.write_bytes(content)
    refused("examples-00001.tfrecord: record 2 is damaged", ExampleFiles(folder).check)
    content[5 * size] ^= 1  # in the length: found when it is read
    path.write_bytes(content)
    files = ExampleFiles(folder)
    refused("examples-00001.tfrecord: record 5 is damaged", files.take, np.arange(len(files)))


@pytest.mark.parametrize(
    "content, message",
    [(None, "no manifest.json there"), ("{", "not valid JSON"), ('{"format": "x"}', "expected the manifest")],
)
def test_a_folder_without_a_proper_manifest_is_refused(tmp_path, content, message):
    if content:
        (tmp_path / "manifest.json").write_text(content)
    refused(message, ExampleFiles, tmp_path)


# --- batches ---


@given(size=st.integers(1, 3000), seed=st.integers(0, 2**31), epoch=st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_an_epochs_order_is_a_permutation(size, seed, epoch):
    order = permuted(np.arange(size), size, seed, epoch)
    assert (np.sort(order) == np.arange(size)).all()
    if size > 100:
        assert (order != permuted(np.arange(size), size, seed, epoch + 1)).any()
        assert (order != permuted(np.arange(size), size, seed + 1, epoch)).any()


def test_the_order_looks_random():
    """Correlation with the original order over 20 seeds, 5 standard errors of 1/√200,000: false alarm 6·10⁻⁷."""
    places = np.arange(10_000)
    correlations = [np.corrcoef(places, permuted(places, 10_000, seed, 0))[0, 1] for seed in range(20)]
    assert abs(np.mean(correlations)) < 5 / np.sqrt(20 * 10_000)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_dataset_that_starts_at_step_k_continues_exactly(tmp_path, dynamic):
    chosen = SMALL.replace(dynamic_masking=dynamic)
    make_data(DOCUMENTS, TOKENIZER, tmp_path, chosen, unit_characters=3_000)
    masks = MaskTokens(PieceTable.of(TOKENIZER.vocabulary), chosen, seed=3)
    options = dict(batch_size=50, shuffle_seed=3, repeat=True, collators=[masks])
    whole = list(batches_of(ExampleFiles(tmp_path), **options).take(14).as_numpy_iterator())
    rest = list(batches_of(ExampleFiles(tmp_path), **options, start_batch=9).take(5).as_numpy_iterator())
    assert 50 * 14 > len(ExampleFiles(tmp_path))  # into the second epoch
    assert all(same(one, other) for one, other in zip(whole[9:], rest, strict=True))
    assert "masked_lm_ids" in whole[0]


def test_every_epoch_has_every_example_once_in_its_own_order():
    numbers = ExampleArrays({"input_ids": np.arange(96)[:, None].astype(np.int32), "masked_lm_ids": np.zeros((96, 1))})
    batches = Batches(numbers, 32, shuffle_seed=1, repeat=True)
    epochs = [np.concatenate([batches[3 * epoch + k]["input_ids"][:, 0] for k in range(3)]) for epoch in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(96))
    assert (epochs[0] != epochs[1]).any()


def test_dynamic_masks_differ_from_epoch_to_epoch_and_static_ones_do_not():
    for dynamic in (False, True):
        chosen = SMALL.replace(dynamic_masking=dynamic)
        rows = make_examples(DOCUMENTS, TOKENIZER, chosen)
        rows = {name: values[:8] for name, values in rows.items()}
        masks = MaskTokens(PieceTable.of(TOKENIZER.vocabulary), chosen)
        data = batches_of(rows, 8, repeat=True, collators=[masks])
        first, second = data.take(2).as_numpy_iterator()
        assert same(first, second) != dynamic


def test_shapes_are_static_and_the_last_batch_can_be_kept():
    rows = make_examples(DOCUMENTS, TOKENIZER, SMALL)
    full = batches_of(rows, 32)
    assert full.element_spec["input_ids"].shape == (32, 48)
    assert full.element_spec["masked_lm_weights"].dtype == "float32"
    assert full.cardinality() == len(rows["input_ids"]) // 32
    every = list(batches_of(rows, 32, drop_remainder=False).as_numpy_iterator())
    assert np.array_equal(np.concatenate([batch["input_ids"] for batch in every]), rows["input_ids"])


def test_the_time_that_a_model_waits_for_batches_is_known():
    class SlowRows(ExampleArrays):
        def take(self, rows):
            time.sleep(0.05)
            return super().take(rows)

    before = seconds_waited()
    slow = batches_of(SlowRows(make_examples(DOCUMENTS, TOKENIZER, SMALL)), 4, repeat=True)
    batches = iter(slow)
    next(batches)
    waited = seconds_waited() - before
    assert waited > 0.04
    time.sleep(0.5)  # the model works; meanwhile the next batches are made
    next(batches)
    assert seconds_waited() - before < waited + 0.04


def test_a_batch_larger_than_the_data_is_refused():
    rows = {"input_ids": np.zeros((3, 8), np.int32), "masked_lm_ids": np.zeros((3, 2), np.int32)}
    refused("more than the 3 examples", batches_of, rows, 4)
    assert len(list(batches_of(rows, 4, drop_remainder=False))) == 1
