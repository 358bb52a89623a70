"""Evaluation of a pre-trained model on held-out rows, and the baseline beside its metrics."""

import math
import warnings

import numpy as np
import pytest
from pretraining_case import CONFIG, make_examples
from refusals import refused

from bertlab.common.errors import DataError
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.models import BertForPreTraining
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
from bertlab.training.objectives import MaskedLM
from bertlab.training.runs.evaluation import evaluate, fixed_batches, unigram_baseline


def test_the_unigram_baseline_is_the_entropy_of_the_targets():
    figures = unigram_baseline(np.array([7, 7, 5, 9]))
    assert figures["unigram_accuracy"] == 0.5
    assert figures["unigram_loss"] == pytest.approx(1.5 * math.log(2))


def test_the_unigram_baseline_of_a_training_text_counts_every_token_once_more():
    figures = unigram_baseline(np.array([0, 0, 3]), training_tokens=np.array([0, 0, 0, 1]), vocab_size=6)
    assert figures["unigram_accuracy"] == pytest.approx(2 / 3)  # 0 is the commonest
    assert figures["unigram_loss"] == pytest.approx(-(2 * math.log(4 / 10) + math.log(1 / 10)) / 3)


@pytest.mark.slow
def test_judging_a_model_gives_the_same_figures_every_time(tmp_path):
    data = make_examples(tmp_path / "data", dynamic_masking=True)
    model = BertForPreTraining(CONFIG)
    figures = evaluate(model, data, rows=64, batch_size=16)
    assert evaluate(model, data, rows=64, batch_size=16) == figures
    assert figures["rows"] == 64
    assert figures["masked_lm_loss"] == pytest.approx(math.log(CONFIG.vocab_size), abs=0.1)
    assert figures["masked_lm_perplexity"] == pytest.approx(math.exp(figures["masked_lm_loss"]))
    assert figures["unigram_loss"] < figures["masked_lm_loss"]
    assert "next_sentence_accuracy" in figures
    refused("rows of 32 tokens", evaluate, BertForPreTraining(CONFIG.replace(max_position_embeddings=16)), data)


@pytest.mark.parametrize("dynamic", [True, False])
def test_the_rows_and_masks_that_a_model_is_judged_by_do_not_depend_on_the_batch_size(dynamic, tmp_path):
    files = ExampleFiles(make_examples(tmp_path / "data", dynamic_masking=dynamic))
    assert len(files) > 70

    def rows(batch_size):
        batches = list(fixed_batches(files, batch_size, 70, [MaskedLM()]).as_numpy_iterator())
        assert max(len(batch["input_ids"]) for batch in batches) == batch_size
        return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}

    wanted = rows(70)
    assert len(wanted["input_ids"]) == 70 and wanted["masked_lm_weights"].sum() > 70
    for batch_size in (1, 16, 64):
        for name, values in rows(batch_size).items():
            np.testing.assert_array_equal(values, wanted[name], err_msg=name)


@pytest.mark.slow
def test_every_row_that_is_asked_for_is_judged(tmp_path):
    data = make_examples(tmp_path / "data", number=10)
    model = BertForPreTraining(CONFIG)
    every = evaluate(model, data)
    assert every["rows"] == len(ExampleFiles(data))
    assert evaluate(model, data, rows=10)["rows"] == 10
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*ran out of data")  # as Keras would, of rows that it could not count
        parts = evaluate(model, data, batch_size=7)
    assert parts["predictions"] == every["predictions"]
    assert parts["masked_lm_loss"] == pytest.approx(every["masked_lm_loss"], rel=1e-5)


def test_a_model_is_not_judged_by_rows_of_another_tokenizer(tmp_path):
    data = make_examples(tmp_path / "data", number=10)
    own = ExampleFiles(data).tokenizer
    model = BertForPreTraining(CONFIG)
    assert evaluate(model, data, rows=4, tokenizer=own)["rows"] == 4
    pieces = own.vocabulary.pieces
    shuffled = Vocabulary([*pieces[:-2], pieces[-1], pieces[-2]])
    refused("another vocabulary", evaluate, model, data, tokenizer=WordPieceTokenizer(shuffled))
    with pytest.raises(DataError, match="make it again with --cased"):
        evaluate(model, data, tokenizer=WordPieceTokenizer(own.vocabulary, lowercase=False))
