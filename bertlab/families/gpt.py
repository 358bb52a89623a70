"""GPT: a Transformer decoder that predicts the next token, with LayerNorm behind each sub-layer (Radford et al. 2018).

Source of the names: modeling_openai.py of transformers.
"""

from dataclasses import dataclass
from typing import ClassVar

from bertlab.config import ModelConfig
from bertlab.families.base import Family, layers, standard_embeddings
from bertlab.families.names import HUGGINGFACE, Names, conv1d, matrix, norm, table

_ACTIVATION = "afn"  # in config.json, where "gelu" means the tanh form


@dataclass(frozen=True)
class GptConfig(ModelConfig):
    """All settings of a GPT's architecture and numerics. The defaults are the published ones.

    Example:
        >>> GptConfig().causal  # a token sees itself and the tokens before it
        True
    """

    vocab_size: int = 40478
    hidden_act: str = "gelu_tanh"
    layer_norm_eps: float = 1e-5
    embedding_dropout: float = 0.1

    model_type: ClassVar[str] = "openai-gpt"
    causal: ClassVar[bool] = True
    SIZES: ClassVar[dict] = {"base": {}}
    HUGGINGFACE_NAMES: ClassVar[dict] = {
        "hidden_size": "n_embd",
        "num_layers": "n_layer",
        "num_heads": "n_head",
        "intermediate_size": "n_inner",
        "max_position_embeddings": "n_positions",
        "hidden_act": _ACTIVATION,
        "layer_norm_eps": "layer_norm_epsilon",
        "hidden_dropout": "resid_pdrop",
        "attention_dropout": "attn_pdrop",
        "embedding_dropout": "embd_pdrop",
    }

    def huggingface_lacks(self) -> list[str]:
        differs = {
            "intermediate_size": self.intermediate_size != 4 * self.hidden_size,
            "hidden_act": self.hidden_act not in ("gelu_tanh", "relu", "silu"),
        }
        return [f"{name} {getattr(self, name)}" for name, it_does in differs.items() if it_does]

    def to_huggingface(self) -> dict:
        values = super().to_huggingface()
        return values | ({_ACTIVATION: "gelu"} if self.hidden_act == "gelu_tanh" else {})

    @classmethod
    def adapted(cls, values: dict, where: str) -> dict:
        renamed = {_ACTIVATION: "gelu_new"} if values.get(_ACTIVATION) == "gelu" else {}
        return with_inner_size(values) | renamed


def with_inner_size(values: dict) -> dict:
    """A config.json's values with the inner size of the feed-forward network: left out, it is four times the width."""
    width = values.get("n_embd")
    inner = values.get("n_inner")
    return values | {"n_inner": 4 * width if inner is None and isinstance(width, int) else inner}


def decoder_embeddings(config: ModelConfig, **options):
    """Dropout(token + position), without segments and LayerNorm."""
    return standard_embeddings(config, norm=False, dropout=config.embedding_dropout, **options)


def last_token(config: ModelConfig, **options):
    """A classifier reads the last token, which has seen all others."""
    return layers.LastTokenVector(**options)


def next_token_head(config: ModelConfig, **options):
    """The scores of the next token: a product with the token table."""
    return layers.LanguageModelHead(config.vocab_size, config.initializer_range, **options)


# One layer in both published decoders; query, key and value are one matrix, which is not transposed.
LAYER = (
    conv1d("encoder/layer_{i}/attention/query", "h.{i}.attn.c_attn", part=(0, 3)),
    conv1d("encoder/layer_{i}/attention/key", "h.{i}.attn.c_attn", part=(1, 3)),
    conv1d("encoder/layer_{i}/attention/value", "h.{i}.attn.c_attn", part=(2, 3)),
    conv1d("encoder/layer_{i}/attention/out", "h.{i}.attn.c_proj"),
    norm("encoder/layer_{i}/attention_norm", "h.{i}.ln_1"),
    conv1d("encoder/layer_{i}/feed_forward/inner", "h.{i}.mlp.c_fc"),
    conv1d("encoder/layer_{i}/feed_forward/outer", "h.{i}.mlp.c_proj"),
    norm("encoder/layer_{i}/output_norm", "h.{i}.ln_2"),
)


def decoder_names(class_prefix: str, backbone: tuple, heads: dict[str, tuple] | None = None) -> Names:
    """The names of a published decoder. backbone: beside its layers.   heads: beside that of pre-training."""
    return Names(
        spelling=HUGGINGFACE,
        prefix="transformer.",
        class_prefix=class_prefix,
        class_ends={"pretraining": "LMHeadModel"},
        ignored_weights=r"h\.\d+\.attn\.(masked_)?bias|position_ids",  # the causal mask, in older files
        backbone=(*backbone, *LAYER),
        heads={
            "pretraining": (matrix("masked_lm_head/unembedding", "lm_head.weight"),),
            "sequence_classification": (matrix("head/dense/kernel", "score.weight"),),
            **(heads or {}),
        },
    )


_TABLES = (table("embeddings/token", "tokens_embed"), table("embeddings/position", "positions_embed"))

FAMILY = Family(
    config=GptConfig,
    huggingface=decoder_names("OpenAIGPT", _TABLES),
    embeddings=decoder_embeddings,
    masked_lm_head=next_token_head,
    pooling=last_token,
    pooler=False,
    text_classifier_bias=False,
    tokenizer="word BPE",
)
