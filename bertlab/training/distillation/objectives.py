"""Losses of a student that is far from its teacher, in float32 at any precision, and the objectives of a run.

An objective reads what `StudentAndTeacher` returns. Letters: B batch, T tokens, P predictions, A heads, H width,
V vocabulary, C classes (or tokens of the vocabulary).
"""

from keras import ops

from bertlab.layers.masks import with_heads
from bertlab.training.objectives import MaskedLM, Objective, real_tokens


def soft_target_losses(student_logits, teacher_logits, temperature: float):
    """t² · KL(softmax(teacher / t) ‖ softmax(student / t)) (Hinton et al. 2015, section 2). Both (…, C) → (…) float32.

    The gradient of a soft target shrinks with 1 / t²; the factor t² keeps its size when t changes.
    """
    student = ops.log_softmax(ops.cast(student_logits, "float32") / temperature, axis=-1)
    teacher = ops.log_softmax(ops.cast(teacher_logits, "float32") / temperature, axis=-1)
    return temperature**2 * ops.sum(ops.exp(teacher) * (teacher - student), axis=-1)


def label_losses(student_logits, teacher_logits, temperature: float):
    """`soft_target_losses` for labels of which each is true or not by itself: the two classes of every label.

    Both (…, C) → (…, C) float32.
    """
    pairs = [ops.stack([logits, ops.zeros_like(logits)], axis=-1) for logits in (student_logits, teacher_logits)]
    return soft_target_losses(*pairs, temperature)


def same_choice(student_logits, teacher_logits):
    """Whether the student's highest logit is that of the teacher's highest. Both (…, C) → (…) bool."""
    chosen = ops.equal(teacher_logits, ops.max(teacher_logits, axis=-1, keepdims=True))
    lowest = -float("inf")
    at_chosen = ops.max(ops.where(chosen, student_logits, lowest), axis=-1)
    return at_chosen > ops.max(ops.where(chosen, lowest, student_logits), axis=-1)


def direction_losses(student, teacher):
    """1 − cosine of the angle between two vectors. Both (…, H) → (…) float32."""
    student, teacher = ops.cast(student, "float32"), ops.cast(teacher, "float32")
    lengths = ops.sum(ops.square(student), axis=-1) * ops.sum(ops.square(teacher), axis=-1)
    return 1.0 - ops.sum(student * teacher, axis=-1) / ops.sqrt(lengths + 1e-12)


def vector_losses(student, teacher):
    """The mean squared difference of two vectors. Both (…, H) → (…) float32."""
    return ops.mean(ops.square(ops.cast(student, "float32") - ops.cast(teacher, "float32")), axis=-1)


def score_losses(student, teacher, mask=None):
    """The mean squared difference of attention scores, of every query: over heads and the keys that it may see.

    student, teacher (B, A, T, T) before mask and softmax; mask bool, broadcasting to (B, T, T) → (B, T) float32.
    """
    squares = ops.mean(ops.square(student - teacher), axis=1)  # (B, T, T)
    seen = ops.ones_like(squares)
    if mask is not None:
        seen = seen * ops.cast(with_heads(mask)[:, 0], "float32")
    return ops.sum(squares * seen, axis=-1) / ops.maximum(ops.sum(seen, axis=-1), 1.0)


# === Objectives ===


class _OnMaskedRows(Objective):
    """An objective for which both read masked rows, as the teacher was trained on; rows with masks stay as they are."""

    over_vocabulary = False

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

    def __init__(self, temperature: float, at_all_tokens: bool, factor: float):
        self.temperature, self.at_all_tokens, self.factor = temperature, at_all_tokens, factor
        self.targets = () if at_all_tokens else MaskedLM.targets

    def predictions(self, settings):
        return settings.sequence_length if self.at_all_tokens else settings.max_predictions

    def weights(self, batch):
        return real_tokens(batch) if self.at_all_tokens else batch["masked_lm_weights"]

    def losses(self, batch, outputs):
        return soft_target_losses(outputs["soft_logits"], outputs["teacher_logits"], self.temperature)

    def hits(self, batch, outputs):
        return same_choice(outputs["soft_logits"], outputs["teacher_logits"])


class _Distance(_OnMaskedRows):
    """An objective over all real tokens, (B, T), without right and wrong."""

    targets = ()

    def __init__(self, factor: float):
        self.factor = factor

    def predictions(self, settings):
        return 1

    def weights(self, batch):
        return real_tokens(batch)

    def hits(self, batch, outputs):
        return None


class Direction(_Distance):
    """Do the last layer's vectors point where the teacher's do? (Sanh et al. 2019, section 2: cosine loss)

    Reads last_states, a pair (B, T, H) of the student's (projected if it is narrower) and the teacher's.
    """

    name, short_name = "cosine", "cosine"

    def losses(self, batch, outputs):
        return direction_losses(*outputs["last_states"])


class HiddenStates(_Distance):
    """The distance of each layer's vectors from the teacher's. (Jiao et al. 2020, equations 8 and 9)

    Reads state_pairs, for the embeddings and each layer of the student a pair (B, T, H). The loss is their sum.
    """

    name, short_name = "hidden_states", "hidden states"

    def losses(self, batch, outputs):
        return sum(vector_losses(*pair) for pair in outputs["state_pairs"])


class AttentionScores(_Distance):
    """The distance of each layer's attention scores from the teacher's. (Jiao et al. 2020, equation 7)

    Reads score_pairs, for each layer of the student a pair (B, A, T, T), and the mask. The loss is their sum.
    """

    name, short_name = "attention_scores", "attention scores"

    def losses(self, batch, outputs):
        return sum(score_losses(*pair, outputs["mask"]) for pair in outputs["score_pairs"])
