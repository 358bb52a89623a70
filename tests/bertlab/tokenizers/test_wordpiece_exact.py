"""The three forms give the published tokens for every character and for text in many scripts.

The oracle is `wordpiece_oracle`, which asks this Python's own Unicode tables. They are those of the frozen ones on
Python 3.11; other Pythons run the test of the digests, which 3.11 proves right.
"""

import functools
import hashlib
import random
import sys
import unicodedata

import numpy as np
import pytest
import wordpiece_oracle as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from wordpiece_texts import GLUE, random_lines, real_lines, vocabulary_of

from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, BasicTokenizer, Vocabulary, WordPieceTokenizer
from bertlab.tokenizers.wordpiece.unicode import UNICODE_VERSION

pytest.importorskip("tensorflow_text", reason="the in-graph form needs TensorFlow Text")

needs_same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version != oracle.UNICODE_OF_THE_TABLES, reason="the oracle needs Python 3.11's Unicode 14.0"
)
CASES = pytest.mark.parametrize("lowercase", [True, False], ids=["uncased", "cased"])
CODE_POINTS = range(sys.maxunicode + 1)
SURROGATES = range(0xD800, 0xE000)  # not characters: strings of Python can hold them, UTF-8 and so graphs cannot


def assert_forms_agree(lines: list[str], words: list[list[str]], tokenizer: WordPieceTokenizer, graph=None) -> None:
    """Readable form, batch form and in-graph form give the tokens of the oracle's words for every line."""
    vocabulary = set(tokenizer.vocabulary.pieces)
    index = tokenizer.vocabulary.index
    batch = tokenizer.encode_batch(lines).to_list()
    in_graph = (graph or tokenizer.graph())(lines).to_list()
    for line, its_words, batch_ids, graph_ids in zip(lines, words, batch, in_graph, strict=True):
        cut = (oracle.pieces(word, vocabulary, tokenizer.max_chars_per_word) for word in its_words)
        pieces = [piece for word in cut for piece in word]
        assert tokenizer.tokenize(line) == pieces, repr(line)
        expected = [index(piece) for piece in pieces]
        assert batch_ids == expected, repr(line)
        assert graph_ids == expected, repr(line)


def lines_around(codes) -> list[str]:
    """Each character alone, inside a word, and between letters that make Σ look around."""
    return ["{0} a{0}b ΑΣ{0}Α{0}Σ{0}".format(chr(code)) for code in codes if code not in SURROGATES]


def assert_code_points_agree(codes, lowercase: bool) -> None:
    lines = lines_around(codes)
    words = [oracle.words(line, lowercase) for line in lines]
    vocabulary = vocabulary_of(word for line in words for word in line)
    assert_forms_agree(lines, words, WordPieceTokenizer(vocabulary, lowercase))


# === Every code point ===


@needs_same_unicode
@CASES
def test_a_sample_of_all_code_points_gives_the_published_tokens(lowercase):
    codes = sorted({*range(0x250), *random.Random(1).sample(CODE_POINTS[:0x20000], 2000), *map(ord, GLUE)})
    assert_code_points_agree(codes, lowercase)


@needs_same_unicode
@pytest.mark.exhaustive
@CASES
@pytest.mark.parametrize("plane", range(17))
def test_every_code_point_gives_the_published_tokens(lowercase, plane):
    assert_code_points_agree(CODE_POINTS[plane << 16 : (plane + 1) << 16], lowercase)


@needs_same_unicode
@CASES
def test_lone_surrogates_are_kept_like_unknown_letters(lowercase):
    lines = ["a" + chr(code) + "b ΑΣ" + chr(code) for code in SURROGATES]
    words = [[word.text for word in BasicTokenizer(lowercase).words(line)] for line in lines]
    assert words == [oracle.words(line, lowercase) for line in lines]
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, "a", "##b"]), lowercase)
    assert tokenizer.encode_batch(lines).to_list() == [tokenizer.encode(line) for line in lines]


# The words of all code points, alone and around Σ. On every Python these must come out; on 3.11 the test above proves
# them right.
DIGESTS = {
    True: "061ef07925baf8bf168b40aa9d4f107f6ca697145a69713e3cff9a6aa785d18d",
    False: "0ad53e52680ff98bde7cb937bf6fd480dd06da7b9ad0661dc27749b1deebbaf4",
}


@pytest.mark.exhaustive
@CASES
def test_every_python_gives_the_same_words(lowercase):
    assert UNICODE_VERSION == oracle.UNICODE_OF_THE_TABLES
    basic, digest = BasicTokenizer(lowercase), hashlib.sha256()
    for code in CODE_POINTS:
        for text in (chr(code), "ΑΣ" + chr(code) + "Α"):
            words = "\n".join(word.text for word in basic.words(text))
            digest.update(words.encode("utf-8", "surrogatepass") + b"\n\n")
    assert digest.hexdigest() == DIGESTS[lowercase]


# === Lines ===


@needs_same_unicode
@CASES
def test_random_lines_in_many_scripts_give_the_published_tokens(lowercase):
    lines = random_lines(3000, seed=2)
    words = [oracle.words(line, lowercase) for line in lines]
    vocabulary = vocabulary_of(word for line in words for word in line)
    assert_forms_agree(lines, words, WordPieceTokenizer(vocabulary, lowercase, max_chars_per_word=12))


@needs_same_unicode
@pytest.mark.exhaustive
@CASES
@pytest.mark.parametrize("real", [True, False], ids=["real", "random"])
def test_half_a_million_lines_give_the_published_tokens(lowercase, real):
    lines = real_lines() if real else [line for part in range(50) for line in random_lines(10_000, seed=100 + part)]
    assert len(lines) > 200_000
    vocabulary = vocabulary_of(word for line in lines[::40] for word in oracle.words(line, lowercase))
    tokenizer = WordPieceTokenizer(vocabulary, lowercase, max_chars_per_word=200 if real else 12)
    graph = tokenizer.graph()
    for start in range(0, len(lines), 10_000):
        part = lines[start : start + 10_000]
        assert_forms_agree(part, [oracle.words(line, lowercase) for line in part], tokenizer, graph)


TEXT = st.text(st.sampled_from(GLUE + "abcXYZ") | st.characters(exclude_categories=["Cs"]), max_size=30)
SETTINGS = [(True, None, True), (False, None, True), (True, False, True), (False, True, False)]
LETTERS = "abcxyzXYZσςßﬁiαe.,'-中"
FIXED = Vocabulary([*SPECIAL_TOKENS, *LETTERS, *("##" + char for char in LETTERS), "ab", "##bc", "a.b", "##'s"])
TOKENIZERS = [WordPieceTokenizer(FIXED, *choice[:2], 7, choice[2]) for choice in SETTINGS]


@functools.cache
def graph_of(index):
    """Made for the tests that use it: its tables take a second."""
    return TOKENIZERS[index].graph()


@needs_same_unicode
@pytest.mark.parametrize("index", range(len(SETTINGS)))
@settings(max_examples=50, deadline=None)
@given(lines=st.lists(TEXT, max_size=4))
def test_any_text_gives_the_published_tokens_under_every_setting(index, lines):
    lowercase, accents, chinese = SETTINGS[index]
    words = [oracle.words(line, lowercase, accents, chinese) for line in lines]
    assert_forms_agree(lines, words, TOKENIZERS[index], graph_of(index))


# === Offsets ===


@settings(max_examples=150, deadline=None)
@given(TEXT)
def test_offsets_of_a_word_cut_out_that_word_and_every_character_that_counts_belongs_to_a_token(text):
    tokenizer, covered = TOKENIZERS[0], np.zeros(len(text), bool)
    encoding = tokenizer.encode_with_offsets(text)
    for number, word in enumerate(tokenizer.words(text)):
        spans = encoding.offsets[encoding.word_ids == number]
        cut_out = tokenizer.words(text[spans[:, 0].min() : spans[:, 1].max()])
        # A sigma looks beyond the word: both of its forms may stand for it once the rest is cut away.
        assert [found.text.replace("ς", "σ") for found in cut_out] == [word.text.replace("ς", "σ")]
    for start, end in encoding.offsets:
        assert 0 <= start < end <= len(text)
        covered[start:end] = True
    for char, is_covered in zip(text, covered, strict=True):
        assert is_covered or not tokenizer.words(char)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXT, max_size=4))
def test_the_batch_form_gives_the_offsets_of_the_readable_one(texts):
    for tokenizer in TOKENIZERS:
        batch = tokenizer.encode_batch_with_offsets(texts)
        expected = [tokenizer.encode_with_offsets(text) for text in texts]
        assert np.diff(batch.row_splits).tolist() == [len(encoding.ids) for encoding in expected]
        for name in ("offsets", "word_ids"):
            flat = [number for encoding in expected for number in getattr(encoding, name).ravel().tolist()]
            assert getattr(batch, name).ravel().tolist() == flat
