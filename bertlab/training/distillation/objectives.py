"""The objectives of the general stage: a student resembles its teacher on the rows of pre-training.

Each reads what `StudentAndTeacher` returns. Letters: B batch, T tokens, P predictions, V vocabulary, H width.
"""

from keras import ops

from bertlab.training.distillation import losses
from bertlab.training.objectives import MaskedLM, Objective


def real(batch):
    """1 at every token that is not padding, else 0: (B, T) float32."""
    if "sequence_ids" in batch:
        return ops.cast(batch["sequence_ids"] > 0, "float32")
    return ops.cast(batch.get("attention_mask", ops.ones_like(batch["input_ids"])), "float32")


class _OnMaskedRows(Objective):
    """An objective for which both read masked rows, as the teacher was trained on; rows with masks stay as they are."""

    def collators(self, settings, vocabulary, seed):
        return MaskedLM().collators(settings, vocabulary, seed)


class SoftTargets(_OnMaskedRows):
    """Which probability does the teacher give to each token? (Hinton et al. 2015; Sanh et al. 2019, section 2)

    Reads soft_logits and teacher_logits, at the masked positions (B, P, V) or at all tokens (B, T, V).
    Right is a student whose most likely token is the teacher's.

    Args:
        temperature: divides both logits before the softmax.
        at_all_tokens: whether its items are all real tokens; else the masked ones.
        factor: in the sum of the losses.
    """

    name, short_name = "soft_targets", "as the teacher"
    head, logits = MaskedLM.head, "soft_logits"
    over_vocabulary = False

    def __init__(self, temperature: float, at_all_tokens: bool, factor: float):
        self.temperature, self.at_all_tokens, self.factor = temperature, at_all_tokens, factor
        self.targets = () if at_all_tokens else MaskedLM.targets

    def predictions(self, settings):
        return settings.sequence_length if self.at_all_tokens else settings.max_predictions

    def labels(self, batch, outputs):
        return ops.argmax(outputs["teacher_logits"], axis=-1)

    def weights(self, batch):
        return real(batch) if self.at_all_tokens else batch["masked_lm_weights"]

    def losses(self, batch, outputs):
        return losses.soft_target_losses(outputs["soft_logits"], outputs["teacher_logits"], self.temperature)

    def hits(self, batch, outputs):
        return losses.same_choice(outputs["soft_logits"], outputs["teacher_logits"])


class _Distance(_OnMaskedRows):
    """An objective over all real tokens, (B, T), without right and wrong."""

    head, logits, targets, over_vocabulary = "", "", (), False

    def __init__(self, factor: float):
        self.factor = factor

    def predictions(self, settings):
        return 1

    def labels(self, batch, outputs):
        return ops.zeros_like(batch["input_ids"])

    def weights(self, batch):
        return real(batch)

    def hits(self, batch, outputs):
        return None


class Direction(_Distance):
    """Do the last layer's vectors point where the teacher's do? (Sanh et al. 2019, section 2: cosine loss)

    Reads last_states, a pair (B, T, H) of the student's (projected if it is narrower) and the teacher's.
    """

    name, short_name = "cosine", "cosine"

    def losses(self, batch, outputs):
        return losses.direction_losses(*outputs["last_states"])


class HiddenStates(_Distance):
    """The distance of each layer's vectors from the teacher's. (Jiao et al. 2020, equations 8 and 9)

    Reads state_pairs, for the embeddings and each layer of the student a pair (B, T, H). The loss is their sum.
    """

    name, short_name = "hidden_states", "hidden states"

    def losses(self, batch, outputs):
        return sum(losses.vector_losses(*pair) for pair in outputs["state_pairs"])


class AttentionScores(_Distance):
    """The distance of each layer's attention scores from the teacher's. (Jiao et al. 2020, equation 7)

    Reads score_pairs, for each layer of the student a pair (B, A, T, T), and the mask. The loss is their sum.
    """

    name, short_name = "attention_scores", "attention scores"

    def losses(self, batch, outputs):
        return sum(losses.score_losses(*pair, outputs["mask"]) for pair in outputs["score_pairs"])
