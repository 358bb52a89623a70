"""SentencePiece without its package, which is optional: preparing a text, and the message without it.

With the package: tests/peers/test_sentence_pieces_peers.py.
"""

import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab import checkpoints, families, models
from bertlab.common.errors import MissingDependencyError
from bertlab.tokenizers.sentence_pieces import prepared


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Ça ``va''", 'ca "va"'), ("a\tb\x85c\u3000d", "a b c d"), ("½ ﬁ", "1⁄2 fi"), ("`'`", "`'`"), ("", "")],
)
def test_text_is_prepared_as_published(text, expected):
    assert prepared(text)[0] == expected


def test_capitals_and_accents_stay_if_asked():
    assert prepared("Ça", lowercase=False, keep_accents=True)[0] == "Ça"


@given(st.text())
def test_every_character_has_its_offset_in_the_original(text):
    changed, places = prepared(text)
    assert len(changed) == len(places) and places == sorted(places)
    assert all(0 <= place < len(text) for place in places)


@pytest.mark.skipif(importlib.util.find_spec("sentencepiece") is not None, reason="the package is there")
def test_without_the_package_the_weights_load_and_the_error_names_it(tmp_path):
    config = families.family("albert").config(
        vocab_size=61, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=24, max_position_embeddings=12
    )
    checkpoints.save(models.PreTrainingModel(config), tmp_path)
    (tmp_path / "spiece.model").write_bytes(b"any")
    with pytest.raises(MissingDependencyError, match=r"pip install .bertlab\[sentencepiece\]"):
        checkpoints.load_tokenizer(tmp_path)
    assert checkpoints.load(tmp_path).config == config
