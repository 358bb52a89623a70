"""Next-token prediction, from left to right (Devlin et al. 2019, section 5.1, "LTR"). Letters: B batch, T tokens."""

from bertlab.data.pretraining.collators import NextTokens
from bertlab.training.objectives.base import Objective


class NextToken(Objective):
    """Which token comes next, after each token? For a model whose tokens attend only to themselves and earlier ones.

    Reads masked_lm_logits (B, T, V): the same head as for masked tokens, at every token.

    Example:
        >>> rows = {"input_ids": np.array([[2, 7, 3, 0]]), "attention_mask": np.array([[1, 1, 1, 0]])}
        >>> [collator] = NextToken().collators(settings=None, vocabulary=None, seed=1)
        >>> collator(rows, 0)["next_token_ids"].tolist()
        [[7, 3, 0, 0]]
    """

    name, short_name = "next_token", "next token"
    head, logits = "masked_lm_head", "masked_lm_logits"
    targets = ("next_token_ids", "next_token_weights")  # (B, T)
    over_vocabulary = True

    def collators(self, settings, vocabulary, seed):
        return (NextTokens(),)

    def predictions(self, settings):
        return settings.sequence_length
