"""An endless data set of batches of shuffled examples."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import LIBRARY
from autograde.exercises.spec import Case, Exercise, Obeys, Part, Trial, mistake, stream


def stored_examples(rng: Random, count: int) -> dict[str, np.ndarray]:
    """Examples that differ from one another, each with its label."""
    ids = rng.choice(np.arange(1000, 30000), (count, 5), replace=False).astype("int32")
    return {"input_ids": ids, "next_sentence_labels": (ids.sum(axis=1) % 7).astype("int32")}


def epochs_of(count: int):
    """Trials on a number of examples, in batches of 4."""

    def trials(rng: Random) -> list[Trial]:
        case = Case((stored_examples(rng, count), 4, int(rng.integers(1000))))
        return [Trial((case,), (Obeys("epochs"),))]

    return trials


EXERCISE = Exercise(
    probe=stream(20),
    returns="anything",
    parts=(
        Part("epochs", 3, epochs_of(32)),
        Part("left-over names", 1, epochs_of(27), "every batch must be full; drop the rest of an epoch"),
    ),
    forbidden=LIBRARY,
    hints=(
        "A data set has a method for each step: `shuffle`, `batch`, `repeat`, `prefetch`. The order matters.",
        "First shuffle single examples, all of them; then make batches; then repeat.",
        "The buffer of `shuffle` must hold all examples, and `batch` has a parameter for the remainder.",
    ),
    misconceptions=(
        mistake("unshuffled", 'dataset = dataset.shuffle(len(examples["input_ids"]), seed=seed)', "dataset = dataset",
            hint="The examples come in the order in which they are stored, so neighbours share a batch. Shuffle them."),
        mistake("batches-shuffled",
            '    dataset = dataset.shuffle(len(examples["input_ids"]), seed=seed)\n', "",
            "drop_remainder=True)", 'drop_remainder=True).shuffle(len(examples["input_ids"]), seed=seed)',
            hint="You shuffle whole batches, so the same examples always stay together. Shuffle the examples, then "
                 "make batches."),
        mistake("small-buffer", 'shuffle(len(examples["input_ids"])', "shuffle(batch_size",
            hint="Your shuffle buffer has the size of one batch, so the order hardly changes. It must hold all "
                 "examples."),
        mistake("same-order-every-epoch", "seed=seed)", "seed=seed, reshuffle_each_iteration=False)",
            hint="Every epoch has the order of the first. Shuffle again in each epoch (the default of `shuffle`)."),
        mistake("repeated-before-shuffling",
            "dataset.shuffle(", "dataset.repeat().shuffle(",
            "dataset.repeat().prefetch", "dataset.prefetch",
            hint="You repeat before you shuffle: epochs are mixed, and one example occurs twice before another has "
                 "occurred once."),
        mistake("remainder-kept", ", drop_remainder=True", "",
            hint="The last batch of an epoch is smaller. Each new shape costs a compilation: drop the remainder."),
        mistake("one-epoch", "dataset.repeat().prefetch", "dataset.prefetch",
            hint="Your data set ends after one epoch. Training goes through the examples many times: repeat."),
    ),
)  # fmt: skip
