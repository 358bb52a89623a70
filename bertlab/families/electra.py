"""ELECTRA: a small generator fills in masks, a discriminator finds the replaced tokens (Clark et al. 2020).

Both are encoders of this family: the discriminator with a head that judges every token ("replaced_token_detection"),
the generator with a masked-language-model head ("pretraining"). Tables that are narrower than the encoder are
projected. Source of the names: modeling_electra.py of transformers.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bertlab.config import ModelConfig
from bertlab.families.base import (
    Family,
    factorised_embeddings,
    standard_embeddings,
    standard_masked_lm_head,
    standard_pooling,
)
from bertlab.families.bert import HUGGINGFACE_BACKBONE, HUGGINGFACE_HEADS, BertConfig
from bertlab.families.names import HUGGINGFACE, Names, dense, matrix, norm, vector

# size: (num_layers, hidden_size, num_heads, embedding_size)
_SHAPES = {"small": (12, 256, 4, 128), "base": (12, 768, 12, 768), "large": (24, 1024, 16, 1024)}


@dataclass(frozen=True)
class ElectraConfig(ModelConfig):
    """All settings of an ELECTRA's architecture and numerics. The defaults are the discriminator of ELECTRA-small.

    Example:
        >>> ElectraConfig().token_width
        128
    """

    hidden_size: int = 256
    num_heads: int = 4
    intermediate_size: int = 1024
    embedding_size: int = 128  # E: width of the token, segment and position tables
    type_vocab_size: int = 2

    model_type: ClassVar[str] = "electra"
    SIZES: ClassVar[dict] = {
        name: dict(num_layers=layers, hidden_size=hidden, num_heads=heads, intermediate_size=4 * hidden,
                   embedding_size=width)
        for name, (layers, hidden, heads, width) in _SHAPES.items()
    }  # fmt: skip
    HUGGINGFACE_NAMES: ClassVar[dict] = BertConfig.HUGGINGFACE_NAMES
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {
        "position_embedding_type": "absolute",
        "summary_type": "first",
        "summary_use_proj": True,
        "summary_activation": "gelu",
    }


def _embeddings(config: ElectraConfig, **options):
    equal = config.embedding_size == config.hidden_size
    return (standard_embeddings if equal else factorised_embeddings)(config, **options)


def _own_paths(config: ElectraConfig, paths: set[str]) -> set[str]:
    if config.embedding_size != config.hidden_size:
        return paths
    return {path for path in paths if not path.startswith("backbone/embeddings/projection/")}


_BACKBONE = tuple(row for row in HUGGINGFACE_BACKBONE if row.ours != "pooler/dense")
_HUGGINGFACE = Names(
    spelling=HUGGINGFACE,
    prefix="electra.",
    class_prefix="Electra",
    backbone=(*_BACKBONE, dense("embeddings/projection", "embeddings_project")),
    heads={
        **HUGGINGFACE_HEADS,
        "pretraining": (
            dense("masked_lm_head/dense", "generator_predictions.dense"),
            norm("masked_lm_head/norm", "generator_predictions.LayerNorm"),
            matrix("masked_lm_head/unembedding", "generator_lm_head.weight"),
            vector("masked_lm_head/bias", "generator_lm_head.bias"),
        ),
        "replaced_token_detection": (
            dense("detection_head/dense", "discriminator_predictions.dense"),
            dense("detection_head/score", "discriminator_predictions.dense_prediction"),
        ),
        "sequence_classification": (
            dense("backbone/pooler/dense", "classifier.dense"),
            dense("head/dense", "classifier.out_proj"),
        ),
        "multiple_choice": (
            dense("backbone/pooler/dense", "sequence_summary.summary"),
            dense("head/dense", "classifier"),
        ),
    },
)

FAMILY = Family(
    config=ElectraConfig,
    huggingface=_HUGGINGFACE,
    embeddings=_embeddings,
    masked_lm_head=partial(standard_masked_lm_head, activation="gelu"),  # as published, for any hidden_act
    own_paths=_own_paths,
    pooler=False,
    replaced_tokens=True,
    pooling=partial(standard_pooling, activation="gelu"),
    named_sizes=True,
)
