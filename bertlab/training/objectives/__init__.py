"""Objectives: the tasks that a model is pre-trained on. A run has one or several; its loss is the sum of theirs.

The trainer, evaluation, history, alarm and progress bar work with the list and know no objective by name. A new
objective is a file beside the others, with a collator if stored rows do not hold its targets. How future objectives
fit in:

- *Replaced tokens* (ELECTRA): the model holds generator and discriminator. It fills in the masks, samples, and returns
  `masked_lm_logits`, `replaced_logits` (B, T, 2) and `is_replaced` (B, T), so `labels` reads the outputs; `weights` is
  1 at every real token. The objectives are (MaskedLM(), ReplacedToken()), the second with
  a `factor` of 50. The model draws with a Keras seed generator, whose state is saved with the run, like dropout's.
- *Permutation* (XLNet): a collator draws the order from seed and batch number and adds the attention mask (B, T, T) and
  the predicted positions; the model reads them as inputs and runs its two streams. Labels and weights as in `MaskedLM`.
- *Distillation*: the model holds the student and a frozen teacher and returns `teacher_logits` beside the student's
  (or a collator reads a teacher's stored outputs). `losses` is the cross-entropy of the two softmaxes at a temperature,
  `hits` whether both choose the same token, `weights` those of `MaskedLM`.
- *Sequence to sequence* (BART, T5): a collator corrupts the rows and adds the decoder's shifted inputs; labels and
  weights are as in `NextToken`, at the decoder's tokens.
"""

from bertlab.training.objectives.base import Objective
from bertlab.training.objectives.masked_lm import MaskedLM
from bertlab.training.objectives.next_sentence import NextSentence
from bertlab.training.objectives.next_token import NextToken
from bertlab.training.objectives.sentence_order import SentenceOrder

__all__ = [
    "MaskedLM",
    "NextSentence",
    "NextToken",
    "Objective",
    "SentenceOrder",
    "collators_of",
    "objectives_for",
    "objectives_of",
]


def objectives_for(config, pairs: bool, sentence_order: bool = False) -> tuple[Objective, ...]:
    """The objectives of a model of this configuration.

    pairs: whether (some of) its rows are pairs.   sentence_order: whether these are consecutive segments, some swapped.
    """
    if config.causal:
        return (NextToken(),)
    of_pairs = SentenceOrder() if sentence_order else NextSentence()
    return (MaskedLM(), of_pairs) if pairs else (MaskedLM(),)


def objectives_of(model, sentence_order: bool = False) -> tuple[Objective, ...]:
    """The objectives for which a model has a pre-training head. sentence_order: as in `objectives_for`."""
    return objectives_for(model.config, getattr(model, NextSentence.head) is not None, sentence_order)


def collators_of(objectives, settings, vocabulary, seed: int) -> list:
    """The collators that turn rows, made with `settings`, into batches for all of some objectives."""
    return [one for objective in objectives for one in objective.collators(settings, vocabulary, seed)]
