"""The length of the gradient of what a reader returns, for each word, by distance from the end."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, normal, taking, values


def gradient_by_distance(weights, x):
    """The derivative of h_n is multiplied from the right by one matrix for each step back."""
    w, u, b = weights
    states = [np.zeros(len(u))]
    for word in x:
        states.append(np.tanh(word @ w + states[-1] @ u + b))
    norms, back = [], np.eye(len(u))  # of the last state with respect to the state of this step
    for state in states[:0:-1]:
        inside = back * (1 - state**2)
        norms.append(np.linalg.norm(inside @ w.T))
        back = inside @ u.T
    return np.array(norms)


def reading(rng: Random, tokens: int, d: int, units: int, growth: float = 0.8) -> Case:
    """Words, and the weights of an RNN whose U is a turn times `growth`."""
    turn = np.linalg.qr(rng.normal(size=(units, units)))[0]
    weights = [normal(rng, d, units, size=0.4), (turn * growth).astype("float32"), normal(rng, units, size=0.2)]
    return Case((weights, normal(rng, tokens, d)))


def readings(rng: Random) -> list[Case]:
    return [reading(rng, *sizes) for sizes in ((3, 2, 2), (4, 2, 3), (3, 3, 3), (7, 4, 1), (1, 3, 2), (5, 1, 4))]


def far_and_near(rng: Random) -> list[Case]:
    """A state that forgets at once, so that all but the last word have a gradient of 0; and one that grows."""
    return [reading(rng, 4, 2, 3, growth=0.0), reading(rng, 6, 2, 3, growth=1.6)]


EXERCISE = Exercise(
    probe=taking("last_state"),
    reference=gradient_by_distance,
    parts=(
        values(2, readings, hidden=lambda rng: [reading(rng, *map(int, rng.integers(1, 6, size=3)))]),
        cases("forgets or grows", 1, far_and_near,
            "if the state forgets a word at once, or grows, the lengths are wrong"),
    ),
    hints=(
        "`tape.watch(x)` first: x is no variable, and a tape follows only what it watches.",
        "`tape.jacobian(state, x)` has a derivative for each unit, word and number: (units, tokens, d).",
        "The Frobenius norm is the root of the sum of all squares, here over units and d: (tokens,). Then reverse it.",
    ),
    misconceptions=(
        mistake("not-reversed", "return ops.flip(norms, axis=0)", "return norms",
            hint="Your numbers are in the order of the sentence. Number 0 belongs to the last word, distance 0."),
        mistake("of-the-sum", "tape.jacobian(state, x, experimental_use_pfor=False)", "tape.gradient(state, x)[None]",
            hint="`tape.gradient` of a vector is the gradient of the *sum* of its numbers: units that move in "
                 "opposite directions cancel. `tape.jacobian` keeps them apart."),
        mistake("squared", "ops.sqrt(ops.sum(jacobian**2, axis=(0, 2)))", "ops.sum(jacobian**2, axis=(0, 2))",
            hint="This is the square of the length: the root is missing."),
        mistake("summed-without-squares", "ops.sqrt(ops.sum(jacobian**2, axis=(0, 2)))",
            "ops.sum(ops.abs(jacobian), axis=(0, 2))",
            hint="You add up absolute values. The length of a gradient is the root of the sum of squares."),
        mistake("mean-of-squares", "ops.sum(jacobian**2", "ops.mean(jacobian**2",
            hint="You average the squares; the Frobenius norm adds them up."),
        mistake("over-the-words", "axis=(0, 2)", "axis=(0, 1)",
            hint="You keep the axis of the d numbers and sum over the words. Keep the words: sum over axes 0 and 2."),
    ),
)  # fmt: skip
