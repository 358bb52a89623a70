"""Fractions of a head's attention: on itself, neighbours, [CLS], [SEP]; and its entropy."""

import math

import numpy as np

from autograde.exercises.n10_inside_bert._shared import LIBRARY, NUMBERS, attention_rows
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values


def pattern(attention, is_separator):
    """Map by map and token by token."""
    tokens = attention.shape[-1]
    result = np.zeros((*attention.shape[:-2], 6))
    for index in np.ndindex(attention.shape[:-2]):
        rows = attention[index]
        near = [[rows[i, i + step] for i in range(tokens) if 0 <= i + step < tokens] for step in (0, -1, 1)]
        separators = [sum(row[j] for j in range(tokens) if is_separator[j] == 1) for row in rows]
        entropies = [-sum(p * math.log(p) for p in row if p > 0) for row in rows]
        columns = [*near, [row[0] for row in rows], separators, entropies]
        result[index] = [math.fsum(column) / len(column) for column in columns]
    return result


BY_HAND = Case(
    (np.array([[4, 2, 1, 1], [2, 2, 2, 2], [1, 4, 1, 2], [4, 1, 2, 1]]) / 8, np.array([0, 0, 0, 1])),
    note="the example above",
)  # fmt: skip


def separators(tokens: int, *places: int) -> np.ndarray:
    is_separator = np.zeros(tokens, int)
    is_separator[list(places)] = 1
    return is_separator


def maps(rng: Random) -> list[Case]:
    """One text and a pair of texts; layers and heads in front; two tokens."""
    return [
        BY_HAND,
        Case((attention_rows(rng, 5, 5), separators(5, 4))),
        Case((attention_rows(rng, 3, 7, 7), separators(7, 3, 6))),
        Case((attention_rows(rng, 2, 2, 4, 4), separators(4, 3))),
        Case((attention_rows(rng, 2, 2), separators(2, 1))),
    ]


def weights_of_zero(rng: Random) -> list[Case]:
    """Heads that look at one token alone, as some trained ones nearly do; a mask hides the last two tokens."""
    previous = np.eye(5)[[0, 0, 1, 2, 3]]
    hidden = attention_rows(rng, 2, 6, 6)
    hidden[..., 4:] = 0
    return [Case((previous, separators(5, 4))), Case((hidden / hidden.sum(-1, keepdims=True), separators(6, 3)))]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="NumPy array",
    dtype="float64",
    reference=pattern,
    tolerance=NUMBERS,
    parts=(
        values(3, maps, hidden=lambda rng: [Case((attention_rows(rng, 2, 1, 9, 9), separators(9, 4, 8)))]),
        cases("weights of 0", 1, weights_of_zero, "where a weight is 0 the result is wrong: in the entropy 0 · ln 0 "
            "counts as 0"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Rows ask, columns are looked at. Each of the six numbers is a mean over rows.",
        "`np.diagonal(attention, offset, -2, -1)`: offset 0 is the diagonal; −1 and +1 are beside it, one shorter.",
        "For the entropy replace weights of 0 by 1 inside of the logarithm: 0 · ln 1 is 0.",
    ),
    misconceptions=(
        mistake("neighbours-exchanged", "for offset in (0, -1, 1)", "for offset in (0, 1, -1)",
            hint="You have previous and next the other way round. Row i, column i − 1 is the token before."),
        mistake("neighbours-over-all-tokens", "diagonal.mean(axis=-1)", "diagonal.sum(axis=-1) / attention.shape[-1]",
            hint="You divide by all tokens. The first one has none before it, the last one none behind it: divide by "
                 "T − 1 there."),
        mistake("divided-by-all-cells", "diagonal.mean(axis=-1)", "diagonal.sum(axis=-1) / attention.shape[-1] ** 2",
            hint="You divide by T². Each row has a weight of 1 to give, so there is 1 per *row*."),
        mistake("from-the-separator", "attention[..., is_separator == 1].sum(axis=-1).mean(axis=-1)",
            "attention[..., is_separator == 1, :].sum(axis=-2).mean(axis=-1)",
            hint="You take the rows of [SEP]: what [SEP] looks at. Asked is what goes *to* it, its columns."),
        mistake("mean-of-the-separators", "attention[..., is_separator == 1].sum(axis=-1).mean(axis=-1)",
            "attention[..., is_separator == 1].mean(axis=-1).mean(axis=-1)",
            hint="Right for one [SEP]. A pair of texts has two: add what goes to both."),
        mistake("from-cls", "attention[..., 0].mean(axis=-1)", "attention[..., 0, :].mean(axis=-1)",
            hint="You take the row of [CLS], what it looks at. Attention *to* [CLS] is the first *column*."),
        mistake("bits", "np.log(", "np.log2(",
            hint="Your entropy is in bits. Here it is in nats: the natural logarithm."),
        mistake("entropy-of-the-mean", "(-(attention * logs).sum(axis=-1)).mean(axis=-1)",
            "-(attention.mean(axis=-2) * np.log(attention.mean(axis=-2))).sum(axis=-1)",
            hint="You take the entropy of the mean row. A head whose rows each look at one token, another one each "
                 "time, then seems spread out: take each row's entropy, then the mean."),
        mistake("mean-over-heads", "return np.stack(parts, axis=-1)",
            "result = np.stack(parts, axis=-1)\n    return result.reshape(-1, 6).mean(axis=0)",
            hint="You average over the heads. Each head is to have its own six numbers: the axes in front stay."),
        mistake("logarithm-of-zero", "np.where(attention > 0, attention, 1.0)", "attention",
            hint="The logarithm of a weight of 0 is −∞, and 0 · −∞ is NaN. In an entropy it counts as 0."),
    ),
)  # fmt: skip
