"""The choice of layers for a vector, and how to combine them (Devlin et al. 2019, section 5.3, table 7).

    -1                 the last layer                       last4-sum       the sum of the last four
    0                  the embeddings                       last4-concat    the last four concatenated (4·H)
    second-to-last     the layer before the last            embeddings, last     the same as 0 and −1
    2,5 with "mean"    the mean of layers 2 and 5           1,2,3 and weights 0.2,0.3,0.5: their weighted sum

Weights go with any sum or mean, also with last4-sum.

Letters: T tokens, H hidden size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import DataError

COMBINATIONS = ("sum", "mean", "concat")
_NAMES = {"embeddings": 0, "last": -1, "second-to-last": -2}


@dataclass(frozen=True)
class LayerChoice:
    """Layers (0 the embeddings, i the output of layer i, negative ones from the end) and how to combine them.

    combine: sum | mean | concat, when there are several. weights: one for each layer; the sum is then weighted.
    Raises DataError for a choice that contradicts itself.
    """

    layers: tuple[int, ...] = (-1,)
    combine: str = "sum"
    weights: tuple[float, ...] | None = None

    def __post_init__(self):
        if not self.layers:
            raise DataError("expected at least one layer")
        if self.combine not in COMBINATIONS:
            raise DataError(f"unknown combine {self.combine!r}; choose one of {', '.join(COMBINATIONS)}")
        weights = self.weights
        if weights is None:
            return
        if self.combine == "concat":
            raise DataError("weights are for a sum or a mean, not for concat; leave out weights or concat")
        if len(weights) != len(self.layers):
            raise DataError(f"{len(weights)} weights for {len(self.layers)} layers ({self.combine}); give one each")
        if not np.all(np.isfinite(weights)) or (self.combine == "mean" and sum(weights) == 0):
            raise DataError(f"weights must be finite numbers, for a mean with a sum other than 0; got {weights}")

    @classmethod
    def of(
        cls,
        choice: "LayerChoice | int | str | Sequence[int]",
        combine: str | None = None,
        weights: Sequence[float] | None = None,
    ) -> "LayerChoice":
        """From a number, some numbers, "last", "last4-sum", "last4-concat" or "1,2,3". combine: sum by default.

        Raises DataError if `choice` and `combine` contradict each other.
        """
        weights = None if weights is None else tuple(weights)
        if isinstance(choice, LayerChoice):
            return choice
        if not isinstance(choice, str):
            return cls((choice,) if isinstance(choice, int) else tuple(choice), combine or "sum", weights)
        if choice in _NAMES:
            return cls((_NAMES[choice],), combine or "sum", weights)
        name, dash, its_combine = choice.partition("-")
        if name.startswith("last") and dash and name[4:].isdigit():
            if combine not in (None, its_combine):
                raise DataError(f"layers {choice!r} and combine {combine!r} contradict each other; leave out combine")
            return cls(tuple(range(-int(name[4:]), 0)), its_combine, weights)
        try:
            layers = tuple(int(part) for part in choice.split(","))
        except ValueError:
            raise DataError(f"expected layers such as -1, 1,2,3 or last4-sum, got {choice!r}") from None
        return cls(layers, combine or "sum", weights)

    def check(self, num_layers: int) -> None:
        """Raises DataError for a layer that a model with this number of layers does not have."""
        for layer in self.layers:
            if not -num_layers - 1 <= layer <= num_layers:
                raise DataError(f"there is no layer {layer}; choose 0 (embeddings) to {num_layers}, or −1 for the last")

    def width(self, hidden_size: int) -> int:
        """Dimensions of the result."""
        return hidden_size * (len(self.layers) if self.combine == "concat" else 1)

    def apply(self, states: Sequence[np.ndarray]) -> np.ndarray:
        """The chosen layers as one array. states: L + 1 arrays (…, H) → (…, width)."""
        chosen = [states[layer] for layer in self.layers]
        if self.combine == "concat":
            return np.concatenate(chosen, axis=-1)
        weights = self.weights or (1.0,) * len(chosen)
        total = sum(weight * state for weight, state in zip(weights, chosen))
        return total / sum(weights) if self.combine == "mean" else total
