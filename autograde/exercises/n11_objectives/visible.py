"""Masks of three kinds of reader: both-sided, left-to-right, and a prefix that all see."""

import numpy as np

from autograde.exercises.n11_objectives._shared import LIBRARY, padded_rows
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values

KINDS = ("both-sided", "left-to-right", "prefix")


def visible(kind, is_real, prefix=0):
    """Cell by cell."""
    rows, tokens = is_real.shape
    seen = np.zeros((rows, tokens, tokens), bool)
    for row, query, key in np.ndindex(rows, tokens, tokens):
        farthest = {"both-sided": tokens, "left-to-right": query, "prefix": max(query, int(prefix) - 1)}[kind]
        seen[row, query, key] = key <= farthest and is_real[row, key] == 1
    return seen


def all_kinds(rng: Random, rows: int, tokens: int, prefix: int) -> list[Case]:
    """Rows without padding."""
    real = np.ones((rows, tokens), "int32")
    return [Case(("both-sided", real)), Case(("left-to-right", real)), Case(("prefix", real, prefix))]


def whole_texts(rng: Random) -> list[Case]:
    """Also a prefix of nothing and of everything, and a single token."""
    whole = np.ones((2, 4), "int32")
    edges = [Case(("prefix", whole, 0)), Case(("prefix", whole, 4)), *all_kinds(rng, 1, 1, 1)]
    return [*all_kinds(rng, 1, 5, 2), *all_kinds(rng, 2, 3, 1), *edges]


def other_texts(rng: Random) -> list[Case]:
    tokens = int(rng.integers(5, 9))
    return all_kinds(rng, 3, tokens, int(rng.integers(2, tokens - 1)))


def padded_texts(rng: Random) -> list[Case]:
    """A prefix longer than a text; and padding in front, which is not asked for more than the rule says."""
    real = padded_rows(rng, 3, 6)
    front = np.array([[0, 0, 1, 1, 1]], "int32")
    return [Case((kind, real, 3)) for kind in KINDS] + [Case((kind, front, 3)) for kind in KINDS]


EXERCISE = Exercise(
    reference=visible,
    dtype="bool",
    parts=(
        values(2, whole_texts, hidden=other_texts),
        cases("padding", 1, padded_texts, "with padding the mask is wrong: no query may see a key that is padding",
            lambda rng: [Case((kind, padded_rows(rng, 4, 5), 2)) for kind in KINDS]),
    ),
    forbidden=LIBRARY,
    hints=(
        "Write the three masks of four tokens by hand: rows are queries, columns are keys.",
        "`ops.arange` as a column (queries) and as a row (keys) lets you compare all pairs at once.",
        "In a prefix mask a key is seen if it is in the prefix, or not after the query. Padding is one more condition, "
        "on keys: (batch, 1, tokens).",
    ),
    misconceptions=(
        mistake("diagonal-hidden", "key <= query\n", "key < query\n",
            hint="In your masks no token sees itself. Only the *future* is hidden: key ≤ query. (The token that a "
                 "query predicts is the next one.)"),
        mistake("past-hidden", "key <= query\n", "key >= query\n",
            hint="You show the future and hide the past. Rows are queries, columns are keys: a query sees keys that "
                 "are not after it."),
        mistake("prefix-one-too-long", "key < prefix", "key <= prefix",
            hint="Your prefix is one token too long. `prefix` is a number of tokens: 0 … prefix − 1."),
        mistake("prefix-sees-all", "key < prefix", "query < prefix",
            hint="The tokens *of* the prefix see everything in your mask, the rest too. It is the other way round: "
                 "everyone sees the prefix, and the prefix does not see the rest."),
        mistake("prefix-alone", "ops.logical_or(past, key < prefix)", "key < prefix",
            hint="Behind the prefix a token sees the prefix and nothing else in your mask. It also sees what lies "
                 "between: prefix *or* not after the query."),
        mistake("prefix-not-read-back", "ops.logical_or(past, key < prefix)", "past",
            hint="Your prefix mask is the left-to-right one. Inside of the prefix tokens see each other in both "
                 "directions."),
        mistake("padding-seen", "ops.logical_and(seen, real)", "ops.logical_and(seen, ops.ones_like(real))",
            hint="Padding is visible in your mask. Hide it as in 3.6: a condition on the keys."),
        mistake("padding-as-query", '"bool")[:, None, :]', '"bool")[:, :, None]',
            hint="You hide rows: the queries that are padding. Nobody reads their results. Hide the *keys* that are "
                 "padding: (batch, 1, tokens)."),
        mistake("padding-on-both-sides", "ops.logical_and(seen, real)",
            'ops.logical_and(ops.logical_and(seen, real), ops.cast(is_real, "bool")[:, :, None])',
            hint="You hide the rows of padding as well as its columns. A query that is padding follows the same rule "
                 "as all others."),
    ),
)  # fmt: skip
