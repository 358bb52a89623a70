"""XLNet: predicts tokens in a drawn order, with two streams, relative positions and segments (Yang et al. 2019).

Its classifiers read the last token, <cls>. Source of the names: modeling_xlnet.py of transformers; its `mems` are the
memory of `layers.next_memory`.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig, sizes_of
from bertlab.families.base import (
    Family,
    Pretraining,
    layers,
    standard_embeddings,
    standard_encoder,
    standard_masked_lm_head,
)
from bertlab.families.bert import HUGGINGFACE_HEADS
from bertlab.families.names import HUGGINGFACE, Names, by_head, dense, matrix, norm, table, vector


@dataclass(frozen=True)
class XLNetConfig(ModelConfig):
    """All settings of an XLNet's architecture and numerics. The defaults are XLNet-base, cased.

    Distances have no limit: `max_position_embeddings` is only the longest row that the tools make, and can be raised.

    Example:
        >>> XLNetConfig.named("large").head_size
        64
    """

    vocab_size: int = 32000
    pad_token_id: int = 5
    pooled_dropout: float = 0.1  # before the linear layer that classifies

    model_type: ClassVar[str] = "xlnet"
    SIZES: ClassVar[dict] = sizes_of({"base": (12, 768, 12), "large": (24, 1024, 16)})
    HUGGINGFACE_NAMES: ClassVar[dict] = {
        "hidden_size": "d_model",
        "num_layers": "n_layer",
        "num_heads": "n_head",
        "intermediate_size": "d_inner",
        "max_position_embeddings": "longest_row",  # transformers has no name for it, and refuses ours
        "hidden_act": "ff_activation",
        "hidden_dropout": "dropout",
        "pooled_dropout": "summary_last_dropout",
    }
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {
        "attn_type": "bi",
        "bi_data": False,
        "clamp_len": -1,
        "same_length": False,
        "untie_r": True,
        "summary_type": "last",
        "summary_use_proj": True,
        "summary_activation": "tanh",
    }

    @classmethod
    def adapted(cls, values: dict, where: str) -> dict:
        return {"attention_dropout": values.get("dropout"), **values}  # transformers has one rate for both

    @classmethod
    def from_huggingface(cls, values: dict, where: str = "config.json") -> "XLNetConfig":
        config = super().from_huggingface(values, where)
        if values.get("d_head") not in (None, config.head_size):
            raise ConfigError(
                f"{where}: d_head {values['d_head']} is not supported, only d_model / n_head, {config.head_size}, is"
            )
        return config


_SUMMARY = (dense("backbone/pooler/dense", "sequence_summary.summary"), dense("head/dense", "logits_proj"))
_HUGGINGFACE = Names(
    spelling=HUGGINGFACE,
    prefix="transformer.",
    class_prefix="XLNet",
    class_ends={"pretraining": "LMHeadModel", "question_answering": "ForQuestionAnsweringSimple"},
    backbone=(
        table("embeddings/token", "word_embedding"),
        vector("encoder/prediction", "mask_emb"),
        by_head("encoder/layer_{i}/attention/query", "layer.{i}.rel_attn.q"),
        by_head("encoder/layer_{i}/attention/key", "layer.{i}.rel_attn.k"),
        by_head("encoder/layer_{i}/attention/value", "layer.{i}.rel_attn.v"),
        by_head("encoder/layer_{i}/attention/position", "layer.{i}.rel_attn.r"),
        by_head("encoder/layer_{i}/attention/out", "layer.{i}.rel_attn.o"),
        vector("encoder/layer_{i}/attention/content_bias", "layer.{i}.rel_attn.r_w_bias"),
        vector("encoder/layer_{i}/attention/position_bias", "layer.{i}.rel_attn.r_r_bias"),
        vector("encoder/layer_{i}/attention/segment_bias", "layer.{i}.rel_attn.r_s_bias"),
        vector("encoder/layer_{i}/attention/segment", "layer.{i}.rel_attn.seg_embed"),
        norm("encoder/layer_{i}/attention_norm", "layer.{i}.rel_attn.layer_norm"),
        dense("encoder/layer_{i}/feed_forward/inner", "layer.{i}.ff.layer_1"),
        dense("encoder/layer_{i}/feed_forward/outer", "layer.{i}.ff.layer_2"),
        norm("encoder/layer_{i}/output_norm", "layer.{i}.ff.layer_norm"),
    ),
    heads={
        **HUGGINGFACE_HEADS,
        "pretraining": (
            matrix("masked_lm_head/unembedding", "lm_loss.weight"),
            vector("masked_lm_head/bias", "lm_loss.bias"),
        ),
        "sequence_classification": _SUMMARY,
        "multiple_choice": _SUMMARY,
    },
)

FAMILY = Family(
    config=XLNetConfig,
    huggingface=_HUGGINGFACE,
    embeddings=partial(standard_embeddings, position_embedding="none", norm=False),
    encoder=lambda config, **options: standard_encoder(config, layers.TwoStreamEncoder, **options),
    pooling=lambda config, **options: layers.LastTokenPooler(config.initializer_range, **options),
    masked_lm_head=partial(standard_masked_lm_head, transformed=False),
    pooler=False,
    two_streams=True,
    pretraining=Pretraining(
        "permutation",
        no_objective="with two streams, which predicts tokens in a random order",
        no_muon="is not for a model with two streams",  # the matrices of their attention have three dimensions
        no_distillation="predicts in any order",
    ),
    tokenizer="SentencePiece",
    named_sizes=True,
)
