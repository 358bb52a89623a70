"""Families of models, a file each, from ALBERT to XLNet. No other file knows one by name.

A family (`Family`) has a config, embeddings, an encoder, the names of its weights in published checkpoints, and a kind
of tokenizer. To add one: write its file and add a line to `_FILES`.

    family("bert")                    by its model_type
    family_of(config)                 of a configuration
    load_config("…/config.json")      the configuration in a file, of any family
"""

import importlib
from pathlib import Path

from bertlab.common.errors import ConfigError
from bertlab.common.files import read_json
from bertlab.common.lazy import imported_when_used
from bertlab.config import ModelConfig
from bertlab.families.base import NEXT_TOKEN, Family, Pretraining

# model_type in config.json → the file of the family, and what others import from it
_FILES = {
    "albert": ("albert", "AlbertConfig"),
    "bert": ("bert", "BertConfig", "SIZES"),
    "distilbert": ("distilbert", "DistilBertConfig"),
    "electra": ("electra", "ElectraConfig"),
    "elmo": ("elmo", "ElmoConfig"),
    "gpt2": ("gpt2", "Gpt2Config"),
    "marian": ("marian", "MarianConfig"),
    "modernbert": ("modernbert", "ModernBertConfig"),
    "openai-gpt": ("gpt", "GptConfig"),
    "roberta": ("roberta", "RobertaConfig"),
    "transformer": ("transformer", "TransformerConfig"),
    "xlnet": ("xlnet", "XLNetConfig"),
}
DEFAULT = "bert"  # files older than `model_type` are of this family
_NAMES, __getattr__ = imported_when_used(
    __name__, {f"bertlab.families.{file}": names for file, *names in _FILES.values()}
)
__all__ = ["DEFAULT", "Family", "config_from_huggingface", "family", "family_of", "load_config", "model_types",
           "size_names", *_NAMES]  # fmt: skip


def model_types() -> tuple[str, ...]:
    """The model_type of each family.

    Example:
        >>> model_types()[:3]
        ('albert', 'bert', 'distilbert')
    """
    return tuple(_FILES)


def family(model_type: str) -> Family:
    """The family of this name. Raises ConfigError if there is none.

    Example:
        >>> family("bert").config.named("tiny").num_layers
        2
    """
    if not isinstance(model_type, str) or model_type not in _FILES:
        raise ConfigError(f"model_type is {model_type!r}; expected one of {', '.join(_FILES)}")
    return importlib.import_module(f"bertlab.families.{_FILES[model_type][0]}").FAMILY


def family_of(config: ModelConfig) -> Family:
    """The family that a configuration belongs to, in the variant that it describes.

    Example:
        >>> family_of(XLNetConfig()).two_streams
        True
    """
    found = family(config.model_type)
    return found.variant(config) or found


def size_names() -> dict[str, tuple[str, str]]:
    """The names of published sizes: "mini" of the default family, "electra-small" of another → its family and size.

    Example:
        >>> size_names()["electra-small"]
        ('electra', 'small')
    """
    names = {size: (DEFAULT, size) for size in family(DEFAULT).config.SIZES}
    others = [name for name in _FILES if family(name).named_sizes]
    return names | {f"{name}-{size}": (name, size) for name in others for size in family(name).config.SIZES}


def config_from_huggingface(values: dict, where: str = "config.json") -> ModelConfig:
    """The configuration in the content of a Hugging Face `config.json` or an original `bert_config.json`.

    Raises ConfigError, with `where`.

    Example:
        >>> values = BertConfig.named("mini").to_huggingface()
        >>> values["num_hidden_layers"], config_from_huggingface(values).num_layers
        (4, 4)
    """
    try:
        its_family = family(values.get("model_type", DEFAULT))
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return its_family.config.from_huggingface(values, where)


def load_config(path: str | Path) -> ModelConfig:
    """Reads a `config.json` or `bert_config.json`. Raises ConfigError with the file's name.

    Example:
        >>> XLNetConfig.named("large").save("config.json")
        >>> load_config("config.json").model_type
        'xlnet'
    """
    return config_from_huggingface(read_json(path, ConfigError, "copy it again", dict), str(path))


# === Questions that a configuration answers ===


def pretraining_of(config: ModelConfig) -> Pretraining:
    """The pre-training of a model: its objective, and the choices that do not suit it."""
    return NEXT_TOKEN if config.causal else family_of(config).pretraining


def check_predicts_neighbours(config: ModelConfig) -> None:
    """Raises ConfigError for a model that does not predict both neighbours of a token."""
    if not family_of(config).both_directions:
        raise ConfigError(
            f"a model of {config.model_type} does not predict both neighbours of a token: choose a language model in "
            "both directions"
        )


def check_fills_masks(config: ModelConfig) -> None:
    """Raises ConfigError for a model that predicts the neighbours of a token, not the token itself."""
    if family_of(config).both_directions:
        raise ConfigError(
            f"a model of {config.model_type} predicts the token after and the token before each token, and nothing at "
            "[MASK]: choose a model that was pre-trained on masked tokens"
        )


def check_attends(config: ModelConfig) -> None:
    """Raises ConfigError for a model without attention weights."""
    if family_of(config).both_directions:
        raise ConfigError(f"a model of {config.model_type} has LSTMs and no attention: choose a transformer")
