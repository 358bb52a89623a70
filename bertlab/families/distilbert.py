"""DistilBERT: half of BERT's layers, trained to imitate it; no segments, no pooler (Sanh et al. 2019, section 3).

Its classifiers have a ReLU layer on [CLS] before the last one. Source of the names: modeling_distilbert.py of
transformers.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bertlab.config import ModelConfig
from bertlab.families.base import Family, standard_pooling
from bertlab.families.bert import HUGGINGFACE_HEADS
from bertlab.families.names import HUGGINGFACE, Names, dense, matrix, norm, table, vector


@dataclass(frozen=True)
class DistilBertConfig(ModelConfig):
    """All settings of a DistilBERT's architecture and numerics. The defaults are DistilBERT-base, uncased.

    Example:
        >>> DistilBertConfig().num_layers
        6
    """

    num_layers: int = 6
    pooled_dropout: float = 0.2  # before the linear layer that classifies a text or a choice

    model_type: ClassVar[str] = "distilbert"
    SIZES: ClassVar[dict] = {"base": {}}
    HUGGINGFACE_NAMES: ClassVar[dict] = {
        "hidden_size": "dim",
        "num_layers": "n_layers",
        "num_heads": "n_heads",
        "intermediate_size": "hidden_dim",
        "hidden_act": "activation",
        "hidden_dropout": "dropout",
        "pooled_dropout": "seq_classif_dropout",
    }

    def huggingface_lacks(self) -> list[str]:
        return [] if self.layer_norm_eps == 1e-12 else [f"layer_norm_eps {self.layer_norm_eps}"]


_POOLED = (dense("backbone/pooler/dense", "pre_classifier"), dense("head/dense", "classifier"))
_HUGGINGFACE = Names(
    spelling=HUGGINGFACE,
    prefix="distilbert.",
    class_prefix="DistilBert",
    backbone=(
        table("embeddings/token", "embeddings.word_embeddings"),
        table("embeddings/position", "embeddings.position_embeddings"),
        norm("embeddings/norm", "embeddings.LayerNorm"),
        dense("encoder/layer_{i}/attention/query", "transformer.layer.{i}.attention.q_lin"),
        dense("encoder/layer_{i}/attention/key", "transformer.layer.{i}.attention.k_lin"),
        dense("encoder/layer_{i}/attention/value", "transformer.layer.{i}.attention.v_lin"),
        dense("encoder/layer_{i}/attention/out", "transformer.layer.{i}.attention.out_lin"),
        norm("encoder/layer_{i}/attention_norm", "transformer.layer.{i}.sa_layer_norm"),
        dense("encoder/layer_{i}/feed_forward/inner", "transformer.layer.{i}.ffn.lin1"),
        dense("encoder/layer_{i}/feed_forward/outer", "transformer.layer.{i}.ffn.lin2"),
        norm("encoder/layer_{i}/output_norm", "transformer.layer.{i}.output_layer_norm"),
    ),
    heads={
        **HUGGINGFACE_HEADS,
        "pretraining": (
            dense("masked_lm_head/dense", "vocab_transform"),
            norm("masked_lm_head/norm", "vocab_layer_norm"),
            matrix("masked_lm_head/unembedding", "vocab_projector.weight"),
            vector("masked_lm_head/bias", "vocab_projector.bias"),
        ),
        "sequence_classification": _POOLED,
        "multiple_choice": _POOLED,
    },
)

FAMILY = Family(
    config=DistilBertConfig,
    huggingface=_HUGGINGFACE,
    pooler=False,
    pooling=partial(standard_pooling, activation="relu"),
)
