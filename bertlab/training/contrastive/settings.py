"""How sentence vectors are tuned. Defaults: Gao et al. 2021, "SimCSE", appendix A: temperature 0.05, batches of 64."""

from dataclasses import dataclass

from bertlab.settings import Settings, setting


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
    seed: int = setting(1, "Random seed of the order of the pairs and of dropout.", at_least=0)
    interval: int = setting(250, "Steps between two saved states: a kill loses no more than these.", at_least=1)
