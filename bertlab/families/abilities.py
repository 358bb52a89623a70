"""Questions about the models of a family that their configuration answers: no backend is loaded."""

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.families.base import NEXT_TOKEN, Pretraining


def pretraining_of(config: ModelConfig) -> Pretraining:
    """The pre-training of a model: its objective, and the choices that do not suit it."""
    return NEXT_TOKEN if config.causal else family_of(config).pretraining


def predicts_neighbours(config: ModelConfig) -> bool:
    """Whether a model predicts the token after and the token before each token, and not the token itself."""
    return family_of(config).both_directions


def check_predicts_neighbours(config: ModelConfig) -> None:
    """Raises ConfigError for a model that does not predict both neighbours of a token."""
    if not predicts_neighbours(config):
        raise ConfigError(
            f"a model of {config.model_type} does not predict both neighbours of a token: choose a language model in "
            "both directions"
        )


def check_fills_masks(config: ModelConfig) -> None:
    """Raises ConfigError for a model that predicts the neighbours of a token, not the token itself."""
    if predicts_neighbours(config):
        raise ConfigError(
            f"a model of {config.model_type} predicts the token after and the token before each token, and nothing at "
            "[MASK]: choose a model that was pre-trained on masked tokens"
        )


def check_attends(config: ModelConfig) -> None:
    """Raises ConfigError for a model without attention weights."""
    if family_of(config).both_directions:
        raise ConfigError(f"a model of {config.model_type} has LSTMs and no attention: choose a transformer")
