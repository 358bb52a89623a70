"""ELECTRA's input and labels: guesses drawn from a generator, and which tokens are not the original ones."""

import numpy as np

from autograde.exercises.n06_pretraining_data._shared import chancy, obeying
from autograde.exercises.n11_objectives._shared import LIBRARY
from autograde.exercises.numpy_bert import softmax
from autograde.exercises.writing import Exercise, Part, Random, Trial, mistake, random_function

RULE = "guessed"
PLAIN_SOFTMAX = "ops.convert_to_numpy(ops.softmax(logits))"


def row(rng: Random, positions: list[int], vocabulary: int = 4) -> tuple:
    """Ids 0 … vocabulary − 1, positions in any order, and logits (P, V) that are clear without being certain."""
    ids = [int(token) for token in rng.integers(0, vocabulary, size=7)]
    likely = rng.permuted(np.tile(np.linspace(0, 1.8, vocabulary), (len(positions), 1)), axis=1)
    return ids, positions, likely.astype("float32")


def rows_to_corrupt(rng: Random) -> list[Trial]:
    """Positions in order and not; none; a generator that is nearly certain of the original tokens; large logits."""
    ids, places, _ = row(rng, [1, 4, 5])
    certain = np.zeros((3, 4), "float32")
    certain[np.arange(3), np.array(ids)[places]] = 5
    return [
        obeying(rng, RULE, *row(rng, [1, 3, 6])), obeying(rng, RULE, *row(rng, [5, 0])),
        obeying(rng, RULE, ids, [], np.zeros((0, 4), "float32"), calls=3),
        obeying(rng, RULE, ids, places, certain),
        obeying(rng, RULE, ids, places, certain * 40 - 1000),
    ]  # fmt: skip


def drawn_from_the_logits(rng: Random) -> list[Trial]:
    """Each token at each position as often as the generator says, the original one too, and each two independently."""
    ids, places, logits = row(rng, [2, 0, 5])
    chances = softmax(logits.astype("float64"))
    rates = {f"{token} at {place}": (1, chances[p, token]) for p, place in enumerate(places) for token in range(4)}
    for token in range(4):
        both = f"{token} at {places[0]} and {token} at {places[1]}"
        rates[both] = (1, chances[0, token] * chances[1, token])
    return [chancy(rng, RULE, rates, ids, places, logits)]


EXERCISE = Exercise(
    probe=random_function(),
    returns="tuple",
    parts=(
        Part("ids and labels", 2, rows_to_corrupt, hidden=lambda rng: [obeying(rng, RULE, *row(rng, [6, 2, 3, 1], 9))]),
        Part("drawn from the generator", 2, drawn_from_the_logits,
            "over many calls the guesses do not come as often as the softmax of the logits says, each by itself"),
    ),
    forbidden=LIBRARY,
    hints=(
        "First the copy with guesses, then the comparison with the original: label by label.",
        "Row p of `logits` belongs to `positions[p]`. Its softmax says how often each token must come.",
        "`rng.choice(len(row), p=row)` draws one token. The labels compare ids, so a guess that is right by chance has "
        "the label 0.",
    ),
    misconceptions=(
        mistake("best-guess", "int(rng.choice(len(row), p=row))", "int(np.argmax(row))",
            hint="You take the most likely token. Then the generator's fakes are always the same, and the "
                 "discriminator learns them by heart. *Draw* from its probabilities."),
        mistake("any-token", "p=row", "p=np.full(len(row), 1 / len(row))",
            hint="You draw any token, without the generator. Its probabilities make the fakes hard to find: draw from "
                 "the softmax of the logits."),
        mistake("chosen-is-replaced", "int(before != after) for before, after in zip(ids, corrupted)",
            "int(position in positions) for position in range(len(ids))",
            hint="You call every chosen token replaced. A guess that is the original token by chance *is* the "
                 "original: the label compares ids."),
        mistake("never-the-original", "corrupted[position] = int(rng.choice(len(row), p=row))",
            "others = np.where(np.arange(len(row)) == ids[position], 0, row)\n"
            "        corrupted[position] = int(rng.choice(len(row), p=others / others.sum()))",
            hint="Your generator never draws the original token. In ELECTRA it may: the label is then 0."),
        mistake("labels-turned", "int(before != after)", "int(before == after)",
            hint="Your labels say 1 for the original tokens. 1 means: replaced."),
        mistake("one-draw-for-all", "    for position, row in zip(positions, chances):",
            "    draw = rng.random()\n    for position, row in zip(positions, chances):",
            "int(rng.choice(len(row), p=row))", "int(min(np.searchsorted(np.cumsum(row), draw), len(row) - 1))",
            hint="One draw decides for all positions, so their guesses depend on each other. Draw for each position."),
        mistake("rows-in-ascending-order", "zip(positions, chances)", "zip(sorted(positions), chances)",
            hint="You sort the positions, but row p of the logits belongs to `positions[p]` as they are."),
    ),
)  # fmt: skip
