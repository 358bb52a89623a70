"""Batches of several tasks, each batch of one task, in a drawn order.

An epoch has as many batches as all tasks together have. A task with n batches gets a number that is proportional to
n^a: with a = 1 every row is read once, as where the tasks' batches are put together and shuffled (Liu et al. 2019,
"Multi-Task Deep Neural Networks", algorithm 1); with a = 0.5 small tasks are read more often (Stickland and Murray
2019, "BERT and PALs", section 4); with a = 0 all tasks equally. A task whose rows are used up begins again, in another
order.
"""

from collections.abc import Iterator
from itertools import count

import numpy as np

from bertlab.data.tasks.features import Batch, Features
from bertlab.training.finetuning.batches import full_batch

TASK = "task:"  # + the task's name: the key of an array in a batch: the task of its rows


def shares(batches: dict[str, int], exponent: float) -> dict[str, int]:
    """The number of batches of each task in an epoch, at least one each. batches: how many its rows make.

    Example:
        >>> shares({"large": 90, "small": 10}, exponent=0.5)
        {'large': 75, 'small': 25}
    """
    total, powers = sum(batches.values()), {name: n**exponent for name, n in batches.items()}
    exact = {name: total * power / sum(powers.values()) for name, power in powers.items()}
    found = {name: max(1, int(value)) for name, value in exact.items()}
    for name in sorted(exact, key=lambda name: int(exact[name]) - exact[name])[: max(0, total - sum(found.values()))]:
        found[name] += 1  # the largest remainders
    return found


def batch_counts(features: dict[str, Features], batch_size: int) -> dict[str, int]:
    """The number of batches that the rows of each task make."""
    return {name: -(-len(own) // batch_size) for name, own in features.items()}


def sampled_epochs(
    features: dict[str, Features], batch_size: int, limit: int, seed: int, exponent: float
) -> Iterator[Iterator[Batch]]:
    """Epoch after epoch, batches as those of `batches.batches_by_length`, which name their task (see `TASK`)."""
    per_pass = batch_counts(features, batch_size)
    per_epoch = shares(per_pass, exponent)
    orders = {name: _Order(own, batch_size, seed) for name, own in features.items()}
    names = np.repeat(list(per_epoch), list(per_epoch.values()))

    def one_epoch(epoch: int) -> Iterator[Batch]:
        read = {name: epoch * number for name, number in per_epoch.items()}  # batches of the epochs before
        for name in names[np.random.default_rng([seed, epoch]).permutation(len(names))]:
            indices = orders[name].batch(read[name])
            read[name] += 1
            inputs, targets = full_batch(features[name], indices, batch_size, limit)
            yield inputs | {TASK + str(name): np.zeros(batch_size, np.int32)}, targets

    return (one_epoch(epoch) for epoch in count())


class _Order:
    """The batches of one task, pass after pass over its rows."""

    def __init__(self, features: Features, batch_size: int, seed: int):
        self._features, self._batch_size, self._seed = features, batch_size, seed
        self._pass, self._batches = 0, []

    def batch(self, number: int) -> np.ndarray:
        """The rows of batch `number`, counted from 0 over all passes."""
        its_pass, index = divmod(number, -(-len(self._features) // self._batch_size))
        if its_pass + 1 != self._pass:
            self._pass = its_pass + 1
            shuffle_seed = self._seed * 1000 + self._pass
            self._batches = self._features.batch_indices(self._batch_size, shuffle_seed)
        return self._batches[index]
