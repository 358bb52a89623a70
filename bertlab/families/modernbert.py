"""ModernBERT: rotary positions, gated feed-forward networks, local attention in two layers of three, no biases.

Warner et al. 2024, "Smarter, Better, Faster, Longer: A Modern Bidirectional Encoder", section 2.1 and appendix A. It is
pre-trained on 30 % masked tokens alone, and reads up to 8192. Source of the names: modeling_modernbert.py of
transformers.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.families.base import Family, layers, standard_embeddings, standard_encoder, standard_masked_lm_head
from bertlab.families.names import HUGGINGFACE, Names, dense, matrix, table, vector

_GLOBAL, _LOCAL = "full_attention", "sliding_attention"  # kinds of layers in config.json
_EVERY, _LAYERS, _ROPE = "global_attn_every_n_layers", "layer_types", "rope_parameters"


@dataclass(frozen=True)
class ModernBertConfig(ModelConfig):
    """All settings of a ModernBERT's architecture and numerics. The defaults are ModernBERT-base.

    Example:
        >>> ModernBertConfig().reach  # tokens that a local layer sees to each side
        64
    """

    vocab_size: int = 50368
    num_layers: int = 22
    intermediate_size: int = 1152  # width of each half of the gated network
    max_position_embeddings: int = 8192  # there is no table: the longest row that it was trained on
    hidden_dropout: float = 0.0  # after the embeddings
    attention_dropout: float = 0.0  # on the attention weights, and on the attention's output
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 50283
    global_every: int = 3  # layers 0, 3, 6 … see the whole row
    local_attention: int = 128  # tokens that the others see, half of them to each side
    global_theta: float = 160_000.0  # base of the rotary positions, in global layers
    local_theta: float = 10_000.0  # and in local ones
    inner_dropout: float = 0.0  # inside the feed-forward network
    pooled_dropout: float = 0.0  # before the last linear layer of a classifier or tagger
    pooling: str = "cls"  # cls | mean: the vector that a classifier of texts reads

    model_type: ClassVar[str] = "modernbert"
    CHOICES: ClassVar[dict] = {**ModelConfig.CHOICES, "pooling": ("cls", "mean")}
    SIZES: ClassVar[dict] = {
        "base": {},
        "large": dict(num_layers=28, hidden_size=1024, num_heads=16, intermediate_size=2624),
    }
    HUGGINGFACE_NAMES: ClassVar[dict] = {
        "num_layers": "num_hidden_layers",
        "num_heads": "num_attention_heads",
        "hidden_act": "hidden_activation",
        "hidden_dropout": "embedding_dropout",
        "layer_norm_eps": "norm_eps",
        "global_every": _EVERY,
        "global_theta": "global_rope_theta",
        "local_theta": "local_rope_theta",
        "inner_dropout": "mlp_dropout",
        "pooled_dropout": "classifier_dropout",
        "pooling": "classifier_pooling",
    }
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {
        "norm_bias": False,
        "attention_bias": False,
        "mlp_bias": False,
        "decoder_bias": True,
        "classifier_bias": False,
        "classifier_activation": "gelu",
    }
    NUMERICS: ClassVar[tuple] = (
        *ModelConfig.NUMERICS, "global_every", "local_attention", "global_theta", "local_theta", "pooling"
    )  # fmt: skip

    def __post_init__(self):
        super().__post_init__()
        if self.head_size % 2:
            raise ConfigError(
                f"rotary positions turn pairs of numbers: hidden_size / num_heads {self.head_size} must be even"
            )
        if self.local_attention % 2:
            raise ConfigError(
                f"local_attention {self.local_attention} must be even: half of it is on each side of a token"
            )

    @property
    def reach(self) -> int:
        """The number of tokens to each side that a local layer sees."""
        return self.local_attention // 2

    @property
    def inner_width(self) -> int:
        return 2 * self.intermediate_size

    @property
    def tagger_dropout(self) -> float:
        return self.pooled_dropout

    @property
    def output_range(self) -> float:
        """Standard deviation of the initial matrices that end a sub-layer or begin a head."""
        return self.initializer_range / math.sqrt(2 * self.num_layers)

    def to_huggingface(self) -> dict:
        """The content of a `config.json`, with kinds of layers and θ in the words of transformers 4 and of 5."""
        thetas = {_GLOBAL: self.global_theta, _LOCAL: self.local_theta}
        return super().to_huggingface() | {
            _LAYERS: _layer_types(self.num_layers, self.global_every),
            _ROPE: {kind: {"rope_type": "default", "rope_theta": theta} for kind, theta in thetas.items()},
        }

    @classmethod
    def from_huggingface(cls, values: dict, where: str = "config.json") -> "ModernBertConfig":
        """Reads a `config.json` of transformers 4 or 5; see `ModelConfig.from_huggingface`."""
        config = super().from_huggingface(values, where)
        return config.replace(global_every=_global_every(values, config, where))

    @classmethod
    def adapted(cls, values: dict, where: str) -> dict:
        return values | _thetas_of(values, where)


def _layer_types(num_layers: int, global_every: int) -> list[str]:
    return [_LOCAL if number % global_every else _GLOBAL for number in range(num_layers)]


def _global_every(values: dict, config: ModernBertConfig, where: str) -> int:
    """From the list of layers, if there is one; an older file has the number alone."""
    listed = values.get(_LAYERS)
    if listed is None or listed == _layer_types(config.num_layers, config.global_every):
        return config.global_every
    behind = listed[1:] if isinstance(listed, list) else []
    every = 1 + behind.index(_GLOBAL) if _GLOBAL in behind else config.num_layers
    if listed != _layer_types(config.num_layers, every):
        raise ConfigError(
            f"{where}: {_LAYERS} {listed!r:.80} is not supported: expected {_GLOBAL!r} in the first and then in every "
            f"n-th of {config.num_layers} layers, {_LOCAL!r} in the others"
        )
    return every


def _thetas_of(values: dict, where: str) -> dict:
    """θ by its older names. Raises ConfigError for rotary positions that are scaled or of another type."""
    given = values.get(_ROPE) or {}
    if values.get("rope_scaling") is not None or not isinstance(given, dict):
        raise ConfigError(
            f"{where}: rope_scaling and {_ROPE} other than one theta for each kind of layer are not supported"
        )
    found = {}
    for kind, name in ((_GLOBAL, "global_rope_theta"), (_LOCAL, "local_rope_theta")):
        parameters = given.get(kind) or {}
        if not isinstance(parameters, dict) or parameters.get("rope_type", "default") != "default":
            raise ConfigError(
                f"{where}: {_ROPE} of {kind} {parameters!r:.80} is not supported, only rope_type 'default' is"
            )
        if parameters.get("rope_theta") is not None:
            found[name] = parameters["rope_theta"]
    return found


def _encoder(config: ModernBertConfig, **options):
    return standard_encoder(
        config,
        layers.RotaryEncoder,
        global_every=config.global_every,
        reach=config.reach,
        global_theta=config.global_theta,
        local_theta=config.local_theta,
        dropout=config.inner_dropout,
        **options,
    )


def _transform(ours: str) -> tuple:
    return matrix(f"{ours}/dense/kernel", "head.dense.weight"), vector(f"{ours}/norm/gamma", "head.norm.weight")


_CLASSIFIER = dense("head/dense", "classifier")
_HUGGINGFACE = Names(
    spelling=HUGGINGFACE,
    prefix="model.",
    class_prefix="ModernBert",
    backbone=(
        table("embeddings/token", "embeddings.tok_embeddings"),
        vector("embeddings/norm/gamma", "embeddings.norm.weight"),
        vector("encoder/layer_{i}/attention_norm/gamma", "layers.{i}.attn_norm.weight"),
        matrix("encoder/layer_{i}/attention/query/kernel", "layers.{i}.attn.Wqkv.weight", part=(0, 3)),
        matrix("encoder/layer_{i}/attention/key/kernel", "layers.{i}.attn.Wqkv.weight", part=(1, 3)),
        matrix("encoder/layer_{i}/attention/value/kernel", "layers.{i}.attn.Wqkv.weight", part=(2, 3)),
        matrix("encoder/layer_{i}/attention/out/kernel", "layers.{i}.attn.Wo.weight"),
        vector("encoder/layer_{i}/output_norm/gamma", "layers.{i}.mlp_norm.weight"),
        matrix("encoder/layer_{i}/feed_forward/inner/kernel", "layers.{i}.mlp.Wi.weight"),
        matrix("encoder/layer_{i}/feed_forward/outer/kernel", "layers.{i}.mlp.Wo.weight"),
        vector("encoder/final_norm/gamma", "final_norm.weight"),
    ),
    heads={
        "pretraining": (
            *_transform("masked_lm_head"),
            matrix("masked_lm_head/unembedding", "decoder.weight"),
            vector("masked_lm_head/bias", "decoder.bias"),
        ),
        "sequence_classification": (*_transform("backbone/pooler"), _CLASSIFIER),
        "token_classification": (*_transform("transform"), _CLASSIFIER),
        "multiple_choice": (*_transform("backbone/pooler"), _CLASSIFIER),
        "question_answering": (*_transform("transform"), _CLASSIFIER),
    },
)

FAMILY = Family(
    config=ModernBertConfig,
    huggingface=_HUGGINGFACE,
    embeddings=partial(standard_embeddings, position_embedding="none", norm_bias=False),
    encoder=_encoder,
    masked_lm_head=lambda config, **options: standard_masked_lm_head(
        config, activation="gelu", initializer_range=config.output_range, inner_biases=False, **options
    ),
    pooling=lambda config, **options: layers.TransformPooler(
        config.pooling, layer_norm_eps=config.layer_norm_eps, initializer_range=config.output_range, **options
    ),
    token_transform=lambda config, **options: layers.HeadTransform(
        config.layer_norm_eps, config.output_range, **options
    ),
    pooler=False,
    own_paths=lambda config, paths: paths - {"backbone/encoder/layer_0/attention_norm/gamma"},
    tokenizer="byte-level BPE",
    named_sizes=True,
)
