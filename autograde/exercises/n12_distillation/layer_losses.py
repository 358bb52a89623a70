"""TinyBERT's losses of one layer."""

import numpy as np

from autograde.exercises.n12_distillation._shared import READY_MADE
from autograde.exercises.writing import Exercise, Part, Random, Slopes, Trial, draws, mistake, normal, sized, values

INPUTS = draws(
    __name__,
    sized(batch=2, heads=3, tokens=4, narrow=3, wide=5),
    sized(batch=3, heads=2, tokens=6, narrow=4, wide=4),  # a projection that could be turned
    sized(batch=2, heads=2, tokens=5, narrow=2, wide=6, scale={"student_scores": 8, "teacher_scores": 8}),
)


def layer_losses(student_scores, teacher_scores, student_hidden, teacher_hidden, w_h):
    scores = np.mean([(s - t) ** 2 for s, t in zip(student_scores.ravel(), teacher_scores.ravel())])
    translated = np.einsum("bln,nw->blw", student_hidden, w_h)
    return np.array([scores, np.mean((translated - teacher_hidden) ** 2)])


def gradients(rng: Random) -> list[Trial]:
    """The gradients of both losses; W_h is learnt, too."""
    case = INPUTS.case(rng)
    shapes = [array.shape for array in case.arguments]
    return [
        Trial((case,), (Slopes(np.array([1.0, 0.0]), {0: normal(rng, *shapes[0])}),)),
        Trial((case,), (Slopes(np.array([0.0, 1.0]), {2: normal(rng, *shapes[2]), 4: normal(rng, *shapes[4])}),)),
    ]


EXERCISE = Exercise(
    reference=layer_losses,
    in_graph=True,
    parts=(
        values(3, INPUTS),
        Part("gradients", 1, gradients, "gradients must reach the student's scores and hidden states, and w_h"),
    ),
    forbidden=READY_MADE,
    facts=lambda case: {"heads": case.arguments[0].shape[1], "narrow": case.arguments[2].shape[-1],
                        "wide": case.arguments[3].shape[-1]},
    hints=(
        "Each loss is `ops.mean(ops.square(…))` of a difference, over all axes.",
        "The student's hidden states, {narrow} numbers each, times w_h have {wide}, as the teacher's.",
    ),
    misconceptions=(
        mistake("after-the-softmax", "ops.square(student_scores - teacher_scores)",
            "ops.square(ops.softmax(student_scores, axis=-1) - ops.softmax(teacher_scores, axis=-1))",
            hint="You compare the weights after the softmax. TinyBERT compares the scores before it."),
        mistake("summed-over-heads", "ops.mean(ops.square(student_scores - teacher_scores))",
            "ops.mean(ops.sum(ops.square(student_scores - teacher_scores), axis=1))",
            hint="You sum over the {heads} heads: the loss grows with their number. Take the mean over them, too."),
        mistake("absolute-differences", "ops.square(student_scores", "ops.abs(student_scores",
            hint="You take absolute differences of the scores. Both losses are means of squares."),
        mistake("root-of-the-mean", "ops.mean(ops.square(student_scores - teacher_scores))",
            "ops.sqrt(ops.mean(ops.square(student_scores - teacher_scores)))",
            hint="You take the root of the mean of squares. The loss is the mean itself, without a root."),
        mistake("sums", "ops.mean(ops.square(ops.matmul", "ops.sum(ops.square(ops.matmul",
            hint="Your loss of the hidden states is a sum: it grows with the batch. Take the mean."),
        mistake("other-order", "[attention, hidden]", "[hidden, attention]",
            hint="You return the losses in the other order: first that of the scores, then that of the hidden states."),
        mistake("added", "[attention, hidden]", "[attention + hidden, hidden]",
            hint="The first result is the loss of the scores alone."),
    ),
)  # fmt: skip
