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


@pytest.mark.parametrize(
    ("options", "text", "pieces"),
    [
        ({}, "Unaffable!", "un ##aff ##able !"),  # the longest tokens
        ({}, "unaffable€ un€", "[UNK] [UNK]"),  # one unknown part makes the word unknown
        ({"max_chars_per_word": 3}, "ßßß ßßßß é\u0301éé abc.abcd", "ß ##ß ##ß [UNK] e ##e ##e a ##b ##c . [UNK]"),
        ({}, "a" * 200, "a" + " ##a" * 199),
        ({}, "a" * 201, "[UNK]"),
        ({}, "CAFÉ", "cafe"),
        ({"lowercase": False}, "CAb café", "C ##A ##b [UNK]"),
        ({"lowercase": False, "strip_accents": True}, "Á", "A"),
        ({"lowercase": True, "strip_accents": False}, "Á", "[UNK]"),
        ({}, "中文a", "中 文 a"),
        ({"split_cjk": False}, "中文a", "中 ##文 ##a"),
        ({}, "ΑΣ ΑΣΑ Σ ΑΣ.Α ΑΣ.", "α ##ς α ##σ ##α σ α ##σ . α α ##ς ."),  # the last sigma of a word
    ],
)
def test_a_text_is_cut_into_tokens(options, text, pieces):
    tokenizer = WordPieceTokenizer(TOKENIZER.vocabulary, **options)
    assert tokenizer.tokenize(text) == pieces.split()
    ids = [PIECES.index(piece) for piece in pieces.split()]
    assert tokenizer.encode(text) == tokenizer.encode_batch([text]).values.tolist() == ids


def test_a_length_limit_below_one_is_refused():
    with pytest.raises(ConfigError, match="max_chars_per_word must be at least 1, not 0"):
        WordPieceTokenizer(TOKENIZER.vocabulary, max_chars_per_word=0)


# === Offsets ===


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" Hello,\tWORLD ", [("hello", "Hello"), (",", ","), ("world", "WORLD")]),
        ("un\u200daffable", [("un", "un"), ("##aff", "aff"), ("##able", "able")]),  # removed characters
        ("u\u0301n caf\u00e9", [("un", "u\u0301n"), ("cafe", "café")]),
        ("cafe\u0301!", [("cafe", "cafe"), ("!", "!")]),  # the accent was thrown away
        ("一한", [("[UNK]", "一"), ("ᄒ", "한"), ("##ᅡ", "한"), ("##ᆫ", "한")]),
        ("a €\u0301b€ a", [("a", "a"), ("[UNK]", "€\u0301b€"), ("a", "a")]),
    ],
)
def test_offsets_point_into_the_original_text(text, expected):
    assert spans(text) == expected


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


# === The batch form gives the tokens of the readable one ===


def assert_same(tokenizer: WordPieceTokenizer, texts: list[str], special_tokens: bool = False) -> None:
    expected = [tokenizer.encode(text, special_tokens) for text in texts]
    assert tokenizer.encode_batch(texts, special_tokens).to_list() == expected


def drawn(seed: int, signs: str, count: int, longest: int = 25) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(signs, k=rng.randint(0, longest))) for _ in range(count)]


HANGUL = "\u1112 \u1161 \u11ab \u1100 \u1173 \u11af \u110b \u1175 한 글 이 a b 2 . , ( -".split()
KOREAN = ["한" + text for text in drawn(4, "한글이힣가 aB2.,(-", 500)]
STRANGE = "aαΑΣΣσόο'’.\u0301\u0345\u00ad\u200b\u2028\x1c\x0b\t\n \u00a0\u3000İ中鿿鿿한é\ufffd\x00🙂"
TEXTS = {  # what is around what → tokens, texts
    "every character after and before letters": (
        "a ##a ab ##ab abcd ##abcd ##cd é ##é e ##e 中 ό ##ς ##σ σ # .".split(),
        [*drawn(0, "abcdeé中όΣσ.#\u0301\u302e\u00ad\u2028 ", 3000, 12),
         *(f"a{chr(code)}b ab{chr(code)}" for code in range(0x20, 0x3100))],
    ),
    "Chinese marks": (
        [*"中國鿿、。，：；？！", "##中"],
        ["中國 、。，：；？！中龥", " 中  中 ", "中\u3000國", "中鿿a", "中\ufffd國", "", " "],
    ),
    "Korean syllables, which become letters": (
        [*HANGUL, *(f"##{letter}" for letter in HANGUL), "##\u11ab\u1100\u1173", "\u1112\u1161\u11ab", "한글"],
        [*KOREAN, *(f"{text}{other}{text}" for text in KOREAN[:100]
                    for other in ("\u11a8", "ᄒ", "\t", "é", "中", "\u1100\u1161"))],
    ),
    "Σ between signs that are ignored, dropped or not cased": (
        "α σ ς ά ' . ##α ##σ ##ς ##ά".split(),
        ["".join(signs).replace("ς", "Σ") for signs in itertools.product("ΣΑάς '.\u0301\u00ad\n中", repeat=4)],
    ),
    "tokens within tokens, so that what is complete is known late": (
        "a abc abcabca ac b ##a ##abcc ##b ##bca ##bcabcab ##cabcb ##ca 中 ##中 abcabcabcabcabcabc".split(),
        ["".join(letters) for size in range(1, 8) for letters in itertools.product("abc", repeat=size)]
        + ["abc" * 6, "abc" * 5, "abcx", "a" * 12, "abc中abc", "中", "ab中"],
    ),
    "spaces, Σ and what is dropped": (
        "a ##a α ##α ό ##ς ##σ σ ##ο 中 鿿 이 \u1112 ##\u1161 ##\u11ab é e ##e ' .".split(),
        [*drawn(2, STRANGE, 1500), *(f"a{text}[MASK] {text}" for text in drawn(5, STRANGE, 100))],
    ),
    "long and too long words, marks out of order, special tokens": (
        PIECES[len(SPECIAL_TOKENS) :],
        [*drawn(1, "abhelo ΑΣσ'.\u0301\u302e\u00ad中한€", 100, 40), "hello" * 30 + " " + "hello" * 50,
         "a[MASK]b [SEP]", "ΑΣ ΣΑ Σ Α\u0301Σ\u00ad. 'Σ' Α'Σ'Α", "a\x0bb\x1fa", ""],
    ),
}  # fmt: skip
UNCASED_OR_NOT = [{}, {"lowercase": False}, {"lowercase": False, "strip_accents": True}, {"strip_accents": False},
                  {"split_cjk": False}, {"max_chars_per_word": 6}]  # fmt: skip


@pytest.mark.parametrize("options", UNCASED_OR_NOT)
@pytest.mark.parametrize("name", TEXTS)
def test_any_text_is_the_same_in_a_batch_again_and_alone(name, options):
    pieces, texts = TEXTS[name]
    vocabulary = Vocabulary([*SPECIAL_TOKENS, *dict.fromkeys(pieces)])
    tokenizer = WordPieceTokenizer(vocabulary, **options)
    assert_same(tokenizer, texts)
    assert_same(tokenizer, texts[::7])  # from the table
    assert_same(tokenizer, texts[-200:], special_tokens=True)
    fresh = WordPieceTokenizer(vocabulary, **options)
    for text in texts[:500]:
        assert_same(fresh, [text])


def test_the_batch_form_forgets_chunks_and_stays_right(monkeypatch):
    monkeypatch.setattr(fast, "TABLE_CHUNKS", 10)
    monkeypatch.setattr(fast, "MAX_CHUNK_LENGTH", 4)
    tokenizer = WordPieceTokenizer(TOKENIZER.vocabulary)
    texts = [f"hello {'abc'[n % 3] * n} don't é{n}é x" for n in range(60)]
    assert_same(tokenizer, texts)
    assert tokenizer.encode_batch_with_offsets(texts).offsets.tolist() == [
        list(span) for text in texts for span in tokenizer.encode_with_offsets(text).offsets
    ]
    assert len(tokenizer._batch._ids) <= 10


def test_a_failure_or_an_interrupt_in_the_middle_of_a_batch_leaves_nothing_behind(monkeypatch):
    tokenizer = WordPieceTokenizer(TOKENIZER.vocabulary)
    texts = ["hello é world", *(f"hello {'ab' * (n % 9)}{n}" for n in range(100))]
    with pytest.raises(TypeError):
        tokenizer.encode_batch(["hello world", None])
    with monkeypatch.context() as patched:
        patched.setattr(LongestMatch, "__call__", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tokenizer.encode_batch(texts)
    assert_same(tokenizer, texts)


@pytest.mark.parametrize("as_an_iterable", [list, tuple, iter])
def test_calls_of_any_length_are_the_same_on_a_new_tokenizer_and_later(as_an_iterable):
    tokenizer = WordPieceTokenizer(TOKENIZER.vocabulary)
    for lines in (0, 1, 2, 3, 10, 1, 30, 0, 3, 10, 1):
        texts = drawn(lines, "abhelo ΑΣé\t中.\u302e", lines, 40)
        encoded = tokenizer.encode_batch(as_an_iterable(texts))
        assert encoded.to_list() == [tokenizer.encode(text) for text in texts]
        assert encoded.values.dtype == np.int32 and encoded.row_splits.dtype == np.int64
        assert encoded.values.flags.writeable
