"""bertlab/minimal_training.py, pre-training on one page: as short as it promises, and equal to the library."""

from pathlib import Path

import keras
import pytest
from pretraining_case import CONFIG, make_examples

from bertlab import minimal_training
from bertlab.training.presets import PretrainingSettings
from bertlab.training.pretraining import pretrain

SEED, STEPS = 7, 20


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


def test_it_fits_on_a_page():
    assert len(Path(minimal_training.__file__).read_text(encoding="utf-8").splitlines()) <= 120
