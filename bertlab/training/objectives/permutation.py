"""Permutation language modelling (Yang et al. 2019, "XLNet", section 2.2)."""

from bertlab.data.pretraining.collators import DrawOrder
from bertlab.training.objectives.masked_lm import MaskedLM


class Permutation(MaskedLM):
    """Which token is it, given those that come before it in a random order? For a model with two streams.

    The arrays and the head are those of masked tokens; a batch also has order_ids. Only the last part of the order is
    predicted, `masked_lm_probability` of the tokens (1 / 6 as published): the first ones have too little context.

    Example:
        >>> Permutation.targets
        ('masked_lm_ids', 'masked_lm_weights', 'order_ids')
    """

    name, short_name = "permutation", "in order"
    targets = (*MaskedLM.targets, "order_ids")

    def collators(self, settings, vocabulary, seed):
        return (*super().collators(settings, vocabulary, seed), DrawOrder(seed))
