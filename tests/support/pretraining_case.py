"""A small corpus as folders of examples, and a model small enough to train in a test."""

import random

import pytest
from killing import Killed, killer

from bertlab.config import BertConfig
from bertlab.data.documents import Document
from bertlab.data.pretraining.make import make_data
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.training.presets import PretrainingSettings
from bertlab.training.runs.curves import read_metrics

WORDS = "the a cat dog bird sees hears likes small big red old . river house tree near on under".split()
CONFIG = BertConfig(
    vocab_size=len(SPECIAL_TOKENS) + len(WORDS), hidden_size=16, num_layers=1, num_heads=2, intermediate_size=32,
    max_position_embeddings=32,
)  # fmt: skip


def documents(number=40, seed=0):
    """Documents of six sentences, each about one animal and one place."""
    rng = random.Random(seed)
    for i in range(number):
        animal, place = rng.choice(["cat", "dog", "bird"]), rng.choice(["river", "house", "tree"])
        sentences = tuple(
            f"the {rng.choice(['small', 'big', 'red', 'old'])} {animal} {rng.choice(['sees', 'hears', 'likes'])} "
            f"a {rng.choice(['cat', 'dog', 'bird'])} {rng.choice(['near', 'on', 'under'])} the {place} ."
            for _ in range(6)
        )
        yield Document(id=f"{seed}-{i}", paragraphs=(sentences,))


def make_examples(folder, number=40, seed=0, **settings):
    """A folder of examples of that corpus."""
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *WORDS]))
    settings = ExampleSettings(**{"sequence_length": 32, "duplicate_factor": 2, "seed": seed} | settings)
    make_data(documents(number, seed), tokenizer, folder, settings)
    return folder


def short_recipe(**changes):
    """The published recipe in three intervals of two steps, with changes."""
    small = dict(steps=6, interval=2, batch_size=8, learning_rate=5e-3, xla=False)
    return PretrainingSettings.preset("published", **(small | changes))


def pretrained(config, data, out, callbacks=(), **changes):
    """The history of a run with that recipe."""
    from bertlab.training.pretraining import pretrain

    return pretrain(config, [data], out, short_recipe(**changes), validation=data, callbacks=callbacks)


def check_resuming(config, data, out, whole, *names):
    """Kills such a run in its second interval and resumes it: the curve and these files are those of the whole one."""
    with pytest.raises(Killed):
        pretrained(config, data, out, [killer("on_epoch_end", 1)])
    assert not (out / "checkpoint").exists()
    pretrained(config, data, out)
    assert curve(out) == curve(whole)
    for name in names:
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name


def curve(folder):
    """The rows of metrics.csv without what differs from run to run: times and fractions of time."""
    varying = ("seconds", "tokens_per_second", "peak_share", "data_wait_share")
    return [{name: value for name, value in row.items() if name not in varying} for row in read_metrics(folder)]
