"""Finding replaced tokens (Clark et al. 2020, "ELECTRA", section 2). Letters: B batch, T tokens.

Sources of the numbers: google-research/electra, configure_pretraining.py (factors 1 and 50, temperature 1, right
guesses count as original) and pretrain_helpers.py, `mask` (85% of the predicted tokens become [MASK], the others stay).
"""

from keras import ops

from bertlab.training.objectives.base import Objective
from bertlab.training.objectives.masked_lm import MaskedLM


class GeneratorMaskedLM(MaskedLM):
    """The generator's objective: `MaskedLM`, but no token is replaced by a random one. 85% become [MASK], 15% stay.

    Rows that were stored with masks (static masking) keep those.

    Example:
        >>> from bertlab.data.pretraining.settings import ExampleSettings
        >>> vocabulary = Vocabulary([*SPECIAL_TOKENS, "the", "house"])
        >>> [collator] = GeneratorMaskedLM().collators(ExampleSettings(), vocabulary, seed=1)
        >>> collator.settings.mask_share, collator.settings.random_share
        (0.85, 0.0)
    """

    def collators(self, settings, vocabulary, seed):
        return super().collators(settings.replace(mask_share=0.85, random_share=0.0, keep_share=0.15), vocabulary, seed)


class ReplacedToken(Objective):
    """Is this token the original one, or did the generator replace it? Asked at every token that is not padding.

    Reads replaced_logits (B, T) and is_replaced (B, T) of a `GeneratorAndDiscriminator`. The accuracy is that of
    "replaced" where the score is positive; most tokens are original, so an accuracy near 90% may be a guess.

    Example:
        >>> scores, is_replaced = ops.array([[3.0, -3.0, -3.0]]), ops.array([[True, False, True]])
        >>> hits = ReplacedToken().hits({}, {"replaced_logits": scores, "is_replaced": is_replaced})
        >>> ops.convert_to_numpy(hits).tolist()
        [[True, True, False]]
    """

    name, short_name = "replaced_token", "replaced"
    head, logits = "detection_head", "replaced_logits"
    targets = MaskedLM.targets
    over_vocabulary = False
    factor = 50.0

    def predictions(self, settings):
        return settings.sequence_length

    def labels(self, batch, outputs):
        return outputs["is_replaced"]  # (B, T)

    def weights(self, batch):
        if "sequence_ids" in batch:
            return ops.cast(batch["sequence_ids"] > 0, "float32")  # (B, T)
        return ops.cast(batch.get("attention_mask", ops.ones_like(batch["input_ids"])), "float32")

    def losses(self, batch, outputs):
        logits, labels = (ops.cast(values, "float32") for values in (outputs[self.logits], self.labels(batch, outputs)))
        return ops.softplus(logits) - labels * logits  # −log σ(±logit)

    def hits(self, batch, outputs):
        return ops.equal(outputs[self.logits] > 0, self.labels(batch, outputs))
