"""The configuration of a BERT: one frozen dataclass that reads and writes Hugging Face's `config.json`.

Sources: Devlin et al. 2019, section 3 (base, large); Turc et al. 2019, "Well-Read Students Learn Better",
table 1 (tiny, mini, small, medium).
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from bertlab.errors import ConfigError
from bertlab.files import write_text

ACTIVATIONS = ("gelu", "gelu_tanh", "gelu_sigmoid", "relu")
POSITION_EMBEDDINGS = ("learned", "sinusoidal")

# Hugging Face's name of each field that has another name here. The original `bert_config.json` uses the same names.
_HUGGINGFACE_NAMES = {
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "hidden_dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
}
# Their names of an activation → ours. In a Hugging Face config "gelu" is the exact one, x·Φ(x).
_HUGGINGFACE_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "quick_gelu": "gelu_sigmoid",
    "relu": "relu",
}
_ACTIVATIONS_FOR_HUGGINGFACE = {"gelu": "gelu", "gelu_tanh": "gelu_new", "gelu_sigmoid": "quick_gelu", "relu": "relu"}


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True)
class BertConfig:
    """All settings of a BERT's architecture and numerics. The defaults are BERT-base, uncased.

    Raises ConfigError if the values contradict one another.
    """

    vocab_size: int = 30522  # V: tokens in the vocabulary
    hidden_size: int = 768  # H: width of every vector between two layers
    num_layers: int = 12  # L
    num_heads: int = 12  # A: heads of H / A dimensions each
    intermediate_size: int = 3072  # width inside the feed-forward network; 4·H in every published size
    max_position_embeddings: int = 512  # longest sequence; learned positions do not exist beyond it
    type_vocab_size: int = 2  # segments A and B
    hidden_act: str = "gelu"  # gelu (exact) | gelu_tanh | gelu_sigmoid | relu
    hidden_dropout: float = 0.1  # after the embeddings and at the end of every sub-layer
    attention_dropout: float = (
        0.1  # on the attention weights (the paper's appendix A.2: "dropout of 0.1 on all layers")
    )
    initializer_range: float = 0.02  # standard deviation of the truncated normal
    layer_norm_eps: float = 1e-12  # TensorFlow's usual 1e-3 and PyTorch's 1e-5 both break parity
    pad_token_id: int = 0  # [PAD] is token 0 in every published vocabulary
    pre_norm: bool = False  # True: LayerNorm before each sub-layer (Xiong et al. 2020) instead of after
    position_embedding: str = "learned"  # learned (BERT) | sinusoidal (Vaswani et al. 2017, section 3.5)
    causal: bool = False  # True: a token attends to itself and the tokens before it (left-to-right, section 5.1)

    def __post_init__(self):
        for name in ("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size",
                     "max_position_embeddings", "type_vocab_size"):  # fmt: skip
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} must be a whole number of at least 1, not {value!r}")
        if self.hidden_size % self.num_heads:
            raise ConfigError(
                f"hidden_size {self.hidden_size} cannot be divided among num_heads {self.num_heads}: "
                "choose a number of heads that divides it"
            )
        for name in ("hidden_dropout", "attention_dropout"):
            if not (_is_number(getattr(self, name)) and 0 <= getattr(self, name) < 1):
                raise ConfigError(f"{name} must lie in [0, 1), not {getattr(self, name)!r}")
        for name in ("initializer_range", "layer_norm_eps"):
            if not (_is_number(getattr(self, name)) and getattr(self, name) > 0):
                raise ConfigError(f"{name} must be positive, not {getattr(self, name)!r}")
        if self.hidden_act not in ACTIVATIONS:
            raise ConfigError(f"hidden_act {self.hidden_act!r} is not known; choose one of {', '.join(ACTIVATIONS)}")
        if self.position_embedding not in POSITION_EMBEDDINGS:
            raise ConfigError(
                f"position_embedding {self.position_embedding!r} is not known; "
                f"choose one of {', '.join(POSITION_EMBEDDINGS)}"
            )
        if self.position_embedding == "sinusoidal" and self.hidden_size % 2:
            raise ConfigError(f"sinusoidal positions come in pairs: hidden_size {self.hidden_size} must be even")

    @property
    def head_size(self) -> int:
        """Dimensions of one head, H / A."""
        return self.hidden_size // self.num_heads

    def replace(self, **changes) -> "BertConfig":
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    @classmethod
    def named(cls, size: str, **changes) -> "BertConfig":
        """The published configuration called `size` (see `SIZES`), with some fields changed."""
        if size not in SIZES:
            raise ConfigError(f"there is no size {size!r}; choose one of {', '.join(SIZES)}")
        num_layers, hidden_size, num_heads = SIZES[size]
        shape = dict(
            num_layers=num_layers, hidden_size=hidden_size, num_heads=num_heads, intermediate_size=4 * hidden_size
        )
        return cls(**(shape | changes))

    # --- dictionaries and files ---

    def to_dict(self) -> dict:
        """The fields by BertLab's names, for `get_config`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> "BertConfig":
        """The inverse of `to_dict`. Raises ConfigError for a field that does not exist."""
        unknown = sorted(set(values) - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            raise ConfigError(f"BertConfig has no field {', '.join(unknown)}")
        return cls(**values)

    def to_huggingface(self) -> dict:
        """The content of a `config.json`. Fields without a Hugging Face name keep BertLab's (pre_norm …)."""
        values = {_HUGGINGFACE_NAMES.get(name, name): value for name, value in self.to_dict().items()}
        values["hidden_act"] = _ACTIVATIONS_FOR_HUGGINGFACE[self.hidden_act]
        values["position_embedding_type"] = "absolute"
        return {"model_type": "bert", "architectures": ["BertForPreTraining"], **values}

    @classmethod
    def from_huggingface(cls, values: dict, where: str = "config.json") -> "BertConfig":
        """Reads the content of a Hugging Face `config.json` or of an original `bert_config.json`.

        Fields that do not concern the model's architecture are ignored. A missing field takes BERT's default, except
        the four required ones. Raises ConfigError, with `where`.
        """
        if not isinstance(values, dict):
            raise ConfigError(f"{where}: expected a JSON object, found {type(values).__name__}")
        if values.get("model_type", "bert") != "bert":
            raise ConfigError(f"{where}: model_type is {values['model_type']!r}; only BERT checkpoints can be read")
        if values.get("position_embedding_type", "absolute") not in ("absolute", None):
            raise ConfigError(
                f"{where}: position_embedding_type {values['position_embedding_type']!r} is not supported, "
                "only 'absolute' is"
            )
        own = {}
        for field in dataclasses.fields(cls):
            theirs = _HUGGINGFACE_NAMES.get(field.name, field.name)
            if values.get(theirs) is not None:
                own[field.name] = values[theirs]
            elif field.name in ("vocab_size", "hidden_size", "num_layers", "num_heads"):
                raise ConfigError(f"{where}: {theirs!r} is missing; it must be a whole number")
        activation = own.get("hidden_act", "gelu")
        if not isinstance(activation, str) or activation not in _HUGGINGFACE_ACTIVATIONS:
            known = ", ".join(_HUGGINGFACE_ACTIVATIONS)
            raise ConfigError(f"{where}: hidden_act {activation!r} is not known; choose one of {known}")
        own["hidden_act"] = _HUGGINGFACE_ACTIVATIONS[activation]
        try:
            return cls(**own)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None

    def save(self, path: str | Path) -> None:
        """Writes a `config.json`."""
        write_text(path, json.dumps(self.to_huggingface(), indent=2) + "\n", ConfigError)

    @classmethod
    def load(cls, path: str | Path) -> "BertConfig":
        """Reads a `config.json` or `bert_config.json`. Raises ConfigError with the file's name."""
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ConfigError(f"{path}: there is no such file") from None
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ConfigError(f"{path}: not valid JSON ({error})") from None
        return cls.from_huggingface(values, where=str(path))


# name: (num_layers, hidden_size, num_heads)
SIZES = {
    "tiny": (2, 128, 2),
    "mini": (4, 256, 4),
    "small": (4, 512, 8),
    "medium": (8, 512, 8),
    "base": (12, 768, 12),
    "large": (24, 1024, 16),
}
