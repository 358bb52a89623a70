"""Masked language modelling (Devlin et al. 2019, section 3.1). Letters: B batch, P predictions, V vocabulary."""

from bertlab.data.pretraining.collators import MaskTokens
from bertlab.data.pretraining.masking import PieceTable
from bertlab.training.objectives.base import Objective


class MaskedLM(Objective):
    """Which token was it, at each masked position? Reads masked_lm_logits (B, P, V).

    Example:
        >>> batch = {"masked_lm_ids": ops.array([[1, 1]])}
        >>> outputs = {"masked_lm_logits": ops.array([[[0.0, 5.0], [5.0, 0.0]]])}
        >>> ops.convert_to_numpy(MaskedLM().hits(batch, outputs)).tolist()
        [[True, False]]
    """

    name, short_name = "masked_lm", "masked"
    head, logits = "masked_lm_head", "masked_lm_logits"
    targets = ("masked_lm_ids", "masked_lm_weights")  # (B, P)
    over_vocabulary = True

    def collators(self, settings, vocabulary, seed):
        return (MaskTokens(PieceTable.of(vocabulary), settings, seed),)

    def predictions(self, settings):
        return settings.max_predictions
