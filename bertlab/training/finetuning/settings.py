"""The settings for fine-tuning a model: the published recipe and its grid, and what may be changed about them.

Source: Devlin et al. 2019, appendix A.3: batch size 16 or 32, learning rate 5e-5, 3e-5 or 2e-5, 2 to 4 epochs, dropout
0.1, the same optimizer as in pre-training; the best of the grid on the development set.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

from bertlab.common.errors import ConfigError
from bertlab.common.settings import Settings, setting
from bertlab.training.presets import PRECISIONS, check_parts

STARTS = ("pre-trained", "from scratch")

# One `Recipe` field for each axis of the published grid.
PUBLISHED_GRID = {"batch_size": (16, 32), "learning_rate": (5e-5, 3e-5, 2e-5), "epochs": (2, 3, 4)}


@dataclass(frozen=True)
class Recipe(Settings):
    """Everything that `finetune` can be told about the training. The paper's grid is for BERT-base; small models want
    a higher learning rate.

    Raises ConfigError for values that contradict one another.

    Example:
        recipe = Recipe(learning_rate=3e-4, seeds=(1, 2, 3))
    """

    learning_rate: float = setting(5e-5, "Peak learning rate.", above=0)  # the highest of the paper's grid
    batch_size: int = setting(32, "Rows per update.", at_least=1)
    epochs: int = setting(3, "Number of passes over the training rows.", at_least=1)
    warmup_share: float = setting(
        0.1, "Fraction of the steps in which the learning rate rises, before it falls to 0.", at_least=0, below=1,
        rare=True,
    )  # fmt: skip
    seeds: tuple[int, ...] = setting((1,), "Random seeds; each one is a run of its own.", option=False)
    weight_decay: float = setting(
        0.01, "Weight decay of all weights except LayerNorms and biases.", at_least=0, rare=True
    )
    max_length: int = setting(  # the paper's is 384 for SQuAD
        128, "Maximum number of tokens per row, including [CLS] and [SEP]; longer rows are cut.", at_least=4,
        default_text="128; questions 384",
    )  # fmt: skip
    stride: int = setting(128, "Tokens between the starts of consecutive windows (questions).", at_least=1, rare=True)
    patience: int | None = setting(
        None, "Stop after this number of epochs without improvement and keep the best epoch's weights.", at_least=1
    )
    best: str | None = setting(
        None, "Metric that chooses the best setting and seed, and with --patience the epoch [the task's first].",
        rare=True,
    )  # fmt: skip
    dropout: float | None = setting(
        None, "Dropout in the model during training; 0 can help with a few hundred rows [the checkpoint's].",
        at_least=0, below=1, rare=True,
    )  # fmt: skip
    frozen_layers: int | None = setting(
        None, "Freeze the embeddings (0), or the embeddings and this number of lower layers.",
        at_least=0,
    )  # fmt: skip
    lora_rank: int | None = setting(
        None, "Train adapters of this rank on queries and values (LoRA) and the head; freeze everything else.",
        at_least=1,
    )  # fmt: skip
    lora_alpha: float | None = setting(
        None, "Factor of the adapters, which is divided by the rank [the rank].", above=0, rare=True
    )
    layer_decay: float = setting(  # ULMFiT: 1 / 2.6; 0.95 is milder
        1.0, "Learning rate of each layer divided by that of the layer above it.", above=0, at_most=1, rare=True
    )
    class_weights: tuple[float, ...] | str | None = setting(
        None, "Weights of the classes in the loss: balanced, or one number per label, such as 1,2.5.",
        words=("balanced",),
    )  # fmt: skip
    from_scratch: bool = setting(
        False, "Also train from fresh weights, to measure the effect of pre-training.", option="--from-scratch"
    )
    accumulation: int = setting(
        1, "Compute each update in this number of parts, one after the other, to save memory.", at_least=1, rare=True
    )
    precision: str = setting(
        "float32", "Floating-point type of the computation; auto uses 16 bits where the device has them.",
        choices=PRECISIONS, rare=True,
    )  # fmt: skip
    task_sampling: float = setting(
        1.0, "Read each of several tasks in proportion to its number of batches to this power: 1 reads every row "
        "once, 0.5 small tasks more often, 0 all equally.", at_least=0, at_most=1,
    )  # fmt: skip
    devices: int = setting(1, "Number of GPUs that share every batch.", at_least=1, rare=True)
    interval: int = setting(
        500, "Steps between two saved states: a kill loses no more than these.", at_least=1, rare=True
    )
    row_order: str = setting(
        "length", "Order of the training rows: similar lengths together, new in every epoch; or that of Keras's `fit`.",
        choices=("length", "fit"), option=False,
    )  # fmt: skip

    def __post_init__(self):
        super().__post_init__()
        check_parts(self.batch_size, self.accumulation, self.devices)
        if not self.seeds:
            raise ConfigError("seeds: expected at least one integer; got none")
        if len(set(self.seeds)) != len(self.seeds):
            raise ConfigError(f"`seeds` contains a duplicate: each seed is one run; got {self.seeds}")
        if self.lora_rank is None and self.lora_alpha is not None:
            raise ConfigError(f"lora_alpha is the factor of adapters; got {self.lora_alpha:g} without lora_rank")
        if self.lora_rank is not None and self.frozen_layers is not None:
            raise ConfigError("lora_rank and frozen_layers exclude each other: adapters freeze every layer")
        if isinstance(self.class_weights, str) and self.class_weights != "balanced":
            raise ConfigError(f"class_weights: expected 'balanced' or one number per label; got {self.class_weights!r}")

    def grid(self, axes: dict[str, tuple]) -> list["Recipe"]:
        """This recipe with every combination of the values of some axes of `PUBLISHED_GRID`; {} gives itself alone.

        Raises ConfigError for another field, or an axis without values or with the same one twice.
        """
        for name, values in axes.items():
            if name not in PUBLISHED_GRID:
                raise ConfigError(f"grid: expected axes among {', '.join(PUBLISHED_GRID)}; got {name!r}")
            if isinstance(values, str) or not isinstance(values, Collection) or not values:
                raise ConfigError(
                    f"grid: expected some values of {name}, such as {PUBLISHED_GRID[name]}; got {values!r}"
                )
            if len(set(values)) != len(values):
                raise ConfigError(f"grid: {name} contains a duplicate; got {tuple(values)}")
        return [self.replace(**dict(zip(axes, values))) for values in product(*axes.values())]

    @property
    def of_scratch(self) -> "Recipe":
        """The recipe for fresh weights: every layer is trained, at the full rate."""
        return self.replace(frozen_layers=None, layer_decay=1.0, lora_rank=None, lora_alpha=None)
