"""BERT: Devlin et al. 2019; the smaller sizes are those of Turc et al. 2019, "Well-Read Students Learn Better".

Sources of the names: modeling.py, run_pretraining.py, run_classifier.py and run_squad.py of google-research/bert;
modeling_bert.py of transformers.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig, sizes_of
from bertlab.families.base import Family, layers, standard_embeddings, standard_encoder
from bertlab.families.names import GOOGLE, HUGGINGFACE, Names, dense, matrix, norm, output, table, vector

SIZES = sizes_of(
    {
        "tiny": (2, 128, 2),
        "mini": (4, 256, 4),
        "small": (4, 512, 8),
        "medium": (8, 512, 8),
        "base": (12, 768, 12),
        "large": (24, 1024, 16),
    }
)


@dataclass(frozen=True)
class BertConfig(ModelConfig):
    """All settings of a BERT's architecture and numerics. The defaults are BERT-base, uncased.

    Beyond what BERT was published with: pre-LN, sinusoidal positions and left-to-right attention.
    Raises ConfigError if the values contradict one another.

    Example:
        >>> BertConfig.named("mini").num_layers
        4
        >>> BertConfig(hidden_size=128, num_heads=2).head_size
        64
    """

    type_vocab_size: int = 2  # segments A and B
    pre_norm: bool = False  # True: LayerNorm before each sub-layer (Xiong et al. 2020) instead of after
    position_embedding: str = "learned"  # learned (BERT) | sinusoidal (Vaswani et al. 2017, section 3.5)
    causal: bool = False  # True: a token attends to itself and the tokens before it (left-to-right, section 5.1)
    pooler_activation: str = "tanh"  # tanh | positive_tanh: with the ReLU of TinyBERT's classifiers behind it

    model_type: ClassVar[str] = "bert"
    CHOICES: ClassVar[dict] = {
        **ModelConfig.CHOICES,
        "position_embedding": ("learned", "sinusoidal"),
        "pooler_activation": ("tanh", "positive_tanh"),
    }
    SIZES: ClassVar[dict] = SIZES
    HUGGINGFACE_NAMES: ClassVar[dict] = {  # the original `bert_config.json` uses the same names
        "num_layers": "num_hidden_layers",
        "num_heads": "num_attention_heads",
        "hidden_dropout": "hidden_dropout_prob",
        "attention_dropout": "attention_probs_dropout_prob",
    }
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {"position_embedding_type": "absolute"}
    NUMERICS: ClassVar[tuple] = (*ModelConfig.NUMERICS, "pre_norm", "position_embedding", "causal", "pooler_activation")

    def __post_init__(self):
        super().__post_init__()
        if self.position_embedding == "sinusoidal" and self.hidden_size % 2:
            raise ConfigError(f"sinusoidal positions come in pairs: hidden_size {self.hidden_size} must be even")

    def huggingface_lacks(self) -> list[str]:
        ours_alone = {
            "pre_norm": self.pre_norm,
            "causal": self.causal,
            "sinusoidal positions": self.position_embedding == "sinusoidal",
            f"the pooler's activation {self.pooler_activation}": self.pooler_activation != "tanh",
        }
        return [name for name, is_set in ours_alone.items() if is_set]


def _own_paths(config: BertConfig, paths: set[str]) -> set[str]:
    if config.pre_norm:
        paths = paths | {"backbone/encoder/final_norm/gamma", "backbone/encoder/final_norm/beta"}
    return paths - {"backbone/embeddings/position/embeddings"} if config.position_embedding == "sinusoidal" else paths


HUGGINGFACE_BACKBONE = (
    table("embeddings/token", "embeddings.word_embeddings"),
    table("embeddings/segment", "embeddings.token_type_embeddings"),
    table("embeddings/position", "embeddings.position_embeddings"),
    norm("embeddings/norm", "embeddings.LayerNorm"),
    dense("encoder/layer_{i}/attention/query", "encoder.layer.{i}.attention.self.query"),
    dense("encoder/layer_{i}/attention/key", "encoder.layer.{i}.attention.self.key"),
    dense("encoder/layer_{i}/attention/value", "encoder.layer.{i}.attention.self.value"),
    dense("encoder/layer_{i}/attention/out", "encoder.layer.{i}.attention.output.dense"),
    norm("encoder/layer_{i}/attention_norm", "encoder.layer.{i}.attention.output.LayerNorm"),
    dense("encoder/layer_{i}/feed_forward/inner", "encoder.layer.{i}.intermediate.dense"),
    dense("encoder/layer_{i}/feed_forward/outer", "encoder.layer.{i}.output.dense"),
    norm("encoder/layer_{i}/output_norm", "encoder.layer.{i}.output.LayerNorm"),
    dense("pooler/dense", "pooler.dense"),
)
_CLASSIFIER = (dense("head/dense", "classifier"),)
HUGGINGFACE_HEADS = {
    "sequence_classification": _CLASSIFIER,
    "token_classification": _CLASSIFIER,
    "multiple_choice": _CLASSIFIER,
    "question_answering": (dense("head/dense", "qa_outputs"),),
}
_HUGGINGFACE = Names(
    spelling=HUGGINGFACE,
    prefix="bert.",
    class_prefix="Bert",
    ignored_weights=r"fit_dense(s\.\d+)?\.(weight|bias)",  # TinyBERT's projection to the width of its teacher
    # TinyBertForSequenceClassification in huawei-noah/Pretrained-Language-Model, TinyBERT/transformer/modeling.py
    # has them, and computes classifier(relu(pooled vector)).
    implied_config={"sequence_classification": {"pooler_activation": "positive_tanh"}},
    backbone=HUGGINGFACE_BACKBONE,
    heads={
        "pretraining": (
            dense("masked_lm_head/dense", "cls.predictions.transform.dense"),
            norm("masked_lm_head/norm", "cls.predictions.transform.LayerNorm"),
            matrix("masked_lm_head/unembedding", "cls.predictions.decoder.weight"),
            vector("masked_lm_head/bias", "cls.predictions.bias"),
            dense("next_sentence_head/dense", "cls.seq_relationship"),
        ),
        "next_sentence": (dense("head/dense", "cls.seq_relationship"),),
        **HUGGINGFACE_HEADS,
    },
)
_GOOGLE = Names(
    spelling=GOOGLE,
    backbone=tuple(  # "bert/encoder/layer_{i}/attention/self/query"
        replace(row, theirs="bert/" + row.theirs.replace("layer.{i}", "layer_{i}").replace(".", "/"))
        for row in HUGGINGFACE_BACKBONE
    ),
    heads={
        "pretraining": (
            dense("masked_lm_head/dense", "cls/predictions/transform/dense"),
            norm("masked_lm_head/norm", "cls/predictions/transform/LayerNorm"),
            vector("masked_lm_head/bias", "cls/predictions/output_bias"),
            output("next_sentence_head/dense", "cls/seq_relationship/"),
        ),
        "sequence_classification": (output("head/dense", ""),),
        "question_answering": (output("head/dense", "cls/squad/"),),
    },
)

FAMILY = Family(
    config=BertConfig,
    huggingface=_HUGGINGFACE,
    google=_GOOGLE,
    embeddings=lambda config, **options: standard_embeddings(
        config, position_embedding=config.position_embedding, **options
    ),
    encoder=lambda config, **options: standard_encoder(config, pre_norm=config.pre_norm, **options),
    pooling=lambda config, **options: layers.Pooler(config.initializer_range, config.pooler_activation, **options),
    own_paths=_own_paths,
    next_sentence=True,
)
