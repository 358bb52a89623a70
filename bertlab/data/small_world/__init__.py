"""A small language with known laws, version 1: all that can be known about its sentences can be computed.

A grammar makes the sentences (`grammar`). Each has one tree, and the context decides on the sense of its homonyms
(`sentences`). The probability of every word in every context is exact, and so is the smallest loss that a model can
reach (`exact`). Each sentence has one translation into another language (`mirror`). Its rules are listed in
docs/small_world.md.

    from bertlab.data import small_world
    sentences = small_world.sample(seed=0, count=1000)
    small_world.floors(sentences, ["both-sided", "left-to-right"])
"""

from bertlab.data.small_world.exact import READERS, best_losses, conditionals, exact, exact_in_bag, floors
from bertlab.data.small_world.grammar import HOMONYMS, SCENES, automaton
from bertlab.data.small_world.mirror import mirror_pieces, to_mirror, translation_rows, translation_tokens
from bertlab.data.small_world.sentences import (
    LONGEST,
    SHORTEST,
    Sentence,
    every_sentence,
    inference_pairs,
    number_of_sentences,
    read,
    sample,
    who_acts,
    word_ids,
)

__all__ = [
    "HOMONYMS", "LONGEST", "READERS", "SCENES", "SHORTEST", "VERSION", "WORDS", "Sentence", "automaton", "best_losses",
    "conditionals", "every_sentence", "exact", "exact_in_bag", "floors", "inference_pairs", "mirror_pieces",
    "number_of_sentences", "read", "sample", "to_mirror", "translation_rows", "translation_tokens", "who_acts",
    "word_ids",
]  # fmt: skip

VERSION = 1  # of the language: with the same version and seed, the same sentences for ever
WORDS = automaton().words[:-1]  # 125, the full stop among them
