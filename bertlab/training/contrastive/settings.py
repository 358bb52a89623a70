"""The settings for tuning sentence vectors.

Defaults: Gao et al. 2021, "SimCSE", appendix A: temperature 0.05, batches of 64.
"""

from dataclasses import dataclass

from bertlab.common.settings import Settings, setting
from bertlab.training.presets import PRECISIONS, check_parts


@dataclass(frozen=True)
class ContrastiveSettings(Settings):
    """Everything that `tune_vectors` can be told about the training.

    Raises ConfigError for values outside their limits.
    """

    learning_rate: float = setting(3e-5, "Peak learning rate.", above=0)
    batch_size: int = setting(64, "Pairs per update; each has the other pairs' second texts as negatives.", at_least=2)
    epochs: int = setting(1, "Number of passes over the pairs.", at_least=1)
    temperature: float = setting(0.05, "Divisor of the cosines before the softmax.", above=0)
    warmup_share: float = setting(
        0.1, "Fraction of the steps in which the learning rate rises, before it falls to 0.", at_least=0, below=1
    )
    weight_decay: float = setting(0.01, "Weight decay of all weights except LayerNorms and biases.", at_least=0)
    max_length: int = setting(64, "Maximum number of tokens per text, including [CLS] and [SEP].", at_least=4)
    seed: int = setting(1, "Random seed of the order of the pairs and of dropout.", at_least=0, at_most=2**32 - 1)
    accumulation: int = setting(
        1, "Compute each update in this number of parts, one after the other, to save memory.", at_least=1
    )
    precision: str = setting(
        "float32", "Floating-point type of the computation; auto uses 16 bits where the device has them.",
        choices=PRECISIONS,
    )  # fmt: skip
    devices: int = setting(1, "Number of GPUs that share every batch.", at_least=1)
    interval: int = setting(250, "Steps between two saved states: a kill loses no more than these.", at_least=1)

    def __post_init__(self):
        super().__post_init__()
        check_parts(self.batch_size, self.accumulation, self.devices)
