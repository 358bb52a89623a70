"""Our byte-level BPE against Hugging Face's `tokenizers`: the same vocabulary learned, the same ids and offsets."""

import random
from pathlib import Path

import pytest

from bertlab.tokenizers.bpe import BytePairTokenizer
from bertlab.tokenizers.bpe.learner import learn

tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.peers
DOCS = Path(__file__).parents[2] / "docs"
LINES = [line for path in sorted(DOCS.glob("*.md")) for line in path.read_text(encoding="utf-8").split("\n")]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
POOLS = ("abc def'\n\t  s t", "   \u3000\x85\xa0\n ", "éßñ字🎉😀👩‍👩‍👧", "0123 ½Ⅷ٣", "'s't're've'm'll'd'S",
         "".join(map(chr, range(256))))  # fmt: skip


@pytest.fixture(scope="module")
def vocabulary():
    return learn(LINES, 3000)


def peer(vocabulary, prefix=False, trim=True):
    model = tokenizers.models.BPE(
        vocab={piece: number for number, piece in enumerate(vocabulary.pieces)}, merges=list(vocabulary.merges.pairs)
    )
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    theirs.post_processor = tokenizers.processors.RobertaProcessing(
        ("</s>", vocabulary.sep_id), ("<s>", vocabulary.cls_id), trim_offsets=trim, add_prefix_space=prefix
    )
    return theirs


def random_text(rng):
    kind = rng.random()
    if kind < 0.2:  # any characters; a surrogate cannot be given to `tokenizers`
        codes = (rng.choice((rng.randrange(0x110000), rng.randrange(0x3000))) for _ in range(rng.randrange(12)))
        return "".join(map(chr, codes)).encode("utf-8", "replace").decode("utf-8")
    if kind < 0.4:
        return rng.choice(LINES)[: rng.randrange(80)]
    return "".join(rng.choice(rng.choice(POOLS)) for _ in range(rng.randrange(25)))


@pytest.mark.parametrize("size", [270, 1000, 3000])
def test_the_same_text_gives_the_same_vocabulary(size):
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size - 1, min_frequency=2, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.train_from_iterator(LINES, trainer)
    numbers = theirs.get_vocab()
    assert sorted(numbers, key=numbers.get) == list(learn(LINES, size).pieces[:-1])


def compare(vocabulary, count, seed):
    rng = random.Random(seed)
    for prefix in (False, True):
        for trim in (False, True):
            theirs = peer(vocabulary, prefix, trim)
            ours = BytePairTokenizer(vocabulary, add_prefix_space=prefix, trim_offsets=trim)
            for _ in range(count):
                text = random_text(rng)
                expected, found = theirs.encode(text, add_special_tokens=False), ours.encode_with_offsets(text)
                assert found.ids.tolist() == ours.encode(text) == expected.ids, repr(text)
                assert [tuple(span) for span in found.offsets.tolist()] == expected.offsets, repr(text)
                assert found.word_ids.tolist() == expected.word_ids, repr(text)
                ids = [*expected.ids, *(rng.randrange(4, len(vocabulary) - 1) for _ in range(3))]
                assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False), ids


def test_ids_offsets_words_and_decoded_text_are_equal(vocabulary):
    compare(vocabulary, 4_000, seed=1)


@pytest.mark.exhaustive
def test_they_are_equal_on_hundreds_of_thousands_of_texts(vocabulary):
    compare(vocabulary, 100_000, seed=2)


@pytest.mark.exhaustive
def test_every_character_beside_every_kind_is_cut_the_same_way(vocabulary):
    theirs, ours = peer(vocabulary), BytePairTokenizer(vocabulary)
    for code in (code for code in range(0x110000) if not 0xD800 <= code < 0xE000):
        text = "a{0}1{0}!{0} {0}".format(chr(code))
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids, hex(code)


def test_transformers_reads_our_files_and_we_read_theirs(vocabulary, tmp_path):
    transformers = pytest.importorskip("transformers")
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
