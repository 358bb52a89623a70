"""Counting words: the short cuts give the words of the exact basic tokenizer, for every way to cut the text."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.common.errors import ConfigError, DataError
from bertlab.tokenizers.wordpiece import fast, learner_counting
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer
from bertlab.tokenizers.wordpiece.learner_counting import count_words, read_texts

awkward = st.sampled_from(list(" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000\x00\x7f\xad"))
anything = st.text(st.one_of(st.characters(codec="utf-8"), awkward, st.sampled_from("aBcÉß東σΣ'-,.")), max_size=60)


def count(texts, **settings):
    return count_words(texts, progress=False, **settings)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Of a file that is read in small blocks."""
    monkeypatch.setattr(learner_counting, "BLOCK", 16)
    return tmp_path / "text.txt"


@settings(max_examples=400, deadline=None)
@given(st.lists(anything, max_size=5), st.booleans(), st.sampled_from([None, True, False]))
def test_counts_are_those_of_the_basic_tokenizer_on_the_whole_text(texts, lowercase, strip_accents):
    basic = BasicTokenizer(lowercase=lowercase, strip_accents=strip_accents)
    expected = Counter(word.text for text in texts for word in basic.words(text))
    assert count(texts, lowercase=lowercase, strip_accents=strip_accents) == expected


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1), st.booleans())
def test_the_short_cut_for_ascii_is_exact(chunk, lowercase):
    basic = BasicTokenizer(lowercase=lowercase)
    assert fast.FastWords(basic)(chunk) == [word.text for word in basic.words(chunk)]


def test_several_processes_count_the_same():
    texts = [f"line {number} of the text, {number % 7} apples\n" * 20 for number in range(3000)]
    assert count(texts, workers=2) == count(texts)


@pytest.mark.parametrize("block", [learner_counting.BLOCK, 100])
def test_forgetting_rare_words_keeps_the_frequent_ones_and_the_bound(monkeypatch, block):
    monkeypatch.setattr(learner_counting, "BLOCK", block)
    words = count([*(f"often word{number}" for number in range(1000)), "twice twice"], max_words=50)
    assert words["often"] == 1000
    assert len(words) <= 50


def test_chunks_forgotten_and_met_again_are_counted(monkeypatch):
    texts = [f"a{number % 50}, b" for number in range(500)]
    expected = count(texts)
    monkeypatch.setattr(learner_counting, "BLOCK", 40)
    monkeypatch.setattr(fast, "TABLE_CHUNKS", 10)
    assert count(texts) == expected


# --- files ---


def test_files_are_cut_at_line_ends_and_lose_nothing(path):
    text = "one line\na much longer line than the block is\nlast without end"
    path.write_text(text, encoding="utf-8")
    blocks = list(read_texts([path, path]))
    assert "".join(blocks) == text * 2
    assert all(block.endswith(("\n", " ")) or block == "without end"[-len(block) :] for block in blocks)


def test_a_line_longer_than_a_block_is_cut_between_words(path):
    path.write_text("wörd " * 100, encoding="utf-8")
    assert count(read_texts([path]), strip_accents=False) == {"wörd": 100}


@pytest.mark.parametrize(
    "content, message",
    [
        (b"fine\nfine\nbr\xffken\n", r"text.txt line 3: not UTF-8 \(byte 0xff: invalid start byte\)"),
        (b"fine\nlast \xc3", r"text.txt line 2: not UTF-8 \(byte 0xc3: unexpected end of data\)"),
        ("fine\n".encode("utf-16-le"), "text.txt line 1: contains a NUL byte; expected UTF-8 text: convert UTF-16"),
        (b"good line\n" * 40 + b"bad \xff\n", "line 41: not UTF-8"),
        (b"first line, all\n" + b"x" * 200, "text.txt line 2: 80 bytes without a space"),
    ],
)
def test_bytes_that_are_not_text_are_named_by_file_and_line(path, monkeypatch, content, message):
    monkeypatch.setattr(learner_counting, "MAX_LINE_PART", 64)
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(read_texts([path]))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="missing.txt: cannot be read"):
        list(read_texts([tmp_path / "missing.txt"]))


# --- settings ---


@pytest.mark.parametrize(
    ("texts", "settings", "error", "message"),
    [
        ("hello", {}, ConfigError, "wrap it in a list"),
        (["fine", b"not fine"], {}, DataError, "text 1: expected a string, found bytes"),
        (["é", "é \udcff"], {}, DataError, r"text 1, character 2: a lone surrogate \(U\+DCFF\)"),
        (["a"], dict(workers=0), ConfigError, "workers must be at least 1"),
        (["a"], dict(max_words=0), ConfigError, "max_words must be at least 1"),
    ],
)
def test_what_cannot_be_counted_is_named(texts, settings, error, message):
    with pytest.raises(error, match=message):
        count(texts, **settings)
