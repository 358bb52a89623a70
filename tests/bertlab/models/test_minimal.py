"""bertlab/minimal.py, the model on one page: as short as its docstring promises, and equal to the library."""

from pathlib import Path

import numpy as np
import pytest

from bertlab import checkpoints, minimal


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


def test_it_fits_on_a_page():
    assert len(Path(minimal.__file__).read_text(encoding="utf-8").splitlines()) <= 200


def test_it_fills_a_blank(capsys):
    minimal.main("She opened the [MASK] and went in.")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and "door" in lines[0]
