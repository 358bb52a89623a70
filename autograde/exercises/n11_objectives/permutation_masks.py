"""XLNet's two masks of an order of prediction."""

import numpy as np

from autograde.exercises.n11_objectives._shared import LIBRARY
from autograde.exercises.writing import Case, Exercise, Random, mistake, plain_function, values


def permutation_masks(order):
    """Step by step along the order."""
    order = [int(place) for place in order]
    content, query = (np.zeros((len(order), len(order)), bool) for _ in range(2))
    for step, place in enumerate(order):
        query[place, order[:step]] = True
        content[place, order[: step + 1]] = True
    return content, query


def orders(rng: Random) -> list[Case]:
    """The paper's; from left to right; from right to left; drawn ones, none of which is its own inverse."""
    drawn = []
    while len(drawn) < 3:
        order = rng.permutation(int(rng.integers(5, 8)))
        if not np.array_equal(order, np.argsort(order)):
            drawn.append(Case((order,)))
    paper = Case((np.array([2, 1, 3, 0]),), note="3 → 2 → 4 → 1, counted from 0")
    return [paper, Case((np.arange(4),)), Case((np.arange(3)[::-1].copy(),)), *drawn]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="tuple",
    reference=permutation_masks,
    parts=(values(3, orders, hidden=lambda rng: [Case((rng.permutation(11),)), Case((np.array([0]),))]),),
    forbidden=LIBRARY,
    facts=lambda case: {"first": int(case.arguments[0][0])},
    hints=(
        "Take the order 3 → 2 → 4 → 1 and write down for each token whom it may use.",
        "You need for each *position* when its turn comes: that is not `order`, but its inverse. "
        "`np.argsort(order)` gives it.",
        "Compare turns as a column (who asks) and as a row (who is seen): ≤ for the content stream, < for the query "
        "stream.",
    ),
    misconceptions=(
        mistake("order-for-turns", "np.argsort(order)", "np.asarray(order)",
            hint="You compare the entries of `order` as if entry i were the turn of position i. It is the other way "
                 "round: `order[0]` = {first} is the position whose turn comes first. Use the inverse."),
        mistake("query-sees-itself", "query = turn[None, :] < turn[:, None]", "query = turn[None, :] <= turn[:, None]",
            hint="Your query stream sees the token that it has to predict. Strictly earlier turns only: <."),
        mistake("content-blind", "content = turn[None, :] <= turn[:, None]", "content = turn[None, :] < turn[:, None]",
            hint="Your content stream does not see its own token. It encodes that token for later ones: ≤."),
        mistake("streams-exchanged", "return content, query", "return query, content",
            hint="You return the masks in the other order: first the content stream, which sees itself, then the query "
                 "stream."),
        mistake("later-turns", "query = turn[None, :] < turn[:, None]", "query = turn[None, :] > turn[:, None]",
            "content = turn[None, :] <= turn[:, None]", "content = turn[None, :] >= turn[:, None]",
            hint="Each token sees those whose turn comes *later*. Row i is the query, column j the key: j's turn "
                 "before i's."),
        mistake("tokens-moved", "return content, query", "return content[order][:, order], query[order][:, order]",
            hint="Your rows and columns are in the order of prediction. XLNet does not move the tokens: row i and "
                 "column j are *positions*, and only the mask knows the order."),
    ),
)  # fmt: skip
