"""GPT's BPE of words against the tokenizer of transformers: the same ids, offsets and texts."""

import json
import random

import pytest

from bertlab import checkpoints, families
from bertlab.tokenizers.bpe import WordPairTokenizer

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.peers
TEXTS = ["The lowest of the low houses, isn't it?", "Zoë's naïve café: 10 °C", "low lower lowest newest widest"] * 4
POOLS = ("abc def'\n\t  s t", "   \u3000\x85\xa0\n ", "éßñ字İ🎉😀👩‍👩‍👧", "0123 ½Ⅷ٣", "<unk>[MASK]</w>",
         "".join(map(chr, range(256))))  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Their tokenizer with a learned vocabulary, and ours, which has read what theirs wrote."""
    folder = tmp_path_factory.mktemp("gpt")
    learned = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    learned.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    learned.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=150, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    learned.train_from_iterator(TEXTS, trainer)
    model = json.loads(learned.to_str())["model"]
    theirs = transformers.OpenAIGPTTokenizer(model["vocab"], [tuple(pair) for pair in model["merges"]])
    theirs.save_pretrained(folder)
    families.family("openai-gpt").config(vocab_size=len(model["vocab"])).save(folder / "config.json")
    return theirs, checkpoints.load_tokenizer(folder), folder


def random_text(rng):
    kind = rng.random()
    if kind < 0.2:
        codes = (rng.choice((rng.randrange(0x110000), rng.randrange(0x3000))) for _ in range(rng.randrange(12)))
        return "".join(map(chr, codes)).encode("utf-8", "replace").decode("utf-8")
    if kind < 0.4:
        return rng.choice(TEXTS)[: rng.randrange(80)]
    return "".join(rng.choice(rng.choice(POOLS)) for _ in range(rng.randrange(25)))


def test_random_texts_have_the_ids_offsets_and_decoded_text_of_theirs(both):
    theirs, ours, _ = both
    rng = random.Random(0)
    for _ in range(3000):
        text = random_text(rng)
        if "<unk>" in text:
            continue  # theirs reads it as a special token always
        encoding = theirs._tokenizer.encode(text)
        mine = ours.encode_with_offsets(text)
        assert mine.ids.tolist() == ours.encode(text) == encoding.ids, text
        assert [tuple(pair) for pair in mine.offsets.tolist()] == encoding.offsets, text
        if ours.vocabulary.unk_id not in encoding.ids:
            assert ours.decode(encoding.ids) == theirs._tokenizer.decode(encoding.ids).rstrip(" "), text


def test_theirs_reads_what_ours_has_written(both, tmp_path):
    theirs, ours, _ = both
    ours.save(tmp_path)
    again = transformers.OpenAIGPTTokenizer.from_pretrained(tmp_path)
    assert again.get_vocab() == theirs.get_vocab()
    assert again("The lowest of houses")["input_ids"] == ours.encode("The lowest of houses")
    assert WordPairTokenizer.load(tmp_path).vocabulary == ours.vocabulary
