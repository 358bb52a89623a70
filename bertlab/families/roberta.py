"""RoBERTa: BERT trained longer, without next-sentence prediction, on byte-level BPE (Liu et al. 2019).

Its positions are counted from pad_token_id + 1, without padding, and all tokens are in one segment.
Source of the names: modeling_roberta.py of transformers.
"""

from dataclasses import dataclass
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.families.base import Family, gelu_masked_lm_head, standard_embeddings
from bertlab.families.bert import HUGGINGFACE_BACKBONE
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
    SIZES: ClassVar[dict] = {
        "base": {},
        "large": dict(num_layers=24, hidden_size=1024, num_heads=16, intermediate_size=4096),
    }
    HUGGINGFACE_NAMES: ClassVar[dict] = {
        "num_layers": "num_hidden_layers",
        "num_heads": "num_attention_heads",
        "hidden_dropout": "hidden_dropout_prob",
        "attention_dropout": "attention_probs_dropout_prob",
    }
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {"position_embedding_type": "absolute"}

    def __post_init__(self):
        super().__post_init__()
        if self.max_tokens < 1:
            raise ConfigError(
                f"max_position_embeddings {self.max_position_embeddings} leaves no position: they are counted from "
                f"pad_token_id + 1, {self.pad_token_id + 1}"
            )

    @classmethod
    def whole_numbers(cls) -> tuple[str, ...]:
        return (*super().whole_numbers(), "type_vocab_size")

    @property
    def max_tokens(self) -> int:
        return self.max_position_embeddings - self.pad_token_id - 1


def _embeddings(config: RobertaConfig, **options):
    return standard_embeddings(
        config, num_segments=config.type_vocab_size, positions_after=config.pad_token_id, **options
    )


_CLASSIFIER = (dense("head/dense", "classifier"),)
_HUGGINGFACE = Names(
    spelling=HUGGINGFACE,
    prefix="roberta.",
    class_prefix="Roberta",
    backbone=HUGGINGFACE_BACKBONE,
    heads={
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
        "token_classification": _CLASSIFIER,
        "multiple_choice": _CLASSIFIER,
        "question_answering": (dense("head/dense", "qa_outputs"),),
    },
)

FAMILY = Family(
    config=RobertaConfig,
    huggingface=_HUGGINGFACE,
    embeddings=_embeddings,
    masked_lm_head=gelu_masked_lm_head,  # as published, for any hidden_act
    tokenizer="byte-level BPE",
)
