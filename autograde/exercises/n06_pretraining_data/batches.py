"""An endless data set of batches of shuffled examples."""

from dataclasses import replace

import numpy as np

from autograde.exercises.n06_pretraining_data._shared import LIBRARY
from autograde.exercises.writing import Alike, Case, Exercise, Obeys, Part, Random, Trial, mistake, stream
from autograde.judging.rules import STREAMED


def stored_examples(rng: Random, count: int) -> dict[str, np.ndarray]:
    """Examples that differ from one another, each with its label and its weights."""
    ids = rng.choice(np.arange(1000, 30000), (count, 5), replace=False).astype("int32")
    weights, labels = (ids[:, :2] % 3 / 2).astype("float32"), (ids.sum(axis=1) % 7).astype("int32")
    return {"masked_lm_weights": weights, "input_ids": ids, "next_sentence_labels": labels}


def epochs_of(rng: Random, count: int, size: int) -> Trial:
    """Trials on a number of examples, in batches of this size."""
    return Trial((Case((stored_examples(rng, count), size, int(rng.integers(1000)))),), (Obeys("epochs"),))


def very_many(rng: Random) -> Trial:
    """More examples than a buffer of a usual size holds. Of these only the first batches are taken."""
    numbers = np.arange(20_800, dtype="int32") + int(rng.integers(1000))
    stored = {"input_ids": numbers[:, None], "next_sentence_labels": numbers % 2}
    return Trial((Case((stored, 4, int(rng.integers(1000)))),), (Obeys("epochs"),))


def whole_epochs(rng: Random) -> list[Trial]:
    """Also one batch of three examples per epoch: each of them comes first in some epoch."""
    return [epochs_of(rng, 64, 8), very_many(rng), epochs_of(rng, 3, 3)]


def other_epochs(rng: Random) -> list[Trial]:
    return [epochs_of(rng, 48, 4), epochs_of(rng, 2, 2), epochs_of(rng, 30, 10)]


def epochs_with_a_rest(rng: Random) -> list[Trial]:
    return [epochs_of(rng, 27, 5)]


def seeds_of_the_order(rng: Random) -> list[Trial]:
    """The same examples with one seed twice, and with another seed; with 0 twice.

    Before the second call with the same seed numbers are drawn elsewhere, which has no effect on the order.
    """
    stored, seed = stored_examples(rng, 32), int(rng.integers(1, 1000))
    calls = [Case((stored, 4, number)) for number in (seed, seed, seed + 1, 0, 0)]
    calls[1], calls[4] = (replace(case, seed=1) for case in (calls[1], calls[4]))
    return [Trial(tuple(calls), (Alike(0, 1), Alike(0, 2, wanted=False), Alike(3, 4)))]


EXERCISE = Exercise(
    probe=stream(STREAMED),
    returns="anything",
    parts=(
        Part("epochs", 2, whole_epochs, hidden=other_epochs),
        Part("full batches", 1, epochs_with_a_rest,
            "every batch must be full, with examples of one epoch: drop the rest of each epoch. These are not "
            "the same examples in every epoch"),
        Part("seed", 1, seeds_of_the_order,
            "the same seed must give the same order of examples, another seed another order"),
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
            hint="No example comes earlier by more than one batch, so the order hardly changes. The buffer of "
                 "`shuffle` must be as long as all examples."),
        mistake("buffer-too-small", 'shuffle(len(examples["input_ids"])', "shuffle(10",
            hint="Only some examples may come first: the buffer of `shuffle` is shorter than the number of examples. "
                 "It must be as long as all of them."),
        mistake("seed-not-used", ", seed=seed)", ")",
            hint="`seed` has no effect: another seed must give another order. Pass it to `shuffle`."),
        mistake("same-order-every-epoch", "seed=seed)", "seed=seed, reshuffle_each_iteration=False)",
            hint="Every epoch has the order of the first. Shuffle again in each epoch (the default of `shuffle`)."),
        mistake("repeated-before-shuffling",
            "dataset.shuffle(", "dataset.repeat().shuffle(",
            "dataset.repeat().prefetch", "dataset.prefetch",
            hint="One example occurs twice before another has occurred once, so epochs are mixed, as when `repeat` "
                 "comes before `shuffle`. Shuffle first, then repeat."),
        mistake("batches-across-epochs",
            "dataset.batch(", "dataset.repeat().batch(",
            "dataset.repeat().prefetch", "dataset.prefetch",
            hint="Where the examples do not divide evenly, a batch has the last ones of an epoch and the first of the "
                 "next. At which of your steps does an epoch end?"),
        mistake("remainder-kept", ", drop_remainder=True", "",
            hint="The last batch of an epoch is smaller. Each new shape costs a compilation: drop the remainder."),
        mistake("one-epoch", "dataset.repeat().prefetch", "dataset.prefetch",
            hint="Your data set ends. Training goes through the examples many times: repeat without end."),
    ),
)  # fmt: skip
