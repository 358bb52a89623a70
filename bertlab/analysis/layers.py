"""Which layers a vector is made of, and how they become one (Devlin et al. 2019, section 5.3, table 7).

    -1                 the last layer                       last4-sum       the sum of the last four
    0                  the embeddings                       last4-concat    the last four side by side (4·H)
    2,5 with "mean"    the mean of layers 2 and 5           1,2,3 and weights 0.2,0.3,0.5: their weighted sum

Letters: T tokens, H hidden size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.errors import DataError

COMBINATIONS = ("sum", "mean", "concat")


@dataclass(frozen=True)
class LayerChoice:
    """Layers (0 the embeddings, i what layer i gives, negative ones from the end) and what is made of them.

    combine: sum | mean | concat, when there are several. weights: one for each layer; the sum is then weighted.
    Raises DataError for a choice that contradicts itself.
    """

    layers: tuple[int, ...] = (-1,)
    combine: str = "sum"
    weights: tuple[float, ...] | None = None

    def __post_init__(self):
        if not self.layers:
            raise DataError("no layer is chosen")
        if self.combine not in COMBINATIONS:
            raise DataError(f"there is no combination {self.combine!r}; choose one of {', '.join(COMBINATIONS)}")
        if self.weights is not None and (len(self.weights) != len(self.layers) or self.combine == "concat"):
            raise DataError(
                f"{len(self.weights)} weights for {len(self.layers)} layers ({self.combine}); give one each"
            )

    @classmethod
    def of(cls, choice: "LayerChoice | int | str | Sequence[int]", combine="sum", weights=None) -> "LayerChoice":
        """From a number, some numbers, "last4-sum", "last4-concat" or "1,2,3"."""
        if isinstance(choice, LayerChoice):
            return choice
        if isinstance(choice, str):
            name, dash, its_combine = choice.partition("-")
            if name.startswith("last") and dash and name[4:].isdigit():
                return cls(tuple(range(-int(name[4:]), 0)), its_combine)
            try:
                choice = [int(part) for part in choice.split(",")]
            except ValueError:
                raise DataError(f"{choice!r} names no layers; write -1, or 1,2,3, or last4-sum") from None
        layers = (choice,) if isinstance(choice, int) else tuple(choice)
        return cls(layers, combine, None if weights is None else tuple(weights))

    def check(self, num_layers: int) -> None:
        """Raises DataError for a layer that a model of so many layers does not have."""
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
