"""The pseudo-log-likelihood of a text."""

import numpy as np

from autograde.exercises.n07_pretraining._shared import log_softmax
from autograde.exercises.n10_inside_bert._shared import LIBRARY
from autograde.exercises.writing import Case, Exercise, Random, Tolerance, cases, mistake, normal, taking, values


def cloze_score(weights, ids, mask):
    """Token by token: hide it, read, and add the logarithm of its probability."""
    near, table, out = weights
    total = 0.0
    for place in range(1, len(ids) - 1):
        hidden = [mask if other == place else token for other, token in enumerate(ids)]
        logits = np.tanh(near @ table[hidden]) @ out  # (T, V)
        total += float(log_softmax(logits[place])[ids[place]])
    return total


def text(rng: Random, tokens: int, vocabulary: int, size: float = 1.5) -> Case:
    """A text, and a reader in which every token looks at every other one; [CLS], [SEP] and [MASK] are ids like others.

    The reader hardly uses the token at the position itself, as a trained one does not use [MASK].
    """
    cls, sep, mask = (int(token) for token in rng.choice(vocabulary, 3, replace=False))
    others = [token for token in range(vocabulary) if token not in (cls, sep, mask)]
    ids = [cls, *(int(token) for token in rng.choice(others, tokens)), sep]
    weights = [
        normal(rng, len(ids), len(ids)), normal(rng, vocabulary, 5), normal(rng, 5, vocabulary, size=size),
    ]  # fmt: skip
    return Case((weights, ids, mask))


def texts(rng: Random) -> list[Case]:
    """Also a text of one token, and one that holds a token twice."""
    again = text(rng, 4, 8)
    weights, ids, mask = again.arguments
    ids[3] = ids[1]
    return [text(rng, 3, 7), text(rng, 6, 10), text(rng, 1, 6), Case((weights, ids, mask))]


def surely(rng: Random) -> list[Case]:
    """Readers whose logits are some hundreds."""
    return [text(rng, 4, 9, size=90.0), text(rng, 3, 6, size=150.0)]


EXERCISE = Exercise(
    probe=taking("little_reader"),
    returns="anything",
    reference=cloze_score,
    tolerance=Tolerance(1e-4, 1e-4),
    parts=(
        values(3, texts, hidden=lambda rng: [text(rng, int(rng.integers(7, 12)), 14)]),
        cases("a sure reader", 1, surely, "where the reader is sure and wrong the score is not a number, or inexact: "
            "its logits are large"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Each token is asked in a copy of its own, in which it alone is hidden. How many copies does the text need?",
        "The copies are one batch: (tokens asked, T). Row n has [MASK] at position n + 1, and is asked there alone.",
        "`ops.log_softmax(logits, axis=-1)`, then row n, position n + 1, the token that was hidden there; add them up.",
    ),
    misconceptions=(
        mistake("all-hidden-at-once", "copies[n, place] = mask", "copies[:, place] = mask",
            hint="All tokens are hidden in each of your copies. Then nobody knows anything: hide one at a time."),
        mistake("nothing-hidden", "copies[n, place] = mask", "pass",
            hint="You read the text without [MASK]. A model sees the token that it is asked for, and copies it."),
        mistake("hidden-from-here-on", "copies[n, place] = mask", "copies[n, place:-1] = mask",
            hint="You also hide what comes behind. That is a reader from left to right; BERT sees both sides, only "
                 "not this token."),
        mistake("masks-stay", "copies[n, place] = mask", "copies[n, 1 : place + 1] = mask",
            hint="Tokens that were asked before stay hidden in your copies. Each copy begins with the whole text."),
        mistake("specials-asked", "range(1, len(ids) - 1)", "range(len(ids))",
            hint="You ask for [CLS] and [SEP], too. They are in every text and say nothing about it."),
        mistake("mean", "return total", "return total / (len(ids) - 2)",
            hint="This is the mean for each token. The score asked for here is the sum; the text below says when one "
                 "divides."),
        mistake("sum-of-probabilities", "ops.log_softmax(", "ops.softmax(",
            hint="You add up probabilities. The probability of all is a product, so add *logarithms*."),
        mistake("logits", "ops.log_softmax(read(copies), axis=-1)", "read(copies)",
            hint="You add up logits. They are no log-probabilities before `log_softmax`."),
        mistake("logarithm-of-softmax", "ops.log_softmax(read(copies), axis=-1)",
            "ops.log(ops.softmax(read(copies), axis=-1))",
            hint="Where the reader is sure, the probability of another token is rounded to 0, and its logarithm is −∞. "
                 "`log_softmax` does both in one step."),
        mistake("the-mask-asked", "ids[place]", "mask",
            hint="You ask how likely [MASK] is. Ask for the token that it hides."),
        mistake("perplexity", "return total", "return float(np.exp(-total / (len(ids) - 2)))",
            hint="You return a perplexity. Asked is the sum of the logarithms, which is below 0."),
    ),
)  # fmt: skip
