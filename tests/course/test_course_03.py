"""Notebook 03: what its text says of the packaged model's heads."""

import numpy as np

from autograde.exercises.n03_attention.multi_head_layer import other_layers, other_masks
from bertlab import checkpoints
from bertlab.analysis.heads import relation_scores
from bertlab.analysis.readings import read_words
from bertlab.data import small_world


def test_a_head_beats_the_best_fixed_offset_at_subjects_and_hardly_at_determiners():
    sentences = small_world.sample(seed=3, count=60)
    encoder, tokenizer = checkpoints.load("bertlab-mini", "encoder"), checkpoints.load_tokenizer("bertlab-mini")
    readings = read_words(encoder, tokenizer, [sentence.words for sentence in sentences])
    gains = {}
    for scores in relation_scores(sentences, (reading.attention for reading in readings)):
        from_dependent = float(scores.accuracy[0].max())  # the notebook looks from the dependent to its head word
        gains[scores.relation] = from_dependent - scores.offset_accuracy
    assert -0.05 < gains["det"] < 0.15 and gains["case"] < 0
    assert gains["nsubj"] > 0.15 and gains["cop"] > 0.15


def test_no_drawn_layer_has_heads_of_one_number_whose_bias_keras_adds_along_the_tokens():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        drawn = [trial.cases[0] for trial in other_layers(rng)] + other_masks(rng)
        for case in drawn:
            if case.weights:
                assert case.arguments[0].shape[-1] >= 2 * case.config["num_heads"]
