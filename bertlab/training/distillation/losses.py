"""Losses that measure how far a student is from its teacher, in float32 at any precision of the models.

Letters: B batch, T tokens, A heads, H width, C classes (or tokens of the vocabulary).
"""

from keras import ops

from bertlab.layers.masks import with_heads


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

    def two_classes(logits):
        return ops.stack([logits, ops.zeros_like(logits)], axis=-1)

    return soft_target_losses(two_classes(student_logits), two_classes(teacher_logits), temperature)


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
