"""Attention between words from attention between tokens."""

import numpy as np

from autograde.exercises.n10_inside_bert._shared import LIBRARY, NUMBERS, attention_rows
from autograde.exercises.writing import Case, Exercise, Part, Random, Sums, Trial, cases, mistake, plain_function


def word_attention(attention, words):
    """Cell by cell: the mean over the asking word's tokens of the sum over the other word's tokens."""
    count = max(words) + 1
    of_word = [[token for token, word in enumerate(words) if word == number] for number in range(count)]
    result = np.zeros((*attention.shape[:-2], count, count))
    for row, column in np.ndindex(count, count):
        sums = [sum(attention[..., token, other] for other in of_word[column]) for token in of_word[row]]
        result[..., row, column] = sum(sums) / len(sums)
    return result


BY_HAND = Case(
    (np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.75, 0.0, 0.25]]), [0, 1, 1]), note="the example above"
)


def cut_words(rng: Random, counts: tuple[int, ...], *front: int) -> Case:
    """Words of these numbers of tokens."""
    words = [word for word, count in enumerate(counts) for _ in range(count)]
    return Case((attention_rows(rng, *front, len(words), len(words)), words))


def whole_rows(rng: Random) -> list[Trial]:
    """Every token belongs to a word, so that rows still sum to 1; with layers and heads in front, too."""
    drawn = [cut_words(rng, (1, 3, 1, 2)), cut_words(rng, (2, 1), 3), cut_words(rng, (1, 1, 4), 2, 2)]
    alone = [cut_words(rng, (3,)), cut_words(rng, (1, 1, 1, 1))]
    return [Trial((case,), (*Trial(()).claims, Sums(1.0))) for case in (BY_HAND, *drawn, *alone)]


def with_specials(rng: Random) -> list[Case]:
    """[CLS] in front and [SEP] behind; [SEP] in the middle of two texts."""
    row = [-1, 0, 0, 1, 2, 2, 2, -1]
    pair = [-1, 0, 1, 1, -1, 2, 3, 3, -1]
    return [Case((attention_rows(rng, 8, 8), row)), Case((attention_rows(rng, 2, 9, 9), pair))]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="NumPy array",
    dtype="float64",
    reference=word_attention,
    tolerance=NUMBERS,
    parts=(
        Part("values", 2, whole_rows,
            hidden=lambda rng: [Trial((cut_words(rng, tuple(map(int, rng.integers(1, 5, size=6))), 2),))]),
        cases("[CLS] and [SEP]", 1, with_specials, "with [CLS] and [SEP] the result is wrong: neither is a word, and "
            "attention to them belongs to no word",
            lambda rng: [Case((attention_rows(rng, 2, 3, 6, 6), [-1, 0, 1, 1, 2, -1]))]),
    ),
    forbidden=LIBRARY,
    hints=(
        "Two steps: first put columns together, then rows. One of them is a sum, the other a mean.",
        "`np.array(words)[:, None] == np.arange(count)` says which token (row) belongs to which word (column).",
        "Times that matrix, `attention` has a column for each word. Its transpose from the left does the same for "
        "rows; divide by the number of tokens of each word.",
    ),
    misconceptions=(
        mistake("mean-both", "attention @ belongs", "attention @ (belongs / belongs.sum(axis=0))",
            hint="You take the mean over the tokens that are looked *at*, too. A word of three tokens gets what its "
                 "three tokens get together: a sum."),
        mistake("sum-both", "belongs / belongs.sum(axis=0)", "belongs * 1.0",
            hint="You add the rows of a word's tokens, so that its row sums to its number of tokens. *From* a word "
                 "it is a mean."),
        mistake("exchanged", "attention @ belongs", "attention @ (belongs / belongs.sum(axis=0))",
            "means = belongs / belongs.sum(axis=0)", "means = belongs * 1.0",
            hint="You have it the other way round: the sum belongs to the columns (who is looked at), the mean to the "
                 "rows (who looks)."),
        mistake("first-token", "means.T @ to_words", "to_words[..., np.argmax(belongs, axis=0), :]",
            hint="You keep the first token's row of each word. Take the mean over all its tokens."),
        mistake("transposed", "return means.T @ to_words", "return np.swapaxes(means.T @ to_words, -1, -2)",
            hint="Rows and columns are exchanged. Row w is what word w looks at."),
        mistake("specials-in-the-last-word", "np.array(words)[:, None]", "np.array(words)[:, None] % (max(words) + 1)",
            hint="The number −1 became the last word: from the end, as Python counts. Leave these tokens out."),
        mistake("rows-made-whole", "return means.T @ to_words",
            "result = means.T @ to_words\n    return result / result.sum(axis=-1, keepdims=True)",
            hint="You scale the rows to a sum of 1. Attention to [CLS] and [SEP] then seems to go to words; it "
                 "is just left out."),
    ),
)  # fmt: skip
