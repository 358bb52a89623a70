"""ALBERT: a BERT with narrow token tables and shared layers (Lan et al. 2020, sections 3.1 and 3.2).

It is pre-trained on masked n-grams and on the order of two consecutive segments. Its classifier's and question
answering's heads are BERT's. Source of the names: modeling_albert.py of transformers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig, sizes_of
from bertlab.families.base import Family, factorised_embeddings, layers, standard_encoder
from bertlab.families.bert import HUGGINGFACE_BACKBONE, HUGGINGFACE_HEADS, BertConfig
from bertlab.families.names import HUGGINGFACE, Names, dense, matrix, norm, vector


@dataclass(frozen=True)
class AlbertConfig(ModelConfig):
    """All settings of an ALBERT's architecture and numerics. The defaults are ALBERT-base.

    Example:
        >>> AlbertConfig.named("xxlarge").head_size
        64
    """

    vocab_size: int = 30000
    hidden_act: str = "gelu_tanh"
    hidden_dropout: float = 0.0
    attention_dropout: float = 0.0
    embedding_size: int = 128  # E: width of the token, segment and position tables
    num_groups: int = 1  # sets of weights that the layers share
    layers_per_group: int = 1  # layers that one step goes through
    type_vocab_size: int = 2
    pooled_dropout: float = 0.1  # before the linear layer that classifies

    model_type: ClassVar[str] = "albert"
    SIZES: ClassVar[dict] = sizes_of(
        {"base": (12, 768, 12), "large": (24, 1024, 16), "xlarge": (24, 2048, 16), "xxlarge": (12, 4096, 64)}
    )
    HUGGINGFACE_NAMES: ClassVar[dict] = {
        **BertConfig.HUGGINGFACE_NAMES,
        "num_groups": "num_hidden_groups",
        "layers_per_group": "inner_group_num",
        "pooled_dropout": "classifier_dropout_prob",
    }
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {"position_embedding_type": "absolute"}
    NUMERICS: ClassVar[tuple] = (*ModelConfig.NUMERICS, "num_groups", "layers_per_group")

    def __post_init__(self):
        super().__post_init__()
        if self.num_groups > self.num_layers:
            raise ConfigError(f"num_groups {self.num_groups} must be at most num_layers, {self.num_layers}")


def _layer_numbers(config: AlbertConfig) -> Iterator[dict[str, int]]:
    inner = config.layers_per_group
    return ({"i": i, "group": i // inner, "inner": i % inner} for i in range(config.num_groups * inner))


_LAYER = "encoder.albert_layer_groups.{group}.albert_layers.{inner}"
_HUGGINGFACE = Names(
    spelling=HUGGINGFACE,
    prefix="albert.",
    class_prefix="Albert",
    backbone=(
        *(row for row in HUGGINGFACE_BACKBONE if row.ours.startswith("embeddings/")),
        dense("embeddings/projection", "encoder.embedding_hidden_mapping_in"),
        dense("encoder/layer_{i}/attention/query", _LAYER + ".attention.query"),
        dense("encoder/layer_{i}/attention/key", _LAYER + ".attention.key"),
        dense("encoder/layer_{i}/attention/value", _LAYER + ".attention.value"),
        dense("encoder/layer_{i}/attention/out", _LAYER + ".attention.dense"),
        norm("encoder/layer_{i}/attention_norm", _LAYER + ".attention.LayerNorm"),
        dense("encoder/layer_{i}/feed_forward/inner", _LAYER + ".ffn"),
        dense("encoder/layer_{i}/feed_forward/outer", _LAYER + ".ffn_output"),
        norm("encoder/layer_{i}/output_norm", _LAYER + ".full_layer_layer_norm"),
        dense("pooler/dense", "pooler"),
    ),
    heads={
        "pretraining": (
            dense("masked_lm_head/dense", "predictions.dense"),
            norm("masked_lm_head/norm", "predictions.LayerNorm"),
            matrix("masked_lm_head/unembedding", "predictions.decoder.weight"),
            vector("masked_lm_head/bias", "predictions.bias"),
            dense("next_sentence_head/dense", "sop_classifier.classifier"),
        ),
        **HUGGINGFACE_HEADS,
    },
)

FAMILY = Family(
    config=AlbertConfig,
    huggingface=_HUGGINGFACE,
    embeddings=factorised_embeddings,
    encoder=lambda config, **options: standard_encoder(
        config, layers.SharedEncoder, num_groups=config.num_groups, layers_per_group=config.layers_per_group, **options
    ),
    next_sentence=True,
    tokenizer="SentencePiece",
    layer_numbers=_layer_numbers,
    named_sizes=True,
)
