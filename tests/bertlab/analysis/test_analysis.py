"""Blanks filled in, vectors, attention maps and parameter counts, on a tiny model with a vocabulary of its own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from tiny_model import WORDS

from bertlab import checkpoints
from bertlab.analysis import vector_files
from bertlab.analysis.fill_mask import fill_mask
from bertlab.analysis.readings import attention_maps
from bertlab.analysis.summary import component_counts
from bertlab.analysis.vector_files import write_vectors
from bertlab.analysis.vectors import LayerChoice, VectorEncoder, encode_texts
from bertlab.cli.vectors import encode
from bertlab.common.errors import DataError
from bertlab.config import BertConfig

ROOT = str(Path(__file__).parents[3])


def test_guesses_are_the_likeliest_tokens_with_their_probabilities(model, tokenizer):
    guesses = fill_mask(model, tokenizer, "the [MASK] of a river.", top_k=17)[0]
    ids = [2, 5, 4, 7, 8, 9, 13, 3]  # [CLS] the [MASK] of a river . [SEP]
    logits = np.array(model({"input_ids": np.array([ids])})["masked_lm_logits"])[0, 2]
    expected = np.exp(logits) / np.exp(logits).sum()
    assert sum(g.probability for g in guesses) == pytest.approx(1, abs=1e-5)
    for guess in guesses:
        assert guess.probability == pytest.approx(expected[tokenizer.vocabulary.index(guess.piece)], abs=1e-5)
    assert [g.probability for g in guesses] == sorted((g.probability for g in guesses), reverse=True)


def test_every_blank_gets_its_guesses_in_reading_order(model, tokenizer):
    both = fill_mask(model, tokenizer, "[MASK] bank [MASK]", top_k=3)
    assert [len(guesses) for guesses in both] == [3, 3]
    assert both[0] != both[1]


@pytest.mark.parametrize(
    ("text", "said"), [("the bank", r"no \[MASK\]"), ("[MASK] " + "the " * 10, "expected at most 12 tokens, got 13")]
)
def test_a_text_without_a_blank_or_with_too_many_tokens_is_refused(model, tokenizer, text, said):
    refused(said, fill_mask, model, tokenizer, text)


@pytest.mark.parametrize("pooling", ["mean", "cls", "max", "pooler"])
def test_a_text_has_the_same_vector_alone_and_among_longer_ones(model, tokenizer, pooling):
    texts = ["a robin", "the bank of a river is a bird .", "a"]
    together = encode_texts(model.backbone, tokenizer, texts, pooling=pooling)
    assert together.shape == (3, 16) and together.dtype == np.float32
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(
            encode_texts(model.backbone, tokenizer, [text], pooling=pooling)[0], vector, atol=1e-5
        )


def test_vectors_can_be_taken_from_any_layer_and_left_unpooled(model, tokenizer):
    outputs = model.backbone({"input_ids": np.array([[2, 8, 10, 3]])}, return_all=True)  # [CLS] a robin [SEP]
    for layer in (0, 1, 2, -1):
        (states,) = encode_texts(model.backbone, tokenizer, ["a robin"], layer=layer, pooling="none")
        np.testing.assert_allclose(states, np.array(outputs["hidden_states"][layer])[0], atol=1e-5)


@pytest.mark.parametrize(
    "texts, options, said",
    [
        ("a robin", {}, "expected a list of texts, got one text, 'a robin'; put it into a list"),
        (["a", None], {}, "text 2: expected a text, got NoneType"),
        (["a"], {"layer": 1, "pooling": "pooler"}, "the pooler reads the last layer alone"),
        (["a"], {"layer": 3}, "there is no layer"),
        (["a"], {"layer": -4}, "there is no layer"),
        (["a"], {"pooling": "median"}, "unknown pooling"),
    ],
)
def test_what_cannot_be_encoded_is_named(model, tokenizer, texts, options, said):
    refused(said, encode_texts, model.backbone, tokenizer, texts, **options)


def test_any_iterable_of_texts_is_encoded_and_the_pooler_s_own_layer_may_be_named(model, tokenizer):
    texts = ["a robin", "the bank"]
    expected = encode_texts(model.backbone, tokenizer, texts, pooling="pooler")
    for layer in (-1, 2):
        found = encode_texts(model.backbone, tokenizer, iter(texts), pooling="pooler", layer=layer)
        np.testing.assert_array_equal(found, expected)


def test_normalised_vectors_have_length_one(model, tokenizer):
    vectors = encode_texts(model.backbone, tokenizer, ["a robin", "the bank"], normalise=True)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_text_that_does_not_fit_is_read_in_windows_and_cut_only_when_asked(model, tokenizer):
    words = ["the", "bank", "of", "a", "river"] * 4
    windows = [" ".join(words[:10]), " ".join(words[10:])]  # with [CLS] and [SEP] the model reads 10 tokens
    whole = encode_texts(model.backbone, tokenizer, ["a", " ".join(words)])
    parts = encode_texts(model.backbone, tokenizer, windows, pooling="none")
    np.testing.assert_allclose(whole[1], np.concatenate(parts).mean(axis=0), atol=1e-5)
    cut = encode_texts(model.backbone, tokenizer, ["a", " ".join(words)], truncate=True)
    np.testing.assert_allclose(cut[1], encode_texts(model.backbone, tokenizer, windows[:1])[0], atol=1e-5)


def test_several_layers_become_one_vector(model, tokenizer):
    def vectors(layer):
        return encode_texts(model.backbone, tokenizer, ["a robin", "the"], layer=layer)

    first, last = vectors(1), vectors(-1)
    np.testing.assert_allclose(vectors("last2-sum"), first + last, atol=1e-5)
    np.testing.assert_allclose(vectors("last2-concat"), np.concatenate([first, last], axis=1), atol=1e-5)
    np.testing.assert_allclose(vectors(LayerChoice((1, 2), "mean")), (first + last) / 2, atol=1e-5)
    weighted = LayerChoice((1, 2), weights=(0.25, 0.75))
    for choice in (weighted, LayerChoice.of("last2-sum", weights=(0.25, 0.75))):
        np.testing.assert_allclose(vectors(choice), 0.25 * first + 0.75 * last, atol=1e-5)
    assert LayerChoice.of("last2-mean", "mean").combine == "mean"  # said twice is no contradiction
    assert LayerChoice.of("1,2").combine == "sum"


@pytest.mark.parametrize(
    "choice",
    [("x",), ("1,2", "median"), ("1,2", "sum", (1.0,)), ("last0-sum",), ("last4-sum", "mean"), ("last2-concat", "sum"),
     ("last2-concat", None, (1.0, 2.0)), ("last2-sum", None, (1.0,)), ("last2-mean", None, (1.0, -1.0)),
     ("last2-sum", None, (1.0, float("nan")))],
)  # fmt: skip
def test_a_choice_of_layers_that_contradicts_itself_is_refused(choice):
    with pytest.raises(DataError):
        LayerChoice.of(*choice)


@pytest.mark.parametrize("pooling, name", [("mean", "v.npy"), ("mean", "v.npz"), ("none", "v.npz")])
def test_vectors_written_part_by_part_are_those_made_at_once_and_a_stopped_run_resumes(
    model, tokenizer, tmp_path, pooling, name
):
    texts = ["a robin", "the bank of a river", "", "bird", "the", "a river is a bird ."]
    maker, out, made = VectorEncoder(model.backbone, tokenizer, pooling=pooling), tmp_path / name, []

    class Stopped(BaseException):
        pass

    def stop_later(some, advance):
        if len(made) == 2:
            raise Stopped
        made.append(some)
        return maker(some, advance)

    stop_later.pooling, stop_later.dimensions = maker.pooling, maker.dimensions
    with pytest.raises(Stopped):
        write_vectors(stop_later, texts, out, {"pooling": pooling}, together=2)
    with open(tmp_path / f"{name}.partial", "ab") as file:
        file.write(b"half a vector")
    made.clear()
    made.append("one text list is allowed")
    write_vectors(stop_later, texts, out, {"pooling": pooling}, together=2)  # only the last two texts were left

    expected = encode_texts(model.backbone, tokenizer, texts, pooling=pooling)
    loaded = np.load(out, allow_pickle=False)
    if name.endswith(".npz"):
        np.testing.assert_allclose(loaded["vectors"], np.concatenate(expected) if pooling == "none" else expected,
                                   atol=1e-5)  # fmt: skip
        if pooling == "none":
            assert loaded["row_splits"].tolist() == [0, *np.cumsum([len(v) for v in expected])]
    else:
        np.testing.assert_allclose(loaded, expected, atol=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, f"{name}.json"]


def stopped_after(texts):
    yield from texts
    raise KeyboardInterrupt


def test_an_unfinished_file_is_not_gone_on_with_for_other_texts_or_settings(model, tokenizer, tmp_path):
    maker, out = VectorEncoder(model.backbone, tokenizer), tmp_path / "v.npy"
    with pytest.raises(KeyboardInterrupt):
        write_vectors(maker, stopped_after(["a robin", "a bird"]), out, {"model": "x"}, together=1)
    for others in (["a robin", "the bank"], ["a robin"]):
        refused("was started with other texts", write_vectors, maker, others, out, {"model": "x"}, together=1)
    with pytest.raises(DataError, match="model was .x., is .y..*delete it and v.npy.progress.json"):
        write_vectors(maker, ["a robin", "a bird"], out, {"model": "y"}, together=1)
    assert write_vectors(maker, ["a robin", "a bird", "the"], out, {"model": "x"}, together=1) == (3, 16)


def test_an_unfinished_file_that_lost_vectors_is_not_filled_up_with_zeros(model, tokenizer, tmp_path):
    maker, out = VectorEncoder(model.backbone, tokenizer, pooling="none"), tmp_path / "v.npz"
    with pytest.raises(KeyboardInterrupt):
        write_vectors(maker, stopped_after(["a robin", "a bird"]), out, {}, together=1)
    (tmp_path / "v.npz.lengths").unlink()
    with pytest.raises(DataError, match="v.npz.lengths: is shorter than v.npz.progress.json records"):
        write_vectors(maker, ["a robin", "a bird"], out, {}, together=1)


@pytest.fixture
def resumable(model, tokenizer):
    """Writes the vectors of every token of two texts to a file; returns the number of texts that were encoded now."""
    maker, made = VectorEncoder(model.backbone, tokenizer, pooling="none"), []

    def counted(some, advance):
        made.extend(some)
        return maker(some, advance)

    counted.pooling, counted.dimensions = maker.pooling, maker.dimensions

    def write(out):
        made.clear()
        write_vectors(counted, ["a robin", "the bank"], out, {}, together=1)
        return len(made)

    return write


def test_a_full_disk_or_a_kill_while_an_npz_is_packed_loses_no_vector(resumable, tmp_path, monkeypatch):
    out, pack = tmp_path / "v[1].npz", vector_files._pack

    def full(partial, lengths, packed):
        pack(partial, lengths, packed)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vector_files, "_pack", full)
    refused(r"v\[1\]\.npz: cannot be written \(No space left on device\)", resumable, out)
    growing = [f"{out.name}.{part}" for part in ("lengths", "partial", "progress.json")]
    assert sorted(path.name for path in tmp_path.iterdir()) == growing
    for left in (f".{out.name}.4711.partial", f"{out.name}.packing"):  # by a kill, now and in version 0.1.0
        (tmp_path / left).write_bytes(b"PK\x03\x04 half of it")
    monkeypatch.setattr(vector_files, "_pack", pack)
    assert resumable(out) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [out.name, f"{out.name}.json"]
    resumable(tmp_path / "whole.npz")
    again, whole = np.load(out), np.load(tmp_path / "whole.npz")
    assert again["row_splits"].tolist() == whole["row_splits"].tolist()
    assert np.array_equal(again["vectors"], whole["vectors"])


@pytest.mark.parametrize("name", ["v.npy", "v.npz"])
def test_all_vectors_are_on_the_disk_before_their_file_gets_its_name(model, tokenizer, tmp_path, monkeypatch, name):
    """A loss of power after the renaming must not leave an empty file, or a header that counts no rows."""
    synced, sync, replace = {}, os.fsync, os.replace

    def note_sync(descriptor):
        number = os.fstat(descriptor).st_ino
        synced[number] = next(path for path in tmp_path.iterdir() if path.stat().st_ino == number).read_bytes()
        sync(descriptor)

    def check_synced(source, target):
        assert synced[os.stat(source).st_ino] == Path(source).read_bytes(), target
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", check_synced)
    write_vectors(VectorEncoder(model.backbone, tokenizer), ["a robin", "the bank"], tmp_path / name, {}, together=1)
    assert (tmp_path / name).read_bytes() in synced.values()


def test_what_is_noted_of_an_unfinished_file_does_not_grow_with_its_texts(model, tokenizer, tmp_path):
    maker, sizes = VectorEncoder(model.backbone, tokenizer, pooling="none"), []
    for count in (4, 40):
        with pytest.raises(KeyboardInterrupt):
            write_vectors(maker, stopped_after(["a bird"] * count), tmp_path / f"{count}.npz", {}, together=1)
        sizes.append((tmp_path / f"{count}.npz.progress.json").stat().st_size)
    assert sizes[1] - sizes[0] < 10  # the digits of the counts alone


def test_encode_does_not_go_on_with_a_model_that_was_trained_meanwhile(model, tokenizer, tmp_path):
    folder, lines, out = tmp_path / "model", tmp_path / "lines.txt", tmp_path / "v.npy"
    checkpoints.save(model, folder, tokenizer)
    lines.write_bytes(b"a robin\n" * 1030 + b"\xff\n")  # stops after the first save
    arguments = [str(lines), "--model", str(folder), "--out", str(out)]
    refused("not UTF-8", encode.main, arguments, standalone_mode=False)
    changed = checkpoints.load(folder, "pretraining")
    changed.backbone.embeddings.token.embeddings.assign(changed.backbone.embeddings.token.embeddings * 2)
    checkpoints.save(changed, folder, tokenizer)
    refused("was started with other settings .weights was", encode.main, arguments, standalone_mode=False)


def test_attention_maps_have_their_tokens_and_sum_to_one(model, tokenizer):
    pieces, maps = attention_maps(model.backbone, tokenizer, "the [MASK] river")
    assert pieces == ["[CLS]", "the", "[MASK]", "river", "[SEP]"]
    assert maps.shape == (2, 2, 5, 5)
    np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-5)


def test_component_counts_add_up_to_the_published_base():
    with_heads = component_counts(BertConfig.named("base"))
    without = component_counts(BertConfig.named("base"), heads=False)
    assert sum(count for _, count in without) == 109_482_240
    assert sum(count for _, count in with_heads) == 110_106_428
    assert dict(with_heads)["token embedding"] == 30_522 * 768
    assert dict(with_heads)["12 × attention"] == 12 * 4 * (768 * 768 + 768)


@pytest.mark.exhaustive
def test_a_killed_encode_resumes_and_gives_the_same_bytes(model, tokenizer, tmp_path):
    checkpoints.save(model, tmp_path / "model", tokenizer)
    lines = (" ".join(WORDS[(7 * i + k * k) % len(WORDS)] for k in range(i % 9 + 1)) for i in range(5000))
    (tmp_path / "lines.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def started(out):
        command = [sys.executable, "-m", "bertlab", "encode", "lines.txt", "--model", "model", "--out", out]
        return subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": ROOT})

    def finished(out):
        process = started(out)
        errors = process.communicate()[1]
        assert process.returncode == 0, errors
        return (tmp_path / out).read_bytes()

    notes, reached = tmp_path / "killed.npy.progress.json", []
    for texts in (1, 2500):
        process = started("killed.npy")
        while process.poll() is None and not (notes.exists() and json.loads(notes.read_text())["texts"] >= texts):
            time.sleep(0.002)
        process.kill()
        process.communicate()
        reached.append(json.loads(notes.read_text())["texts"])
    assert 0 < reached[0] <= reached[1] < 5000
    assert finished("killed.npy") == finished("whole.npy")
    assert not notes.exists() and len(np.load(tmp_path / "killed.npy")) == 5000
