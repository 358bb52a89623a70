"""The common configuration of all families: `ModelConfig`; each family (`bertlab.families`) derives its own from it."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from bertlab.common.errors import ConfigError
from bertlab.common.files import read_json, write_text

ACTIVATIONS = ("gelu", "gelu_tanh", "gelu_sigmoid", "relu", "silu")

# Hugging Face's names of an activation → ours. In their config "gelu" is the exact one, x·Φ(x).
_HUGGINGFACE_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "quick_gelu": "gelu_sigmoid",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
_ACTIVATIONS_FOR_HUGGINGFACE = {
    "gelu": "gelu", "gelu_tanh": "gelu_new", "gelu_sigmoid": "quick_gelu", "relu": "relu", "silu": "silu",
}  # fmt: skip


def sizes_of(shapes: dict[str, tuple[int, int, int]]) -> dict[str, dict[str, int]]:
    """`SIZES` from (num_layers, hidden_size, num_heads), with feed-forward networks four times as wide."""
    return {
        name: dict(num_layers=layers, hidden_size=hidden, num_heads=heads, intermediate_size=4 * hidden)
        for name, (layers, hidden, heads) in shapes.items()
    }


def check_whole_number(name: str, value, least: int = 1) -> None:
    """Raises ConfigError unless the value of a field is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} must be a whole number of at least {least}, not {value!r}")


@dataclass(frozen=True)
class ModelConfig:
    """The settings of a model's architecture and numerics that all families share. Use the config of a family.

    The type of a field says what it may be: `int` a whole number of at least 1, unless it is an id; `float` a positive
    number, a dropout one in [0, 1); `bool` true or false. Raises ConfigError for others, and if they contradict one
    another.

    Example:
        >>> ModelConfig(hidden_size=128, num_heads=2).head_size
        64
    """

    vocab_size: int = 30522  # V: tokens in the vocabulary
    hidden_size: int = 768  # H: width of every vector between two layers
    num_layers: int = 12  # L
    num_heads: int = 12  # A: heads of H / A dimensions each
    intermediate_size: int = 3072  # width inside the feed-forward network; 4·H in every published size
    max_position_embeddings: int = 512  # rows of the position table
    hidden_act: str = "gelu"  # gelu (exact) | gelu_tanh | gelu_sigmoid | relu | silu
    hidden_dropout: float = 0.1  # after the embeddings and at the end of every sub-layer
    attention_dropout: float = 0.1  # on the attention weights
    initializer_range: float = 0.02  # standard deviation of the truncated normal
    layer_norm_eps: float = 1e-12  # TensorFlow's usual 1e-3 and PyTorch's 1e-5 both break parity with BERT
    pad_token_id: int = 0

    # --- what a family states about itself ---

    model_type: ClassVar[str] = ""  # its name in config.json and in `bertlab.families`
    SIZES: ClassVar[dict[str, dict[str, int]]] = {}  # published size → the fields that make it
    HUGGINGFACE_NAMES: ClassVar[dict[str, str]] = {}  # field → its name in config.json, if it differs
    HUGGINGFACE_CONSTANTS: ClassVar[dict[str, Any]] = {}  # entries of config.json that allow one value only
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"hidden_act": ACTIVATIONS}  # field → the values it may have
    MAY_BE_ZERO: ClassVar[tuple[str, ...]] = ()  # fields of type int
    NUMERICS: ClassVar[tuple[str, ...]] = ("num_layers", "num_heads", "hidden_act", "layer_norm_eps")
    # NUMERICS: fields that change the outputs for the same weights, and that shapes do not show
    causal: ClassVar[bool] = False  # whether a token sees only itself and the tokens before it

    def __post_init__(self):
        for field in dataclasses.fields(self):
            name, value = field.name, getattr(self, field.name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if field.type is int and not name.endswith("_id"):
                check_whole_number(name, value, 0 if name in self.MAY_BE_ZERO else 1)
            elif field.type is bool and not isinstance(value, bool):
                raise ConfigError(f"{name} must be true or false, not {value!r}")
            elif name.endswith("_dropout"):
                if not (is_number and 0 <= value < 1):
                    raise ConfigError(f"{name} must lie in [0, 1), not {value!r}")
            elif field.type is float and not (is_number and value > 0):
                raise ConfigError(f"{name} must be positive, not {value!r}")
            elif name in self.CHOICES and value not in self.CHOICES[name]:
                raise ConfigError(f"{name} {value!r} is not known; choose one of {', '.join(self.CHOICES[name])}")
        if self.hidden_size % self.num_heads:
            raise ConfigError(
                f"hidden_size {self.hidden_size} cannot be divided among num_heads {self.num_heads}: "
                "choose a number of heads that divides it"
            )

    @property
    def head_size(self) -> int:
        """Dimensions of one head, H / A."""
        return self.hidden_size // self.num_heads

    @property
    def token_width(self) -> int:
        """Width of the token table: `embedding_size`, where the family has such a field."""
        return getattr(self, "embedding_size", self.hidden_size)

    @property
    def target_vocab_size(self) -> int:
        """Tokens that a target can have: those of a source, unless the two have a vocabulary each."""
        return self.vocab_size

    @property
    def max_tokens(self) -> int:
        """The longest sequence the model reads."""
        return self.max_position_embeddings

    @property
    def classifier_dropout(self) -> float:
        """Dropout before the linear layer on a pooled vector: `pooled_dropout`, where the family has such a field."""
        return getattr(self, "pooled_dropout", self.hidden_dropout)

    @property
    def tagger_dropout(self) -> float:
        """Dropout before the linear layer that classifies every token."""
        return self.hidden_dropout

    @property
    def inner_width(self) -> int:
        """Width of what the first matrix of the feed-forward network makes."""
        return self.intermediate_size

    def replace(self, **changes) -> Self:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def with_dropout(self, rate: float) -> Self:
        """A copy with one rate for every dropout of the family. Raises ConfigError for a rate outside [0, 1).

        Example:
            >>> ModelConfig().with_dropout(0.0).attention_dropout
            0.0
        """
        names = [field.name for field in dataclasses.fields(self) if field.name.endswith("_dropout")]
        return self.replace(**dict.fromkeys(names, rate))

    @classmethod
    def named(cls, size: str, **changes) -> Self:
        """The published configuration called `size` (see `SIZES`), with some fields changed."""
        if size not in cls.SIZES:
            raise ConfigError(f"there is no size {size!r}; choose one of {', '.join(cls.SIZES)}")
        return cls(**(cls.SIZES[size] | changes))

    # --- dictionaries and files ---

    def to_dict(self) -> dict:
        """The fields by BertLab's names, for `get_config`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> Self:
        """The inverse of `to_dict`. Raises ConfigError for a field that does not exist."""
        unknown = sorted(set(values) - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            raise ConfigError(f"{cls.__name__} has no field {', '.join(unknown)}")
        return cls(**values)

    def huggingface_lacks(self) -> list[str]:
        """The settings without an equivalent in transformers' model of the family, in words."""
        return []

    def to_huggingface(self) -> dict:
        """The content of a `config.json`. Fields without a Hugging Face name keep BertLab's (pre_norm …)."""
        values = {self.HUGGINGFACE_NAMES.get(name, name): value for name, value in self.to_dict().items()}
        values[self._activation_name()] = _ACTIVATIONS_FOR_HUGGINGFACE[self.hidden_act]
        return {"model_type": self.model_type, **values, **self.HUGGINGFACE_CONSTANTS}

    @classmethod
    def from_huggingface(cls, values: dict, where: str = "config.json") -> Self:
        """Reads the content of a Hugging Face `config.json` of this family.

        Fields that do not concern the model's architecture are ignored. A missing field takes the family's default,
        except the four required ones. Raises ConfigError, with `where`.
        """
        values = cls.adapted(values, where)
        if values.get("model_type", cls.model_type) != cls.model_type:
            raise ConfigError(f"{where}: model_type is {values['model_type']!r}; expected {cls.model_type!r}")
        for name, only in cls.HUGGINGFACE_CONSTANTS.items():
            if values.get(name, only) not in (only, None):
                raise ConfigError(f"{where}: {name} {values[name]!r} is not supported, only {only!r} is")
        own = {}
        for field in dataclasses.fields(cls):
            theirs = cls.HUGGINGFACE_NAMES.get(field.name, field.name)
            if values.get(theirs) is not None:
                own[field.name] = values[theirs]
            elif field.name in ("vocab_size", "hidden_size", "num_layers", "num_heads"):
                raise ConfigError(f"{where}: {theirs!r} is missing; it must be a whole number")
        activation = own.get("hidden_act") or _ACTIVATIONS_FOR_HUGGINGFACE[cls.hidden_act]  # or the family's
        if not isinstance(activation, str) or activation not in _HUGGINGFACE_ACTIVATIONS:
            known = ", ".join(_HUGGINGFACE_ACTIVATIONS)
            raise ConfigError(f"{where}: {cls._activation_name()} {activation!r} is not known; choose one of {known}")
        own["hidden_act"] = _HUGGINGFACE_ACTIVATIONS[activation]
        try:
            return cls(**own)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None

    @classmethod
    def adapted(cls, values: dict, where: str) -> dict:
        """The content of a `config.json` by the names of `HUGGINGFACE_NAMES`, where a family has other entries too."""
        return values

    @classmethod
    def _activation_name(cls) -> str:
        return cls.HUGGINGFACE_NAMES.get("hidden_act", "hidden_act")

    def save(self, path: str | Path) -> None:
        """Writes a `config.json`."""
        write_text(path, json.dumps(self.to_huggingface(), indent=2) + "\n", ConfigError)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a `config.json` of this family. Raises ConfigError, naming the file."""
        return cls.from_huggingface(read_json(path, ConfigError, "copy it again", dict), where=str(path))


def __getattr__(name):  # the older address of these two, which notebooks use
    from bertlab import families

    if name in ("BertConfig", "SIZES"):
        return getattr(families, name)
    raise AttributeError(f"module 'bertlab.config' has no attribute {name!r}")
