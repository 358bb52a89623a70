"""The model and its pre-training on one page each: as short as they promise, and equal to the library."""

from pathlib import Path

import keras
import numpy as np
import pytest
from pretraining_case import CONFIG, make_examples

from bertlab import checkpoints, minimal, minimal_training
from bertlab.training.presets import PretrainingSettings
from bertlab.training.pretraining import pretrain

SEED, STEPS = 7, 20


@pytest.fixture(scope="module")
def inputs():
    """Two rows: a pair of texts, and a shorter text with padding."""
    tokenizer = checkpoints.load_tokenizer("bertlab-mini")
    return tokenizer.encode_packed(["She opened the door.", "Good morning!"], ["He went in and sat down.", "Sir."])


def test_it_computes_what_the_library_computes(inputs):
    assert (inputs["attention_mask"] == 0).any()
    words, pair = minimal.Bert()(inputs["input_ids"], inputs["token_type_ids"], inputs["attention_mask"])

    expected = checkpoints.load("bertlab-mini", "pretraining")(inputs)

    for found, name in ((words, "masked_lm_logits"), (pair, "next_sentence_logits")):
        reference = np.asarray(expected[name])
        assert np.abs(np.asarray(found) - reference).max() <= 1e-5 * max(1, np.abs(reference).max())


@pytest.mark.parametrize(("page", "lines"), [(minimal, 200), (minimal_training, 120)])
def test_it_fits_on_a_page(page, lines):
    assert len(Path(page.__file__).read_text(encoding="utf-8").splitlines()) <= lines


def test_it_fills_a_blank(capsys):
    minimal.main("She opened the [MASK] and went in.")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and "door" in lines[0]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return make_examples(tmp_path_factory.mktemp("rows"), dynamic_masking=True)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="the page uses TensorFlow's gradients")
def test_its_losses_are_the_librarys(rows, tmp_path):
    config = CONFIG.replace(hidden_dropout=0.1, attention_dropout=0.1)
    recipe = PretrainingSettings(
        steps=STEPS, batch_size=minimal_training.BATCH, learning_rate=minimal_training.PEAK,
        warmup_share=minimal_training.WARMUP, precision="float32", interval=1, seed=SEED,
    )  # fmt: skip
    expected = pretrain(config, rows, tmp_path / "run", recipe, say=lambda line: None)

    found = list(minimal_training.pretrain(rows, config, STEPS, SEED))

    assert len(found) == len(expected) == STEPS
    for (_, masked_lm, next_sentence), row in zip(found, expected):
        assert masked_lm == pytest.approx(row["masked_lm_loss"], rel=1e-5)
        assert next_sentence == pytest.approx(row["next_sentence_loss"], rel=1e-5)
    assert found[-1][1] < found[0][1]
