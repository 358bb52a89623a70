"""The learning rates of the embeddings, of each layer, and of the head."""

from autograde.exercises.n08_finetuning._shared import READY_MADE
from autograde.exercises.writing import Case, Exercise, Random, Tolerance, cases, mistake, plain_function, values


def _rates(num_layers, rate, decay, frozen=0):
    """From the head down, each layer's rate computed from the one above it."""
    rates = [rate]
    for _ in range(num_layers + 1):
        rates.append(rates[-1] * decay)
    return [0.0 if index < frozen else value for index, value in enumerate(reversed(rates))]


def _decay(rng: Random) -> float:
    return float(rng.choice([0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9]))


def _rate(rng: Random) -> float:
    return float(rng.integers(1, 10)) * 1e-2


def _nothing_frozen(rng: Random) -> list[Case]:
    example = Case((2, 0.1, 0.5, 0), note="the example above")
    drawn = [Case((layers, _rate(rng), _decay(rng), 0)) for layers in (3, 5)]
    return [example, *drawn, Case((4, _rate(rng), _decay(rng))), *_unusual_sizes(rng)]  # `frozen` left out


def _unusual_sizes(rng: Random) -> list[Case]:
    """No layer; one layer; many; no decay; BERT's own rate; a rate above 1, and rates that grow; rates below 1e-11."""
    return [
        *(Case((layers, _rate(rng), _decay(rng))) for layers in (0, 1, 12)), Case((3, _rate(rng), 1.0)),
        Case((12, 2e-5, 0.95)), Case((2, 7.5, 0.37)), Case((3, 0.25, 1.5)), Case((24, 1e-4, 0.5)),
    ]  # fmt: skip


def _deep(rng: Random) -> list[Case]:
    return [Case((int(rng.integers(40, 50)), 3e-5, 0.9))]


def _deep_and_frozen(rng: Random) -> list[Case]:
    return [Case((48, 3e-5, 0.9, int(rng.integers(1, 40))))]


def _some_frozen(rng: Random) -> list[Case]:
    """Some layers, all layers, and everything, the head too; of a model without layers."""
    return [Case((0, _rate(rng), _decay(rng), 1))] + [
        Case((4, _rate(rng), _decay(rng), frozen)) for frozen in (1, 3, 4, 5, 6)
    ]


EXERCISE = Exercise(
    probe=plain_function(),
    reference=_rates,
    returns="list",
    tolerance=Tolerance(1e-6, 0.0),
    parts=(
        values(2, _nothing_frozen, hidden=_deep),
        cases("freezing", 1, _some_frozen, "the lowest `frozen` entries must be 0.0 and the others unchanged",
            _deep_and_frozen),
    ),
    forbidden=READY_MADE,
    hints=(
        "Write the list for 2 layers by hand: four entries, and the last one, the head's, is rate itself.",
        "The exponent is the number of steps down from the head: 0 for the head, num_layers + 1 for the embeddings.",
        "First the whole list; then the first `frozen` entries become 0.0. The embeddings are the first entry.",
    ),
    misconceptions=(
        mistake("embeddings-like-layer-0", "decay**depth", "decay ** min(depth, num_layers)",
            hint="Your embeddings have the rate of layer 0. They are one step further down: once more times `decay`."),
        mistake("upside-down", "range(num_layers + 1, -1, -1)", "range(num_layers + 2)",
            hint="In your list the embeddings have the largest rate. The lowest part is the most general and must "
                 "have the smallest."),
        mistake("head-decayed-too", "range(num_layers + 1, -1, -1)", "range(num_layers + 2, 0, -1)",
            hint="Your head already has rate · decay. It starts from random weights and gets the full rate: zero "
                 "steps down."),
        mistake("embeddings-forgotten", "range(num_layers + 1, -1, -1)", "range(num_layers, -1, -1)",
            hint="One entry is missing: below layer 0 are the embeddings, one more step down."),
        mistake("linear", "rate * decay**depth", "rate * (1 - (1 - decay) * depth)",
            hint="Your rates fall by equal amounts. Each step down multiplies by decay."),
        mistake("frozen-from-the-top",
            "[0.0] * frozen + rates[frozen:]", "rates[: len(rates) - frozen] + [0.0] * frozen",
            hint="You freeze the head and the layers near it. The head has learned nothing yet; freeze from the "
                 "bottom."),
        mistake("embeddings-not-counted",
            "[0.0] * frozen + rates[frozen:]", "rates if not frozen else [0.0] * (frozen + 1) + rates[frozen + 1 :]",
            hint="You freeze `frozen` encoder layers and also the embeddings. The embeddings are the first entry: "
                 "frozen = 1 freezes only them."),
        mistake("frozen-removed", "[0.0] * frozen + rates[frozen:]", "rates[frozen:]",
            hint="You leave the frozen layers out, so the list no longer matches the model. Keep them, with the "
                 "rate 0.0."),
    ),
)  # fmt: skip
