"""The size of the differences between the tokens of a sentence and their mean, relative to all numbers."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, draws, mistake, sized, values


def token_spread(x):
    differences = x - x.mean(axis=1, keepdims=True)
    return np.sqrt((differences**2).sum(axis=(1, 2)) / (x**2).sum(axis=(1, 2)))


INPUTS = draws(
    __name__,
    Case(([[[1, 0], [0, 1]]],), note="by hand"),
    Case(([[[3, 4], [2, 1]]],), note="of the same shape"),
    Case(([[[2, 1], [2, 1], [2, 1]], [[1, 2], [-1, -2], [0, 0]]],), note="all tokens equal, and a mean of 0"),
    sized(scale={"x": 0.01}),
    sized(tokens=70),
)

EXERCISE = Exercise(
    reference=token_spread,
    parts=(values(2, INPUTS),),
    hints=(
        "There are two lengths per sentence, each a root of a sum of squares over two axes: one of the differences "
        "from the mean token, one of x itself.",
        "The mean token is a mean over the axis of tokens, and keeps that axis (`keepdims=True`), so that it can be "
        "subtracted from every token.",
        "Sum over the axes 1 and 2, `axis=(1, 2)`; divide; the root of the quotient is the quotient of the roots.",
    ),
    misconceptions=(
        mistake("mean-of-each-token", "axis=1, keepdims=True", "axis=-1, keepdims=True",
            hint="You subtract from each token the mean of its own numbers, as LayerNorm does. Subtract the mean "
                 "token: the mean over the axis of tokens."),
        mistake("mean-of-all-sentences", "axis=1, keepdims=True", "axis=(0, 1), keepdims=True",
            hint="Your mean is over all sentences. Each sentence has a mean token of its own."),
        mistake("mean-of-all-numbers", "axis=1, keepdims=True", "axis=(1, 2), keepdims=True",
            hint="Your mean is a single number for each sentence. The mean token is a vector: which axis does the mean "
                 "leave alone?"),
        mistake("one-number-per-batch", "differences = ops.sum(ops.square(x - mean), axis=(1, 2))",
            "differences = ops.sum(ops.square(x - mean))",
            "everything = ops.sum(ops.square(x), axis=(1, 2))", "everything = ops.sum(ops.square(x))",
            hint="You sum over the whole batch. The result has one number for each sentence."),
        mistake("root-forgotten", "ops.sqrt(differences / everything)", "differences / everything",
            hint="You divide the squares. A length is the root of a sum of squares."),
        mistake("not-relative", "differences / everything", "differences",
            hint="This is the length of the differences alone, which grows with the numbers. Divide by the length "
                 "of x."),
        mistake("relative-to-the-mean", "ops.sum(ops.square(x), axis=(1, 2))",
            "ops.sum(ops.square(mean + 0 * x), axis=(1, 2))",
            hint="You divide by the length of the mean token, repeated. Divide by the length of x."),
        mistake("relative-to-the-centred",
            "ops.square(x), axis=(1, 2))", "ops.square(x - ops.mean(x, axis=(1, 2), keepdims=True)), axis=(1, 2))",
            hint="You subtract a mean in the denominator, too. There is x itself."),
        mistake("sums-of-lengths", "ops.sqrt(differences / everything)",
            "ops.sum(ops.norm(x - mean, axis=-1), axis=1) / ops.sum(ops.norm(x, axis=-1), axis=1)",
            hint="You take a root for each token and add up these lengths. ‖X‖ is a single root, of the sum of all "
                 "squares."),
        mistake("token-by-token", "ops.sqrt(differences / everything)",
            "ops.mean(ops.norm(x - mean, axis=-1) / ops.norm(x, axis=-1), axis=1)",
            hint="You divide for each token and take the mean. First sum over all tokens, then divide once."),
    ),
)  # fmt: skip
