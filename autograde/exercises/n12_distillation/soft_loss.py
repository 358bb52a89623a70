"""The distance between the softened probabilities of a student and its teacher."""

from autograde.exercises.n12_distillation._shared import READY_MADE, soft_losses, temperature
from autograde.exercises.writing import Case, Exercise, Part, Random, Slopes, Trial, cases, draws, mistake, normal

INPUTS = draws(__name__, scale={"student_logits": 2, "teacher_logits": 2}, temperature=temperature)


def inputs(rng: Random) -> list[Trial]:
    """Also a student with a probability of about 1e-8: its logarithm is far from that of 0 and from that of 1e-7."""
    student, teacher = normal(rng, 3, 5), normal(rng, 3, 5)
    student[:, 2] -= 27
    return [Trial((case,)) for case in (*INPUTS(rng), Case((student, teacher, 1.5)))]


def student_gradients(rng: Random) -> list[Trial]:
    """The teacher's logits need none: an answer may stop their gradient."""
    student, teacher, t = INPUTS.case(rng).arguments
    slopes = Slopes(normal(rng, *student.shape[:-1]), {0: normal(rng, *student.shape)})
    return [Trial((Case((student, teacher, t)),), (slopes,))]


def sure_teachers(rng: Random) -> list[Case]:
    """A probability of the teacher is rounded to 0, and one of the student's."""
    student, teacher = normal(rng, 3, 6, size=2), normal(rng, 3, 6, size=2)
    teacher[:, 1] += 250
    student[1, 4] -= 250
    return [Case((student, teacher, 2.0)), Case((teacher, student, 2.0))]


EXERCISE = Exercise(
    reference=soft_losses,
    in_graph=True,
    parts=(
        Part("values", 2, inputs, hidden=lambda rng: [Trial((case,)) for case in INPUTS.hidden(rng)]),
        Part("gradients", 1, student_gradients, "gradients must reach the student's logits"),
        cases("sure teachers", 1, sure_teachers, "logits that lie hundreds apart must give a finite, right loss"),
    ),
    forbidden=READY_MADE,
    facts=lambda case: {"t": f"{case.arguments[2]:g}", "squared": f"{case.arguments[2] ** 2:g}"},
    hints=(
        "Both logits are divided by the temperature, and both go through `ops.log_softmax`.",
        "KL is a sum over the classes: the teacher's probabilities times the difference of the logarithms. "
        "`ops.exp` of the teacher's logarithms gives its probabilities.",
        "At last times `temperature**2`; no mean.",
    ),
    misconceptions=(
        mistake("the-other-way", "ops.exp(log_p) * (log_p - log_q)", "ops.exp(log_q) * (log_q - log_p)",
            hint="This is KL(student ‖ teacher). The teacher's probabilities weight the sum, and its logarithm comes "
                 "first: KL(teacher ‖ student)."),
        mistake("no-squared-temperature", "temperature**2 * ", "",
            hint="The factor T² = {squared} is missing: at a high temperature the gradient would be too small."),
        mistake("temperature-not-squared", "temperature**2", "temperature",
            hint="You multiply by T = {t}; the factor is T² = {squared}."),
        mistake("no-temperature", "student_logits / temperature", "student_logits", "teacher_logits / temperature",
            "teacher_logits",
            hint="Your probabilities are those at T = 1. Divide both logits by the temperature, {t}."),
        mistake("teacher-at-one", "teacher_logits / temperature", "teacher_logits",
            hint="You soften the student's probabilities and not the teacher's. Both have the same temperature, {t}."),
        mistake("cross-entropy", "ops.exp(log_p) * (log_p - log_q)", "-ops.exp(log_p) * log_q",
            hint="This is the cross-entropy. Its gradient is the same, but it is not 0 where both agree: subtract the "
                 "teacher's entropy, Σ p (log p − log q)."),
        mistake("hard-labels", "ops.exp(log_p) * (log_p - log_q)",
            "ops.one_hot(ops.argmax(log_p, axis=-1), log_p.shape[-1]) * (log_p - log_q)",
            hint="You use the teacher's best class alone. The others are what a label cannot teach: weight all "
                 "classes with the teacher's probabilities."),
        mistake("mean-over-classes", "ops.sum(", "ops.mean(",
            hint="You take a mean over the classes. KL is a sum."),
        mistake("mean-of-all", "ops.sum(ops.exp(log_p) * (log_p - log_q), axis=-1)",
            "ops.mean(ops.sum(ops.exp(log_p) * (log_p - log_q), axis=-1))",
            hint="You return one mean. Return the loss of each prediction: 12.4 leaves out the padding."),
        mistake("logarithm-cut-off", "ops.log_softmax(student_logits / temperature, axis=-1)",
            "ops.log(ops.softmax(student_logits / temperature, axis=-1) + 1e-7)",
            hint="No logarithm in yours is below −16: what you add inside of it hides how small a probability is. "
                 "`ops.log_softmax` needs no such help."),
        mistake("log-of-a-softmax", "ops.log_softmax(student_logits / temperature, axis=-1)",
            "ops.log(ops.softmax(student_logits / temperature, axis=-1))",
            hint="Right for small logits. For large ones a probability is rounded to 0, whose logarithm is −∞: use "
                 "`ops.log_softmax`."),
    ),
)  # fmt: skip
