"""tokenizer.json of byte-level BPE: NFC, added tokens, templates; built as ModernBERT's is, and written again.

Against transformers: tests/peers/test_bpe_huggingface.py.
"""

import json
import random
import unicodedata

import pytest
import tokenizers

from bertlab.common.errors import VocabularyError
from bertlab.tokenizers.bpe import BytePairTokenizer
from bertlab.tokenizers.bpe.vocabulary import byte_characters

PIECES = ["|||IP_ADDRESS|||", "<|padding|>", *byte_characters(), "th", "the", "Ġthe", "Ã©"]
MERGES = [["t", "h"], ["th", "e"], ["Ġ", "the"], ["Ã", "©"]]
SPACES = [" " * count for count in (4, 3, 2)]
ADDED = [*((text, False, True) for text in SPACES), ("|||EMAIL|||", False, True), ("<|endoftext|>", True, False),
         ("[UNK]", True, False), ("[CLS]", True, False), ("[SEP]", True, False), ("[PAD]", True, False),
         ("[MASK]", True, False), ("[unused0]", False, True)]  # fmt: skip
NAMES = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]"}


def entry(number, text, special, normalized):
    return {"id": number, "content": text, "single_word": False, "lstrip": text == "[MASK]", "rstrip": False,
            "normalized": normalized, "special": special}  # fmt: skip


def token(text):
    return {"SpecialToken": {"id": text, "type_id": 0}}


def values(**changes):
    """The content of a tokenizer.json like ModernBERT's, which has the same parts in the same order."""
    numbered = {text: number for number, text in enumerate(PIECES + [text for text, _, _ in ADDED])}
    texts = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [entry(0, PIECES[0], False, True), entry(1, PIECES[1], True, False)]
        + [entry(len(PIECES) + number, *one) for number, one in enumerate(ADDED)],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": {
            "type": "TemplateProcessing", "single": [token("[CLS]"), texts[0], token("[SEP]")],
            "pair": [token("[CLS]"), texts[0], token("[SEP]"), texts[1], token("[SEP]")],
            "special_tokens": {text: {"id": text, "ids": [numbered[text]], "tokens": [text]}
                               for text in ("[CLS]", "[SEP]")},
        },
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {text: number for number, text in enumerate(PIECES)}, "merges": MERGES},
    } | changes  # fmt: skip


def write(folder, config=True, **changes):
    (folder / "tokenizer.json").write_text(json.dumps(values(**changes)), encoding="utf-8")
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(NAMES))
    return folder


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return BytePairTokenizer.load(write(tmp_path_factory.mktemp("tokenizer")))


def test_added_tokens_are_read_as_a_whole(tokenizer):
    text = "the   the |||EMAIL|||[unused0]<|endoftext|>"
    pieces = tokenizer.tokenize(text)
    assert pieces == ["the", "   ", "the", "Ġ", "|||EMAIL|||", "[unused0]", "<|endoftext|>"]
    assert tokenizer.tokenize(text, special_tokens=True) == pieces
    assert tokenizer.tokenize("a [MASK]", special_tokens=True) == ["a", "[MASK]"]
    assert tokenizer.tokenize("[MASK]")[0] == "["


def test_of_several_added_tokens_the_longest_is_read(tokenizer):
    assert tokenizer.tokenize("the" + 9 * " " + "the") == ["the", 4 * " ", 4 * " ", "Ġthe"]


def test_text_is_brought_into_nfc_and_offsets_are_those_of_the_original(tokenizer):
    text = "the e\u0301   the"
    encoding = tokenizer.encode_with_offsets(text)
    assert encoding.pieces == ["the", "Ġ", "Ã©", "   ", "the"]
    assert encoding.offsets.tolist() == [[0, 3], [3, 4], [4, 5], [6, 9], [9, 12]]
    assert tokenizer.encode(text) == tokenizer.encode(unicodedata.normalize("NFC", text)) == encoding.ids.tolist()


POOLS = ("the [] a", "        ", "e\u0301\u0323\u0307a\u030a\u00e9\u1e69\u1e9b", "\ud55c\u1112\u1161\u11ab\u1100\uac00",
         "\u0344\u0f73\u0f71\u0f72\u0958\u0f43\U0001d15e\u212b\u2126 q\u0315\u0300\u05ae\u0062",
         "字😀\u3000\n\t")  # fmt: skip
WHOLE = ("|||IP_ADDRESS|||", "[CLS]", "[MASK]", "[PAD]", "[unused0]", "|||EMAIL|||")
SPECIAL = ("<|padding|>", "<|endoftext|>")  # we always read them, the package only where it reads "[CLS]" too


@pytest.mark.parametrize("special_tokens", [False, True])
@pytest.mark.parametrize("written_again", [False, True])
def test_ids_offsets_and_text_are_those_of_the_package_on_the_same_file(tmp_path, written_again, special_tokens):
    ours, rng = BytePairTokenizer.load(write(tmp_path)), random.Random(1)
    if written_again:
        ours.save(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    theirs.encode_special_tokens = not special_tokens
    whole = WHOLE + SPECIAL * special_tokens
    for _ in range(1000):
        chosen = (rng.choice(whole) if rng.random() < 0.15 else rng.choice(rng.choice(POOLS)) for _ in range(11))
        text = "".join(chosen)[: rng.randrange(60)]
        expected, found = theirs.encode(text, add_special_tokens=False), ours.encode_with_offsets(text, special_tokens)
        assert found.ids.tolist() == ours.encode(text, special_tokens) == expected.ids, ascii(text)
        assert [tuple(span) for span in found.offsets.tolist()] == expected.offsets, ascii(text)
        for skip in (False, True):
            assert ours.decode(found.ids, skip) == theirs.decode(expected.ids, skip_special_tokens=skip), ascii(text)


def test_pairs_have_the_separators_of_the_template(tokenizer):
    ids = tokenizer.pack(tokenizer.encode("the"), tokenizer.encode("a"))["input_ids"]
    assert [tokenizer.vocabulary.pieces[number] for number in ids] == ["[CLS]", "the", "[SEP]", "a", "[SEP]"]


def test_decoding_gives_the_text_without_special_tokens(tokenizer):
    ids = tokenizer.encode("the   é <|endoftext|>|||EMAIL|||[MASK]", special_tokens=True)
    assert tokenizer.decode(ids) == "the   é |||EMAIL|||"
    assert "<|endoftext|>" in tokenizer.decode(ids, skip_special_tokens=False)


def test_written_again_it_is_the_same_tokenizer(tokenizer, tmp_path):
    tokenizer.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokenizer.json", "tokenizer_config.json"]
    again = BytePairTokenizer.load(tmp_path)
    assert again.vocabulary == tokenizer.vocabulary and again.settings() == tokenizer.settings()
    assert again.vocabulary.added == tokenizer.vocabulary.added and again.vocabulary.pair_separators == 1


def test_tokenizers_that_differ_in_added_tokens_or_normalisation_are_not_equal(tokenizer, tmp_path):
    for changes in ({"normalizer": None}, {"added_tokens": values()["added_tokens"][:-1]}):
        assert BytePairTokenizer.load(write(tmp_path, **changes)).vocabulary != tokenizer.vocabulary


def test_berts_names_of_special_tokens_are_found_without_a_config(tokenizer, tmp_path):
    assert BytePairTokenizer.load(write(tmp_path, config=False)).vocabulary == tokenizer.vocabulary


def test_an_added_token_without_its_id_among_the_others_is_refused(tmp_path):
    added = [*values()["added_tokens"], entry(999, "[far]", False, True)]
    with pytest.raises(VocabularyError, match="the ids of the vocabulary are not 0 to"):
        BytePairTokenizer.load(write(tmp_path, added_tokens=added))
