"""The vocabulary learner against a naive one written here, which counts everything again for every merge."""

import string
import unicodedata
from collections import Counter
from fractions import Fraction
from pydoc_data.topics import topics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.common.errors import ConfigError, DataError
from bertlab.tokenizers.wordpiece.learner import (
    SPECIAL_TOKENS,
    count_words,
    learn_from_counts,
    learn_pieces,
    learn_vocabulary,
)

ENGLISH = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
    "it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of "
    "Darkness, it was the spring of hope, it was the winter of despair"
)
KOREAN = (
    "나랏말싸미 중국에 달라 문자와로 서로 사맛디 아니할세 이런 전차로 어린 백성이 니르고저 할빼 이셔도 "
    "마참내 제 뜨들 시러펴디 못할 노미 하니라 내 이를 위하야 어엿비 너겨 새로 스물여덟 자를 맹가노니"
)


# --- the naive learner ---


def naive_merges(words: dict[str, int], score: str, min_frequency: int | None, at_most: int = 10**9) -> list:
    """The merges, pairs of tokens, in order. By the definition, in exact fractions, with every count made again."""
    spelled = [([word[0]] + ["##" + c for c in word[1:]], count) for word, count in words.items()]
    highest = max(naive_pairs(spelled).values(), default=0)
    threshold = max(highest, 2) if min_frequency is None else min_frequency
    merges = []
    while len(merges) < at_most:
        pairs = naive_pairs(spelled)
        symbols = Counter()
        for pieces, count in spelled:
            for piece in pieces:
                symbols[piece] += count
        chosen, best = None, None
        for (left, right), count in pairs.items():
            value = Fraction(count, symbols[left] * symbols[right]) if score == "wordpiece" else Fraction(count)
            better = best is None or (value, count) > best or ((value, count) == best and (left, right) < chosen)
            if count >= threshold and better:
                chosen, best = (left, right), (value, count)
        if chosen is not None:
            merges.append(chosen)
            spelled = [(naive_merge(pieces, chosen), count) for pieces, count in spelled]
        elif min_frequency is None and threshold > 2:
            threshold = max(threshold // 2, 2)
        else:
            break
    return merges


def naive_pairs(spelled) -> Counter:
    pairs = Counter()
    for pieces, count in spelled:
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += count
    return pairs


def naive_merge(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    merged, position = [], 0
    while position < len(pieces):
        if tuple(pieces[position : position + 2]) == pair:
            merged.append(pair[0] + pair[1][2:])
            position += 2
        else:
            merged.append(pieces[position])
            position += 1
    return merged


# --- the same merges ---

few_letters = st.text("ab", min_size=1, max_size=12)  # many repeated and overlapping pairs
latin = st.text(string.ascii_lowercase[:8], min_size=1, max_size=8)
hangul = st.text("가나다라하한글말ᄒ", min_size=1, max_size=6)
corpora = st.one_of(
    *(st.dictionaries(words, st.integers(1, 30), max_size=25) for words in (few_letters, latin, hangul))
)


@settings(max_examples=300, deadline=None)
@given(corpora, st.sampled_from(["wordpiece", "frequency"]), st.sampled_from([None, 1, 2, 5]))
def test_every_merge_is_the_one_that_counting_everything_again_would_choose(words, score, min_frequency):
    learned = learn_pieces(words, 10_000, score=score, min_frequency=min_frequency, progress=False)
    assert list(learned.merges) == naive_merges(words, score, min_frequency)


@pytest.mark.parametrize("score", ["wordpiece", "frequency"])
@pytest.mark.parametrize("text", [ENGLISH, KOREAN, unicodedata.normalize("NFD", KOREAN)])
def test_real_sentences_give_the_naive_learners_merges(text, score):
    words = Counter(text.lower().replace(",", " ,").split())
    learned = learn_pieces(words, 10_000, score=score, min_frequency=1, progress=False)
    expected = naive_merges(words, score, min_frequency=1)
    assert len(expected) > 50
    assert list(learned.merges) == expected


def test_a_merge_raises_the_score_of_a_pair_it_did_not_touch():
    """x ##b scores 1 / (4 · 5) at first; when four of the five ##b have become ab, 1 / (4 · 1), more than c ##d."""
    words = {"ab": 4, "xb": 1, "x": 3, "cd": 1, "c": 9}
    learned = learn_pieces(words, 1000, min_frequency=1, progress=False)
    assert learned.merges == (("a", "##b"), ("x", "##b"), ("c", "##d"))


def test_overlapping_occurrences_merge_from_left_to_right():
    learned = learn_pieces({"aaaaaa": 3}, 1000, score="frequency", progress=False)
    assert learned.merges[0] == ("##a", "##a")  # a ##aa ##aa ##a
    assert learned.merges[1] == ("##aa", "##a")  # of "##aa ##aa", "##aa ##a" and "a ##aa" the first by code point
    assert list(learned.merges) == naive_merges({"aaaaaa": 3}, "frequency", None)


def test_two_routes_to_one_text_are_one_token():
    """ "abc" comes from ab + ##c in one word and from a + ##bc in another; the vocabulary holds it once."""
    words = {"abc": 50, "ab": 100, "bcd": 3, "zbcd": 9, "zbc": 9}
    learned = learn_pieces(words, 1000, score="frequency", min_frequency=1, progress=False)
    assert len(set(learned.pieces)) == len(learned.pieces)
    assert list(learned.merges) == naive_merges(words, "frequency", 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("score, min_frequency", [("wordpiece", None), ("wordpiece", 20), ("frequency", None)])
def test_hundreds_of_merges_on_real_prose_are_the_naive_ones(score, min_frequency):
    """The text of Python's own help pages, first 100,000 characters: about 2,500 distinct words."""
    prose = "".join(topics[name] for name in sorted(topics))[:100_000]
    words = count_words([prose], progress=False)
    expected = naive_merges(words, score, min_frequency, at_most=400)
    learned = learn_pieces(words, 10_000, score=score, min_frequency=min_frequency, progress=False)
    assert len(expected) == 400
    assert list(learned.merges[:400]) == expected


# --- the vocabulary ---


def test_tokens_are_in_the_order_special_reserved_alphabet_merges():
    vocabulary = learn_from_counts({"hug": 10, "pug": 5, ".": 3}, 18, score="frequency", reserved=2, progress=False)
    letters = (".", "g", "h", "p", "u", "##g", "##h", "##p", "##u")
    assert vocabulary.pieces == (*SPECIAL_TOKENS, "[unused0]", "[unused1]", *letters, "##ug", "hug")


def test_a_smaller_vocabulary_is_a_prefix_of_a_larger_one():
    words = Counter(ENGLISH.lower().split())
    large = learn_pieces(words, 120, progress=False)
    for size in (large.smallest, 80, 119):
        assert large.vocabulary(size) == learn_from_counts(words, size, progress=False)


@pytest.mark.parametrize(
    ("words", "last"),
    [({"the": 9}, ("##he", "the")), ({"ab": 2, "cd": 1}, ("##d", "ab")), ({}, SPECIAL_TOKENS)],
    ids=["intermediate tokens stay", "a pair that is seen once is not merged", "no words"],
)
def test_a_small_corpus_gives_fewer_tokens_than_asked_for(words, last):
    vocabulary = learn_from_counts(words, 1000, score="frequency", progress=False)
    assert vocabulary.pieces[-len(last) :] == last


def test_words_with_a_dropped_character_take_no_part():
    learned = learn_pieces({"aa": 9, "bb": 8, "abz": 1}, 1000, alphabet_limit=2, min_frequency=1, progress=False)
    assert learned.alphabet == ("a", "b", "##a", "##b")
    assert learned.merges == (("b", "##b"), ("a", "##a"))  # 1/8 > 1/9, and no merge of a with ##b


@pytest.mark.parametrize(
    ("words", "settings", "alphabet"),
    [
        ({"c": 1, "b": 1, "a": 1}, dict(alphabet_limit=2), ("a", "b")),  # of equally frequent ones the lower code point
        ({"ab": 9, "ccc": 9}, dict(max_chars_per_word=2), ("a", "b", "##a", "##b")),
    ],
)
def test_characters_and_words_beyond_the_limits_take_no_part(words, settings, alphabet):
    assert learn_pieces(words, 100, progress=False, **settings).alphabet == alphabet


def test_the_order_of_the_words_does_not_matter():
    words = Counter(ENGLISH.lower().split())
    backwards = dict(reversed(list(words.items())))
    assert learn_pieces(words, 150, progress=False) == learn_pieces(backwards, 150, progress=False)


def test_counts_beyond_32_bits_are_exact():
    words = {"ab": 2**40 + 1, "cd": 2**40, "ef": 2**40 + 2}
    learned = learn_pieces(words, 100, score="frequency", progress=False)
    assert learned.merges == (("e", "##f"), ("a", "##b"), ("c", "##d"))


def test_learning_from_text_splits_words_as_the_tokenizer_does():
    vocabulary = learn_vocabulary(["Héllo, hello!", "HELLO 東京"], 1000, score="frequency", progress=False)
    assert {"hello", ",", "!", "東", "京"} <= set(vocabulary.pieces)
    assert "##東" not in vocabulary


# --- settings ---


@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(size=10), "size must be at least 13 .the special tokens and the alphabet., not 10"),
        (dict(score="bpe"), "unknown score 'bpe'; choose one of wordpiece, frequency"),
        (dict(min_frequency=0), "min_frequency must be at least 1"),
        (dict(alphabet_limit=0), "alphabet_limit must be at least 1"),
        (dict(reserved=-1), "reserved must be at least 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(wrong, message):
    with pytest.raises(ConfigError, match=message):
        learn_pieces({"hugs": 3}, **(dict(size=100, progress=False) | wrong))


def test_a_word_that_could_be_taken_for_the_middle_of_one_is_refused():
    with pytest.raises(DataError, match="word '##a': expected words without #: the basic tokenizer splits at #"):
        learn_pieces({"a": 3, "##a": 3}, 100, progress=False)
    assert "#" in learn_from_counts({"a": 3, "#": 3}, 100, progress=False)
