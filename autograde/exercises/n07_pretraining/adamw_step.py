"""One step of AdamW for one tensor of weights."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, Forbidden, Random, cases, mistake, values

BETA_1, BETA_2, EPSILON, DECAY = 0.9, 0.999, 1e-6, 0.01


def adamw_step(weight, gradient, m, v, step, rate):
    weight, gradient, m, v = (np.asarray(array, "float64") for array in (weight, gradient, m, v))
    m, v = BETA_1 * m + (1 - BETA_1) * gradient, BETA_2 * v + (1 - BETA_2) * gradient * gradient
    length = np.sqrt(v / (1 - BETA_2**step)) + EPSILON
    shrunk = weight * (1 - rate * DECAY)
    stepped = shrunk - rate * m / (1 - BETA_1**step) / length
    return tuple(np.asarray(array, "float32") for array in (stepped, m, v))


BY_HAND = Case(
    (np.array([2.0, 2.0], "float32"), np.array([0.5, -3.0], "float32"), np.zeros(2, "float32"), np.zeros(2, "float32"),
     1, 0.1),
    note="the example above",
)  # fmt: skip


def _case(rng: Random, shape: tuple, step: int, rate: float, size: float = 1.0, weights: float = 1.0) -> Case:
    """Weights, a gradient and both averages of these sizes, as they may be after some steps."""
    weight, gradient, m = (rng.normal(size=shape) for _ in range(3))
    v = rng.uniform(0.2, 2.0, size=shape)
    arrays = weight * weights, gradient * size, m * size, v * size**2
    return Case((*(np.asarray(array, "float32") for array in arrays), step, rate))


def later_steps(rng: Random) -> list[Case]:
    """Two to a hundred steps; a vector, a matrix, a tensor of three axes, one number; weights far from 0."""
    return [
        _case(rng, (3, 4), int(rng.integers(5, 20)), 0.1, weights=30), _case(rng, (5,), 2, 0.3),
        _case(rng, (2, 3, 2), 100, 0.01, weights=100), _case(rng, (), 7, 0.2), _case(rng, (4, 2), 10_000, 0.5),
    ]  # fmt: skip


def more_steps(rng: Random) -> list[Case]:
    return [_case(rng, (7, 5), int(rng.integers(30, 60)), 0.05, weights=10), _case(rng, (64,), 3, 0.02)]


def first_steps(rng: Random) -> list[Case]:
    """Both averages are 0; gradients of many sizes, all of them so large that ε has no effect."""
    zeros = np.zeros((3, 4), "float32")
    found = [BY_HAND]
    for size in (2.0, 100.0):
        weight, *_ = _case(rng, (3, 4), 1, 0.1).arguments
        gradient = rng.choice([-size, size], (3, 4)) * rng.uniform(0.5, 2, (3, 4))
        found.append(Case((weight, gradient.astype("float32"), zeros, zeros, 1, 0.1)))
    return found


def small_gradients(rng: Random) -> list[Case]:
    """As small as ε, or 0; early and late."""
    zeros = np.zeros(4, "float32")
    weight = rng.normal(size=4).astype("float32")
    return [
        _case(rng, (2, 3), 3, 0.5, size=1e-6), _case(rng, (2, 3), 400, 0.5, size=3e-6),
        Case((weight, zeros, zeros, zeros, 1, 0.5)),
    ]  # fmt: skip


EXERCISE = Exercise(
    reference=adamw_step,
    returns="anything",
    parts=(
        values(2, later_steps, hidden=more_steps),
        cases("first step", 1, first_steps,
            "with averages that are 0, the first step must be as long as the rate, for gradients of any size"),
        cases("small gradients", 1, small_gradients,
            "ε is added to the root of v̂: with a gradient as small as ε the step is half as long, with 0 it is 0"),
    ),
    forbidden=Forbidden("In this exercise you write the optimizer's step yourself.", ("keras.optimizers",)),
    hints=(
        "Five lines: m, v, their corrected versions, and the weight.",
        "The corrected versions are only for the step of the weight. Return m and v as they are, for the next step.",
        "Inside the bracket there are two terms: m̂ / (√v̂ + ε), and λ times the weight. The rate is in front of both.",
    ),
    misconceptions=(
        mistake("no-bias-correction",
            "m_hat, v_hat = m / (1 - BETA_1**step), v / (1 - BETA_2**step)", "m_hat, v_hat = m, v",
            hint="You use m and v without dividing by 1 − β^t. Both begin at 0, so in the first steps they are too "
                 "small, v more than m: the first step is 3.2 times too long. (BERT's own code leaves the correction "
                 "out, too; its warm-up makes up for it. AdamW as published has it.)"),
        mistake("correction-without-the-step", "(1 - BETA_1**step), v / (1 - BETA_2**step)",
            "(1 - BETA_1), v / (1 - BETA_2)",
            hint="You divide by 1 − β in every step, as if each were the first. What is 1 − β^t after a thousand "
                 "steps?"),
        mistake("betas-exchanged",
            "m = BETA_1 * m + (1 - BETA_1)", "m = BETA_2 * m + (1 - BETA_2)",
            "v = BETA_2 * v + (1 - BETA_2)", "v = BETA_1 * v + (1 - BETA_1)",
            "(1 - BETA_1**step), v / (1 - BETA_2**step)", "(1 - BETA_2**step), v / (1 - BETA_1**step)",
            hint="You use β₂ for the gradients and β₁ for their squares. It is the other way round: the squares are "
                 "averaged over more steps."),
        mistake("no-epsilon", "(ops.sqrt(v_hat) + EPSILON)", "ops.sqrt(v_hat)",
            hint="You divide by √v̂ alone. What happens to a weight that had no gradient yet?"),
        mistake("epsilon-inside-the-root", "(ops.sqrt(v_hat) + EPSILON)", "ops.sqrt(v_hat + EPSILON)",
            hint="Your ε is inside of the root, where its effect is √ε = 0.001. It is added after the root."),
        mistake("epsilon-before-the-correction", "m_hat / (ops.sqrt(v_hat) + EPSILON)",
            "m_hat * (1 - BETA_2**step) ** 0.5 / (ops.sqrt(v) + EPSILON)",
            hint="You add ε to the root of v *before* it is corrected (as Keras does, and the efficient form in "
                 "section 2 of Kingma & Ba). Here ε is added to the root of v̂, which matters for small gradients."),
        mistake("decay-in-the-gradient",
            "    m = BETA_1", "    gradient = gradient + DECAY * weight\n    m = BETA_1",
            " + DECAY * weight)", ")",
            hint="You add the decay to the gradient: that is L2 regularization. Adam then divides it by √v̂, so that "
                 "weights with large gradients hardly decay. The W in AdamW: decay beside it, not through it."),
        mistake("decay-without-rate",
            "rate * (m_hat / (ops.sqrt(v_hat) + EPSILON) + DECAY * weight)",
            "rate * m_hat / (ops.sqrt(v_hat) + EPSILON) - DECAY * weight",
            hint="Your weights lose {decay} of themselves in every step, at any rate. The decay is multiplied by "
                 "the rate too: with a rate of 0 nothing moves."),
        mistake("no-decay", " + DECAY * weight)", ")",
            hint="This is Adam. AdamW also takes rate · λ · weight off each weight."),
        mistake("m-and-v-exchanged", "return weight, m, v", "return weight, v, m",
            hint="You return v where m is expected. In the next step Adam would use one for the other."),
        mistake("corrected-averages-kept", "return weight, m, v", "return weight, m_hat, v_hat",
            hint="You return the corrected averages. The next step would correct them once more: return m and v."),
        mistake("uphill", "weight = weight - rate", "weight = weight + rate",
            hint="Your step goes up the gradient, and the weight grows by its decay. Subtract."),
        mistake("steps-counted-from-0", "(1 - BETA_1**step), v / (1 - BETA_2**step)",
            "(1 - BETA_1 ** (step + 1)), v / (1 - BETA_2 ** (step + 1))",
            hint="`step` is 1 in the first step, as in the paper: the exponent is `step` itself."),
        mistake("no-square", "(1 - BETA_2) * gradient**2", "(1 - BETA_2) * gradient",
            hint="v is the average of the *squared* gradients. Without the square it can be negative, without a root."),
    ),
    facts=lambda case: {"decay": f"{DECAY:g}"},
)  # fmt: skip
