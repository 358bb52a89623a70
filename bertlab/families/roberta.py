"""RoBERTa: BERT trained longer, without next-sentence prediction, on byte-level BPE (Liu et al. 2019).

Its positions are counted from pad_token_id + 1, without padding, and all tokens are in one segment.
Source of the names: modeling_roberta.py of transformers.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig, sizes_of
from bertlab.families.base import Family, standard_embeddings, standard_masked_lm_head
from bertlab.families.bert import HUGGINGFACE_BACKBONE, HUGGINGFACE_HEADS, BertConfig
from bertlab.families.names import HUGGINGFACE, Names, dense, matrix, norm, vector


@dataclass(frozen=True)
class RobertaConfig(ModelConfig):
    """All settings of a RoBERTa's architecture and numerics. The defaults are RoBERTa-base.

    Example:
        >>> RobertaConfig().max_tokens  # positions 0 and 1 are never used
        512
    """

    vocab_size: int = 50265
    max_position_embeddings: int = 514
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 1
    type_vocab_size: int = 1

    model_type: ClassVar[str] = "roberta"
    SIZES: ClassVar[dict] = sizes_of({"base": (12, 768, 12), "large": (24, 1024, 16)})
    HUGGINGFACE_NAMES: ClassVar[dict] = BertConfig.HUGGINGFACE_NAMES
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {"position_embedding_type": "absolute"}

    def __post_init__(self):
        super().__post_init__()
        if self.max_tokens < 1:
            raise ConfigError(
                f"max_position_embeddings {self.max_position_embeddings} leaves no position: they are counted from "
                f"pad_token_id + 1, {self.pad_token_id + 1}"
            )

    @property
    def max_tokens(self) -> int:
        return self.max_position_embeddings - self.pad_token_id - 1


_HUGGINGFACE = Names(
    spelling=HUGGINGFACE,
    prefix="roberta.",
    class_prefix="Roberta",
    backbone=HUGGINGFACE_BACKBONE,
    heads={
        **HUGGINGFACE_HEADS,
        "pretraining": (
            dense("masked_lm_head/dense", "lm_head.dense"),
            norm("masked_lm_head/norm", "lm_head.layer_norm"),
            matrix("masked_lm_head/unembedding", "lm_head.decoder.weight"),
            vector("masked_lm_head/bias", "lm_head.bias"),
        ),
        "sequence_classification": (
            dense("backbone/pooler/dense", "classifier.dense"),
            dense("head/dense", "classifier.out_proj"),
        ),
    },
)

FAMILY = Family(
    config=RobertaConfig,
    huggingface=_HUGGINGFACE,
    embeddings=lambda config, **options: standard_embeddings(config, positions_after=config.pad_token_id, **options),
    masked_lm_head=partial(standard_masked_lm_head, activation="gelu"),  # as published, for any hidden_act
    tokenizer="byte-level BPE",
)
