"""The preset `original` against the published procedure, re-implemented independently: example by example."""

import numpy as np
import pytest
from example_text import PIECES, make_documents, make_tokenizer
from published_procedure import create

from bertlab.data.pretraining.examples import make_examples
from bertlab.data.pretraining.settings import ExampleSettings

TOKENIZER = make_tokenizer()


def as_pieces(documents) -> list[list[list[str]]]:
    return [[TOKENIZER.tokenize(sentence) for part in each.paragraphs for sentence in part] for each in documents]


@pytest.mark.parametrize("whole_words", [False, True])
@pytest.mark.parametrize("length, sentences", [(48, (1, 12)), (128, (1, 2)), (16, (1, 5))])
def test_the_original_preset_gives_the_published_examples_in_their_order(length, sentences, whole_words):
    documents = make_documents(25, seed=length, sentences=sentences)
    chosen = ExampleSettings.preset(
        "original", sequence_length=length, duplicate_factor=3, whole_word_masking=whole_words, seed=7
    )
    made = make_examples(documents, TOKENIZER, chosen)
    most = chosen.max_predictions
    published = create(as_pieces(documents), PIECES, length, most, passes=3, whole_words=whole_words, seed=7)
    assert len(made["input_ids"]) == len(published) > 50
    for row, (tokens, segments, positions, labels, is_random) in enumerate(published):
        count, used = len(tokens), len(positions)
        assert [PIECES[token] for token in made["input_ids"][row]] == tokens + ["[PAD]"] * (length - count)
        assert made["token_type_ids"][row].tolist() == segments + [0] * (length - count)
        assert made["attention_mask"][row].tolist() == [1] * count + [0] * (length - count)
        assert made["masked_lm_positions"][row].tolist() == positions + [0] * (most - used)
        assert [PIECES[token] for token in made["masked_lm_ids"][row][:used]] == labels
        assert made["masked_lm_weights"][row].tolist() == [1.0] * used + [0.0] * (most - used)
        assert made["next_sentence_labels"][row] == is_random


def test_the_original_skews_the_labels_and_ours_does_not():
    """Documents of two sentences that fill a row each: without a second sentence the script labels a row "random"."""
    documents = make_documents(400, seed=3, sentences=(2, 3))
    chosen = ExampleSettings(sequence_length=24, duplicate_factor=1)
    original = make_examples(documents, TOKENIZER, chosen.replace(procedure="original"))["next_sentence_labels"]
    ours = make_examples(documents, TOKENIZER, chosen)["next_sentence_labels"]
    assert original.mean() > 0.6
    assert abs(ours.sum() - len(ours) / 2) <= 0.5


def test_the_original_replaces_from_the_whole_vocabulary():
    """Six of 507 tokens are special or unused: 1,500 random ones miss all six with a chance of 2·10⁻⁸."""
    made = make_examples(make_documents(300), TOKENIZER, ExampleSettings.preset("original", duplicate_factor=3))
    used = made["masked_lm_weights"] > 0
    shown = np.take_along_axis(made["input_ids"], made["masked_lm_positions"], axis=1)[used]
    replaced = shown[(shown != made["masked_lm_ids"][used]) & (shown != PIECES.index("[MASK]"))]
    assert len(replaced) > 1500
    assert (replaced < 6).any()
