"""Writing a target after reading its source (Vaswani et al. 2017). Letters: B batch, U target tokens, V vocabulary."""

from bertlab.data.pretraining.collators import ShiftRight
from bertlab.training.objectives.base import Objective
from bertlab.training.objectives.losses import smoothed_losses


class SequenceToSequence(Objective):
    """Which token of the target comes next, given the source and the tokens before it?

    Reads masked_lm_logits (B, U, V) of a `SequenceToSequenceModel`. With label smoothing the loss is that of the
    smoothed labels, which is never 0: its lowest value is their entropy.

    Args:
        smoothing: the fraction of a label's probability that is spread over all tokens (0.1 in the paper).

    Example:
        >>> batch, outputs = {"next_token_ids": ops.array([[1]])}, {"masked_lm_logits": ops.array([[[0.0, 50.0]]])}
        >>> losses = [SequenceToSequence(smoothing).losses(batch, outputs)[0, 0] for smoothing in (0.0, 0.1)]
        >>> [round(float(loss), 3) for loss in losses]
        [0.0, 2.5]
    """

    name, short_name = "target_token", "target"
    head, logits = "masked_lm_head", "masked_lm_logits"
    targets = ("next_token_ids", "next_token_weights", "decoder_input_ids")  # (B, U)
    over_vocabulary = True

    def __init__(self, smoothing: float = 0.0):
        self.smoothing = smoothing

    def collators(self, settings, vocabulary, seed):
        return (ShiftRight(vocabulary.cls_id),)

    def predictions(self, settings):
        return settings.target_length

    def losses(self, batch, outputs):
        if not self.smoothing:
            return super().losses(batch, outputs)
        return smoothed_losses(outputs[self.logits], self.labels(batch), self.smoothing)
