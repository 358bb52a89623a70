"""Draws the next token: temperature, top-k, top-p."""

import numpy as np

from autograde.exercises.n06_pretraining_data._shared import chancy
from autograde.exercises.numpy_bert import softmax
from autograde.exercises.writing import Exercise, Forbidden, Part, Random, Trial, mistake, random_function

MARGIN = 0.02  # by which every sum of probabilities differs from p


def chances(logits, temperature, top_k, top_p) -> np.ndarray:
    """The probability of every token."""
    p = softmax(np.asarray(logits, "float64") / temperature)
    best = list(np.argsort(-p))
    best = best if top_k is None else best[:top_k]
    p[[token for token in range(len(p)) if token not in best]] = 0
    p /= p.sum()
    if top_p is not None:
        while len(best) > 1 and p[best[:-1]].sum() >= top_p:
            p[best.pop()] = 0
    return p / p.sum()


def is_telling(logits, temperature, top_k, top_p) -> bool:
    """Whether no sum of probabilities is near top_p, and another order of the steps keeps more or fewer tokens."""
    sums = np.cumsum(np.sort(chances(logits, temperature, top_k, None))[::-1])
    of_all = np.cumsum(np.sort(chances(logits, temperature, None, None))[::-1])
    before = np.cumsum(np.sort(chances(logits, 1.0, top_k, None))[::-1])
    kept, other, early = (int(np.searchsorted(each, top_p)) for each in (sums, of_all, before))
    differs = (top_k is None or kept != other) and (temperature == 1 or kept != early)
    return bool(differs and np.abs(sums - top_p).min() > MARGIN)


def drawn(rng: Random, tokens: int, temperature=1.0, top_k=None, top_p=None, calls: int = 1009) -> Trial:
    """Many calls in which every token must come as often as its probability says.

    The logits are drawn again until `is_telling`.
    """
    while True:
        logits = np.linspace(0, rng.uniform(1.5, 3), tokens) + rng.uniform(-0.08, 0.08, tokens)
        logits = rng.permutation(logits).astype("float32")
        if top_p is None or is_telling(logits, temperature, top_k, top_p):
            break
    rates = {f"token {token}": (1, float(p)) for token, p in enumerate(chances(logits, temperature, top_k, top_p))}
    return chancy(rng, "drawn token", rates, logits, temperature, top_k, top_p, calls=calls)


def by_temperature(rng: Random) -> list[Trial]:
    return [drawn(rng, 5), drawn(rng, 6, 0.5), drawn(rng, 6, 2.5)]


def the_best_k(rng: Random) -> list[Trial]:
    """Also only one, and as many as there are."""
    return [drawn(rng, 8, top_k=3), drawn(rng, 6, 1.5, 4), drawn(rng, 5, top_k=1, calls=53), drawn(rng, 4, top_k=4)]


def the_nucleus(rng: Random) -> list[Trial]:
    """Also so small that one token is enough."""
    return [drawn(rng, 6, top_p=0.7), drawn(rng, 8, top_p=0.5), drawn(rng, 5, top_p=0.1, calls=53)]


def together(rng: Random) -> list[Trial]:
    """Temperature and nucleus, and all three; a temperature near 0, at which exp of a logit would be infinite."""
    return [
        drawn(rng, 7, 0.4, None, 0.7),
        drawn(rng, 7, 2.5, None, 0.7),
        drawn(rng, 8, 1.0, 4, 0.7),
        drawn(rng, 8, 0.6, 5, 0.8),
        drawn(rng, 6, 0.001, 4, calls=53),
    ]


EXERCISE = Exercise(
    probe=random_function(),
    returns="anything",
    parts=(
        Part("temperature", 1, by_temperature, hidden=lambda rng: [drawn(rng, 7, float(rng.uniform(0.4, 0.7)))]),
        Part("top-k", 1, the_best_k, "with top-k a token comes too often or too seldom",
            lambda rng: [drawn(rng, 7, top_k=int(rng.integers(2, 6)))]),
        Part("top-p", 1, the_nucleus, "with top-p a token comes too often or too seldom",
            lambda rng: [drawn(rng, 7, top_p=float(rng.uniform(0.4, 0.8)))]),
        Part("together", 1, together,
            "with temperature, top-k and top-p together a token comes too often or too seldom",
            lambda rng: [drawn(rng, 9, 0.5, 6, float(rng.uniform(0.6, 0.8)))]),
    ),
    forbidden=Forbidden("In this exercise you draw yourself."),
    hints=(
        "Write the probabilities 0.5, 0.3, 0.15, 0.05 on paper, and the steps for k = 3 and for p = 0.6.",
        "`np.argsort(-scores)` has the ids from the most probable on. Cut this list, and the probabilities with it.",
        "`np.cumsum(p)` adds the sorted probabilities up; `np.searchsorted(sums, top_p)` is the index of the token "
        "that reaches p. At the end: `rng.choice(order, p=p / p.sum())`.",
    ),
    misconceptions=(
        mistake("always-the-best", "rng.choice(order, p=p / np.sum(p))", "order[0]",
            hint="You take the most probable token each time: that is greedy decoding. Draw from the distribution."),
        mistake("place-for-id", "rng.choice(order, p=", "rng.choice(len(order), p=",
            hint="You return a place in the sorted list: 0 for the best token. Which token is at that place?"),
        mistake("temperature-multiplied", "logits / temperature", "logits * temperature",
            hint="You multiply by the temperature. A high one must make the tokens more alike: divide by it."),
        mistake("temperature-on-probabilities", "scores = logits / temperature", "scores = logits",
            "p = p / np.sum(p)\n", "p = p / np.sum(p) / temperature\n    p = p / np.sum(p)\n",
            hint="You divide probabilities by the temperature, and then by their sum: it cancels. Divide the "
                 "*logits*."),
        mistake("k-smallest", "order[:top_k]", "order[-top_k:]",
            "np.exp(scores[order] - scores[order[0]])", "np.exp(scores[order] - np.max(scores[order]))",
            hint="You keep the k least probable tokens. `np.argsort` sorts ascending: by minus the score, the best "
                 "come first."),
        mistake("p-before-temperature",
            "needed = np.searchsorted(np.cumsum(p), top_p) + 1",
            "cold = np.exp(logits[order] - logits[order[0]])\n        needed = np.searchsorted(np.cumsum(cold / "
            "np.sum(cold)), top_p) + 1",
            hint="You choose the nucleus from the probabilities before the temperature. The temperature comes first."),
        mistake("crossing-token-left-out", "np.searchsorted(np.cumsum(p), top_p) + 1",
            "max(np.searchsorted(np.cumsum(p), top_p), 1)",
            hint="You leave out the token with which the sum reaches p. Keep the fewest tokens that have *at least* "
                 "p together."),
        mistake("not-divided-again", "rng.choice(order, p=p / np.sum(p))", "rng.choice(order, p=p)",
            hint="The probabilities that top-p leaves add up to less than 1: divide them by their sum before you "
                 "draw."),
        mistake("p-of-all-tokens",
            "needed = np.searchsorted(np.cumsum(p), top_p) + 1",
            "whole = np.exp(scores - np.max(scores))\n        needed = np.searchsorted(np.cumsum(whole[order] / "
            "np.sum(whole)), top_p) + 1",
            hint="You measure p in the distribution of all tokens. Top-k comes first, and what it leaves is a "
                 "distribution again."),
        mistake("even-chances", "rng.choice(order, p=p / np.sum(p))", "rng.choice(order)",
            hint="You give all kept tokens the same chance. Draw each with its probability."),
    ),
)  # fmt: skip
