"""Byte-level BPE and the classes of transformers: each reads the files that the other has written."""

from pathlib import Path

import pytest
from test_bpe_one_file import NAMES, write

from bertlab.tokenizers.bpe import BytePairTokenizer
from bertlab.tokenizers.bpe.learner import learn

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers
DOCS = Path(__file__).parents[2] / "docs"


def test_transformers_reads_our_files_and_we_read_theirs(tmp_path):
    vocabulary = learn([line for path in DOCS.glob("*.md") for line in path.read_text("utf-8").split("\n")], 3000)
    ours = BytePairTokenizer(vocabulary)
    ours.save(tmp_path / "ours")
    theirs = transformers.RobertaTokenizer.from_pretrained(tmp_path / "ours")
    theirs.save_pretrained(tmp_path / "theirs")
    again = BytePairTokenizer.load(tmp_path / "theirs")
    assert again.vocabulary == vocabulary
    text, other = "It's a bigger 😀 test,\n  isn't it?", "yes"
    assert theirs(text, other)["input_ids"] == ours.pack(ours.encode(text), ours.encode(other))["input_ids"].tolist()
    assert again.encode(text) == ours.encode(text)
    marked = "the <mask> of a<mask>b"
    assert again.encode(marked, special_tokens=True) == theirs(marked, add_special_tokens=False)["input_ids"]


def test_transformers_reads_our_folder(tmp_path):
    (tmp_path / "ours").mkdir()
    ours = BytePairTokenizer.load(write(tmp_path))
    ours.save(tmp_path / "ours")
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path / "ours")
    text, other = "the   e\u0301 [MASK] the", "the |||EMAIL|||"
    encoded = [ours.encode(one, special_tokens=True) for one in (text, other)]
    assert theirs(text, other)["input_ids"] == ours.pack(*encoded)["input_ids"].tolist()
    assert {name: getattr(theirs, name) for name in NAMES} == NAMES
    theirs.save_pretrained(tmp_path / "theirs")
    assert BytePairTokenizer.load(tmp_path / "theirs").vocabulary == ours.vocabulary
