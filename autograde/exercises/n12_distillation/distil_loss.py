"""DistilBERT's loss: the teacher's probabilities, the original tokens, and the direction of the last hidden state."""

import numpy as np

from autograde.exercises.n07_pretraining._shared import log_softmax, predictions_of
from autograde.exercises.n12_distillation._shared import READY_MADE, soft_losses
from autograde.exercises.writing import Case, Exercise, Part, Random, Slopes, Trial, mistake, normal, values


def distil_loss(student_logits, teacher_logits, labels, weights, student_hidden, teacher_hidden, is_real):
    soft = np.sum(soft_losses(student_logits, teacher_logits, 2.0) * weights) / (weights.sum() + 1e-5)
    hard = -np.take_along_axis(log_softmax(student_logits), labels[..., None], axis=-1)[..., 0]
    mlm = np.sum(hard * weights) / (weights.sum() + 1e-5)
    angles = [
        1 - student @ teacher / np.sqrt((student @ student) * (teacher @ teacher))
        for student, teacher, real in zip(*map(_rows, (student_hidden, teacher_hidden)), is_real.ravel())
        if real
    ]
    return np.array(5 * soft + 2 * mlm + np.mean(angles))


def _rows(x):
    return x.reshape(-1, x.shape[-1])


def batch(rng: Random, rows: int, predictions: int, pieces: int, tokens: int, hidden: int) -> Case:
    """The rows have different numbers of predictions and of tokens; the hidden states differ in length."""
    student, labels, weights = predictions_of(rng, rows, predictions, pieces)
    lengths = 1 + (rng.integers(1, tokens) + 2 * np.arange(rows)) % tokens
    is_real = (np.arange(tokens) < lengths[:, None]).astype("int32")
    states = normal(rng, rows, tokens, hidden), 3 * normal(rng, rows, tokens, hidden)
    return Case((student, normal(rng, rows, predictions, pieces, size=2), labels, weights, *states, is_real))


def batches(rng: Random) -> list[Case]:
    return [batch(rng, 3, 4, 7, 5, 4), batch(rng, 2, 3, 5, 6, 3)]


def other_batches(rng: Random) -> list[Case]:
    return [batch(rng, 1, 5, 9, 4, 2), batch(rng, 5, 2, 4, 8, 6)]


def padding_changed(rng: Random) -> list[Trial]:
    """Numbers of the student where there is padding have no effect, and no gradient."""
    case = batch(rng, 3, 4, 6, 5, 4)
    student, teacher, labels, weights, hidden, of_teacher, is_real = case.arguments
    weights[0], is_real[0] = (1, 1, 0, 0), (1, 1, 1, 0, 0)
    student, hidden = student.copy(), hidden.copy()
    student[0, 2:] += 3 * normal(rng, 2, 6)
    hidden[0, 3:] = normal(rng, 2, 4)
    changed = Case((student, teacher, labels, weights, hidden, of_teacher, is_real))
    directions = {0: normal(rng, *student.shape), 4: normal(rng, *hidden.shape)}
    return [Trial((case,)), Trial((changed,)), Trial((case,), (Slopes(np.array(1.0), directions),))]


EXERCISE = Exercise(
    reference=distil_loss,
    in_graph=True,
    parts=(
        values(3, batches, hidden=other_batches),
        Part("padding", 2, padding_changed, "padding, among predictions and among tokens, must have no effect, and "
            "gradients must pass through"),
    ),
    forbidden=READY_MADE,
    facts=lambda case: {"padded": int((case.arguments[6] == 0).sum())},
    hints=(
        "Write the three parts as three lines, and add them at the end with their factors.",
        "Each of the first two is a mean of predictions: times `weights`, summed, over the sum of the weights plus "
        "1e-5. `mlm_loss` does that already.",
        "cos = sum(a · b) / (length(a) · length(b)), for each token; `ops.norm(…, axis=-1)` is the length.",
    ),
    misconceptions=(
        mistake("plus-cosine", "1 - products / lengths", "1 + products / lengths",
            hint="You add the cosine: the student learns to point away from its teacher. The loss is 1 − cos."),
        mistake("cosine-alone", "1 - products / lengths", "products / lengths",
            hint="You use the cosine itself. It is 1 where both agree: the loss is 1 − cos."),
        mistake("minus-cosine", "1 - products / lengths", "0 - products / lengths",
            hint="Your third part is −1 where both vectors agree. A loss that is 0 there says how far they still "
                 "have to go."),
        mistake("product-not-cosine", "products / lengths", "products",
            hint="You use the dot product. The cosine divides it by both lengths."),
        mistake("padding-in-the-cosine", "ops.sum((1 - products / lengths) * real) / ops.sum(real)",
            "ops.mean(1 - products / lengths)",
            hint="Your cosine loss is a mean over all tokens, also over the {padded} of padding. Take the real ones "
                 "alone."),
        mistake("padding-in-the-soft-loss", "ops.sum(softs * weights) / (ops.sum(weights) + 1e-5)", "ops.mean(softs)",
            hint="Your soft loss is a mean over all predictions, also those with weight 0."),
        mistake("temperature-one", "teacher_logits, 2.0)", "teacher_logits, 1.0)",
            hint="Your soft loss has temperature 1; DistilBERT's is 2."),
        mistake("no-factors", "5 * soft + 2 * mlm_loss(student_logits, labels, weights) + cosine",
            "soft + mlm_loss(student_logits, labels, weights) + cosine",
            hint="All three parts count the same. Their factors are 5, 2 and 1."),
        mistake("factors-exchanged", "5 * soft + 2 * mlm", "2 * soft + 5 * mlm",
            hint="You exchanged two factors: 5 is for the teacher's probabilities, 2 for the original tokens."),
        mistake("teachers-mlm-loss", "mlm_loss(student_logits, labels, weights)",
            "mlm_loss(teacher_logits, labels, weights)",
            hint="Your MLM loss reads the teacher's logits, which nothing can change. It is the student that learns."),
        mistake("turned", "soft_loss(student_logits, teacher_logits, 2.0)",
            "soft_loss(teacher_logits, student_logits, 2.0)",
            hint="You exchanged student and teacher in the soft loss."),
    ),
)  # fmt: skip
