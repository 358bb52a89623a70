"""A language model in each direction (Peters et al. 2018, "ELMo", section 3.1). Letters: B batch, T tokens."""

from bertlab.data.pretraining.collators import NextAndPreviousTokens
from bertlab.training.objectives.base import Objective


class BothDirections(Objective):
    """Which token comes next, given those before it; and which one came before, given those behind it?

    Reads masked_lm_logits (B, T, 2, V): of the next token and of the one before. The loss is the mean over the
    predictions of both directions, and its perplexity is the paper's: that of the average of both.

    Example:
        >>> batch = {"neighbour_ids": ops.array([[[7, 0], [3, 2], [0, 7]]])}
        >>> losses = BothDirections().losses(batch, {"masked_lm_logits": ops.zeros((1, 3, 2, 50))})
        >>> tuple(losses.shape), round(float(losses[0, 1, 0]), 3)  # log 50: all tokens are equally likely
        ((1, 3, 2), 3.912)
    """

    name, short_name = "both_directions", "both directions"
    head, logits = "masked_lm_head", "masked_lm_logits"
    targets = ("neighbour_ids", "neighbour_weights")  # (B, T, 2)
    over_vocabulary = True

    def collators(self, settings, vocabulary, seed):
        return (NextAndPreviousTokens(),)

    def predictions(self, settings):
        return 2 * settings.sequence_length
