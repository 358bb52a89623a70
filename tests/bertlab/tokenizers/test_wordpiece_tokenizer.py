"""The tokenizer's own behaviour: tokens, offsets, special tokens, packing, decoding, saving."""

import copy
import itertools
import json
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.common.errors import ConfigError, DataError
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer, fast
from bertlab.tokenizers.wordpiece.fast import LongestMatch

LETTERS = [letter for letter in "abcdefghijklmnopqrstuvwxyzABCσςαß中文國한국"]
PIECES = [*SPECIAL_TOKENS, *LETTERS, *("##" + letter for letter in LETTERS), *".,!?'()[]-/@",
          "un", "##aff", "##able", "don", "hello", "world", "cafe", "ᄒ", "##ᅡ", "##ᆫ"]  # fmt: skip
TOKENIZER = WordPieceTokenizer(Vocabulary(PIECES))
CASED = WordPieceTokenizer(Vocabulary(PIECES), lowercase=False)


def spans(text: str, **settings) -> list[tuple[str, str]]:
    """Each token with the characters of the text that it came from."""
    encoding = TOKENIZER.encode_with_offsets(text, **settings)
    return [(piece, text[start:end]) for piece, (start, end) in zip(encoding.pieces, encoding.offsets, strict=True)]


def test_a_word_is_cut_into_the_longest_tokens():
    assert TOKENIZER.tokenize("Unaffable!") == ["un", "##aff", "##able", "!"]
    assert TOKENIZER.encode("Unaffable!") == [PIECES.index(piece) for piece in ("un", "##aff", "##able", "!")]


def test_a_word_with_an_unknown_part_is_unknown_as_a_whole():
    assert TOKENIZER.tokenize("unaffable€ un€") == ["[UNK]", "[UNK]"]


def test_the_length_limit_counts_characters_and_is_a_setting():
    limited = WordPieceTokenizer(TOKENIZER.vocabulary, max_chars_per_word=3)
    assert limited.tokenize("ßßß ßßßß é\u0301éé abc.abcd") == [
        "ß", "##ß", "##ß", "[UNK]", "e", "##e", "##e", "a", "##b", "##c", ".", "[UNK]",
    ]  # fmt: skip
    assert TOKENIZER.tokenize("a" * 200) == ["a"] + ["##a"] * 199
    assert TOKENIZER.tokenize("a" * 201) == ["[UNK]"]
    with pytest.raises(ConfigError, match="max_chars_per_word must be at least 1, not 0"):
        WordPieceTokenizer(TOKENIZER.vocabulary, max_chars_per_word=0)


def test_uncased_text_loses_case_and_accents_and_cased_text_keeps_them():
    assert TOKENIZER.tokenize("CAFÉ") == ["cafe"]
    assert CASED.tokenize("CAb") == ["C", "##A", "##b"]
    assert CASED.tokenize("café") == ["[UNK]"]


def test_strip_accents_can_be_set_apart_from_lowercase():
    assert WordPieceTokenizer(TOKENIZER.vocabulary, lowercase=False, strip_accents=True).tokenize("Á") == ["A"]
    assert WordPieceTokenizer(TOKENIZER.vocabulary, lowercase=True, strip_accents=False).tokenize("Á") == ["[UNK]"]


def test_chinese_characters_are_words_unless_asked_otherwise():
    assert TOKENIZER.tokenize("中文a") == ["中", "文", "a"]
    joined = WordPieceTokenizer(TOKENIZER.vocabulary, split_cjk=False)
    assert joined.tokenize("中文a") == ["中", "##文", "##a"]
    assert joined.encode_batch(["中文a"]).values.tolist() == joined.encode("中文a")


def test_the_last_sigma_of_a_word_is_a_final_one():
    assert TOKENIZER.tokenize("ΑΣ ΑΣΑ Σ ΑΣ.Α ΑΣ.") == [
        "α", "##ς", "α", "##σ", "##α", "σ", "α", "##σ", ".", "α", "α", "##ς", ".",
    ]  # fmt: skip


# === Offsets ===


def test_offsets_point_into_the_original_text():
    assert spans(" Hello,\tWORLD ") == [("hello", "Hello"), (",", ","), ("world", "WORLD")]


def test_offsets_survive_removed_and_decomposed_characters():
    assert spans("un\u200daffable") == [("un", "un"), ("##aff", "aff"), ("##able", "able")]
    assert spans("u\u0301n caf\u00e9") == [("un", "u\u0301n"), ("cafe", "café")]
    assert spans("cafe\u0301!") == [("cafe", "cafe"), ("!", "!")]  # the accent was thrown away
    assert spans("一한") == [("[UNK]", "一"), ("ᄒ", "한"), ("##ᅡ", "한"), ("##ᆫ", "한")]


def test_an_unknown_word_spans_its_characters():
    assert spans("a €\u0301b€ a") == [("a", "a"), ("[UNK]", "€\u0301b€"), ("a", "a")]


def test_word_numbers_count_words_and_punctuation():
    assert TOKENIZER.encode_with_offsets("Unaffable, don't").word_ids.tolist() == [0, 0, 0, 1, 2, 3, 4]


def test_an_empty_text_has_empty_arrays_of_the_right_shape():
    encoding = TOKENIZER.encode_with_offsets(" \u200d")
    assert encoding.ids.shape == (0,) and encoding.offsets.shape == (0, 2) and encoding.word_ids.shape == (0,)
    assert TOKENIZER.encode_batch([]).row_splits.tolist() == [0]
    assert TOKENIZER.encode_batch(["", "a", ""]).row_splits.tolist() == [0, 0, 1, 1]
    assert TOKENIZER.encode_batch_with_offsets(["", "a", ""]).offsets.tolist() == [[0, 1]]


# === Special tokens ===


def test_special_tokens_in_a_text_are_text_by_default():
    assert TOKENIZER.tokenize("a [MASK].") == ["a", "[", "m", "##a", "##s", "##k", "]", "."]
    assert TOKENIZER.tokenize("a [MASK].", special_tokens=True) == ["a", "[MASK]", "."]
    assert TOKENIZER.tokenize("[mask][[SEP]]x[CLS]", special_tokens=True)[-5:] == ["[", "[SEP]", "]", "x", "[CLS]"]
    assert spans("á[MASK]b", special_tokens=True) == [("a", "á"), ("[MASK]", "[MASK]"), ("b", "b")]


@given(st.lists(st.sampled_from([*SPECIAL_TOKENS, "[", "]", "MASK", "a", " ", "é", "中", "\u200d"])).map("".join))
def test_the_batch_form_treats_special_tokens_like_the_readable_one(text):
    for special_tokens in (False, True):
        expected = TOKENIZER.encode_with_offsets(text, special_tokens)
        batch = TOKENIZER.encode_batch_with_offsets([text], special_tokens)
        assert TOKENIZER.encode_batch([text], special_tokens).values.tolist() == expected.ids.tolist()
        assert batch.values.tolist() == expected.ids.tolist()
        assert batch.offsets.tolist() == expected.offsets.tolist()
        assert batch.word_ids.tolist() == expected.word_ids.tolist()


# === Packing ===


def test_a_pair_is_packed_between_special_tokens():
    cls, sep = TOKENIZER.vocabulary.cls_id, TOKENIZER.vocabulary.sep_id
    packed = TOKENIZER.pack([10, 11], [12])
    assert packed["input_ids"].tolist() == [cls, 10, 11, sep, 12, sep]
    assert packed["token_type_ids"].tolist() == [0, 0, 0, 0, 1, 1]
    assert packed["attention_mask"].tolist() == [1] * 6
    assert TOKENIZER.pack([10])["input_ids"].tolist() == [cls, 10, sep]
    assert all(array.dtype == np.int32 for array in packed.values())


@given(st.integers(0, 12), st.none() | st.integers(0, 12), st.integers(3, 20))
def test_the_longer_text_is_cut_first_and_a_tie_cuts_the_second(length_a, length_b, max_length):
    a, b = list(range(10, 10 + length_a)), None if length_b is None else list(range(30, 30 + length_b))
    packed = TOKENIZER.pack(a, b, max_length)
    while len(a) + len(b or []) + (2 if b is None else 3) > max_length:
        (a if b is None or len(a) > len(b) else b).pop()
    cls, sep = TOKENIZER.vocabulary.cls_id, TOKENIZER.vocabulary.sep_id
    assert packed["input_ids"].tolist() == [cls, *a, sep, *([] if b is None else [*b, sep])]


def test_a_batch_is_padded_to_max_length_or_to_its_longest_row():
    texts, texts_b = ["hello", "a b c d"], ["x", "y z"]
    packed = TOKENIZER.encode_packed(texts, texts_b)
    assert packed["input_ids"].shape == (2, 9)
    assert packed["attention_mask"].tolist() == [[1] * 5 + [0] * 4, [1] * 9]
    assert packed["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 0, 0, 0, 0], [0] * 6 + [1] * 3]
    for row, (a, b) in enumerate(zip(texts, texts_b, strict=True)):
        alone = TOKENIZER.pack(TOKENIZER.encode(a), TOKENIZER.encode(b), 7)
        together = TOKENIZER.encode_packed(texts, texts_b, max_length=7)
        for name, array in alone.items():
            assert together[name][row].tolist() == array.tolist() + [0] * (7 - len(array))
    assert TOKENIZER.encode_packed([], max_length=4)["input_ids"].shape == (0, 4)


def test_packing_refuses_what_it_cannot_do():
    with pytest.raises(ConfigError, match="max_length must be at least 3, for the special tokens, not 2"):
        TOKENIZER.encode_packed(["a"], ["b"], max_length=2)
    with pytest.raises(DataError, match="2 first and 1 second texts"):
        TOKENIZER.encode_packed(["a", "b"], ["c"])


# === Back to text ===


def test_decoding_gives_readable_text():
    text = "hello, unaffable world (don't)! 中文 a."
    ids = TOKENIZER.encode(text)
    assert TOKENIZER.decode(ids) == text
    vocabulary = TOKENIZER.vocabulary
    assert TOKENIZER.decode([vocabulary.cls_id, *ids, vocabulary.sep_id, vocabulary.pad_id]) == text
    assert TOKENIZER.decode(np.array([vocabulary.cls_id, vocabulary.unk_id])) == "[UNK]"
    assert TOKENIZER.decode([vocabulary.cls_id, ids[0]], skip_special_tokens=False) == "[CLS] hello"


@pytest.mark.parametrize("number", [-1, len(PIECES)])
def test_decoding_refuses_an_id_outside_the_vocabulary(number):
    with pytest.raises(DataError, match=f"id {number} is outside the vocabulary"):
        TOKENIZER.decode([number])


# === Folders and processes ===


def test_a_saved_tokenizer_is_read_back_with_its_settings(tmp_path):
    saved = WordPieceTokenizer(TOKENIZER.vocabulary, False, True, 50, False)
    saved.save(tmp_path / "model")
    loaded = WordPieceTokenizer.load(tmp_path / "model")
    assert loaded.vocabulary == saved.vocabulary
    for name in ("lowercase", "strip_accents", "max_chars_per_word", "split_cjk"):
        assert getattr(loaded, name) == getattr(saved, name)


def test_hugging_face_names_are_read_and_defaults_hold_for_the_rest(tmp_path):
    TOKENIZER.vocabulary.save(tmp_path / "vocab.txt")
    assert WordPieceTokenizer.load(tmp_path).lowercase
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false, "model_max_length": 512}')
    loaded = WordPieceTokenizer.load(tmp_path)
    assert (loaded.lowercase, loaded.strip_accents, loaded.split_cjk) == (False, None, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "expected a JSON object"),
        ('{"do_lower_case": "false"}', "do_lower_case must be true or false, not 'false'"),
        ('{"max_input_chars_per_word": true}', "max_input_chars_per_word must be a whole number, not True"),
    ],
)
def test_a_damaged_configuration_is_named(tmp_path, content, message):
    TOKENIZER.vocabulary.save(tmp_path / "vocab.txt")
    (tmp_path / "tokenizer_config.json").write_text(content)
    with pytest.raises(ConfigError, match=message):
        WordPieceTokenizer.load(tmp_path)


def test_the_saved_configuration_has_hugging_face_names(tmp_path):
    CASED.save(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert config["do_lower_case"] is False and config["strip_accents"] is None
    assert config["tokenize_chinese_chars"] is True and config["tokenizer_class"] == "BertTokenizer"


def test_a_worker_process_gets_the_same_tokenizer():
    again = copy.copy(CASED)  # by `__reduce__`, as multiprocessing does with arguments
    assert not again.lowercase and again.encode("CAb") == CASED.encode("CAb")


def test_importing_the_tokenizer_does_not_load_tensorflow():
    code = "import sys, bertlab.tokenizers.wordpiece; sys.exit('tensorflow' in sys.modules or 'keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# === The table of the batch form ===


def test_the_batch_form_forgets_chunks_and_stays_right(monkeypatch):
    monkeypatch.setattr(fast, "TABLE_CHUNKS", 10)
    monkeypatch.setattr(fast, "MAX_CHUNK_LENGTH", 4)
    tokenizer = WordPieceTokenizer(TOKENIZER.vocabulary)
    texts = [f"hello {'abc'[n % 3] * n} don't é{n}é x" for n in range(60)]
    assert tokenizer.encode_batch(texts).to_list() == [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_batch_with_offsets(texts).offsets.tolist() == [
        list(span) for text in texts for span in tokenizer.encode_with_offsets(text).offsets
    ]
    assert len(tokenizer._batch._ids) <= 10


def test_a_failure_in_the_middle_of_a_batch_leaves_nothing_behind():
    tokenizer = WordPieceTokenizer(TOKENIZER.vocabulary)
    with pytest.raises(TypeError):
        tokenizer.encode_batch(["hello world", None])
    assert tokenizer.encode_batch(["hello é world"]).values.tolist() == tokenizer.encode("hello é world")


def test_words_that_were_never_seen_are_the_same_in_a_batch_and_one_by_one():
    """Every character after and before letters, so that a form that depends on its neighbours would show."""
    pieces = "a ##a ab ##ab abcd ##abcd ##cd é ##é e ##e 中 ό ##ς ##σ σ # .".split()
    vocabulary = Vocabulary([*SPECIAL_TOKENS, *pieces])
    rng = random.Random(0)
    texts = ["".join(rng.choice("abcdeé中όΣσ.#\u0301\u302e\u00ad\u2028 ") for _ in range(12)) for _ in range(3000)]
    texts += [f"a{chr(code)}b ab{chr(code)}" for code in range(0x20, 0x3100)]
    for options in ({}, {"lowercase": False}, {"strip_accents": False}, {"split_cjk": False}):
        tokenizer = WordPieceTokenizer(vocabulary, **options)
        expected = [tokenizer.encode(text) for text in texts]
        assert tokenizer.encode_batch(texts).to_list() == expected
        fresh = WordPieceTokenizer(vocabulary, **options)
        assert [fresh.encode_batch([text]).to_list()[0] for text in texts[:500]] == expected[:500]  # few at a time


def test_a_chinese_text_with_its_own_marks_is_the_same_as_in_the_readable_form():
    marks = "、。，：；？！"
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *"中國鿿", *marks, "##中"]))
    whole = WordPieceTokenizer(tokenizer.vocabulary, split_cjk=False)
    for text in (f"中國 {marks}中龥", " 中  中 ", "中\u3000國", "中鿿a", "中\ufffd國", "", " "):
        for one in (tokenizer, whole):
            assert one.encode_batch([text]).values.tolist() == one.encode(text)


def test_a_korean_text_is_the_same_as_in_the_readable_form():
    """Syllables become letters; digits, Latin letters and marks are around and between them."""
    letters = "\u1112 \u1161 \u11ab \u1100 \u1173 \u11af \u110b \u1175 한 글 이 a b 2 . , ( -".split()
    pieces = [*letters, *(f"##{letter}" for letter in letters), "##\u11ab\u1100\u1173", "\u1112\u1161\u11ab", "한글"]
    vocabulary, rng = Vocabulary([*SPECIAL_TOKENS, *dict.fromkeys(pieces)]), random.Random(4)
    texts = ["한" + "".join(rng.choices("한글이힣가 aB2.,(-", k=rng.randint(0, 25))) for _ in range(500)]
    texts += [
        f"{text}{other}{text}" for text in texts[:100] for other in ("\u11a8", "ᄒ", "\t", "é", "中", "\u1100\u1161")
    ]
    for options in ({}, {"lowercase": False}, {"lowercase": False, "strip_accents": True}, {"split_cjk": False}):
        tokenizer = WordPieceTokenizer(vocabulary, **options)
        assert tokenizer.encode_batch(texts).to_list() == [tokenizer.encode(text) for text in texts]


def test_a_capital_sigma_between_any_signs_is_the_same_as_in_the_readable_form():
    """ς at the end of a word, σ elsewhere: signs that are ignored, dropped or not cased are around it."""
    vocabulary = Vocabulary([*SPECIAL_TOKENS, *"α σ ς ά ' .".split(), *"##α ##σ ##ς ##ά".split()])
    tokenizer = WordPieceTokenizer(vocabulary)
    for signs in itertools.product("ΣΑάς '.\u0301\u00ad\n中", repeat=4):
        text = "".join(signs).replace("ς", "Σ")
        assert tokenizer.encode_batch([text]).to_list() == [tokenizer.encode(text)], text


@pytest.mark.parametrize("most_chars", [200, 6])
def test_words_are_cut_into_the_tokens_of_the_readable_form(most_chars):
    """Tokens within tokens, so that what is complete is known late; words that have no tokens at their end only."""
    pieces = "a abc abcabca ac b ##a ##abcc ##b ##bca ##bcabcab ##cabcb ##ca 中 ##中 abcabcabcabcabcabc".split()
    vocabulary = Vocabulary([*SPECIAL_TOKENS, *pieces])
    words = ["".join(letters) for size in range(1, 8) for letters in itertools.product("abc", repeat=size)]
    words += ["abc" * 6, "abc" * 5, "abcx", "a" * 12, "abc中abc", "中", "ab中"]
    tokenizer = WordPieceTokenizer(vocabulary, max_chars_per_word=most_chars)
    assert tokenizer.encode_batch(words).to_list() == [tokenizer.encode(word) for word in words]


def test_a_short_text_of_any_characters_is_the_same_as_in_the_readable_form():
    """A text with other than ASCII characters is normalized whole: spaces, Σ and what is dropped are in it."""
    pieces = "a ##a α ##α ό ##ς ##σ σ ##ο 中 鿿 이 \u1112 ##\u1161 ##\u11ab é e ##e ' .".split()
    vocabulary = Vocabulary([*SPECIAL_TOKENS, *pieces])
    rng = random.Random(2)
    signs = "aαΑΣΣσόο'’.\u0301\u0345\u00ad\u200b\u2028\x1c\x0b\t\n \u00a0\u3000İ中鿿鿿한é\ufffd\x00🙂"
    texts = ["".join(rng.choices(signs, k=rng.randint(0, 25))) for _ in range(1500)]
    texts += [f"a{text}[MASK] {text}" for text in texts[:100]]
    for options in ({}, {"lowercase": False}, {"lowercase": False, "strip_accents": True}, {"split_cjk": False}):
        tokenizer = WordPieceTokenizer(vocabulary, **options)
        for text in texts:
            assert tokenizer.encode_batch([text]).to_list() == [tokenizer.encode(text)]
            assert tokenizer.encode_batch([text], special_tokens=True).to_list() == [tokenizer.encode(text, True)]


@pytest.mark.parametrize("special_tokens", [False, True])
@pytest.mark.parametrize("options", [{}, {"lowercase": False}, {"strip_accents": False}, {"split_cjk": False}])
def test_long_words_and_texts_met_again_are_the_same_as_in_the_readable_form(options, special_tokens):
    """Short words, long ones, too long ones, Σ everywhere, marks out of order, special tokens."""
    rng = random.Random(1)
    texts = ["".join(rng.choice("abhelo ΑΣσ'.\u0301\u302e\u00ad中한€") for _ in range(20)) for _ in range(100)]
    texts += [
        "hello" * 30 + " " + "hello" * 50,
        "a[MASK]b [SEP]",
        "ΑΣ ΣΑ Σ Α\u0301Σ\u00ad. 'Σ' Α'Σ'Α",
        "a\x0bb\x1fa",
        "",
    ]
    tokenizer = WordPieceTokenizer(TOKENIZER.vocabulary, **options)
    expected = [tokenizer.encode(text, special_tokens) for text in texts]
    assert tokenizer.encode_batch(texts, special_tokens).to_list() == expected
    assert tokenizer.encode_batch(texts, special_tokens).to_list() == expected  # from the table


@pytest.mark.parametrize("as_an_iterable", [list, tuple, iter])
def test_calls_of_any_length_are_the_same_on_a_new_tokenizer_and_later(as_an_iterable):
    tokenizer, rng = WordPieceTokenizer(TOKENIZER.vocabulary), random.Random(3)
    for lines in (0, 1, 2, 3, 10, 1, 30, 0, 3, 10, 1):
        texts = ["".join(rng.choices("abhelo ΑΣé\t中.\u302e", k=rng.randint(0, 40))) for _ in range(lines)]
        encoded = tokenizer.encode_batch(as_an_iterable(texts))
        assert encoded.to_list() == [tokenizer.encode(text) for text in texts]
        assert encoded.values.dtype == np.int32 and encoded.row_splits.dtype == np.int64
        assert encoded.values.flags.writeable


def test_an_interrupt_leaves_nothing_behind(monkeypatch):
    tokenizer = WordPieceTokenizer(TOKENIZER.vocabulary)
    texts = [f"hello {'ab' * (n % 9)}{n}" for n in range(100)]
    with monkeypatch.context() as patched:
        patched.setattr(LongestMatch, "__call__", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tokenizer.encode_batch(texts)
    assert tokenizer.encode_batch(texts).to_list() == [tokenizer.encode(text) for text in texts]
