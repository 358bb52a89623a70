"""Batches of shuffled examples, for as many epochs as one likes."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import LIBRARY
from autograde.exercises.spec import Case, Exercise, Obeys, Part, Trial, mistake, stream


def stored_examples(rng: Random, count: int) -> dict[str, np.ndarray]:
    """Rows that differ from one another, with a label that goes with each."""
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
        Part("what is left over", 1, epochs_of(27), "every batch is full; what is left of an epoch is dropped"),
    ),
    forbidden=LIBRARY,
    hints=(
        "A data set has a method for each step: `shuffle`, `batch`, `repeat`, `prefetch`. What matters is their order.",
        "Shuffle single examples, of all of them; only then make batches; only then start over.",
        "The buffer of `shuffle` must hold all examples, and `batch` has a parameter for the remainder.",
    ),
    misconceptions=(
        mistake("unshuffled", 'dataset = dataset.shuffle(len(examples["input_ids"]), seed=seed)', "dataset = dataset",
            hint="The examples come in the order in which they are stored: neighbours share a batch. Shuffle."),
        mistake("batches-shuffled",
            '    dataset = dataset.shuffle(len(examples["input_ids"]), seed=seed)\n', "",
            "drop_remainder=True)", 'drop_remainder=True).shuffle(len(examples["input_ids"]), seed=seed)',
            hint="You shuffle whole batches: neighbours stay together for ever. Shuffle the examples, then make "
                 "batches."),
        mistake("small-buffer", 'shuffle(len(examples["input_ids"])', "shuffle(batch_size",
            hint="Your shuffle buffer holds one batch: the next example is drawn from the next few, so order "
                 "survives. It must hold all examples."),
        mistake("same-order-every-epoch", "seed=seed)", "seed=seed, reshuffle_each_iteration=False)",
            hint="Every epoch has the order of the first. Let it be shuffled anew each time (it is unless you turn "
                 "it off)."),
        mistake("repeated-before-shuffling",
            "dataset.shuffle(", "dataset.repeat().shuffle(",
            "dataset.repeat().prefetch", "dataset.prefetch",
            hint="You repeat before you shuffle: epochs run into one another, and one example comes twice before "
                 "another has come at all."),
        mistake("remainder-kept", ", drop_remainder=True", "",
            hint="The last batch of an epoch is smaller. Each new shape costs a compilation: drop the remainder."),
        mistake("one-epoch", "dataset.repeat().prefetch", "dataset.prefetch",
            hint="After one epoch nothing more comes. Training goes through the examples many times: repeat."),
    ),
)  # fmt: skip
