"""How a model is fine-tuned: the published recipe and its grid, and what may be changed about them.

Source: Devlin et al. 2019, appendix A.3: batch size 16 or 32, learning rate 5e-5, 3e-5 or 2e-5, 2 to 4 epochs, dropout
0.1, the same optimizer as in pre-training; the best of the grid on the development set.
"""

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

from bertlab.errors import ConfigError

STARTS = ("pre-trained", "from scratch")

# One `Recipe` field for each axis of the published grid.
PUBLISHED_GRID = {"batch_size": (16, 32), "learning_rate": (5e-5, 3e-5, 2e-5), "epochs": (2, 3, 4)}


@dataclass(frozen=True)
class FineTuningSettings:
    """How a classifier is fine-tuned. The paper's grid (appendix A.3) is for BERT-base; small models want more."""

    learning_rate: float = 5e-5  # the highest of the paper's grid: 5e-5, 3e-5, 2e-5
    batch_size: int = 32
    epochs: int = 3
    warmup_share: float = 0.1
    seeds: tuple[int, ...] = (1, 2, 3)


@dataclass(frozen=True)
class Recipe(FineTuningSettings):
    """Everything that `finetune` can be told about the training.

    Raises ConfigError for values that contradict themselves.
    """

    seeds: tuple[int, ...] = (1,)
    weight_decay: float = 0.01  # as in pre-training: not on LayerNorms and biases
    max_length: int = 128  # longest row, special tokens included; the paper's is 384 for SQuAD
    stride: int = 128  # questions: tokens from one window's beginning to the next one's
    patience: int | None = None  # stop after so many epochs without a better figure and keep the best epoch's weights
    frozen_layers: int | None = None  # 0 freezes the embeddings, k also the first k layers
    layer_decay: float = 1.0  # learning rate of a layer, relative to the layer above (ULMFiT: 1 / 2.6; 0.95 is milder)
    class_weights: tuple[float, ...] | str | None = (
        None  # one for each label, or "balanced": N / (C · rows of the class)
    )
    from_scratch: bool = False  # also train a model with fresh weights, to see what pre-training was worth

    def __post_init__(self):
        if not self.learning_rate > 0 or self.batch_size < 1 or self.epochs < 1 or not self.seeds:
            raise ConfigError("learning_rate must be positive, batch_size and epochs at least 1, seeds not empty")
        if len(set(self.seeds)) != len(self.seeds):
            raise ConfigError(f"seeds {self.seeds} name one twice; each gives a run of its own")
        if not 0 <= self.warmup_share < 1:
            raise ConfigError(f"warmup_share must lie in [0, 1), not {self.warmup_share}")
        if not 0 < self.layer_decay <= 1:
            raise ConfigError(f"layer_decay must lie in (0, 1], not {self.layer_decay}; 1 is the same rate everywhere")
        if self.patience is not None and self.patience < 1:
            raise ConfigError(f"patience must be at least 1 epoch, not {self.patience}")
        if isinstance(self.class_weights, str) and self.class_weights != "balanced":
            raise ConfigError(
                f"class_weights {self.class_weights!r} is not known; give 'balanced' or one number a label"
            )

    def grid(self, axes: dict[str, tuple]) -> list["Recipe"]:
        """This recipe with every combination of the values of some axes of `PUBLISHED_GRID`; {} gives itself alone.

        Raises ConfigError for another field, or an axis without values or with the same one twice.
        """
        for name, values in axes.items():
            if name not in PUBLISHED_GRID:
                raise ConfigError(f"{name!r} is no axis of a grid; choose among {', '.join(PUBLISHED_GRID)}")
            if isinstance(values, str) or not isinstance(values, Collection) or not values:
                raise ConfigError(
                    f"the grid's {name} is {values!r}; expected some values, such as {PUBLISHED_GRID[name]}"
                )
            if len(set(values)) != len(values):
                raise ConfigError(f"the grid's {name} {tuple(values)} names a value twice; name each once")
        return [dataclasses.replace(self, **dict(zip(axes, values))) for values in product(*axes.values())]

    @property
    def of_scratch(self) -> "Recipe":
        """The recipe for fresh weights: nothing in them is worth keeping, every layer is trained at the full rate."""
        return dataclasses.replace(self, frozen_layers=None, layer_decay=1.0)
