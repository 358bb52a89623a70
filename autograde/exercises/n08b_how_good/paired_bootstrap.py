"""Compares two models on the same examples: the interval of their difference, and how often B is not better."""

from autograde.exercises.n08_finetuning._shared import EXACTLY, READY_MADE
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values

BY_HAND = Case(
    ([1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [[0, 1, 2, 3], [1, 1, 0, 0], [0, 2, 3, 3]]), note="the example above"
)


def paired_bootstrap(a, b, drawn):
    differences = sorted(
        (sum(b[row] for row in round_) - sum(a[row] for row in round_)) / len(round_) for round_ in drawn
    )
    low, high = (_between(differences, share * (len(differences) - 1)) for share in (0.025, 0.975))
    return low, high, sum(difference <= 0 for difference in differences) / len(differences)


def _between(ordered, place):
    """The value at a place of a sorted list; between two of its entries, on the straight line between them."""
    left = int(place)
    right = min(left + 1, len(ordered) - 1)
    return float(ordered[left] + (place - left) * (ordered[right] - ordered[left]))


def _drawn(rng: Random, rounds: int, examples: int) -> list:
    return rng.integers(examples, size=(rounds, examples)).tolist()


def scores(rng: Random) -> list[Case]:
    """Scores between 0 and 1 such as F1, without equal rounds; B better, worse, and much better in every round."""
    found = []
    for rounds, examples, gain in ((40, 7, 0.1), (21, 12, -0.1), (15, 5, 2.0)):
        a = rng.random(examples)
        found.append(Case((a.tolist(), (a + rng.normal(gain, 0.3, examples)).tolist(), _drawn(rng, rounds, examples))))
    return found


def more_scores(rng: Random) -> list[Case]:
    a = rng.random(60)
    return [Case((a.tolist(), (a + rng.normal(0.03, 0.3, 60)).tolist(), _drawn(rng, 200, 60)))]


def equal_rounds(rng: Random) -> list[Case]:
    """Right or wrong, 1 or 0: some rounds are a draw. Two models with the same answers."""
    a, b = ([float(right) for right in rng.integers(2, size=6)] for _ in range(2))
    flipped = [1.0, 0.0, *a], [0.0, 1.0, *b]  # never the same answers
    return [BY_HAND, Case((*flipped, [[0, 1] * 4, *_drawn(rng, 30, 8)])), Case((a, list(a), _drawn(rng, 10, 6)))]


EXERCISE = Exercise(
    probe=plain_function(),
    reference=paired_bootstrap,
    returns="anything",
    tolerance=EXACTLY,
    parts=(
        values(3, scores, hidden=more_scores),
        cases("equal rounds", 1, equal_rounds, "in a round in which both are equally good, B is not better"),
    ),
    forbidden=READY_MADE,
    hints=(
        "NumPy can look up a table of indices at once: `np.asarray(a)[drawn]` is (rounds, examples).",
        "One mean for each round, of A and of B, on the *same* drawn examples; then their difference, B − A.",
        "`np.percentile(differences, [2.5, 97.5])` gives both ends. B is not better where the difference is at most 0.",
    ),
    misconceptions=(
        mistake("not-drawn-for-a", "np.asarray(a)[drawn].mean(axis=1)", "np.mean(a)",
            hint="You draw examples for B only and compare with A's score on all examples. The test is *paired*: in "
                 "each round both are scored on the same drawn examples, so that easy and hard ones cancel."),
        mistake("a-minus-b", "differences = np.asarray(b)[drawn].mean(axis=1) - np.asarray(a)[drawn].mean(axis=1)",
            "differences = np.asarray(a)[drawn].mean(axis=1) - np.asarray(b)[drawn].mean(axis=1)",
            hint="Your difference is A − B. It is B − A: positive where B is better."),
        mistake("ties-are-better", "np.mean(differences <= 0)", "np.mean(differences < 0)",
            hint="Right without equal rounds. In a round in which both have the same score, B is *not* better: it "
                 "counts."),
        mistake("share-of-wins", "np.mean(differences <= 0)", "np.mean(differences > 0)",
            hint="Your share counts the rounds in which B *is* better. It is small where B is clearly better: count "
                 "the rounds in which it is not."),
        mistake("ninety-percent", "[2.5, 97.5]", "[5, 95]",
            hint="From 5 to 95 % are 90 % of the rounds. 95 % are between 2.5 and 97.5 %."),
        mistake("normal-curve", "np.percentile(differences, [2.5, 97.5])",
            "differences.mean() + np.array([-1.96, 1.96]) * differences.std()",
            hint="You assume a normal curve around the mean. The bootstrap needs no such assumption: take the "
                 "percentiles of the differences themselves."),
        mistake("standard-error-of-the-rounds", "np.percentile(differences, [2.5, 97.5])",
            "differences.mean() + np.array([-1.96, 1.96]) * differences.std() / len(differences) ** 0.5",
            hint="You divide by the root of the number of rounds: then more rounds would make the interval as small as "
                 "you like. The rounds are no new data; their spread itself is the uncertainty."),
    ),
)  # fmt: skip
