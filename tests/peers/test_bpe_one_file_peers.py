"""tokenizer.json with NFC and added tokens against `tokenizers`: the same ids, offsets and decoded text."""

import random

import pytest
from test_bpe_one_file import NAMES, write

from bertlab.tokenizers.bpe import BytePairTokenizer

tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.peers
POOLS = ("the [] a", "        ", "e\u0301\u0323\u0307a\u030a\u00e9\u1e69\u1e9b", "\ud55c\u1112\u1161\u11ab\u1100\uac00",
         "\u0344\u0f73\u0f71\u0f72\u0958\u0f43\U0001d15e\u212b\u2126 q\u0315\u0300\u05ae\u0062",
         "字😀\u3000\n\t")  # fmt: skip
WHOLE = ("|||IP_ADDRESS|||", "[CLS]", "[MASK]", "[PAD]", "[unused0]", "|||EMAIL|||")
SPECIAL = ("<|padding|>", "<|endoftext|>")  # we always read them, `tokenizers` only where it reads "[CLS]" too


def random_text(rng, special_tokens):
    parts, whole = [], WHOLE + SPECIAL * special_tokens
    for _ in range(rng.randrange(12)):
        parts.append(rng.choice(whole) if rng.random() < 0.15 else rng.choice(rng.choice(POOLS)))
    return "".join(parts)


def compare(folder, count, seed, special_tokens):
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs.encode_special_tokens = not special_tokens
    ours, rng = BytePairTokenizer.load(folder), random.Random(seed)
    for _ in range(count):
        text = random_text(rng, special_tokens)
        expected = theirs.encode(text, add_special_tokens=False)
        found = ours.encode_with_offsets(text, special_tokens)
        assert found.ids.tolist() == ours.encode(text, special_tokens) == expected.ids, ascii(text)
        assert [tuple(span) for span in found.offsets.tolist()] == expected.offsets, ascii(text)
        for skip in (False, True):
            assert ours.decode(found.ids, skip) == theirs.decode(expected.ids, skip_special_tokens=skip), ascii(text)


@pytest.mark.parametrize("special_tokens", [False, True])
def test_ids_offsets_and_decoded_text_are_equal(tmp_path, special_tokens):
    compare(write(tmp_path), 10_000, 1, special_tokens)


@pytest.mark.parametrize("special_tokens", [False, True])
def test_a_file_that_we_wrote_is_read_the_same_way(tmp_path, special_tokens):
    (tmp_path / "ours").mkdir()
    BytePairTokenizer.load(write(tmp_path)).save(tmp_path / "ours")
    compare(tmp_path / "ours", 2_000, 2, special_tokens)


def test_transformers_reads_our_folder(tmp_path):
    transformers = pytest.importorskip("transformers")
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
