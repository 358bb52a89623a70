"""The base of all objectives. Letters: B batch, T tokens, P predictions."""

from abc import ABC, abstractmethod

from bertlab.common.errors import DataError
from bertlab.data.pretraining.collators import Collator
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.training.objectives.losses import token_hits, token_losses


class Objective(ABC):
    """One thing that a model is trained to do: a loss, an accuracy, and what a batch and a model need for them.

    An objective has a number of *items* in a batch: masked tokens, pairs, next tokens. Most objectives are a choice
    among classes; they give `labels` and `weights` and the name of the model's logits. Others define `losses` and
    `hits` themselves.

    Example:
        >>> from bertlab.training.objectives import NextToken
        >>> isinstance(NextToken(), Objective), NextToken().name, NextToken().targets
        (True, 'next_token', ('next_token_ids', 'next_token_weights'))
    """

    name: str  # of its metrics: NAME_loss, NAME_accuracy
    short_name: str  # before its accuracy in the progress bar
    head: str  # the part of the model that it trains
    logits: str  # that head's output
    targets: tuple[str, ...]  # the arrays that a batch must hold; by default labels and weights are the first two
    over_vocabulary: bool  # whether the classes are the tokens of the vocabulary: then there is a perplexity
    factor: float = 1.0  # of its mean loss in the sum of all objectives; its metrics are without it

    def collators(self, settings: ExampleSettings, vocabulary, seed: int) -> tuple[Collator, ...]:
        """The collators that make the targets. settings: how the stored rows were made. Same seed, same targets."""
        return ()

    @abstractmethod
    def predictions(self, settings: ExampleSettings) -> int:
        """The largest number of positions in a row that its head computes."""

    def labels(self, batch: dict, outputs: dict | None = None):
        """The right class of every item, int. outputs: the model's, for objectives whose targets the model computes."""
        return batch[self.targets[0]]

    def weights(self, batch: dict):
        """The weight of every item, in the shape of the labels; 0 where there is no item.

        A function of the batch alone: an update that is computed in parts needs the sum over all parts first.
        """
        return batch[self.targets[1]]

    def losses(self, batch: dict, outputs: dict):
        """The loss of every item, float32 in the shape of the labels."""
        return token_losses(outputs[self.logits], self.labels(batch, outputs))

    def hits(self, batch: dict, outputs: dict):
        """Whether the model is right about every item, bool in the shape of the labels.

        None for an objective without right and wrong, such as a distance: it has no accuracy.
        """
        return token_hits(outputs[self.logits], self.labels(batch, outputs))

    def check(self, batch: dict) -> None:
        """Raises DataError if a batch lacks a target."""
        missing = [name for name in self.targets if name not in batch]
        if missing:
            raise DataError(
                f"objective {self.name}: expected batches with {', '.join(self.targets)}, got {', '.join(batch)}; pass "
                "collators= to batches_of (rows made with dynamic_masking need MaskTokens)"
            )
