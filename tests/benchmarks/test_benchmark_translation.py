"""The made language of benchmarks/training/translation.py: same pairs every time, others held out, all words known."""

import random

from benchmarks.training.translation import LENGTHS, sentence, write_pairs
from bertlab.data.pretraining.pairs import pair_rows, pair_settings, read_pairs
from bertlab.tokenizers.kinds import open_tokenizer


def test_the_pairs_are_the_same_every_time_and_the_held_out_ones_are_new(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        write_pairs(tmp_path / name, 300, 100)
    files = ("train.tsv", "validation.tsv", "vocab.txt")
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes() for name in files)
    train, held_out = (dict(read_pairs(tmp_path / "one" / name)) for name in files[:2])
    assert len(train) == 300 and len(held_out) == 100 and not train.keys() & held_out.keys()


def test_every_pair_fits_and_has_no_unknown_word(tmp_path):
    write_pairs(tmp_path, 10, 10)
    tokenizer = open_tokenizer(tmp_path / "vocab.txt")
    pairs = [sentence(random.Random(seed)) for seed in range(2000)]
    rows = pair_rows(pairs, tokenizer, pair_settings(24, 32))
    assert len(rows["input_ids"]) == 2000
    assert not any((rows[name] == tokenizer.vocabulary.unk_id).any() for name in ("input_ids", "target_ids"))
    assert all(tokenizer.decode(tokenizer.encode(target)) == target for _, target in pairs)
    lengths = {len(source.split()) for source, _ in pairs}
    assert min(lengths) == int(LENGTHS[0][0]) and max(lengths) <= int(LENGTHS[-1].split("–")[1])


def test_the_verb_is_last_and_agrees_with_the_subject():
    for seed in range(200):
        source, target = (side.split() for side in sentence(random.Random(seed)))
        place = next(place for place, word in enumerate(source) if word in ("did", "will"))
        plural = any(word.endswith("s") for word in source[:place])
        assert target[-1].endswith("en") == plural and target[0] == {"did": "ta", "will": "sha"}[source[place]]
