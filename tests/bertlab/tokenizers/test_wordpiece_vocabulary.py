"""A vocabulary file either loads exactly or says which line is wrong."""

import pytest

from bertlab.common.errors import VocabularyError
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

PIECES = (*SPECIAL_TOKENS, "a", "##a", "b")


def test_special_tokens_are_found_at_any_position():
    vocabulary = Vocabulary(["[PAD]", "[unused1]", "[UNK]", "x", "[MASK]", "[SEP]", "[CLS]"])
    assert vocabulary.special_ids == (0, 2, 6, 5, 4)
    assert (vocabulary.pad_id, vocabulary.unk_id, vocabulary.cls_id) == (0, 2, 6)
    assert (vocabulary.sep_id, vocabulary.mask_id) == (5, 4)


def test_ids_are_places():
    vocabulary = Vocabulary(PIECES)
    assert [vocabulary.index(piece) for piece in PIECES] == list(range(len(vocabulary)))
    assert "##a" in vocabulary and "c" not in vocabulary
    with pytest.raises(VocabularyError, match="'c' is not among the 8 tokens"):
        vocabulary.index("c")


def test_a_saved_vocabulary_is_read_back(tmp_path):
    vocabulary = Vocabulary([*PIECES, "\u2028", "##\u2028", "é"])  # U+2028 is a token of BERT's Chinese vocabulary
    vocabulary.save(tmp_path / "vocab.txt")
    again = Vocabulary.from_file(tmp_path / "vocab.txt")
    assert again == vocabulary and again.sha256 == vocabulary.sha256
    assert vocabulary.sha256 != Vocabulary(PIECES).sha256


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_endings_and_a_byte_order_mark_do_not_matter(tmp_path, ending, last, mark):
    path = tmp_path / "vocab.txt"
    path.write_bytes(mark + ending.join(piece.encode() for piece in PIECES) + (ending if last else b""))
    assert Vocabulary.from_file(path).pieces == PIECES


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*PIECES, "", "c"], "vocab.txt line 9: empty token; each line holds one token"),
        ([*PIECES, "a"], "line 9: 'a' is a duplicate of token 6.*later ids would be wrong: take the original file"),
        (PIECES[1:], r"vocab.txt line 7 is the last one, and \[PAD\] is missing"),
        (["a", "b"], r"\[PAD\], \[UNK\], \[CLS\], \[SEP\], \[MASK\] is missing"),
        ([], "line 0 is the last one"),
    ],
)
def test_a_bad_line_is_named(tmp_path, lines, message):
    path = tmp_path / "vocab.txt"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_file(path)


def test_lines_of_white_space_are_tokens_that_no_text_has(tmp_path):
    """As in the published Chinese list. Without them all later ids would be wrong."""
    (tmp_path / "vocab.txt").write_text("\n".join([*PIECES, " ", "\u2028", "\u3000", "\t", "c"]), encoding="utf-8")
    tokenizer = WordPieceTokenizer.load(tmp_path)
    assert tokenizer.encode("a \u2028 \u3000\tc") == [5, 12]
    assert tokenizer.encode_batch(["a \u2028 \u3000\tc"]).to_list() == [[5, 12]]


@pytest.mark.parametrize(
    ("content", "message"),
    [("\n".join(PIECES).encode() + b"\ncaf\xe9\n", r"vocab.txt line 9: not UTF-8 \(byte 0xe9\)"),
     (None, "vocab.txt: cannot be read")],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, message):
    path = tmp_path / "vocab.txt"
    if content:
        path.write_bytes(content)
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_file(path)


def test_a_token_with_a_line_break_is_refused():
    with pytest.raises(VocabularyError, match=r"token 6: 'a\\nb' contains a line break"):
        Vocabulary([*SPECIAL_TOKENS, "a\nb"])
