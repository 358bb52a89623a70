"""GPT's BPE of words: tokens, offsets, special tokens, files. Parity: tests/peers/test_word_pairs_peers.py."""

import json

import pytest

from bertlab import checkpoints, families
from bertlab.common.errors import VocabularyError
from bertlab.tokenizers.bpe import WordPairTokenizer, WordVocabulary
from bertlab.tokenizers.kinds import kind_in, open_tokenizer
from bertlab.tokenizers.wordpiece.base import Tokenizer

PIECES = ["<unk>", *"lowests", "w</w>", "t</w>", ",</w>", "lo", "low", "low</w>", "es", "est</w>"]
PIECES = list(dict.fromkeys(PIECES))
MERGES = [("l", "o"), ("lo", "w"), ("lo", "w</w>"), ("e", "s"), ("es", "t</w>")]


@pytest.fixture
def words():
    return WordPairTokenizer(WordVocabulary(PIECES, MERGES))


def folder_of(path, words):
    families.family("openai-gpt").config(vocab_size=len(words.vocabulary)).save(path / "config.json")
    words.save(path)
    return path


def test_the_merges_learned_first_are_made_first_and_the_end_of_a_word_counts(words):
    assert isinstance(words, Tokenizer)
    assert words.tokenize("LOWEST löw, lo") == ["low", "est</w>", "low</w>", ",</w>", "l", "<unk>"]
    assert words.decode(words.encode("lowest low, low")) == "lowest low , low"


def test_offsets_are_those_of_the_original_text(words):
    encoding = words.encode_with_offsets("Löw ☃ lowest")
    assert encoding.pieces == ["low</w>", "<unk>", "low", "est</w>"]
    assert encoding.offsets.tolist() == [[0, 3], [4, 5], [6, 9], [9, 12]]
    assert encoding.word_ids.tolist() == [0, 1, 2, 2]


def test_special_tokens_are_read_where_they_are_asked_for(words):
    assert words.encode("[MASK] low", special_tokens=True) == [0, PIECES.index("low</w>")]
    encoding = words.encode_with_offsets("low <unk>, low", special_tokens=True)
    assert encoding.offsets.tolist() == [[0, 3], [4, 9], [9, 10], [11, 14]]
    assert len(words.encode("<unk>")) == 5  # a word of each bracket, and three characters


def test_a_folder_loads_with_its_tokenizer(words, tmp_path):
    folder = folder_of(tmp_path, words)
    assert kind_in(folder) == "word BPE"
    for again in (checkpoints.load_tokenizer(folder), open_tokenizer(folder), open_tokenizer(folder / "vocab.json")):
        assert isinstance(again, WordPairTokenizer) and again.vocabulary == words.vocabulary
    (folder / "vocab.json").unlink()
    vocab = {piece: number for number, piece in enumerate(PIECES)}
    model = {"type": "BPE", "end_of_word_suffix": "</w>", "vocab": vocab, "merges": [list(pair) for pair in MERGES]}
    (folder / "tokenizer.json").write_text(json.dumps({"model": model}))
    assert checkpoints.load_tokenizer(folder).vocabulary == words.vocabulary


def test_damaged_files_are_named(words, tmp_path):
    folder = folder_of(tmp_path, words)
    (folder / "merges.txt").write_text("#version: 0.2\nl x\n")
    with pytest.raises(VocabularyError, match=r"vocab.json: merge 1 makes 'lx'"):
        checkpoints.load_tokenizer(folder)
    (folder / "vocab.json").write_text(json.dumps({"low</w>": 0}))
    with pytest.raises(VocabularyError, match="'<pad>' is missing|'<unk>' is missing"):
        checkpoints.load_tokenizer(folder)
    (folder / "vocab.json").unlink()
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "BPE", "end_of_word_suffix": "</w>"}}))
    with pytest.raises(VocabularyError, match="expected a tokenizer of type 'BPE'"):
        checkpoints.load_tokenizer(folder)
