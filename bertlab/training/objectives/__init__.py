"""Objectives: the tasks that a model is pre-trained on. A run has one or several; its loss is the sum of theirs.

The trainer, evaluation, history, alarm and progress bar work with the list and know no objective by name. A new
objective is a file beside the others, with a collator if stored rows do not hold its targets. Those of
distillation are in `bertlab.training.distillation.objectives`.
"""

from bertlab.families import pretraining_of
from bertlab.training.objectives.base import Objective
from bertlab.training.objectives.both_directions import BothDirections
from bertlab.training.objectives.masked_lm import MaskedLM
from bertlab.training.objectives.next_sentence import NextSentence
from bertlab.training.objectives.next_token import NextToken
from bertlab.training.objectives.permutation import Permutation
from bertlab.training.objectives.replaced_token import GeneratorMaskedLM, ReplacedToken
from bertlab.training.objectives.sentence_order import SentenceOrder
from bertlab.training.objectives.sequence_to_sequence import SequenceToSequence

__all__ = [
    "BothDirections",
    "GeneratorMaskedLM",
    "MaskedLM",
    "NextSentence",
    "NextToken",
    "Objective",
    "Permutation",
    "ReplacedToken",
    "SentenceOrder",
    "SequenceToSequence",
    "collators_of",
    "objectives_for",
    "objectives_of",
]
# The objectives that a family's `Pretraining` can name.
_OF_FAMILIES = {one.name: one for one in (MaskedLM, NextToken, BothDirections, Permutation, SequenceToSequence)}


def objectives_for(
    config, pairs: bool, sentence_order: bool = False, replaced_tokens: bool = False, label_smoothing: float = 0.0
) -> tuple[Objective, ...]:
    """The objectives of a model of this configuration.

    pairs: whether (some of) its rows are pairs.   sentence_order: whether these are consecutive segments, some swapped.
    replaced_tokens: whether it finds replaced tokens beside a generator; pairs are then read, but not judged.
    label_smoothing: of a model with a decoder.

    Example:
        >>> [objective.name for objective in objectives_for(BertConfig(), pairs=True)]
        ['masked_lm', 'next_sentence']
    """
    objective = _OF_FAMILIES[pretraining_of(config).objective]
    if objective is SequenceToSequence:
        return (SequenceToSequence(label_smoothing),)
    if replaced_tokens:
        return (GeneratorMaskedLM(), ReplacedToken())
    if objective is MaskedLM and pairs:
        return (MaskedLM(), SentenceOrder() if sentence_order else NextSentence())
    return (objective(),)  # of pairs too: their segments are read, their labels are not


def objectives_of(model, sentence_order: bool = False) -> tuple[Objective, ...]:
    """The objectives for which a model has a pre-training head. sentence_order: as in `objectives_for`.

    Example:
        >>> config = BertConfig(vocab_size=100, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=32)
        >>> [objective.name for objective in objectives_of(PreTrainingModel(config))]
        ['masked_lm', 'next_sentence']
    """
    if hasattr(model, "decoder"):
        return objectives_for(model.config, pairs=False)
    if hasattr(model, "discriminator"):
        return objectives_for(model.config, pairs=False, replaced_tokens=True)
    return objectives_for(model.config, getattr(model, NextSentence.head) is not None, sentence_order)


def collators_of(objectives, settings, vocabulary, seed: int) -> list:
    """The collators that turn rows, made with `settings`, into batches for all of some objectives.

    Example:
        >>> from bertlab.data.pretraining.settings import ExampleSettings
        >>> collators = collators_of([NextToken()], ExampleSettings(), vocabulary=None, seed=1)
        >>> [type(collator).__name__ for collator in collators]
        ['NextTokens']
    """
    return [one for objective in objectives for one in objective.collators(settings, vocabulary, seed)]
